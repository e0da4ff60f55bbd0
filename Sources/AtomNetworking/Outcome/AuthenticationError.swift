import Foundation

/// An error that only adds information to its cause.
protocol ErrorWithCause: Error {
    var cause: any Error { get }
}

extension Error {
    /// The error that all others around it only add information to.
    var innermost: any Error { (self as? any ErrorWithCause)?.cause.innermost ?? self }
}

/// The error response of an authorization server (RFC 6749 §5.2).
///
/// An app that asks a token endpoint itself reads it with
/// ``AtomError/decodeIfPresent(as:)``. Two are equal if code, explanation and URI are.
public struct OAuthError: Error, Sendable {
    /// The code, such as `invalid_grant`.
    public let code: String

    /// The server's explanation for developers, shortened and without what looks like a token.
    public let explanation: String?

    /// A page with more about the error, without the values of its query.
    public let uri: String?

    /// Never shown, because a server may repeat what it was sent.
    let response: AtomResponse?

    /// Creates an error, for tests and for an app's own providers.
    public init(code: String, explanation: String? = nil, uri: String? = nil) {
        self.init(code: code, explanation: explanation, uri: uri, response: nil)
    }

    /// The request to the token endpoint, if it is known, and the description.
    fileprivate var named: String { response?.request()?.naming(description) ?? description }

    init(code: String, explanation: String?, uri: String?, response: AtomResponse?) {
        self.response = response
        self.code = Redaction.excerpt(code, limit: 60)
        self.explanation = explanation.map { Redaction.excerpt($0, limit: 200) }
        self.uri = uri.map { Redaction.url(Redaction.excerpt($0, limit: 200)) }
    }

    static let deadRefreshToken = "invalid_grant"

    /// IANA's OAuth Extensions Error registry, and RFC 6749 §4.1.2.1 and §5.2.
    package static let registeredCodes: Set<String> = [
        deadRefreshToken, "invalid_request", "invalid_client", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope", "access_denied", "unsupported_response_type", "server_error", "temporarily_unavailable",
        "unsupported_token_type", "authorization_pending", "slow_down", "expired_token", "invalid_token",
        "insufficient_scope", "interaction_required", "login_required", "consent_required",
        "account_selection_required", "invalid_request_uri", "invalid_request_object", "request_not_supported",
        "request_uri_not_supported", "registration_not_supported", "invalid_target", "invalid_authorization_details",
        "insufficient_user_authentication", "invalid_dpop_proof", "use_dpop_nonce", "need_info",
        "request_denied", "request_submitted",
    ]
}

extension OAuthError: Decodable {
    private enum CodingKeys: String, CodingKey {
        case code = "error"
        case explanation = "error_description"
        case uri = "error_uri"
    }

    /// Reads the JSON of an error response.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            code: try container.decode(String.self, forKey: .code),
            explanation: try container.decodeIfPresent(String.self, forKey: .explanation),
            uri: try container.decodeIfPresent(String.self, forKey: .uri))
    }
}

extension OAuthError: Hashable, RedactedError {
    /// Whether both have the same content; the responses aren't compared.
    public static func == (first: OAuthError, second: OAuthError) -> Bool {
        first.code == second.code && first.explanation == second.explanation && first.uri == second.uri
    }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// The code and the server's explanation.
    public var description: String { explanation.map { "\(code): \($0)" } ?? code }
}

