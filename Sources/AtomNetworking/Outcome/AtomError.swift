import Foundation

/// The only error type of the SDK's calls.
///
/// The case says what happened, ``request`` to which request, ``delivery`` how
/// far it got, and ``situation`` what the person who uses the app needs to know.
///
/// ``description`` is for developers: hosts, paths, status codes and causes, but never a credential, a query value or
/// what looks like a token. `localizedDescription` is for people.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public indirect enum AtomError: Error, Sendable {
    /// The response was acceptable but could not be decoded.
    ///
    /// The context's description ends with an outline of the body. Values, and
    /// keys that look like tokens, are hidden in it; such keys also in the path.
    case decoder(DecodingError)

    /// The request breaks a rule and was never sent.
    case requestable(RequestableError)

    /// The server answered with a status that isn't acceptable; of its body the rest may be missing.
    case response(AtomResponse)

    /// The exchange failed, with a `URLError` whose code says what happened; the cause is its underlying error.
    case session(any Error)

    /// The caller cancelled its task, the handle of a completion call, or the subscription of a publisher.
    case cancelled(Delivery)

    /// The request could not be signed, so it was not sent, or not sent again.
    case authentication(AuthenticationError)

    /// A body could not be sent, or a download, a stream or a list of pages not be completed.
    case transfer(TransferError)

    /// All errors that no other case covers.
    case unexpected

    /// How far a request got before its result was decided.
    public enum Delivery: String, Sendable, Hashable, Codable {
        /// Nothing of it reached the server; it is safe to send it again.
        case notSent
        /// The server may have received and processed it.
        case maybeSent
        /// The server answered, at least with a status.
        case answered
    }
}

extension AtomError {
    /// How far the request got; ``Delivery/maybeSent`` if that isn't known.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// do {
    ///     try await service.resume()
    /// } catch {
    ///     if error.delivery == .notSent { print("The server has received nothing.") }
    /// }
    /// ```
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

    /// The request that failed.
    ///
    /// It is `nil` if the endpoint breaks a rule, the caller has cancelled, or a sign-in or sign-out failed, for an
    /// error of ``SessionEvent`` or ``SessionState``, and for errors of the app's own.
    public var request: Request? {
        switch self {
        case .response(let response): response.notes?.request
        case .session(let error as URLError): error.request
        case .transfer(let error): error.request
        case .authentication(let error): error.reach.request
        case .decoder(let error): error.request
        case .requestable, .session, .cancelled, .unexpected: nil
        }
    }

    /// Whether the access token could not be refreshed.
    public var isAccessTokenRefreshFailure: Bool {
        switch self {
        case .authentication(.refreshRejected), .authentication(.refreshInterrupted), .authentication(.refreshFailed),
            .authentication(.credentialNotProvided), .authentication(.tooManyRefreshes):
            true
        default: false
        }
    }

    /// Whether the final ``response-property`` was a 401 (RFC 9110 §15.5.2): of the request, or of the token endpoint.
    ///
    /// To know that the server has refused the request itself, match ``response(_:)``:
    /// <doc:HandlingErrors#When-to-show-a-sign-in> has an example.
    public var isAuthorizationFailure: Bool { response?.statusCode == 401 }

    /// Whether the server's final ``response-property`` was a 400 (RFC 9110 §15.5.1).
    public var isBadRequest: Bool { response?.statusCode == 400 }

    /// Whether the network is the cause: there is no connection, the server's
    /// name wasn't found, it can't be reached, or the connection was lost.
    ///
    /// Not so a timeout, nor over libcurl a server that closes a new connection without
    /// a response: it was reached. Of a failed refresh and a transfer, the cause counts.
    public var isConnectivityFailure: Bool { connectivityCode != nil }

    /// Whether the device has no network that the app may use.
    ///
    /// Of a failed refresh and a transfer, the cause counts. Every such error is an ``isConnectivityFailure``, but that
    /// may also be the server's fault.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// do {
    ///     try await service.resume()
    /// } catch {
    ///     if error.isOffline { print("You are offline.") }
    /// }
    /// ```
    public var isOffline: Bool { connectivityCode.map { AtomError.Situation($0) == .offline } ?? false }

    /// What the network lacked, here or in the cause.
    var connectivityCode: URLError.Code? {
        let cause: (any Error)? =
            switch self {
            case .session(let error): error
            case .authentication(let error): error.cause
            case .transfer(let error): error.underlyingError
            case .decoder, .requestable, .response, .cancelled, .unexpected: nil
            }
        switch cause?.innermost {
        case let error as AtomError: return error.connectivityCode
        case let error as URLError where error.connectivityProblem != nil && !error.isOfServer: return error.code
        default: return nil
        }
    }

    /// What each attempt to send the request met, in order.
    ///
    /// The last one is what this error is about, unless it is a transfer that failed after its response had begun.
    /// There are several if a ``RetryPolicy`` has sent the request again, also ``RetryPolicy/none``, and none if the
    /// request is invalid, was cancelled, or could not be signed, or its response not be decoded.
    public var attempts: [AttemptFailure] { met.earlier + [met.last].compactMap { $0 } }

