import AtomNetworking
import Foundation

/// Signs a user in when a request needs it, once for all requests that wait.
///
/// It is the provider of a service's `BearerAuthentication`: the first request that finds nobody signed in shows the
/// page, or the code, and the others wait with it. After a sign-in that has failed, such as with
/// ``SignInError/declined``, requests fail, and no page appears until somebody signs in or out: by ``signIn(to:)``, from
/// a button. One `SignIn` belongs to one session, and may be used on any thread.
///
/// A person needs more time than a request has: <doc:SigningIn#Give-the-person-time> says what to set.
///
/// <!-- given: let store = InMemoryTokenCredentialStore() -->
/// ```swift
/// import AtomNetworking
/// import AtomNetworkingSignIn
///
/// let server = try await AuthorizationServer.discover("https://id.example.com")
/// let client = OAuthClient(server: server, id: "airline-tool", scopes: ["openid", "bookings"])
/// let signIn = SignIn(client, browser: LoopbackBrowser(), store: store)
/// let bearer = client.authentication(store: store, signIn: signIn)
/// let atom = Atom(
///     serviceConfiguration: ServiceConfiguration(
///         authenticationMethod: .bearer(bearer), timeout: ServiceTimeout(request: 30, resource: 360)))
/// ```
public final class SignIn: TokenCredentialProvider {
    private enum Method: Sendable {
        case browser(any AuthorizationBrowser)
        case device(@Sendable (DeviceAuthorization) async throws -> Void)
    }

    /// What a sign-in is for; those for the same share one.
    private enum Purpose: Hashable, Sendable {
        case session
        case more(ScopeChallenge.Demand)
    }

    private struct State {
        var runs: [Purpose: SharedRun] = [:]
        /// How often somebody has signed in for more.
        var steps = 0
        /// What somebody was asked for since the last sign-in: it was declined, or the server wants it nevertheless.
        var asked: Set<ScopeChallenge.Demand> = []
    }

    private let client: OAuthClient
    private let method: Method
    private let store: any TokenCredentialStore
    private let lock: SignInLock?
    private let state = Guarded(State())

    private init(_ client: OAuthClient, _ method: Method, _ store: any TokenCredentialStore, _ lock: URL?) {
        self.client = client
        self.method = method
        self.store = store
        self.lock = lock.map { SignInLock(fileURL: $0, time: client.configuration.timeSource) }
    }

    /// Signs in with a browser (RFC 6749 §4.1, RFC 8252).
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - browser: Shows the page.
    ///   - store: The store of the service: a sign-in of another process is found there, and who has signed in.
    ///   - lock: A file that only one of several processes has at a time, so that one page opens; `nil`, the default,
    ///     for none. Processes that share a store share the file.
    public convenience init(
        _ client: OAuthClient, browser: any AuthorizationBrowser, store: any TokenCredentialStore,
        lock: URL? = nil
    ) {
        self.init(client, .browser(browser), store, lock)
    }

    /// Signs in on another device (RFC 8628).
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - store: The store of the service, as for a browser.
    ///   - lock: A file that only one of several processes has at a time, as for a browser.
    ///   - show: Shows code and address to the person, and returns; called on any task. What it throws ends the
    ///     sign-in.
    public convenience init(
        _ client: OAuthClient, store: any TokenCredentialStore, lock: URL? = nil,
        showingCode show: @escaping @Sendable (DeviceAuthorization) async throws -> Void
    ) {
        self.init(client, .device(show), store, lock)
    }

