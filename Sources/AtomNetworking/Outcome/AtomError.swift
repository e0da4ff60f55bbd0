import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The only error type of the SDK's calls.
///
/// The case says what happened, and ``delivery`` says how far the request got.
/// Descriptions name hosts, paths, status codes and causes, but never a
/// credential, a query value or a body; everything that looks like a token is
/// hidden.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public indirect enum AtomError: Error, Sendable {
    /// The response was acceptable but could not be decoded.
    ///
    /// The context's description ends with an outline of the body in which
    /// values, and keys that look like tokens, are hidden. Such keys are also
    /// hidden in its coding path.
    case decoder(DecodingError)

    /// The request breaks a rule and was never sent.
    case requestable(RequestableError)

    /// The server answered with a status that isn't acceptable.
    case response(AtomResponse)

    /// The exchange failed.
    ///
    /// The error is a `URLError` whose code says what happened. The cause is
    /// its underlying error.
    case session(any Error)

    /// The caller cancelled its task, the handle of a completion call, or the
    /// subscription of a publisher.
    case cancelled(Delivery)

    /// The request could not be signed, so it was not sent, or not sent again.
    case authentication(AuthenticationError)

    /// A body could not be sent, or a download or a stream not be completed.
    case transfer(TransferError)

    /// All errors that no other case covers.
    case unexpected

    /// How far a request got before its result was decided.
    public enum Delivery: String, Sendable, Hashable, Codable {
        /// Nothing of the request reached the server; it is safe to send it
        /// again.
        case notSent
        /// The server may have received and processed it.
        case maybeSent
        /// The server answered, at least with a status.
        case answered
    }
}

extension AtomError {
    /// How far the request got; ``Delivery/maybeSent`` if that isn't known.
    public var delivery: Delivery {
        switch self {
        case .decoder, .response: .answered
        case .requestable: .notSent
        case .session(let error): (error as? URLError)?.delivery ?? .maybeSent
        case .cancelled(let delivery): delivery
        case .authentication(let error): error.delivery
        case .transfer(let error): error.delivery
        case .unexpected: .maybeSent
        }
    }

    /// Whether the access token could not be refreshed.
    public var isAccessTokenRefreshFailure: Bool {
        if case .authentication(let error) = self { error.isRefreshFailure } else { false }
    }

    /// Whether the server's response was a 401 (RFC 9110 §15.5.2).
    ///
    /// This is the final response to the request. If the credential could not
    /// be obtained, it is the token endpoint's response, or the one in the
    /// error that the app's ``TokenCredentialProvider`` threw.
    /// ``isAccessTokenRefreshFailure`` distinguishes the two.
    public var isAuthorizationFailure: Bool {
        answer?.statusCode == 401
    }

    /// Whether the server's response was a 400 (RFC 9110 §15.5.1).
    ///
    /// ``isAuthorizationFailure`` explains which response that is.
    public var isBadRequest: Bool {
        answer?.statusCode == 400
    }

    /// Whether the network is the cause: there is no connection, the server's
    /// name wasn't found, it can't be reached, or the connection was lost.
    ///
    /// A timeout isn't included, because a server that is slow causes it too.
    /// Of a failed refresh and a transfer, the cause counts.
    public var isConnectivityFailure: Bool { connectivityCode != nil }

    /// What the network lacked, here or in the cause.
    var connectivityCode: URLError.Code? {
        let cause: (any Error)? =
            switch self {
            case .session(let error): error
            case .authentication(let error): error.cause
            case .transfer(let error): error.underlyingError
            case .decoder, .requestable, .response, .cancelled, .unexpected: nil
            }
        return cause.flatMap(Self.connectivityCode)
    }

    private static func connectivityCode(of error: any Error) -> URLError.Code? {
        switch error {
        case let error as AtomError: error.connectivityCode
        case let error as URLError: error.connectivityProblem == nil ? nil : error.code
        case let error as any ErrorWithCause: connectivityCode(of: error.cause)
        default: nil
        }
    }

