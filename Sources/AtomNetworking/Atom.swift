import Foundation

/// A configured service: hands out requests that share a session.
///
/// <!-- given:
/// struct Seatmap: Model {
///     enum Endpoint: Requestable {
///         case refresh
///         func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
///     }
/// }
/// -->
/// ```swift
/// let atom = Atom()
/// let seatmap = try await atom.enqueue(Seatmap.Endpoint.refresh).resume(expecting: Seatmap.self)
/// ```
///
/// Copies share everything. Letting go of the last one cancels nothing.
public struct Atom: Sendable {
    /// Posted when the session can't go on without a new sign-in.
    ///
    /// Once at the end of a session: the refresh token was refused, there is
    /// none, or a ``TokenCredentialProvider`` wants no further call before
    /// somebody has signed in. An access token that outlives the refusal is
    /// used first. Also once for each refresh that the token endpoint answered
    /// with a 400 of another kind (RFC 6749 §5.2), as for a client that it
    /// doesn't know. What passes by itself isn't posted, such as a 503, an
    /// answer that can't be read or a lost connection; ``events`` has that.
    ///
    /// On the configuration's queue; the object is `nil` and
    /// `userInfo["error"]` an ``AtomError/authentication(_:)``. Completions of
    /// requests that waited are called before. An async caller has been woken,
    /// and may come to its next line before or after.
    public static let didFailToRefreshAccessToken = AtomNotification.didFailToRefreshAccessToken

    /// Posted once per request whose final answer is 401, after its caller has
    /// been told.
    ///
    /// On the configuration's queue; the object is `nil` and
    /// `userInfo["error"]` an ``AtomError/response(_:)``. The request's
    /// completion is called before. So is an async caller on the main actor,
    /// up to where it suspends next, if the queue is the main queue; any other
    /// one is given its error before this is dispatched, and runs on beside it.
    public static let didFailToAuthorizeRequest = AtomNotification.didFailToAuthorizeRequest

    let manager: RequestableQueueManager

    /// Makes a service.
    ///
    /// No connection is made before the first request.
    public init(serviceConfiguration: ServiceConfiguration = ServiceConfiguration()) {
        self.init(serviceConfiguration, time: SystemTimeSource())
    }

    init(_ configuration: ServiceConfiguration, time: any TimeSource) {
        manager = RequestableQueueManager(configuration, time: time)
    }

    /// Binds an endpoint to this service; nothing is read or sent until the
    /// result is resumed.
    public func enqueue(_ requestable: any Requestable) -> Service {
        Service(requestable, manager: manager)
    }
}

// MARK: - The session

extension Atom {
    /// What the session of bearer tokens is doing.
    ///
    /// ``SessionState/unknown`` until a token store has been read, which the
    /// first request does, or ``loadSession()``; ``SessionState/signedOut``
    /// for a service that signs otherwise, or not at all. From any thread.
    public var sessionState: SessionState { manager.session?.state ?? .signedOut }

    /// What happens to the session from now on.
    ///
    /// Each call is a listener of its own that gets every event in order, the
    /// last 256 of them if it is slow; it ends with the session, and at once
    /// for a service without one.
    ///
    /// <!-- given: let atom = Atom() -->
    /// ```swift
    /// for await event in atom.events {
    ///     if case .ended = event { print("Sign in again, please.") }
    /// }
    /// ```
    public var events: AsyncStream<SessionEvent> {
        manager.session?.events ?? AsyncStream { $0.finish() }
    }

    /// Reads the token store, unless somebody is signed in already, and says
    /// whether somebody is, without a request.
    ///
    /// - Throws: ``AtomError/authentication(_:)`` with
    ///   ``AuthenticationError/credentialNotReadable(cause:delivery:)``.
    @discardableResult
    public func loadSession() async throws(AtomError) -> SessionState {
        guard let session = manager.session else { return .signedOut }
        do {
            return try await session.loadedState()
        } catch {
            throw .authentication(error)
        }
    }

    /// Starts a session with these tokens, in place of the one that there is.
    ///
    /// Requests that wait for the old session are told so, nobody waits for a
    /// refresh of it any more, and nothing of it is stored. Requests made from
    /// now on use the new tokens, also while they are being stored. Returns
    /// when they are.
    ///
    /// Where a refresh has exchanged the refresh token already, the session
    /// goes by what it was exchanged for, and stores that.
    ///
    /// - Throws: ``AtomError/authentication(_:)`` with
    ///   ``AuthenticationError/missingCredential(delivery:)`` for an empty
    ///   credential, ``AuthenticationError/noSession(delivery:)`` when this
    ///   service doesn't sign with bearer tokens, and
    ///   ``AuthenticationError/credentialNotStored(cause:delivery:)`` when the
    ///   store didn't take them: the session goes by them all the same, and
    ///   the write is tried again.
    public func signIn(with credential: TokenCredential) async throws(AtomError) {
        guard let session = manager.session else { throw .authentication(.noSession(delivery: .notSent)) }
        guard !credential.isEmpty else { throw .authentication(.missingCredential(delivery: .notSent)) }
        do {
            try await session.signIn(with: credential)
        } catch {
            throw .authentication(error)
        }
    }

    /// Ends the session and empties the store.
    ///
    /// Requests that wait for the session are told so, nobody waits for a
    /// refresh any more, and nothing of the session is stored; requests on the
    /// wire go on. Returns when the store is empty. The token is revoked at
    /// ``BearerAuthentication/revocationEndpoint``, for which nobody waits, and
    /// so is one that a refresh still brings.
    ///
    /// - Throws: ``AtomError/authentication(_:)`` with
    ///   ``AuthenticationError/noSession(delivery:)`` when this service doesn't
    ///   sign with bearer tokens, and
    ///   ``AuthenticationError/credentialNotStored(cause:delivery:)`` when the
    ///   store could not be emptied: the session is over for this process all
    ///   the same, and it is tried again.
    public func signOut() async throws(AtomError) {
        guard let session = manager.session else { throw .authentication(.noSession(delivery: .notSent)) }
        do {
            try await session.signOut(for: manager)
        } catch {
            throw .authentication(error)
        }
    }
}

extension Atom: CustomReflectable {
    /// Keeps `dump` from showing credentials.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
