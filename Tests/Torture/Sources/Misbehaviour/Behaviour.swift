import AtomNetworking
import Foundation

/// What a server does, and what has to become of the request.
struct Behaviour: Sendable {
    /// How the request is made.
    enum Call: Sendable {
        case data
        case download
        /// A download that goes on with the first bytes of a file.
        case resumedDownload
        case bytes
        case lines
        case events
        case jsonLines
    }

    /// A kind of body.
    enum Body: Sendable {
        case none
        case data(Int)
        case file(Int)
        case stream(Int)
        /// One that can be read only once.
        case onceOnly(Int)
    }

    enum Expectation: Sendable {
        /// This response, and no other.
        case response(Int, Data)
        /// No success; `nil` for any delivery.
        case failure(AtomError.Delivery?)
        /// A failure, or a success with one of these bodies.
        case failureOr([Data])
        /// What the rules for all say.
        case anything
        /// Returns what is wrong.
        case judged(@Sendable (Outcome, MisbehavingServer.Record) -> String?)

        static func response(_ status: Int, _ text: String) -> Expectation { .response(status, Data(text.utf8)) }
        static var failure: Expectation { .failure(nil) }
    }

    let family: String
    var name: String
    var call = Call.data
    var method = "GET"
    var body = Body.none
    var expectation: Expectation
    /// Whether requests are signed by a session that has to refresh first.
    var hasSession = false
    /// Whether a signed request succeeds as soon as the token endpoint does as it should.
    var recovers = true
    /// Whether the same request may come more than once, though its method isn't idempotent.
    var mayRepeat = false
    /// Whether the server waits at its ``Line/holdHere()``.
    var holds = false
    /// Whether new connections are served as they should be as soon as it waits.
    var disarmsWhenHeld = false
    /// Whether the next request comes after all that the server does.
    var settles = false
    /// The idle time and the whole time, in seconds.
    var timeout = (idle: 20.0, total: 40.0)
    var isSecure = false
    var redirectLimit: Int? = 20
    /// Whether the short form leaves it out.
    var isLong = false
    var configure: (@Sendable (inout ServiceConfiguration) -> Void)?
    /// What a server of HTTP/2 does in place of all that follows.
    var frames: FrameScript?
    /// What the server does when a connection is made, before it reads.
    var greeting: (@Sendable (Line) -> Ending)?
    /// What it does with a request; the number says how often its path has come.
    var serve: @Sendable (Line, Head, Int) -> Ending = { _, _, _ in .close }

    init(
        _ family: String, _ name: String, expecting expectation: Expectation,
        _ change: (inout Behaviour) -> Void = { _ in },
        serve: @escaping @Sendable (Line, Head, Int) -> Ending = { _, _, _ in .close }
    ) {
        self.family = family
        self.name = name
        self.expectation = expectation
        self.serve = serve
        change(&self)
    }

    /// Reads the request, writes these bytes and ends.
    static func sending(
        _ family: String, _ name: String, _ bytes: Data, then ending: Ending = .close,
        expecting expectation: Expectation, _ change: (inout Behaviour) -> Void = { _ in }
    ) -> Behaviour {
        Behaviour(family, name, expecting: expectation, change) { line, head, _ in
            guard line.readBody(of: head) != nil else { return .close }
            line.write(bytes)
            return ending
        }
    }

    static func sending(
        _ family: String, _ name: String, _ text: String, then ending: Ending = .close,
        expecting expectation: Expectation, _ change: (inout Behaviour) -> Void = { _ in }
    ) -> Behaviour {
        sending(family, name, Data(text.utf8), then: ending, expecting: expectation, change)
    }
}

/// What the caller got.
enum Outcome: Sendable {
    case success(Int, Data)
    case failure(AtomError)

    var status: Int? {
        switch self {
        case .success(let status, _): status
        case .failure(.response(let response)): response.statusCode
        case .failure: nil
        }
    }

    var body: Data? {
        switch self {
        case .success(_, let body): body
        case .failure(.response(let response)): response.data
        case .failure: nil
        }
    }

    var error: AtomError? { if case .failure(let error) = self { error } else { nil } }

    var text: String {
        switch self {
        case .success(let status, let body):
            "\(status) with \(body.count) bytes \(String(decoding: body.prefix(60), as: UTF8.self).debugDescription)"
        case .failure(let error): "\(error.kindText), \(error.delivery): \(error)"
        }
    }
}

extension AtomError {
    var kindText: String {
        switch self {
        case .session(let error as URLError): "session \(error.code.rawValue)"
        case .response(let response): "response \(response.statusCode ?? 0)"
        case .transfer(let error): "transfer \(error.reason)"
        default: String(describing: self).isEmpty ? "" : "\(self.errorCode)"
        }
    }
}