    /// What each attempt to send the request met, in order.
    ///
    /// The last one is what this error is about. There are several only if a
    /// ``RetryPolicy`` has sent the request again. The list is empty for an error
    /// that isn't about an attempt: the request is invalid or was cancelled, it
    /// could not be signed, or its response could not be decoded.
    public var attempts: [AttemptFailure] {
        switch self {
        case .response(let response): earlierAttempts + (response.statusCode.map { [.status($0)] } ?? [])
        case .session(let error as URLError): earlierAttempts + [.connection(error.code)]
        case .transfer(let error): earlierAttempts + (error.response?.statusCode.map { [.status($0)] } ?? [])
        case .decoder, .requestable, .session, .cancelled, .authentication, .unexpected: []
        }
    }

    /// When another attempt makes sense, if the server or the session has said
    /// so.
    ///
    /// It comes from the `Retry-After` of ``response(_:)``, or from
    /// ``authentication(_:)``. The SDK has not waited for it: the policy doesn't
    /// say so, or it is after the request's deadline.
    public var retryAt: Date? {
        switch self {
        case .response(let response): response.notes?.retryAt
        case .authentication(.refreshFailed(_, let date, _)), .authentication(.credentialNotProvided(_, let date, _)):
            date
        case .authentication(.tooManyRefreshes(let date, _)): date
        case .authentication, .decoder, .requestable, .session, .cancelled, .transfer, .unexpected: nil
        }
    }

    /// What the attempts before the last one met.
    private var earlierAttempts: [AttemptFailure] {
        switch self {
        case .response(let response): response.notes?.earlier ?? []
        case .session(let error as URLError): error.earlierAttempts
        case .transfer(let error): error.earlier
        case .decoder, .requestable, .session, .cancelled, .authentication, .unexpected: []
        }
    }

    /// The same error with what is known of the attempts.
    func noting(earlier: [AttemptFailure], retryAt: Date?) -> AtomError {
        switch self {
        case .response(let response): .response(response.noting(AttemptNotes(earlier: earlier, retryAt: retryAt)))
        case .session(let error as URLError): .session(error.noting(earlier: earlier))
        case .transfer(let error): .transfer(error.noting(earlier: earlier))
        case .decoder, .requestable, .session, .cancelled, .authentication, .unexpected: self
        }
    }

    /// Whether the caller cancelled the request.
    public var isCancelled: Bool {
        if case .cancelled = self { true } else { false }
    }

    /// Decodes the body of an unsuccessful response.
    ///
    /// The body belongs to ``response(_:)``, or to the response of the token
    /// endpoint or of the app's ``TokenCredentialProvider`` that caused
    /// ``authentication(_:)``, or to the response in ``transfer(_:)``. It is decoded with the decoder of the service's
    /// configuration, and with a default `JSONDecoder` if that fails, because
    /// the keys of an error often follow other rules than those of the models.
    ///
    /// - Returns: The model, or `nil` when this error has no body.
    /// - Throws: The `DecodingError` of the service's decoder when the body has
    ///   another format. It isn't an ``AtomError``: apps cast to the error that
    ///   `JSONDecoder` throws, and with another declared type such a cast
    ///   compiles and fails.
    public func decodeIfPresent<T: Decodable>(as type: T.Type) throws -> T? {
        guard let answer, !answer.data.isEmpty else { return nil }
        do {
            return try (answer.decoder ?? .plain).decode(type, from: answer)
        } catch {
            if let decoder = answer.decoder, let model = try? decoder.withPlainDecoder.decode(type, from: answer) {
                return model
            }
            guard case .decoder(let cause) = error else { throw error }
            throw cause
        }
    }

    /// The response that caused this error; `nil` if none did.
    ///
    /// It is the server's, or the one of the token endpoint because of which
    /// there is no credential.
    public var answer: AtomResponse? {
        switch self {
        case .response(let response): response
        case .authentication(let error): error.answer
        case .transfer(let error): error.response
        case .decoder, .requestable, .session, .cancelled, .unexpected: nil
        }
    }
}

