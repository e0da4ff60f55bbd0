import Foundation

/// Why a request was rejected before the SDK used the network.
///
/// Match a case with or without its ``Violation``, which says what was wrong; your own endpoints may throw the three
/// cases without one. Errors with the same case are equal; ``violation`` can be compared separately.
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
    /// The method is not a token (RFC 9110 §9.1), or can't have the given body.
    case invalidMethod(Violation)
    /// A header field's name or value can't be sent (RFC 9110 §5).
    case invalidHeader(Violation)
    /// The body could not be encoded, or there are two bodies.
    case invalidBody(Violation)
    /// The user name or password can't be sent (RFC 7617).
    case invalidCredential(Violation)
    /// A timeout is zero, negative or not a number.
    case invalidTimeout(Violation)
    /// The configuration requires something that isn't supported.
    case unsupportedConfiguration(Violation)
    /// The service's credential may not be sent to this origin: see ``BearerAuthentication/allowedOrigins`` and
    /// ``BasicCredential/allowedOrigins``.
    case originNotAllowed(Violation)
    /// A member of the endpoint threw this error, which isn't an ``AtomError``; only its type is in the description.
    case endpointFailed(Violation, cause: any Error)
    /// A ``RequestAdapter`` threw this error, which isn't an ``AtomError``; only its type is in the description.
    case adapterFailed(Violation, cause: any Error)

    /// A description of what was wrong.
    public struct Violation: Hashable, Sendable {
        /// The value that was checked, shortened and without user information; never a header value or a password.
        public let subject: String
        /// The rule that the value breaks and, where there is one, the fix.
        public let reason: String

        /// What it means for people, if that isn't what its case means.
        private(set) var situation: AtomError.Situation?

        /// Creates a violation, for endpoints that validate their own values.
        public init(subject: String = "", reason: String) {
            self.subject = Redaction.subject(subject)
            self.reason = reason
        }

        init(subject: String, reason: String, means situation: AtomError.Situation?) {
            self.init(subject: subject, reason: reason)
            self.situation = situation
        }
    }

    /// An invalid base URL without details.
    public static var invalidBaseURL: RequestableError { .invalidBaseURL(.init(reason: "")) }
    /// An invalid URL without details.
    public static var invalidURL: RequestableError { .invalidURL(.init(reason: "")) }
    /// An invalid path without details.
    public static var invalidURLPath: RequestableError { .invalidURLPath(.init(reason: "")) }

    /// What was wrong and why.
    public var violation: Violation {
        switch self {
        case .invalidBaseURL(let violation), .invalidURL(let violation), .invalidURLPath(let violation),
            .invalidMethod(let violation), .invalidHeader(let violation), .invalidBody(let violation),
            .invalidCredential(let violation), .invalidTimeout(let violation),
            .unsupportedConfiguration(let violation), .originNotAllowed(let violation),
            .endpointFailed(let violation, cause: _), .adapterFailed(let violation, cause: _):
            violation
        }
    }
}

extension RequestableError: Hashable {
    /// Whether two errors have the same case.
    public static func == (first: RequestableError, second: RequestableError) -> Bool { first.part == second.part }

    /// Hashes the compared property.
    public func hash(into hasher: inout Hasher) { hasher.combine(part) }

    /// What was invalid; each case has its own words.
    private var part: String {
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
        case .originNotAllowed: "Refused origin"
        case .endpointFailed: "Failed member of the endpoint"
        case .adapterFailed: "Failed adapter"
        }
    }
}

extension RequestableError: ErrorForPeople {
    /// A sentence with the invalid part, the value and the rule.
    public var description: String {
        let subject = violation.subject.isEmpty ? "" : " “\(violation.subject)”"
        return violation.reason.isEmpty ? "\(part)\(subject)." : "\(part)\(subject): \(violation.reason)."
    }
}

extension AtomError {
    static func refused(
        _ kind: (RequestableError.Violation) -> RequestableError, _ subject: String = "", because reason: String,
        means situation: Situation? = nil
    ) -> AtomError { .requestable(kind(.init(subject: subject, reason: reason, means: situation))) }

    /// What a part of the app threw before a request was sent, as the SDK's error;
    /// `otherwise` for an error that isn't one of the SDK's.
    static func thrown(
        _ error: any Error, by part: String,
        otherwise: (RequestableError.Violation, any Error) -> RequestableError
    ) -> AtomError {
        switch error {
        case let error as AtomError: error
        case let error as RequestableError: .requestable(error)
        case is CancellationError: .cancelled(.notSent)
        // Its text may contain a value.
        default: .requestable(otherwise(.init(subject: part, reason: "it threw \(type(of: error))"), error))
        }
    }
}
