import Foundation

/// A configured service that creates requests with a shared session.
///
/// <!-- given: struct Seatmap: Model {
///     enum Endpoint: Requestable {
///         case refresh
///         func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
///     }
/// } -->
/// ```swift
/// import AtomNetworking
///
/// let atom = Atom()
/// let seatmap = try await atom.enqueue(Seatmap.Endpoint.refresh).resume(expecting: Seatmap.self)
/// ```
///
/// Copies share everything. Releasing the last copy cancels nothing.
public struct Atom: Sendable {
    /// Posted when the session can't continue without a new sign-in.
    ///
    /// It is posted once at the end of a session: the refresh token was rejected, there is none, or a
    /// ``TokenCredentialProvider`` must not be called again before a sign-in. If the access token is still valid after
    /// the rejection, it is used first. It is also posted once for each refresh that the token endpoint answered with
    /// another 400 (RFC 6749 §5.2), for example for an unknown client. It isn't posted for temporary failures such as a
    /// 503, an unreadable response or a lost connection; ``events`` reports those.
    ///
    /// It is posted on the configuration's queue. The object is `nil`, and `userInfo["error"]` is an
    /// ``AtomError/authentication(_:)``. Completions of requests that waited are called before. An async caller has
    /// been resumed, and its next line may run before or after.
    public static let didFailToRefreshAccessToken = AtomNotification.didFailToRefreshAccessToken

    /// Posted once per request whose final response is a 401, after its caller got the error.
    ///
    /// A refresh is such a request too: it is posted once for each refresh that the token endpoint answered with a 401,
    /// after the requests that waited got their errors. While the access token is still valid, it isn't posted for
    /// that.
    ///
    /// It is posted on the configuration's queue. The object is `nil`, and `userInfo["error"]` is an
    /// ``AtomError/response(_:)``, an ``AtomError/transfer(_:)`` if the body can't be sent a second time, or an
    /// ``AtomError/authentication(_:)`` for a refresh. The request's completion is called before. If the queue is the
    /// main queue, an async caller on the main actor also runs before, up to its next suspension. Any other async
    /// caller is resumed before the notification is dispatched, and runs concurrently.
    public static let didFailToAuthorizeRequest = AtomNotification.didFailToAuthorizeRequest

    /// The version of the package, for HAR files; `.ci/release` compares what else names it.
    package static let packageVersion = "1.1.0"

    let sharing: RequestSharing
    let caching: RequestCaching?
    var manager: RequestableQueueManager { sharing.manager }

    /// Creates a service.
    ///
    /// It opens no connection before the first request.
    ///
    /// <!-- given: import AtomNetworking -->
    /// ```swift
    /// let timeout = ServiceTimeout(request: 10, resource: 60)  // seconds
    /// let atom = Atom(serviceConfiguration: ServiceConfiguration(timeout: timeout))
    /// ```
    public init(serviceConfiguration: ServiceConfiguration = ServiceConfiguration()) {
        sharing = RequestSharing(RequestableQueueManager(serviceConfiguration))
        caching = RequestCaching(serviceConfiguration.cache, sharing)
    }

    /// - Parameter time: Takes the place of the configuration's time source.
    init(
        _ configuration: ServiceConfiguration, time: (any TimeSource)? = nil,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        connectivity: (any ConnectivityMonitor)? = nil
    ) {
        sharing = RequestSharing(
            RequestableQueueManager(configuration, time: time, random: random, connectivity: connectivity))
        caching = RequestCaching(configuration.cache, sharing)
    }

    /// Binds an endpoint to this service; nothing is read or sent until the result is resumed.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// let flights = try await atom.enqueue(Departures(airport: "SEA")).resume(expecting: [Flight].self)
    /// ```
    public func enqueue(_ requestable: any Requestable) -> Service {
        Service(requestable, sharing, caching)
    }

    /// Removes the cookies of this service, also those that responses still bring home which are on their way now.
    ///
    /// A service with ``SessionConfiguration/ephemeral`` does so by itself when somebody signs out, or when other
    /// tokens take the place of somebody's: by a sign-in, by the app's variable, or by another process. With any other
    /// configuration the cookies are in a storage that the whole process shares: this removes all of them.
    public func removeCookies() { manager.cookies.removeAll() }
}

// MARK: - The session

extension Atom {
    /// The state of the session of bearer tokens.
    ///
    /// It is ``SessionState/unknown`` until the token store has been read, by the first request or by
    /// ``loadSession()``. It is ``SessionState/signedOut`` for a service without bearer tokens. You can read it on any
    /// thread.
    public var sessionState: SessionState { manager.session?.state ?? .signedOut }

