import Foundation

/// An error that is only a way to say something about another one.
protocol ErrorWithCause: Error {
    var cause: any Error { get }
}

/// What an authorization server answered instead of a token (RFC 6749 §5.2).
///
/// Two are equal if code, explanation and page are.
public struct OAuthError: Error, Sendable {
    /// The code, such as `invalid_grant`.
    public let code: String

    /// The server's explanation for developers, shortened, without what looks
    /// like a token.
    public let explanation: String?

    /// A page with more about the error, without the values of its query.
    public let uri: String?

    /// The answer that held it; never shown, since a server may repeat in it
    /// what it was sent.
    let response: AtomResponse?

    /// Makes an error, for tests and for providers of an app's own.
    public init(code: String, explanation: String? = nil, uri: String? = nil) {
        self.init(code: code, explanation: explanation, uri: uri, response: nil)
    }

    init(code: String, explanation: String?, uri: String?, response: AtomResponse?) {
        self.response = response
        self.code = Redaction.excerpt(code, limit: 60)
        self.explanation = explanation.map { Redaction.excerpt($0, limit: 200) }
        self.uri = uri.map { Redaction.url(Redaction.excerpt($0, limit: 200)) }
    }

    /// Whether it says that the refresh token itself is dead.
    var endsSession: Bool { code == Self.deadRefreshToken }

    static let deadRefreshToken = "invalid_grant"
}

extension OAuthError: Hashable {
    /// Whether two say the same, wherever they came from.
    public static func == (first: OAuthError, second: OAuthError) -> Bool {
        first.code == second.code && first.explanation == second.explanation && first.uri == second.uri
    }

    /// Hashes what is compared.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(explanation)
        hasher.combine(uri)
    }
}

extension OAuthError: CustomStringConvertible, CustomReflectable, LocalizedError {
    /// The code and the server's explanation.
    public var description: String {
        explanation.map { "\(code): \($0)" } ?? code
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// Keeps `dump` and debuggers from showing the server's answer.
    public var customMirror: Mirror {
        Mirror(self, children: ["code": code, "explanation": explanation as Any, "uri": uri as Any])
    }
}

/// Why a request could not be signed.
///
/// Match a case without its payload to tell the reasons apart. All who waited
/// for one refresh that failed get the same description.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public indirect enum AuthenticationError: Error, Sendable {
    /// There is no credential, or none that can be used or refreshed.
    case missingCredential(delivery: AtomError.Delivery)

    /// The authorization server refused the refresh token: somebody has to
    /// sign in again.
    case refreshRejected(OAuthError, delivery: AtomError.Delivery)

    /// The authorization server refused the refresh token, and an earlier
    /// refresh with it was begun whose answer was never stored: a process was
    /// killed, or the answer was lost on its way. Somebody has to sign in
    /// again.
    case refreshInterrupted(OAuthError, delivery: AtomError.Delivery)

    /// The refresh did not succeed this time; the session goes on.
    ///
    /// - Parameters:
    ///   - cause: What went wrong: an ``AtomError``, an ``OAuthError``, a
    ///     ``TokenAnswerError``, or what the token store threw.
    ///   - retryAt: When another attempt makes sense; `nil` for at once.
    case refreshFailed(cause: any Error, retryAt: Date?, delivery: AtomError.Delivery)

    /// The app's ``TokenCredentialProvider`` brought no credential.
    ///
    /// - Parameters:
    ///   - cause: What it threw.
    ///   - retryAt: When another attempt makes sense; `nil` for at once.
    case credentialNotProvided(cause: any Error, retryAt: Date?, delivery: AtomError.Delivery)

    /// The token store could not be read, which is not the same as nobody
    /// being signed in; the next request reads it again.
    case credentialNotReadable(cause: any Error, delivery: AtomError.Delivery)

    /// The token store could not be written. What it should hold after a
    /// refresh, a sign-in or a sign-out is kept in memory, and the write is
    /// tried again.
    case credentialNotStored(cause: any Error, delivery: AtomError.Delivery)

    /// Tokens were refused or had expired again and again before any request
    /// was accepted with them; `retryAt` is when the next attempt is allowed.
    case tooManyRefreshes(retryAt: Date, delivery: AtomError.Delivery)

    /// The session was signed out, or into another one, while the request
    /// waited.
    case signedOut(delivery: AtomError.Delivery)

    /// The service doesn't sign with bearer tokens: there is no session to
    /// sign in to or out of.
    case noSession(delivery: AtomError.Delivery)

    /// The request's own time was up while it waited for a refresh.
    case waitedTooLong(delivery: AtomError.Delivery)

    /// A request that waited too long before it was sent.
    public static var waitedTooLong: AuthenticationError { .waitedTooLong(delivery: .notSent) }

    /// How far the request got before it had to wait.
    public var delivery: AtomError.Delivery {
        switch self {
        case .missingCredential(let delivery), .refreshRejected(_, let delivery),
            .refreshInterrupted(_, let delivery), .refreshFailed(_, _, let delivery),
            .credentialNotProvided(_, _, let delivery), .credentialNotReadable(_, let delivery),
            .credentialNotStored(_, let delivery), .tooManyRefreshes(_, let delivery), .signedOut(let delivery),
            .noSession(let delivery), .waitedTooLong(let delivery):
            delivery
        }
    }

