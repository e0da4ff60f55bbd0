import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The one error type of the SDK: everything that fails, fails with it.
///
/// Match the case for what happened and read ``delivery`` for how far the
/// request got. Descriptions name hosts, paths, status codes and causes, never
/// a credential, a query value or a body; what looks like a token is hidden.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public indirect enum AtomError: Error, Sendable {
    /// The answer arrived and was acceptable, but is not the expected model.
    /// The context's description ends with an outline of the body whose
    /// values are hidden, and keys that look like tokens, also in its path.
    case decoder(DecodingError)

    /// The request breaks a rule and was never sent.
    case requestable(RequestableError)

    /// The server answered with a status that isn't acceptable.
    case response(AtomResponse)

    /// The exchange failed on the way. The error is a `URLError` whose code
    /// tells what happened; the cause is kept as its underlying error.
    case session(any Error)

    /// The caller cancelled: its task, the handle of a completion call, or
    /// the subscription of a publisher.
    case cancelled(Delivery)

    /// The request could not be signed, so it was not sent, or not again.
    case authentication(AuthenticationError)

    /// What no other case covers.
    case unexpected

    /// How far a request got before its outcome was decided.
    public enum Delivery: String, Sendable, Hashable, Codable {
        /// Nothing of it reached the server; it is safe to send again.
        case notSent
        /// The server may have received and processed it.
        case maybeSent
        /// The server answered, at least with a status.
        case answered
    }
}

extension AtomError {
    /// How far the request got; ``Delivery/maybeSent`` when nobody knows.
    public var delivery: Delivery {
        switch self {
        case .decoder, .response: .answered
        case .requestable: .notSent
        case .session(let error): (error as? URLError)?.delivery ?? .maybeSent
        case .cancelled(let delivery): delivery
        case .authentication(let error): error.delivery
        case .unexpected: .maybeSent
        }
    }

    /// Whether the access token could not be refreshed.
    public var isAccessTokenRefreshFailure: Bool {
        if case .authentication(let error) = self { error.isRefreshFailure } else { false }
    }

    /// Whether a server's answer was 401 (RFC 9110 §15.5.2).
    ///
    /// The final answer to the request; or, where the credential could not be
    /// had, what the token endpoint answered, or what the app's
    /// ``TokenCredentialProvider`` threw. ``isAccessTokenRefreshFailure`` tells
    /// the two apart.
    public var isAuthorizationFailure: Bool {
        answer?.statusCode == 401
    }

    /// Whether a server's answer was 400 (RFC 9110 §15.5.1).
    ///
    /// Whose answer is told at ``isAuthorizationFailure``.
    public var isBadRequest: Bool {
        answer?.statusCode == 400
    }

    /// Whether the caller cancelled the request.
    public var isCancelled: Bool {
        if case .cancelled = self { true } else { false }
    }

    /// Decodes the body of a server's answer that was no success.
    ///
    /// It came with ``response(_:)``, or with the answer of the token endpoint
    /// or of the app's ``TokenCredentialProvider`` that ``authentication(_:)``
    /// tells of. The decoder is the one of the service's configuration; what
    /// that one can't read is read by a plain `JSONDecoder`, since the keys of
    /// an error seldom follow the rules of the models.
    ///
    /// - Returns: The model, or `nil` when this error has no body.
    /// - Throws: The `DecodingError` of the service's decoder when the body is
    ///   something else. Not an ``AtomError``: apps cast to what `JSONDecoder`
    ///   throws, and such a cast compiles and fails where another type is
    ///   declared.
    public func decodeIfPresent<T: Decodable>(as type: T.Type) throws -> T? {
        guard let answer, !answer.data.isEmpty else { return nil }
        do {
            return try ResponseDecoding.decode(type, from: answer, with: answer.decoder ?? JSONDecoder())
        } catch {
            if answer.decoder != nil,
                let model = try? ResponseDecoding.decode(type, from: answer, with: JSONDecoder())
            {
                return model
            }
            guard case .decoder(let cause) = error else { throw error }
            throw cause
        }
    }

    /// The answer that this error came of: the server's, or what stood in the
    /// way of a credential.
    var answer: AtomResponse? {
        switch self {
        case .response(let response): response
        case .authentication(let error): error.answer
        case .decoder, .requestable, .session, .cancelled, .unexpected: nil
        }
    }
}

extension AtomError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable, LocalizedError {
    /// A sentence or two that a person can act on.
    public var description: String {
        switch self {
        case .decoder(let error): ResponseDecoding.describe(error)
        case .requestable(let error): error.description
        case .response(let response): "The server answered \(response.description)."
        case .session(let error): Self.describe(session: error)
        case .cancelled(.notSent): "The request was cancelled before it was sent."
        case .cancelled: "The request was cancelled."
        case .authentication(let error): error.description
        case .unexpected: "An unexpected error occurred."
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// Keeps `dump` and debuggers to what ``description`` shows.
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description, "delivery": delivery.rawValue])
    }

    private static func describe(session error: any Error) -> String {
        guard let error = error as? URLError else { return "The exchange failed: \(type(of: error))." }
        var text = Redaction.excerpt(error.localizedDescription, limit: 400)
        if !text.hasSuffix(".") { text += "." }
        return text
    }
}

extension AtomError: CustomNSError {
    /// The domain of the error as an `NSError`.
    public static var errorDomain: String { "AtomNetworking.AtomError" }

    /// The code of the error as an `NSError`: a case keeps its number when
    /// others are added.
    public var errorCode: Int {
        switch self {
        case .decoder: 0
        case .requestable: 1
        case .response: 2
        case .session: 3
        case .unexpected: 4
        case .cancelled: 5
        case .authentication: 6
        }
    }

    /// The ``description``, and nothing of what came from a server.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

extension URLError {
    private static let deliveryKey = "AtomNetworking.delivery"

    /// What the SDK noted when it made this error, if it made it.
    var delivery: AtomError.Delivery? {
        (userInfo[Self.deliveryKey] as? String).flatMap(AtomError.Delivery.init(rawValue:))
    }

    /// Makes an error whose description says what happened and which carries
    /// how far the request got.
    init(_ code: URLError.Code, _ explanation: String, delivery: AtomError.Delivery, underlying: (any Error)? = nil) {
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: explanation, Self.deliveryKey: delivery.rawValue,
        ]
        if let underlying { userInfo[NSUnderlyingErrorKey] = Redaction.error(underlying) }
        self.init(code, userInfo: userInfo)
    }

    /// The same error with another delivery, and without the URLs that it notes.
    func delivered(_ delivery: AtomError.Delivery) -> URLError {
        var userInfo = Redaction.userInfo(userInfo)
        userInfo[Self.deliveryKey] = delivery.rawValue
        return URLError(code, userInfo: userInfo)
    }
}