    /// The state of the session now, and each later one.
    ///
    /// The first element is the present state. If the token store hasn't been read yet, that is
    /// ``SessionState/unknown``; the store is then read, and the next element says whether a user is signed in. After
    /// that each change follows. So a view can follow the session from the start of the app. A final 401 of a
    /// request is no change of the session. A slow listener may miss states that were followed by others.
    ///
    /// Each access returns a separate sequence. It ends with the session. For a service without bearer tokens it is
    /// ``SessionState/signedOut``, and ends. If the store can't be read, the state stays unknown until a request or
    /// ``loadSession()`` has read it.
    ///
    /// <doc:SigningInAndOut> has an example.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// for await state in atom.sessionStates {
    ///     switch state {
    ///     case .signedOut, .ended: showLogin()
    ///     default: hideLogin()
    ///     }
    /// }
    /// ```
    public var sessionStates: AsyncStream<SessionState> {
        manager.session?.states
            ?? AsyncStream {
                $0.yield(.signedOut)
                $0.finish()
            }
    }

    /// The events of the session from now on.
    ///
    /// Each access returns a separate sequence that gets every event in order. A slow listener keeps the last 256. The
    /// sequence ends with the session, and at once for a service without a session. <doc:SigningInAndOut> has an
    /// example.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// for await event in atom.events {
    ///     if case .ended(let error) = event { print(error.description) }
    /// }
    /// ```
    public var events: AsyncStream<SessionEvent> {
        manager.session?.events ?? AsyncStream { $0.finish() }
    }

    /// Reads the token store without a request, unless a user is already signed
    /// in, and returns the state of the session.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// if case .signedOut = try await atom.loadSession() {
    ///     print("Sign in first.")
    /// }
    /// ```
    ///
    /// - Throws: ``AtomError/authentication(_:)`` with ``AuthenticationError/credentialNotReadable(cause:delivery:)``.
    @discardableResult
    public func loadSession() async throws(AtomError) -> SessionState {
        guard let session = manager.session else { return .signedOut }
        return try await session.loadedState()
    }

    /// Starts a session with these tokens and replaces the current session.
    ///
    /// Requests that wait for the old session fail. The result of its refresh isn't waited for, and nothing of it is
    /// stored. Requests made from now on use the new tokens, also while they are being stored. The call returns when
    /// they are stored.
    ///
    /// If a refresh has already exchanged the refresh token, the session uses and stores its successor. An access token
    /// that has expired, or that a server has rejected before, is tried: you say that it is good.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// let credential = TokenCredential(
    ///     accessToken: answer.token, expiresAt: Date(timeIntervalSinceNow: 3600), refreshToken: answer.refreshToken)
    /// try await atom.signIn(with: credential)
    /// ```
    ///
    /// - Throws: ``AtomError/authentication(_:)`` with ``AuthenticationError/missingCredential(delivery:)`` for an
    ///   empty credential, ``AuthenticationError/noSession(delivery:)`` when this service doesn't sign with bearer
    ///   tokens, and ``AuthenticationError/credentialNotStored(cause:delivery:)`` when the store can't be written: the
    ///   session uses the tokens anyway, and the write is retried.
    public func signIn(with credential: TokenCredential) async throws(AtomError) {
        guard let session = manager.session else { throw .authentication(.noSession(delivery: .notSent)) }
        guard !credential.isEmpty else { throw .authentication(.missingCredential(delivery: .notSent)) }
        do {
            try await session.signIn(with: credential, for: manager)
        } catch {
            await keptResponsesHaveGone()
            throw error
        }
        await keptResponsesHaveGone()
    }

    /// Goes on with the session in which a server has sent a response, with tokens for which the same person has signed
    /// in once more: for a scope that the response asks for (RFC 6750 §3.1), or with a second factor (RFC 9470).
    ///
    /// It is like a refresh: requests that wait go on, streams and kept responses stay. The call returns when the tokens
    /// are stored. You say that it is the same person; if you can't be sure, call ``signIn(with:)``.
    ///
    /// - Parameters:
    ///   - credential: The new tokens.
    ///   - response: The response to a signed request of this service.
    /// - Throws: What ``signIn(with:)`` throws, and ``AuthenticationError/signedOut(delivery:)`` if somebody has signed
    ///   in or out since that request, here or where the tokens are stored, or if the response is of none; nothing is
    ///   changed then.
    public func signIn(
        with credential: TokenCredential, continuing response: AtomResponse
    ) async throws(AtomError) {
        guard let session = manager.session else { throw .authentication(.noSession(delivery: .notSent)) }
        guard !credential.isEmpty else { throw .authentication(.missingCredential(delivery: .notSent)) }
        try await session.goOn(with: credential, of: response.tenure ?? .anyone, for: manager)
    }