    /// Signs in for requests that wait; the session calls it.
    ///
    /// - Throws: `TokenCredentialProviderError.retryAfterSignIn` with a ``SignInError``, after which the session asks no
    ///   more by itself; an `AtomError` of the network, or a callback that anybody may have made up, after which the next
    ///   request asks again.
    public func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
        let result = await run(.session, for: nil) { run, _ async throws(AtomError) in
            try await self.obtain(replacing: rejected, for: run)
        }
        do throws(AtomError) {
            guard let credential = try result.get() else { throw AtomError.unexpected }
            return credential
        } catch {
            guard let reason = error.signInError else { throw error }
            switch reason {
            // Any page of the web can open a callback.
            case .wrongState, .invalidCallback: throw reason
            default: throw TokenCredentialProviderError.retryAfterSignIn(reason)
            }
        }
    }

    /// Signs in at once, because the person asks for it, and begins a session with the tokens.
    ///
    /// If a page is open already, for requests that wait, it returns when that sign-in is done.
    ///
    /// - Throws: An error whose `signInError` says why nobody was signed in, a failure of the network, or what
    ///   `Atom.signIn(with:)` throws.
    public func signIn(to atom: Atom) async throws(AtomError) {
        let result = await run(.session, for: atom) { run, _ async throws(AtomError) in
            try await self.obtain(replacing: try? await self.store.load(), for: run, isAskedFor: true)
        }
        _ = try result.get()
    }

    /// Signs in for what a server demands, and goes on with the session (RFC 6750 §3.1, RFC 9470).
    ///
    /// The page asks for what the session has been signed in for, and the scopes of the challenge. Callers with the same
    /// challenge share one page. If the person declines, the session stays as it is. Ask for `openid` in the first
    /// place: without ID tokens nobody can tell whether the same person has signed in.
    ///
    /// - Throws: What ``signIn(to:)`` throws; ``SignInError/differentUser`` if the ID tokens name two people, and
    ///   `AuthenticationError.signedOut` if somebody has signed in or out since the server's response.
    public func signIn(to atom: Atom, for challenge: ScopeChallenge) async throws(AtomError) {
        let result = await run(.more(challenge.demand), for: atom) { _, others async throws(AtomError) in
            try await self.step(up: challenge, in: atom, after: others)
        }
        _ = try result.get()
    }

    /// Makes a request, and if the server demands more than the token has, signs in for that and makes it once more.
    ///
    /// The person is asked once for the same scopes, until somebody signs in anew. After that, and after a refusal, the
    /// error is the server's. For a button call ``signIn(to:for:)``, which asks in any case.
    ///
    /// <!-- given the airline -->
    /// <!-- given: import AtomNetworkingSignIn
    /// let server = try await AuthorizationServer.discover("https://id.example.com")
    /// let client = OAuthClient(server: server, id: "airline")
    /// let signIn = SignIn(client, browser: LoopbackBrowser(), store: InMemoryTokenCredentialStore())
    /// -->
    /// ```swift
    /// let response = try await signIn.withStepUp(of: atom) { try await service.resume() }
    /// ```
    ///
    /// - Parameters:
    ///   - atom: The service.
    ///   - scopes: What the request needs, for a server that doesn't say which scopes it wants; none by default.
    ///   - request: Makes the request, with a service of `atom`; called once, or once more after each of two sign-ins.
    /// - Throws: The request's error, one that is no `AtomError` as `AtomError.session`; and what ``signIn(to:for:)``
    ///   throws.
    @discardableResult
    public nonisolated(nonsending) func withStepUp<T: Sendable>(
        of atom: Atom, scopes: [String] = [], _ request: () async throws -> T
    ) async throws(AtomError) -> T {
        var steps = state.withLock { $0.steps }
        for _ in 0..<2 {
            do {
                return try await request()
            } catch {
                let error = Self.error(error)
                guard var challenge = ScopeChallenge(error) else { throw error }
                if !challenge.isComplete { challenge.scopes = scopes }
                guard challenge.isComplete else { throw error }
                let (now, wasAsked) = state.withLock { ($0.steps, $0.asked.contains(challenge.demand)) }
                // Otherwise somebody has signed in for more since it was sent.
                if now == steps {
                    guard !wasAsked else { throw error }
                    do throws(AtomError) {
                        try await signIn(to: atom, for: challenge)
                    } catch let failure {
                        throw failure.signInError == .declined ? error : failure
                    }
                }
                steps = state.withLock { $0.steps }
            }
        }
        do {
            return try await request()
        } catch {
            throw Self.error(error)
        }
    }

    private static func error(_ error: any Error) -> AtomError {
        switch error {
        case let error as AtomError: error
        case is CancellationError: .cancelled(.maybeSent)
        default: .session(error)
        }
    }
}