    /// The same reason for a request that got so far.
    func delivered(_ delivery: AtomError.Delivery) -> AuthenticationError {
        switch self {
        case .missingCredential: .missingCredential(delivery: delivery)
        case .refreshRejected(let error, _): .refreshRejected(error, delivery: delivery)
        case .refreshInterrupted(let error, _): .refreshInterrupted(error, delivery: delivery)
        case .refreshFailed(let cause, let date, _): .refreshFailed(cause: cause, retryAt: date, delivery: delivery)
        case .credentialNotProvided(let cause, let date, _):
            .credentialNotProvided(cause: cause, retryAt: date, delivery: delivery)
        case .credentialNotReadable(let cause, _): .credentialNotReadable(cause: cause, delivery: delivery)
        case .credentialNotStored(let cause, _): .credentialNotStored(cause: cause, delivery: delivery)
        case .tooManyRefreshes(let date, _): .tooManyRefreshes(retryAt: date, delivery: delivery)
        case .signedOut: .signedOut(delivery: delivery)
        case .noSession: .noSession(delivery: delivery)
        case .waitedTooLong: .waitedTooLong(delivery: delivery)
        }
    }

    /// Whether a refresh was tried, or was wanted and not allowed.
    var isRefreshFailure: Bool {
        switch self {
        case .refreshRejected, .refreshInterrupted, .refreshFailed, .credentialNotProvided, .tooManyRefreshes: true
        case .missingCredential, .credentialNotReadable, .credentialNotStored, .signedOut, .noSession,
            .waitedTooLong:
            false
        }
    }
}

// MARK: - What it came of

extension AuthenticationError {
    /// The answer of the token endpoint, or what the app's provider threw.
    var answer: AtomResponse? {
        switch self {
        case .refreshRejected(let error, _), .refreshInterrupted(let error, _): error.response
        case .refreshFailed(let cause, _, _), .credentialNotProvided(let cause, _, _): Self.answer(of: cause)
        case .missingCredential, .credentialNotReadable, .credentialNotStored, .tooManyRefreshes, .signedOut,
            .noSession, .waitedTooLong:
            nil
        }
    }

    private static func answer(of cause: any Error) -> AtomResponse? {
        switch cause {
        case let error as AtomError: error.answer
        case let error as OAuthError: error.response
        case let error as any ErrorWithCause: answer(of: error.cause)
        default: nil
        }
    }

    /// Whether the token endpoint took the refresh for a bad request: the same
    /// request will not do better, though the session isn't over.
    var isRefusedRefresh: Bool {
        if case .refreshFailed = self { answer?.statusCode == 400 } else { false }
    }
}

extension AuthenticationError: CustomStringConvertible, CustomReflectable, LocalizedError {
    /// A sentence or two that a person can act on; the same for all who
    /// waited for one refresh.
    public var description: String {
        switch self {
        case .missingCredential:
            "There is no usable credential; sign in first."
        case .refreshRejected(let error, _):
            "The session has ended: the authorization server rejected the refresh token (\(error.description)). "
                + "Sign in again."
        case .refreshInterrupted(let error, _):
            "The session has ended: an earlier refresh was interrupted before its response was stored, and the "
                + "authorization server rejected the refresh token (\(error.description)). Sign in again."
        case .credentialNotProvided(let cause, let retryAt, _):
            "The app's provider returned no credential: \(Self.describe(cause))"
                + (retryAt.map { " Another attempt makes sense after \(Self.format($0))." } ?? "")
        case .credentialNotReadable(let cause, _):
            "The stored credential could not be read: \(Self.describe(cause))"
        case .credentialNotStored(let cause, _):
            "The token store could not be written: \(Self.describe(cause)) The change is kept in memory, and the write "
                + "is retried; until it succeeds, the next start finds what was stored before."
        case .refreshFailed(let cause, let retryAt, _):
            "The access token could not be refreshed: \(Self.describe(cause))"
                + (retryAt.map { " Another attempt makes sense after \(Self.format($0))." } ?? "")
        case .tooManyRefreshes(let retryAt, _):
            "The server rejects new access tokens; no more are requested until \(Self.format(retryAt))."
        case .signedOut:
            "The session was signed out while the request waited."
        case .noSession:
            "This service does not sign with bearer tokens; it has no session to sign in to or out of."
        case .waitedTooLong:
            "The request timed out while it waited for the access token to be refreshed."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// Keeps `dump` to what ``description`` shows: a cause may be any error.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "delivery": delivery.rawValue])
    }

    private static func describe(_ cause: any Error) -> String {
        let text =
            switch cause {
            case let error as AtomError where error.isLostAnswer:
                "\(error.description) The server may have issued a new token that was lost."
            case let error as AtomError: error.description
            case let error as OAuthError: error.description
            case let error as TokenAnswerError: error.description
            case let error as TokenStoreError: error.description
            case is CancellationError: "It was cancelled"
            default: "\(type(of: cause))"
            }
        return text.hasSuffix(".") ? text : text + "."
    }

    private static func format(_ date: Date) -> String {
        date.formatted(.iso8601)
    }
}

extension AtomError {
    /// Whether a server may have done what was asked without being heard.
    fileprivate var isLostAnswer: Bool {
        if case .session = self { delivery != .notSent } else { false }
    }
}

/// Why an answer of a token endpoint is no token (RFC 6749 §5.1).
public struct TokenAnswerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong with the response; never its content.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