    /// Ends the session and empties the store.
    ///
    /// Requests that wait for the session fail. The result of a refresh isn't waited for, and nothing of the session is
    /// stored. Requests on the wire continue. The call returns when the store is empty, and what the cache has kept of
    /// the session is removed. The token is revoked at ``BearerAuthentication/revocationEndpoint``, and so are tokens
    /// that a refresh returns later; the call doesn't wait for that.
    ///
    /// - Throws: ``AtomError/authentication(_:)`` with ``AuthenticationError/noSession(delivery:)`` when this service
    ///   doesn't sign with bearer tokens, and ``AuthenticationError/credentialNotStored(cause:delivery:)`` when the
    ///   store can't be emptied: the session ends for this process anyway, and the write is retried.
    public func signOut() async throws(AtomError) {
        try await signOut(waitingForRevocation: false)
    }

    /// Ends the session, empties the store, and may wait until the server has answered the revocation.
    ///
    /// A command-line tool has to wait: a process that ends revokes nothing. It waits at most as long as a refresh may
    /// take, and not for tokens that a refresh returns later. A cancelled caller returns at once; the revocation
    /// continues.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// try await atom.signOut(waitingForRevocation: true)
    /// ```
    ///
    /// - Parameter waits: Whether the call waits for the revocation.
    /// - Throws: What ``signOut()`` throws. If it waits, also
    ///   ``AuthenticationError/credentialNotRevoked(cause:delivery:)``: the session has ended on this device, and the
    ///   token stays valid at the server until it expires. That is also thrown if there is no
    ///   ``BearerAuthentication/revocationEndpoint``.
    public func signOut(waitingForRevocation waits: Bool) async throws(AtomError) {
        guard let session = manager.session else { throw .authentication(.noSession(delivery: .notSent)) }
        do {
            try await session.signOut(for: manager, waitingForRevocation: waits)
        } catch {
            await keptResponsesHaveGone()
            throw error
        }
        await keptResponsesHaveGone()
    }

    /// Waits until what somebody's credential was needed for is off the disk, unless that hangs.
    private func keptResponsesHaveGone() async {
        await caching?.cache.settle(within: .seconds(5), of: manager.time)
    }
}

// MARK: - A credential for other uses

extension Atom {
    /// Returns what signs a request that the app sends by other means: of a web socket, a web view, an image loader.
    ///
    /// It waits as a request does: if the token is good it returns at once, and otherwise it joins the session's queue
    /// before it suspends, and a refresh follows. It waits no longer than the service's `timeout.resource`. The
    /// credential goes only where a request of this service may take it.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// let url = URL(string: "wss://api.example.com/gates")!
    /// let authorization = try await atom.authorization(for: url)
    /// var request = URLRequest(url: url)
    /// request.setValue(authorization.headerItem.value, forHTTPHeaderField: authorization.headerItem.name)
    /// ```
    ///
    /// - Parameter url: Where the app sends the request: an `http`, `https`, `ws` or `wss` URL.
    /// - Throws: ``AtomError/requestable(_:)`` with ``RequestableError/invalidURL(_:)`` or
    ///   ``RequestableError/originNotAllowed(_:)``; ``AtomError/authentication(_:)`` as for a request, with
    ///   ``AuthenticationError/noSession(delivery:)`` if nothing signs the requests of this service;
    ///   ``AtomError/cancelled(_:)``.
    public nonisolated(nonsending) func authorization(for url: URL) async throws(AtomError) -> RequestAuthorization {
        try await authorization(for: url, of: nil)
    }