extension SignIn {
    /// Joins the sign-in for a purpose, or begins it.
    ///
    /// - Parameter atom: The service that somebody wants to sign in to; `nil` for a session.
    private func run(
        _ purpose: Purpose, for atom: Atom?,
        _ work:
            @escaping @Sendable (_ run: SharedRun, _ others: [SharedRun]) async throws(AtomError) -> TokenCredential?
    ) async -> SharedRun.Outcome {
        guard !Task.isCancelled else { return .failure(.cancelled(.notSent)) }
        let (run, ticket, others) = state.withLock { state -> (SharedRun, Int, [SharedRun]) in
            if let run = state.runs[purpose], let ticket = run.join(for: atom) { return (run, ticket, []) }
            let others = Array(state.runs.values)
            let run = SharedRun()
            state.runs[purpose] = run
            return (run, run.join(for: atom) ?? 0, others)
        }
        run.begin {
            let result: SharedRun.Outcome
            do throws(AtomError) {
                result = .success(try await work(run, others))
            } catch {
                result = .failure(error)
            }
            self.state.withLock { state in
                if state.runs[purpose] === run { state.runs[purpose] = nil }
            }
            return result
        }
        return await run.outcome(of: ticket)
    }

    /// A credential of a person, or what another process has stored meanwhile, which the session gets.
    ///
    /// - Parameters:
    ///   - old: What the session has refused, or what is stored when the person asks for a sign-in.
    ///   - isAskedFor: Whether the person has asked for it, and not a request that found nobody signed in.
    private func obtain(
        replacing old: TokenCredential?, for run: SharedRun, isAskedFor: Bool = false
    ) async throws(AtomError) -> TokenCredential {
        let turn = try await lock?.take()
        do throws(AtomError) {
            let (credential, isStored) = try await credential(replacing: old, in: turn, isAskedFor: isAskedFor)
            let isSomebodyElse = !isStored && Self.isSamePerson(old, credential) == false
            let (atom, isOfSession) = run.listeners
            if let atom, isSomebodyElse || !isOfSession {
                try await atom.signIn(with: credential)
                turn?.giveBack()
            } else if isSomebodyElse {
                // The requests that wait, cookies and streams are another person's.
                throw .signIn(.differentUser)
            } else if let turn {
                // Requests that wait go on with it: the session stores it now, and whoever has waited must find it.
                Task.detached(name: "Sign-in lock") {
                    await self.waitUntilStored(credential)
                    turn.giveBack()
                }
            }
            state.withLock { $0.asked = [] }
            return credential
        } catch {
            turn?.giveBack()
            throw error
        }
    }

    private func credential(
        replacing old: TokenCredential?, in turn: SignInLock.Turn?, isAskedFor: Bool
    ) async throws(AtomError) -> (TokenCredential, isStored: Bool) {
        if let turn, turn.hasWaited || !isAskedFor, let stored = try? await store.load(),
            !stored.accessToken.isEmpty, stored.accessToken != old?.accessToken,
            stored.keyThumbprint == client.proof?.keyThumbprint
        {
            return (stored, true)
        }
        return (try await ask(scopes: client.scopes, in: turn), false)
    }

    /// Waits until the store has a credential, for some seconds at most.
    private func waitUntilStored(_ credential: TokenCredential) async {
        let time = client.configuration.timeSource
        let end = time.now.advanced(by: .seconds(5))
        while time.now < end, (try? await store.load())?.accessToken != credential.accessToken {
            do throws(AtomError) {
                try await time.wait(until: time.now.advanced(by: .milliseconds(100)))
            } catch {
                return
            }
        }
    }