/// Why a request could not be signed.
///
/// Match a case without its payload. All requests that waited for one failed refresh get the same description.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public indirect enum AuthenticationError: Error, Sendable {
    /// There is no credential, or none that can be used or refreshed.
    case missingCredential(delivery: Reach)

    /// The authorization server rejected the refresh token: the user has to sign in again.
    case refreshRejected(OAuthError, delivery: Reach)

    /// The same, but the result of an earlier refresh with that token was never
    /// stored: a process was killed, or the response was lost.
    case refreshInterrupted(OAuthError, delivery: Reach)

    /// The refresh failed this time; the session continues.
    ///
    /// - Parameters:
    ///   - cause: An ``AtomError``, an ``OAuthError``, an error of the token store, or
    ///     one that describes what is wrong with the token endpoint's response.
    ///   - retryAt: When another attempt makes sense; `nil` for at once.
    case refreshFailed(cause: any Error, retryAt: Date?, delivery: Reach)

    /// The app's ``TokenCredentialProvider`` returned no credential.
    ///
    /// - Parameters:
    ///   - cause: The error that it threw, one that says what is wrong with what it
    ///     returned, or `URLError.timedOut` at its deadline.
    ///   - retryAt: When another attempt makes sense; `nil` for at once.
    case credentialNotProvided(cause: any Error, retryAt: Date?, delivery: Reach)

    /// The token store could not be read; the next request reads it again.
    ///
    /// This doesn't mean that no user is signed in.
    case credentialNotReadable(cause: any Error, delivery: Reach)

    /// The token store could not be written: the result of the refresh, sign-in or
    /// sign-out is kept in memory, and the write is retried.
    case credentialNotStored(cause: any Error, delivery: Reach)

    /// The app has signed out, but the token could not be revoked: it stays valid at the server until it expires.
    ///
    /// Only ``Atom/signOut(waitingForRevocation:)`` throws it.
    case credentialNotRevoked(cause: any Error, delivery: Reach)

    /// Tokens were rejected or expired repeatedly before any request was
    /// accepted with them; `retryAt` is when the next attempt is allowed.
    case tooManyRefreshes(retryAt: Date, delivery: Reach)

    /// The app signed out, or signed in again, while the request waited, its stream or its pages were read or its file
    /// was written, or before a link of one of the session's responses was followed.
    case signedOut(delivery: Reach)

    /// The service doesn't sign with bearer tokens, so it has no session.
    case noSession(delivery: Reach)

    /// A ``RequestSigner`` of the app's has thrown this error.
    case notSigned(cause: any Error, delivery: Reach)

    /// The request's own deadline passed while it waited for the session: its store, a refresh or a sign-in.
    case waitedTooLong(delivery: Reach)

    /// How far the request got before it had to wait.
    public var delivery: AtomError.Delivery { reach.delivery }

    var reach: Reach {
        switch self {
        case .missingCredential(let delivery), .refreshRejected(_, let delivery),
            .refreshInterrupted(_, let delivery), .refreshFailed(_, _, let delivery),
            .credentialNotProvided(_, _, let delivery), .credentialNotReadable(_, let delivery),
            .credentialNotStored(_, let delivery), .credentialNotRevoked(_, let delivery),
            .tooManyRefreshes(_, let delivery), .signedOut(let delivery),
            .noSession(let delivery), .notSigned(_, let delivery), .waitedTooLong(let delivery):
            delivery
        }
    }

    func delivered(_ delivery: Reach) -> AuthenticationError {
        switch self {
        case .missingCredential: .missingCredential(delivery: delivery)
        case .refreshRejected(let error, _): .refreshRejected(error, delivery: delivery)
        case .refreshInterrupted(let error, _): .refreshInterrupted(error, delivery: delivery)
        case .refreshFailed(let cause, let date, _): .refreshFailed(cause: cause, retryAt: date, delivery: delivery)
        case .credentialNotProvided(let cause, let date, _):
            .credentialNotProvided(cause: cause, retryAt: date, delivery: delivery)
        case .credentialNotReadable(let cause, _): .credentialNotReadable(cause: cause, delivery: delivery)
        case .credentialNotStored(let cause, _): .credentialNotStored(cause: cause, delivery: delivery)
        case .credentialNotRevoked(let cause, _): .credentialNotRevoked(cause: cause, delivery: delivery)
        case .tooManyRefreshes(let date, _): .tooManyRefreshes(retryAt: date, delivery: delivery)
        case .signedOut: .signedOut(delivery: delivery)
        case .noSession: .noSession(delivery: delivery)
        case .notSigned(let cause, _): .notSigned(cause: cause, delivery: delivery)
        case .waitedTooLong: .waitedTooLong(delivery: delivery)
        }
    }
}

extension AuthenticationError {
    /// How far a request got, and which one it was.
    ///
    /// It is what differs between the errors of requests that waited for one failure
    /// of the session. Compare it with `.notSent`, `.maybeSent` or `.answered`.
    public struct Reach: Sendable, Equatable {
        /// How far the request got.
        public let delivery: AtomError.Delivery

        let request: AtomError.Request?

        /// The request of a refresh, which all of the session wait for.
        let refresh: String?

        init(_ delivery: AtomError.Delivery, request: AtomError.Request? = nil, refresh: String? = nil) {
            self.delivery = delivery
            self.request = request
            self.refresh = refresh
        }

        /// Nothing of the request reached the server.
        public static let notSent = Reach(.notSent)
        /// The server may have received the request.
        public static let maybeSent = Reach(.maybeSent)
        /// The server answered, at least with a status.
        public static let answered = Reach(.answered)

        /// Whether two requests got equally far.
        public static func == (first: Reach, second: Reach) -> Bool { first.delivery == second.delivery }
    }