    private var met: (earlier: [AttemptFailure], last: AttemptFailure?) {
        switch self {
        case .response(let response): (response.notes?.earlier ?? [], response.statusCode.map { .status($0) })
        case .session(let error as URLError): (error.earlierAttempts, .connection(error.code))
        case .transfer(let error): (error.earlier, error.response?.statusCode.map { .status($0) })
        case .decoder, .requestable, .session, .cancelled, .authentication, .unexpected: ([], nil)
        }
    }

    /// When another attempt makes sense, if the `Retry-After` of ``response(_:)`` or the session says so.
    ///
    /// The SDK has not waited for it: the policy doesn't say so, or it is after the request's deadline.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// do {
    ///     try await service.resume()
    /// } catch {
    ///     if let date = error.retryAt { print("Try again at \(date).") }
    /// }
    /// ```
    public var retryAt: Date? {
        switch self {
        case .response(let response): response.notes?.retryAt
        case .authentication(.refreshFailed(_, let date, _)), .authentication(.credentialNotProvided(_, let date, _)):
            date
        case .authentication(.tooManyRefreshes(let date, _)): date
        default: nil
        }
    }

    /// The same error with its request, and with what is known of the attempts.
    func noting(
        _ request: Request, earlier: [AttemptFailure] = [], retryAt: Date? = nil,
        secrets: () -> [String]? = { nil }
    ) -> AtomError {
        switch self {
        case .response(let response):
            .response(response.noting(request, earlier: earlier, retryAt: retryAt, secrets: secrets))
        case .session(let error as URLError): .session(error.noting(request, earlier: earlier))
        case .transfer(let error): .transfer(error.noting(request, earlier: earlier))
        case .authentication(let error): .authentication(error.about(request))
        case .decoder(let error): .decoder(error.about(request))
        case .requestable, .session, .cancelled, .unexpected: self
        }
    }

    /// The same error with the request of this response, unless it has one.
    func about(_ response: AtomResponse, until now: MonotonicInstant) -> AtomError {
        guard request == nil, let request = response.request(until: now) else { return self }
        return noting(request)
    }

    /// Whether the caller cancelled the request.
    public var isCancelled: Bool { kind == .cancelled }

    /// Decodes the body of an unsuccessful response, ``response-property``.
    ///
    /// The decoder is the service's, and a default `JSONDecoder` if that fails: the
    /// keys of an error often follow other rules than the models'.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// do {
    ///     try await service.resume()
    /// } catch {
    ///     let problem = try error.decodeIfPresent(as: Problem.self)
    ///     print(problem?.message ?? error.localizedDescription)
    /// }
    /// ```
    ///
    /// - Returns: The model, or `nil` when this error has no body.
    /// - Throws: The `DecodingError` of the service's decoder, and no ``AtomError``:
    ///   apps cast to what `JSONDecoder` throws.
    public func decodeIfPresent<T: Decodable>(as type: T.Type) throws -> T? {
        guard let response, !response.data.isEmpty else { return nil }
        do {
            return try (response.decoder ?? .plain).decode(type, from: response)
        } catch {
            if let decoder = response.decoder, let model = try? decoder.withPlainDecoder.decode(type, from: response) {
                return model
            }
            guard case .decoder(let cause) = error else { throw error }
            throw cause
        }
    }

    /// The response that caused this error; `nil` if none did.
    ///
    /// It is the server's, or the one because of which there is no credential: the
    /// token endpoint's, or that in the error of the ``TokenCredentialProvider``.
    public var response: AtomResponse? {
        switch self {
        case .response(let response): response
        case .authentication(let error): error.response
        case .transfer(let error): error.response
        case .decoder, .requestable, .session, .cancelled, .unexpected: nil
        }
    }
}

extension AtomError: ErrorForPeople {
    /// The request, and one or two sentences that say what happened and what to do; for developers.
    public var description: String { naming(explanation(withWords: true)) }

    /// The ``description`` without words of the server.
    var wordless: String { naming(explanation) }

    private func naming(_ explanation: String) -> String { request?.naming(explanation) ?? explanation }

    /// The ``wordless`` description without the request.
    var explanation: String { explanation(withWords: false) }

    private func explanation(withWords: Bool) -> String {
        var text = explanationOfLastAttempt(withWords: withWords)
        let (earlier, last) = met
        if !earlier.isEmpty {
            // What stopped a transfer is none of them.
            let isSame = last != nil && Set(attempts).count == 1
            text += " There were \(earlier.count + 1) attempts"
            text += isSame ? "." : "; before the last one: \(Self.counted(earlier))."
        }
        if case .response = self { text += AuthenticationError.advice(retryAt) }
        return text
    }

