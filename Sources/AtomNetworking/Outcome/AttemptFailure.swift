import Foundation

/// What one attempt to send a request met instead of a usable response; see ``AtomError/attempts``.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AttemptFailure: Sendable, Hashable {
    /// The server answered with this status.
    case status(Int)
    /// There was no complete response: no connection could be made, it was lost, or nothing came for too long.
    case connection(URLError.Code)
}

extension AttemptFailure: CustomStringConvertible {
    /// The status, or what was wrong with the connection.
    public var description: String {
        switch self {
        case .status(let code): "HTTP \(code) \(HTTPStatus.reasonPhrase(for: code))"
        case .connection(.timedOut): "a timeout"
        case .connection(.secureConnectionFailed): "no secure connection"
        case .connection(let code): URLError(code).connectivityProblem ?? "URLError \(code.rawValue)"
        }
    }

    var connectionCode: URLError.Code? { if case .connection(let code) = self { code } else { nil } }

    /// As a number, which a property list can hold.
    ///
    /// The codes of Foundation's errors are negative, statuses are not.
    var code: Int {
        switch self {
        case .status(let code): code
        case .connection(let code): code.rawValue
        }
    }

    init(code: Int) {
        // Not every system makes a code of every number.
        let known: URLError.Code? = URLError.Code(rawValue: code)
        self = code < 0 ? .connection(known ?? .unknown) : .status(code)
    }
}