    /// Signs in for more, and hands the credential to the session.
    ///
    /// - Parameter others: The sign-ins that have begun before: one page at a time, and each asks for what they bring.
    private func step(
        up challenge: ScopeChallenge, in atom: Atom, after others: [SharedRun]
    ) async throws(AtomError) -> TokenCredential? {
        for other in others { await other.isOver() }
        do throws(AtomError) {
            let before = try? await store.load()
            let granted = before?.grantedScopes ?? []
            if !others.isEmpty, challenge.isSatisfied(by: granted) { return nil }
            let turn = try await lock?.take()
            defer { turn?.giveBack() }
            if turn?.hasWaited == true, let stored = try? await store.load(),
                stored.accessToken != before?.accessToken
            {
                // Another process has written. The session looks at the store here, and takes that over.
                try? await atom.signIn(with: stored, continuing: challenge.response)
                guard challenge.isSatisfied(by: stored.grantedScopes), Self.isSamePerson(before, stored) == true else {
                    throw .authentication(.signedOut(delivery: .answered))
                }
                return stored
            }
            let known = client.scopes + granted.filter { !client.scopes.contains($0) }
            let scopes = known + challenge.scopes.filter { !known.contains($0) }
            let credential = try await ask(scopes: scopes, parameters: challenge.parameters, in: turn)
            guard Self.isSamePerson(before, credential) != false else { throw AtomError.signIn(.differentUser) }
            try await atom.signIn(with: credential, continuing: challenge.response)
            state.withLock { state in
                state.steps += 1
                // Another way to sign in may be demanded again and again, such as after some minutes.
                if challenge.parameters.isEmpty { state.asked.insert(challenge.demand) }
            }
            return credential
        } catch {
            if error.signInError == .declined { state.withLock { _ = $0.asked.insert(challenge.demand) } }
            throw error
        }
    }

    /// Whether the ID tokens of two credentials name the same person; `nil` if one has none.
    private static func isSamePerson(_ old: TokenCredential?, _ new: TokenCredential) -> Bool? {
        guard let old = old?.idToken, let new = new.idToken,
            let first = try? IDToken(old), let second = try? IDToken(new)
        else { return nil }
        return first.subject == second.subject && first.issuer == second.issuer
    }

    /// Asks the person, unless that person has just declined in another process that was waited for.
    private func ask(
        scopes: [String], parameters: [QueryItem] = [], in turn: SignInLock.Turn?
    ) async throws(AtomError) -> TokenCredential {
        // Nobody may be waiting any more when the turn comes.
        guard !Task.isCancelled else { throw .cancelled(.notSent) }
        if turn?.wasDeclinedMeanwhile == true { throw .signIn(.declined) }
        do throws(AtomError) {
            return try await ask(scopes: scopes, parameters: parameters)
        } catch {
            if error.signInError == .declined { turn?.noteDeclined() }
            throw error
        }
    }

    /// Asks the person.
    private func ask(scopes: [String], parameters: [QueryItem]) async throws(AtomError) -> TokenCredential {
        var client = client
        client.parameters.removeAll { own in parameters.contains { $0.name == own.name } }
        client.parameters += parameters
        switch method {
        case .browser(let browser): return try await client.credential(in: browser, scopes: scopes)
        case .device(let show):
            let authorization = try await client.deviceAuthorization(scopes: scopes)
            do {
                try await show(authorization)
            } catch {
                throw Self.failure(of: error, orElse: { .browserFailed($0) })
            }
            return try await client.credential(for: authorization)
        }
    }

    /// The error of something that the app implements.
    static func failure(of error: any Error, orElse reason: (String) -> SignInError) -> AtomError {
        switch error {
        case let error as AtomError: error
        case let error as SignInError: .signIn(error)
        case is CancellationError: .cancelled(.notSent)
        default: .signIn(reason("\(type(of: error))"))
        }
    }
}

extension OAuthClient {
    /// Signs in with a browser.
    fileprivate func credential(
        in browser: any AuthorizationBrowser, scopes: [String]
    ) async throws(AtomError) -> TokenCredential {
        let begun = Guarded<AuthorizationCodeRequest?>(nil)
        let callback: URL
        do {
            callback = try await browser.authorize { redirectURI in
                let request = try await authorizationRequest(redirectURI: redirectURI, scopes: scopes)
                begun.withLock { $0 = request }
                return request.url
            }
        } catch {
            throw SignIn.failure(of: error, orElse: { .browserFailed($0) })
        }
        guard let request = begun.withLock({ $0 }) else {
            throw .signIn(.browserFailed("it has returned a callback without a page"))
        }
        return try await credential(for: request, callback: callback)
    }
}

extension TokenCredential {
    fileprivate var grantedScopes: [String] { scope?.split(separator: " ").map(String.init) ?? [] }
}

extension SignIn: Redacted {
    /// The type's name only.
    public var description: String { "SignIn(…)" }
}