    private static func counted(_ attempts: [AttemptFailure]) -> String {
        let texts = attempts.map(\.description)
        let distinct = texts.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return distinct.map { text in
            let count = texts.count { $0 == text }
            return count == 1 ? text : "\(text), \(count) times"
        }
        .joined(separator: "; ")
    }

    private func explanationOfLastAttempt(withWords: Bool) -> String {
        switch self {
        case .decoder(let error): ResponseDecoder.describe(error)
        case .requestable(let error): error.description
        case .response(let response): response.explanation(withWords: withWords)
        case .session(let error): Self.describe(session: error)
        case .cancelled(.notSent): "The request was cancelled before it was sent."
        case .cancelled: "The request was cancelled."
        case .authentication(let error): error.description
        case .transfer(let error): error.description
        case .unexpected: "An unexpected error occurred."
        }
    }

    private static func describe(session error: any Error) -> String {
        guard let error = error as? URLError else { return "The exchange failed: \(type(of: error))." }
        // Without words of its own, an error on Linux is only a number.
        let words = error.userInfo[NSLocalizedDescriptionKey] == nil ? error.connectivityProblem : nil
        var text = words ?? Redaction.excerpt(error.localizedDescription, limit: Redaction.longest)
        if !text.hasSuffix(".") { text += "." }
        return text
    }
}

extension AtomError: CustomNSError {
    /// The domain of the error as an `NSError`.
    public static var errorDomain: String { "AtomNetworking.AtomError" }

    /// The code of the error as an `NSError`; the numbers of existing cases don't change.
    public var errorCode: Int { Kind.allCases.prefix { $0 != kind }.count }

    /// A case without what it carries, at the place of its number.
    package enum Kind: String, Sendable, CaseIterable {
        case decoder, requestable, response, session, unexpected, cancelled, authentication, transfer
    }

    var kind: Kind {
        switch self {
        case .decoder: .decoder
        case .requestable: .requestable
        case .response: .response
        case .session: .session
        case .unexpected: .unexpected
        case .cancelled: .cancelled
        case .authentication: .authentication
        case .transfer: .transfer
        }
    }

    /// What a crash reporter shows: the sentence for people, the ``description`` as `NSDebugDescription`, and the
    /// ``request`` as a dictionary under `AtomNetworking.request`, with `method`, `url`, `attempts` and `seconds`.
    public var errorUserInfo: [String: Any] {
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: errorDescription ?? "", "NSDebugDescription": description,
        ]
        userInfo[Request.key] = request?.propertyList
        return userInfo
    }
}

extension URLError {
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
    private static let serverKey = "AtomNetworking.isOfServer"
    private static let attemptsKey = "AtomNetworking.attempts"

    var delivery: AtomError.Delivery? {
        (userInfo[Self.deliveryKey] as? String).flatMap(AtomError.Delivery.init(rawValue:))
    }

    /// Whether the server was reached, and has closed the connection.
    var isOfServer: Bool { userInfo[Self.serverKey] as? Bool ?? false }

    var earlierAttempts: [AttemptFailure] {
        (userInfo[Self.attemptsKey] as? [Int] ?? []).map(AttemptFailure.init(code:))
    }

    var request: AtomError.Request? { .init(propertyList: userInfo[AtomError.Request.key]) }

    func noting(_ request: AtomError.Request, earlier: [AttemptFailure]) -> URLError {
        var userInfo = userInfo
        userInfo[AtomError.Request.key] = request.propertyList
        if !earlier.isEmpty { userInfo[Self.attemptsKey] = earlier.map(\.code) }
        return URLError(code, userInfo: userInfo)
    }

    init(
        _ code: URLError.Code, _ explanation: String, delivery: AtomError.Delivery, underlying: (any Error)? = nil,
        isOfServer: Bool = false
    ) {
        // A library quotes what a server says, such as the names in its certificate.
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: Redaction.visible(explanation), Self.deliveryKey: delivery.rawValue,
        ]
        if isOfServer { userInfo[Self.serverKey] = true }
        if let underlying { userInfo[NSUnderlyingErrorKey] = Redaction.error(underlying) }
        self.init(code, userInfo: userInfo)
    }

    func delivered(_ delivery: AtomError.Delivery) -> URLError {
        URLError(code, userInfo: Redaction.userInfo(userInfo).merging([Self.deliveryKey: delivery.rawValue]) { $1 })
    }
}

// MARK: - Atom 5's name

extension AtomError {
    /// What ``~=(_:_:)`` matches, for code that was written for Atom 5.
    public struct ConnectivityPattern: Sendable {
        /// A failure of the network, as a pattern: `catch .connectivity` or `case .connectivity`.
        ///
        /// It matches what ``isConnectivityFailure`` is true for. It is no case of ``AtomError``, and has no value.
        public static let connectivity = ConnectivityPattern()
    }

    /// Whether the network is the cause, for the pattern ``ConnectivityPattern/connectivity``.
    public static func ~= (pattern: ConnectivityPattern, error: AtomError) -> Bool { error.isConnectivityFailure }
}