    func about(_ request: AtomError.Request) -> AuthenticationError {
        delivered(Reach(delivery, request: request, refresh: reach.refresh))
    }

    /// The response of the token endpoint, or that in the error of the app's provider.
    var response: AtomResponse? {
        switch self {
        case .refreshRejected(let error, _), .refreshInterrupted(let error, _): error.response
        case .refreshFailed(let cause, _, _), .credentialNotProvided(let cause, _, _):
            (cause.innermost as? AtomError)?.response ?? (cause.innermost as? OAuthError)?.response
        default: nil
        }
    }

    /// What a refresh, a provider or a revocation failed with.
    var cause: (any Error)? {
        switch self {
        case .refreshFailed(let cause, _, _), .credentialNotProvided(let cause, _, _),
            .credentialNotRevoked(let cause, _):
            cause
        default: nil
        }
    }
}

extension AuthenticationError.Reach: Redacted {
    /// The name of the delivery.
    public var description: String { delivery.rawValue }
}

extension AuthenticationError: ErrorForPeople {
    /// One or two sentences: what happened and what to do; the same for all requests that waited for one refresh.
    public var description: String {
        switch self {
        case .missingCredential:
            "There is no usable credential: no user is signed in, or the token is no longer valid and can't be refreshed. "
                + "An endpoint that needs no user, such as the sign-in itself, says requiresAuthorization false."
        case .refreshRejected(let error, _):
            "The session has ended: the authorization server rejected the refresh token (\(error.named)). "
                + "Sign in again."
        case .refreshInterrupted(let error, _):
            "The session has ended: an earlier refresh was interrupted before its response was stored, and the "
                + "authorization server rejected the refresh token (\(error.named)). Sign in again."
        // Its sentences say what was tried.
        case .credentialNotProvided(let cause as any RedactedError, let retryAt, _) where !(cause is OAuthError):
            Self.describe(cause) + Self.advice(retryAt)
        case .credentialNotProvided(let cause, let retryAt, _):
            "The app's provider returned no credential: \(Self.describe(cause))" + Self.advice(retryAt)
        case .credentialNotReadable(let cause, _):
            "The stored credential could not be read: \(Self.describe(cause))"
        case .credentialNotStored(let cause, _):
            "The token store could not be written: \(Self.describe(cause)) The change is kept in memory, and the write "
                + "is retried; until it succeeds, the next start finds what was stored before."
        case .credentialNotRevoked(let cause, _):
            "The session has ended on this device, but the token could not be revoked: \(Self.describe(cause)) "
                + "It stays valid at the server until it expires."
        case .refreshFailed(let cause, let retryAt, _):
            "The access token could not be refreshed: \(Self.describe(cause))" + Self.advice(retryAt)
        case .tooManyRefreshes(let retryAt, _):
            "The server rejects new access tokens; no more are requested until \(retryAt.formatted(.iso8601))."
        case .signedOut:
            "The session was signed out while the request waited or its response was read, or before a link of it was "
                + "followed."
        case .noSession:
            "This service does not sign with bearer tokens; it has no session to sign in to or out of."
        case .notSigned(let cause, _):
            "A signer of the app failed: \(Self.describe(cause))"
        case .waitedTooLong(let reach):
            "The request timed out while it waited for the session: for a refresh"
                + (reach.refresh.map { " by \($0)" } ?? "") + ", or for somebody to sign in."
        }
    }

    private static func describe(_ cause: any Error) -> String {
        let text =
            switch cause {
            case let error as AtomError where error.kind == .session && error.delivery != .notSent:
                "\(error.wordless) The server may have issued a new token that was lost."
            case let error as AtomError: error.wordless
            case let error as OAuthError: error.named
            case let error as TokenResponseError: error.description
            case let error as any RedactedError: error.description
            case is CancellationError: "It was cancelled"
            default: "\(type(of: cause))"
            }
        return text.hasSuffix(".") ? text : text + "."
    }

    static func advice(_ retryAt: Date?) -> String {
        retryAt.map { " Another attempt makes sense after \($0.formatted(.iso8601))." } ?? ""
    }
}

/// Why a token endpoint's response contains no token (RFC 6749 §5.1).
struct TokenResponseError: Error, Hashable, CustomStringConvertible {
    /// Which request it was, and what was wrong with the response; never its content.
    let description: String

    init(_ description: String) { self.description = description }

    static let unsendable = TokenResponseError(
        "The access token holds characters that can't be sent (RFC 6750 §2.1), or is longer than 100 KiB.")
}
