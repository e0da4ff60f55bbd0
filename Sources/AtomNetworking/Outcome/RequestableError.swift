import Foundation

/// Why a request was refused before the network was touched.
///
/// Each case carries a ``Violation`` that says what was wrong and where. Match
/// a case without its payload (`case .requestable(.invalidURLPath)`) or with
/// it; an endpoint of your own may throw the three payload-free spellings. Two
/// errors of one case are equal, whatever they carry: `error == .invalidURLPath`
/// asks for the case, and ``violation`` is there to be compared.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RequestableError: Error, Sendable {
    /// The host or the port can't be used.
    case invalidBaseURL(Violation)
    /// The URL as a whole can't be used.
    case invalidURL(Violation)
    /// The path can't be used.
    case invalidURLPath(Violation)
    /// The method is no token (RFC 9110 §9.1), or can't carry the body given.
    case invalidMethod(Violation)
    /// A header field's name or value can't be sent (RFC 9110 §5).
    case invalidHeader(Violation)
    /// The body could not be made, or two bodies were given.
    case invalidBody(Violation)
    /// The user name or password can't be sent (RFC 7617).
    case invalidCredential(Violation)
    /// A timeout is zero, negative or not a number.
    case invalidTimeout(Violation)
    /// The configuration asks for something this platform doesn't offer.
    case unsupportedConfiguration(Violation)

    /// What was wrong, in words.
    public struct Violation: Hashable, Sendable {
        /// What was looked at, shortened, without user information or control
        /// characters; never a header's value or a password.
        public let subject: String

        /// Which rule it breaks and, where there is one, the remedy.
        public let reason: String

        /// Makes a violation, for endpoints that validate on their own.
        public init(subject: String = "", reason: String) {
            self.subject = Redaction.subject(subject)
            self.reason = reason
        }
    }

    /// An invalid base URL about which nothing more is said.
    public static var invalidBaseURL: RequestableError { .invalidBaseURL(.unspecified) }
    /// An invalid URL about which nothing more is said.
    public static var invalidURL: RequestableError { .invalidURL(.unspecified) }
    /// An invalid path about which nothing more is said.
    public static var invalidURLPath: RequestableError { .invalidURLPath(.unspecified) }

    /// What was wrong and why.
    public var violation: Violation {
        switch self {
        case .invalidBaseURL(let violation), .invalidURL(let violation), .invalidURLPath(let violation),
            .invalidMethod(let violation), .invalidHeader(let violation), .invalidBody(let violation),
            .invalidCredential(let violation), .invalidTimeout(let violation),
            .unsupportedConfiguration(let violation):
            violation
        }
    }
}

extension RequestableError: Hashable {
    /// Whether two errors are of one case.
    public static func == (first: RequestableError, second: RequestableError) -> Bool {
        first.number == second.number
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(number)
    }

    private var number: Int {
        switch self {
        case .invalidBaseURL: 0
        case .invalidURL: 1
        case .invalidURLPath: 2
        case .invalidMethod: 3
        case .invalidHeader: 4
        case .invalidBody: 5
        case .invalidCredential: 6
        case .invalidTimeout: 7
        case .unsupportedConfiguration: 8
        }
    }
}

extension RequestableError.Violation {
    static var unspecified: Self { Self(reason: "") }
}

extension RequestableError: CustomStringConvertible, LocalizedError {
    /// A sentence with the part at fault, the subject and the rule.
    public var description: String {
        let part =
            switch self {
            case .invalidBaseURL: "Invalid base URL"
            case .invalidURL: "Invalid URL"
            case .invalidURLPath: "Invalid URL path"
            case .invalidMethod: "Invalid HTTP method"
            case .invalidHeader: "Invalid header field"
            case .invalidBody: "Invalid body"
            case .invalidCredential: "Invalid credential"
            case .invalidTimeout: "Invalid timeout"
            case .unsupportedConfiguration: "Unsupported configuration"
            }
        let subject = violation.subject.isEmpty ? "" : " “\(violation.subject)”"
        return violation.reason.isEmpty ? "\(part)\(subject)." : "\(part)\(subject): \(violation.reason)."
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