    /// Tells the session that a server has answered 401 to a request with this credential, and returns another one.
    ///
    /// It is the rule of a request of the SDK: the first 401 rejects the token, a refresh follows unless the session has
    /// another token by now, and the request may be sent once more. If somebody has signed in or out meanwhile, or the app
    /// has set its variable to other tokens, it fails with ``AuthenticationError/signedOut(delivery:)``; then ask
    /// ``authorization(for:)`` anew if it is the same person. What another process has put in a store counts as the same
    /// person's, as for a request.
    ///
    /// <!-- given: import AtomNetworking
    /// import Foundation
    /// let atom = Atom()
    /// let url = URL(string: "wss://api.example.com/gates")!
    /// let authorization = try await atom.authorization(for: url)
    /// -->
    /// ```swift
    /// if let next = try await atom.authorization(for: url, after: authorization) {
    ///     print("Connect once more, with \(next).")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - url: Where the app sends the request.
    ///   - rejected: What the request was signed with.
    /// - Returns: `nil` if there is nothing to try: what was rejected was itself returned after a 401, or is a Basic
    ///   credential. Then the server's 401 stands.
    /// - Throws: As ``authorization(for:)``.
    public nonisolated(nonsending) func authorization(
        for url: URL, after rejected: RequestAuthorization
    ) async throws(AtomError) -> RequestAuthorization? {
        guard !rejected.isRetry, let number = rejected.tokenNumber else { return nil }
        guard let gate = manager.gate, gate.tenure.hasSameSigner(as: rejected.tenure) else {
            throw .authentication(.signedOut(delivery: .notSent))
        }
        // Before: what the credential is not sent to says nothing about it.
        _ = try manager.preparation.timeouts(signing: url)
        manager.session?.rejected(tokenNumber: number)
        return try await authorization(for: url, of: rejected.tenure)
    }

    /// - Parameter tenure: Whose it is, after a 401.
    private nonisolated(nonsending) func authorization(
        for url: URL, of tenure: Tenure?
    ) async throws(AtomError) -> RequestAuthorization {
        guard !Task.isCancelled else { throw .cancelled(.notSent) }
        defer { manager.resultHandler?() }
        let timeouts = try manager.preparation.timeouts(signing: url)
        guard let session = manager.session else {
            guard let basic = manager.basicAuthorization else {
                throw .authentication(.noSession(delivery: .notSent))
            }
            return RequestAuthorization(basic, tokenNumber: nil, tenure: manager.tenure, isRetry: false)
        }
        let request = AuthorizationRequest(manager, session, of: tenure, timeouts: timeouts)
        request.ask(anew: tenure != nil)
        let pass: Pass
        do {
            pass = try await request.pass()
        } catch {
            throw error.noting(
                AtomError.Request(
                    method: "GET", address: url.absoluteString, finalAddress: nil, attempts: 0, duration: .zero))
        }
        guard let authorization = pass.authorization else { throw .unexpected }
        return RequestAuthorization(
            authorization, tokenNumber: pass.tokenNumber, tenure: pass.tenure, isRetry: tenure != nil)
    }
}

// MARK: - The end of a process

extension Atom {
    /// Waits until the tokens of a running refresh are stored, and returns what a process that ends now loses.
    ///
    /// It also returns when the refresh has failed, and at once if none is running.
    ///
    /// A refresh goes on when the request that started it is cancelled, but it ends with the process. A server that
    /// accepts each refresh token once has then perhaps exchanged it for one that nobody has stored, and the user has
    /// to sign in again. So call this before a process ends, for example after Ctrl-C: cancel your requests, then wait,
    /// in a task that isn't cancelled.
    ///
    /// It also waits for the write of a sign-in or a sign-out. It doesn't wait for
    ///
    /// - a refresh that begins in the meantime,
    /// - a refresh of a session that was signed out, since nothing of it is stored,
    /// - a ``TokenCredentialProvider``, which may wait for a person; but it waits
    ///   until what the provider has returned is stored,
    /// - a write that has failed, which the SDK tries again later, unless you give a duration and the write may succeed
    ///   within seconds. It may, unless its error is a ``TokenStoreError`` that says otherwise: the path, a permission,
    ///   the file's content, the file system or the space on the disk has to be changed first.
    ///
    /// If the calling task is cancelled, or a method of the store calls it, it returns at once: the refresh goes on.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// if let loss = await atom.finishRefresh(within: .seconds(5)) {
    ///     print(loss.description)
    /// }
    /// ```
    ///
    /// - Parameter duration: The longest time to wait; zero to look only. Within it, a write that has failed is waited
    ///   for until it succeeds, and the answer to a refresh whose time was over until it comes. Without a duration, it
    ///   waits as long as a refresh may take and the store needs for one write.
    /// - Returns: ``AuthenticationError/credentialNotStored(cause:delivery:)`` if a change isn't stored, with why the
    ///   last write failed, or `URLError.timedOut` if it still runs;
    ///   ``AuthenticationError/refreshFailed(cause:retryAt:delivery:)`` with `URLError.timedOut` if a refresh still
    ///   runs; `nil` if nothing is lost.
    @discardableResult
    public func finishRefresh(within duration: Duration? = nil) async -> AuthenticationError? {
        await manager.session?.finishRefresh(within: duration)
    }
}

extension Atom: Redacted {}