extension AtomError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, LocalizedError {
    /// One or two sentences that say what happened and what to do.
    public var description: String {
        let text = descriptionOfLastAttempt
        let earlier = earlierAttempts
        var addition = ""
        if !earlier.isEmpty {
            let list = earlier.map(\.description).joined(separator: "; ")
            addition += " There were \(earlier.count + 1) attempts; before the last one: \(list)."
        }
        if case .response = self, let retryAt {
            addition += " Another attempt makes sense after \(AuthenticationError.format(retryAt))."
        }
        return text + addition
    }

    private var descriptionOfLastAttempt: String {
        switch self {
        case .decoder(let error): ResponseDecoding.describe(error)
        case .requestable(let error): error.description
        case .response(let response): "The server answered \(response.description)."
        case .session(let error): Self.describe(session: error)
        case .cancelled(.notSent): "The request was cancelled before it was sent."
        case .cancelled: "The request was cancelled."
        case .authentication(let error): error.description
        case .transfer(let error): error.description
        case .unexpected: "An unexpected error occurred."
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// Limits `dump` and debuggers to the content of ``description``.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "delivery": delivery.rawValue])
    }

    private static func describe(session error: any Error) -> String {
        guard let error = error as? URLError else { return "The exchange failed: \(type(of: error))." }
        // Without words of its own, an error on Linux is only a number.
        let words = error.userInfo[NSLocalizedDescriptionKey] == nil ? error.connectivityProblem : nil
        var text = words ?? Redaction.excerpt(error.localizedDescription, limit: 400)
        if !text.hasSuffix(".") { text += "." }
        return text
    }
}

extension AtomError: CustomNSError {
    /// The domain of the error as an `NSError`.
    public static var errorDomain: String { "AtomNetworking.AtomError" }

    /// The code of the error as an `NSError`; the numbers of existing cases
    /// don't change.
    public var errorCode: Int {
        switch self {
        case .decoder: 0
        case .requestable: 1
        case .response: 2
        case .session: 3
        case .unexpected: 4
        case .cancelled: 5
        case .authentication: 6
        case .transfer: 7
        }
    }

    /// Contains the ``description``, and nothing from a server.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

extension URLError {
    /// What is wrong with the connection, or `nil` if it isn't the cause.
    var connectivityProblem: String? {
        switch code {
        case .notConnectedToInternet: "There is no network connection"
        case .dataNotAllowed: "There is no network connection: mobile data is not allowed for this app"
        case .internationalRoamingOff: "There is no network connection: data roaming is turned off"
        case .callIsActive: "There is no network connection during a call"
        case .cannotFindHost, .dnsLookupFailed: "No server with this name was found"
        case .cannotConnectToHost: "The server refused the connection or can't be reached"
        case .networkConnectionLost: "The connection was lost"
        default: nil
        }
    }

    private static let deliveryKey = "AtomNetworking.delivery"

    /// The delivery, if the SDK created this error.
    var delivery: AtomError.Delivery? {
        (userInfo[Self.deliveryKey] as? String).flatMap(AtomError.Delivery.init(rawValue:))
    }

    private static let attemptsKey = "AtomNetworking.attempts"

    /// What earlier attempts met, if the SDK has noted it.
    var earlierAttempts: [AttemptFailure] {
        (userInfo[Self.attemptsKey] as? [Int] ?? []).map(AttemptFailure.init(code:))
    }

    /// The same error with what earlier attempts met.
    func noting(earlier: [AttemptFailure]) -> URLError {
        var userInfo = userInfo
        userInfo[Self.attemptsKey] = earlier.map(\.code)
        return URLError(code, userInfo: userInfo)
    }

    /// Creates an error with a description of what happened and the delivery.
    init(_ code: URLError.Code, _ explanation: String, delivery: AtomError.Delivery, underlying: (any Error)? = nil) {
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: explanation, Self.deliveryKey: delivery.rawValue,
        ]
        if let underlying { userInfo[NSUnderlyingErrorKey] = Redaction.error(underlying) }
        self.init(code, userInfo: userInfo)
    }

    /// The same error with another delivery, and without its URLs.
    func delivered(_ delivery: AtomError.Delivery) -> URLError {
        var userInfo = Redaction.userInfo(userInfo)
        userInfo[Self.deliveryKey] = delivery.rawValue
        return URLError(code, userInfo: userInfo)
    }
}
