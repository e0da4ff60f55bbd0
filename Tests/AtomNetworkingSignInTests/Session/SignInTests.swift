import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite("One sign-in for all that wait", .limited)
struct SignInTests {
    private struct Call: Requestable {
        var route: URLPath = .literal("/x")

        func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
        func path() -> URLPath { route }
    }

    /// A service by script whose sign-in the test has.
    private struct Service {
        let wire: ScriptedTransport
        let signIn: SignIn
        let atom: Atom

        var server: ScriptedAuthorizationServer { wire.authorizationServer }

        init(
            _ answers: Int = 0, scopes: [String] = ["openid"], browser: (any AuthorizationBrowser)? = nil,
            lock: URL? = nil, store: (any TokenCredentialStore)? = nil, wire other: ScriptedTransport? = nil
        ) {
            let wire = other ?? ScriptedTransport()
            if answers > 0 { wire.add(.status(204).times(answers)) }
            self.wire = wire
            let client = wire.client(scopes: scopes)
            let store = store ?? wire.tokenStore
            signIn = SignIn(client, browser: browser ?? wire.authorizationServer.browser, store: store, lock: lock)
            var configuration = ServiceConfiguration(
                authenticationMethod: .bearer(client.authentication(store: store, signIn: signIn)),
                timeout: ServiceTimeout(request: 30, resource: 600))
            wire.install(in: &configuration)
            atom = Atom(serviceConfiguration: configuration)
        }

        /// Makes a request, and returns its error.
        func call(_ route: URLPath = .literal("/x")) async -> AtomError? {
            do throws(AtomError) {
                try await atom.enqueue(Call(route: route)).resume()
                return nil
            } catch {
                return error
            }
        }

        /// Signs in, and returns the error.
        func pressButton() async -> AtomError? {
            do throws(AtomError) {
                try await signIn.signIn(to: atom)
                return nil
            } catch {
                return error
            }
        }

        /// Makes a request with what the server may demand for it, and returns its error.
        func callWithStepUp(_ route: URLPath = .literal("/x")) async -> AtomError? {
            do throws(AtomError) {
                try await signIn.withStepUp(of: atom) { try await atom.enqueue(Call(route: route)).resume() }
                return nil
            } catch {
                return error
            }
        }
    }

    private func isSignedOut(_ error: AtomError?) -> Bool {
        if case .authentication(.signedOut) = error { true } else { false }
    }

    // MARK: By a button

    @Test("A person who signs in by a button while requests wait signs in once, and the requests go on")
    func buttonJoinsThePage() async throws {
        let service = Service(1)
        service.server.holdPages()
        let request = Task { await service.call() }
        #expect(await service.wire.idle(until: { service.server.counts.pages == 1 }))
        let button = Task { await service.pressButton() }
        await service.wire.settle()
        service.server.releasePages()
        #expect(await button.value == nil)
        #expect(await request.value == nil)
        #expect(service.server.counts.pages == 1)
        #expect(service.wire.requests.map(\.bearerToken) == ["A1"])
    }

    @Test("A request that comes while the person signs in by a button waits for that, and isn't refused")
    func requestJoinsTheButton() async throws {
        let service = Service(1)
        service.server.holdPages()
        let button = Task { await service.pressButton() }
        #expect(await service.wire.idle(until: { service.server.counts.pages == 1 }))
        let request = Task { await service.call() }
        await service.wire.settle()
        service.server.releasePages()
        #expect(await button.value == nil)
        #expect(await request.value == nil)
        #expect(service.server.counts.pages == 1)
        #expect(service.wire.tokenStore.stored?.accessToken == "A1")
    }

    @Test("After a page that was declined no request shows another, and the button does")
    func declined() async throws {
        let service = Service(1)
        service.server.nextPage(.declined)
        #expect(await service.call()?.signInError == .declined)
        #expect(await service.call()?.signInError == .declined)
        #expect(service.server.counts.pages == 1)
        try await service.signIn.signIn(to: service.atom)
        #expect(await service.call() == nil)
        #expect(service.server.counts.pages == 2)
        #expect(service.wire.tokenStore.stored?.accessToken == "A1")
    }

    @Test("A sign-out ends the page that requests wait for")
    func signOutEndsThePage() async throws {
        let service = Service()
        service.server.holdPages()
        let request = Task { await service.call() }
        #expect(await service.wire.idle(until: { service.server.counts.pages == 1 }))
        try await service.atom.signOut()
        #expect(isSignedOut(await request.value))
        // The page is closed, so that the button shows another one.
        service.server.releasePages()
        try await service.signIn.signIn(to: service.atom)
        #expect(service.server.counts.pages == 2)
        #expect(service.wire.tokenStore.stored?.accessToken == "A1", "nothing was issued for the first page")
    }

    @Test("A cancelled button leaves the page to the requests that wait for it")
    func cancelledButton() async throws {
        let service = Service(1)
        service.server.holdPages()
        let button = Task { await service.pressButton() }
        #expect(await service.wire.idle(until: { service.server.counts.pages == 1 }))
        let request = Task { await service.call() }
        await service.wire.settle()
        button.cancel()
        #expect(await button.value?.isCancelled == true)
        service.server.releasePages()
        #expect(await request.value == nil)
        #expect(service.server.counts.pages == 1)
    }

    // MARK: What an app brings

    /// A browser that fails, or sends a signed request of the same service.
    private struct OddBrowser: AuthorizationBrowser {
        let act: @Sendable () async throws -> URL

        func authorize(_ page: @escaping Page) async throws -> URL { try await act() }
    }

    private struct NoWindow: Error, CustomStringConvertible {
        var description: String { "window 5318008" }
    }

    @Test("An error of the browser arrives by the name of its type only")
    func brokenBrowser() async throws {
        let service = Service(browser: OddBrowser { throw NoWindow() })
        let error = await service.call()
        #expect(error?.signInError == .browserFailed("NoWindow"))
        #expect(error?.description.contains("5318008") == false)
    }

    @Test("A callback for which no page was asked can't be used")
    func callbackWithoutPage() async throws {
        let url = try #require(URL(string: "com.example.app:/signed-in?code=c&state=s"))
        let service = Service(browser: OddBrowser { url })
        guard case .browserFailed? = await service.call()?.signInError else {
            Issue.record("it was used")
            return
        }
        #expect(service.server.requests.isEmpty)
    }

    @Test("A signed request of the browser's own fails at once, since it would wait for itself")
    func signedRequestInTheBrowser() async throws {
        let own = Guarded<Atom?>(nil)
        let service = Service(
            browser: OddBrowser {
                try await own.withLock { $0 }?.enqueue(Call()).resume()
                throw SignInError.declined
            })
        own.withLock { $0 = service.atom }
        let error = await service.call()
        guard case .authentication(.credentialNotProvided(let cause, _, _)) = error,
            case .authentication(.missingCredential)? = cause as? AtomError
        else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    // MARK: For more

    @Test("Requests that need more show one page, and all are sent with the new token")
    func stepUp() async throws {
        let service = Service(6)
        #expect(await service.call(.literal("/y")) == nil)
        service.server.require(scope: "write", at: "/x")
        service.server.holdPages()
        let calls = (0..<5).map { _ in Task { await service.callWithStepUp() } }
        #expect(await service.wire.idle(until: { service.server.counts.pages == 2 }))
        await service.wire.settle()
        service.server.releasePages()
        for call in calls { #expect(await call.value == nil) }
        #expect(service.server.counts.pages == 2)
        #expect(service.wire.tokenStore.stored?.scope == "openid write")
        #expect(service.wire.requests.filter { $0.path == "/x" }.suffix(5).allSatisfy { $0.bearerToken == "A2" })
    }

    @Test("What was declined isn't asked for again, the server's error is the outcome, and the session goes on")
    func stepUpDeclined() async throws {
        let service = Service(2)
        #expect(await service.call(.literal("/y")) == nil)
        service.server.require(scope: "write", at: "/x")
        service.server.nextPage(.declined)
        #expect(await service.callWithStepUp()?.response?.statusCode == 403)
        #expect(await service.callWithStepUp()?.response?.statusCode == 403)
        #expect(service.server.counts.pages == 2)
        #expect(await service.call(.literal("/y")) == nil)
        #expect(service.wire.requests.last?.bearerToken == "A1")
        // The person asks for it.
        let error = try #require(await service.call())
        try await service.signIn.signIn(to: service.atom, for: #require(ScopeChallenge(error)))
        #expect(service.server.counts.pages == 3)
    }

    @Test("For a server that doesn't say which scopes it wants, the app says it")
    func unnamedScopes() async throws {
        let service = Service()
        let demand = ScriptedResponse.status(
            403, headerItems: ["WWW-Authenticate": #"Bearer error="insufficient_scope""#])
        service.wire.add(demand, demand, .status(204))
        #expect(await service.callWithStepUp()?.response?.statusCode == 403, "nobody knows what to ask for")
        #expect(service.server.counts.pages == 1)
        try await service.signIn.withStepUp(of: service.atom, scopes: ["write"]) {
            try await service.atom.enqueue(Call()).resume()
        }
        #expect(service.wire.tokenStore.stored?.scope == "openid write")
    }

    @Test("The person is asked once for the same scopes, also if the server goes on demanding them")
    func demandedAgain() async throws {
        let service = Service()
        let demand = ScriptedResponse.status(
            403, headerItems: ["WWW-Authenticate": #"Bearer error="insufficient_scope", scope="a""#])
        service.wire.add(demand, demand, demand)
        #expect(await service.callWithStepUp()?.response?.statusCode == 403)
        #expect(await service.callWithStepUp()?.response?.statusCode == 403)
        #expect(service.server.counts.pages == 2, "the first sign-in, and one for more")
    }

    @Test("What one person has declined, the next one is asked for, and not for what the first one had")
    func nextPerson() async throws {
        let service = Service(2)
        service.server.require(scope: "write", at: "/x")
        service.server.require(scope: "admin", at: "/z")
        #expect(await service.callWithStepUp(.literal("/z")) == nil)
        service.server.nextPage(.declined)
        #expect(await service.callWithStepUp()?.response?.statusCode == 403)
        try await service.atom.signOut()
        service.server.subject = "grace"
        try await service.signIn.signIn(to: service.atom)
        #expect(await service.callWithStepUp() == nil)
        #expect(service.wire.tokenStore.stored?.scope == "openid write")
    }

    @Test("After a restart a step asks for what is stored, too")
    func restart() async throws {
        let first = Service(1)
        first.server.require(scope: "write", at: "/x")
        first.server.require(scope: "admin", at: "/z")
        #expect(await first.callWithStepUp() == nil)
        let second = Service(1, wire: first.wire)
        #expect(await second.callWithStepUp(.literal("/z")) == nil)
        #expect(first.wire.tokenStore.stored?.scope == "openid write admin")
    }

    @Test("Two demands at once show one page after the other, and nothing of either is lost")
    func twoDemands() async throws {
        let service = Service(3)
        #expect(await service.call(.literal("/y")) == nil)
        service.server.require(scope: "write", at: "/x")
        service.server.require(scope: "admin", at: "/z")
        service.server.holdPages()
        let one = Task { await service.callWithStepUp() }
        #expect(await service.wire.idle(until: { service.server.counts.pages == 2 }))
        let two = Task { await service.callWithStepUp(.literal("/z")) }
        await service.wire.settle()
        #expect(service.server.counts.pages == 2)
        service.server.releasePages()
        #expect(await one.value == nil)
        #expect(await two.value == nil)
        #expect(service.server.counts.pages == 3)
        #expect(service.wire.tokenStore.stored?.scope == "openid write admin")
    }

    @Test("Another way to sign in is demanded of the server's page, and no token is refreshed for it (RFC 9470)")
    func anotherWay() async throws {
        let service = Service(1)
        #expect(await service.call(.literal("/y")) == nil)
        service.wire.add(
            .status(
                401,
                headerItems: [
                    "WWW-Authenticate": #"Bearer error="insufficient_user_authentication", acr_values="gold""#
                ]), .status(204))
        #expect(await service.callWithStepUp() == nil)
        #expect(service.server.counts.refreshes == 0)
        #expect(service.wire.requests.map(\.bearerToken) == ["A1", "A1", "A2"])
        let pushed = service.server.requests.filter { $0.path == "/par" }
        #expect(pushed.map { $0.form("acr_values") } == [nil, "gold"])
    }

    @Test("A request that was sent before somebody signed in for more shows no second page")
    func lateDemand() async throws {
        let service = Service(3)
        #expect(await service.call(.literal("/y")) == nil)
        service.server.require(scope: "write", at: "/x")
        let answers = Guarded(0)
        // The first request has its 403, and before it asks another one has signed in.
        try await service.signIn.withStepUp(of: service.atom) {
            let count = answers.withLock { count in
                count += 1
                return count
            }
            do {
                try await service.atom.enqueue(Call()).resume()
            } catch {
                if count == 1 { #expect(await service.callWithStepUp() == nil) }
                throw error
            }
        }
        #expect(service.server.counts.pages == 2)
    }

    // MARK: Somebody else

    @Test("Who signs in on a page that a request has opened doesn't go on with another person's session")
    func somebodyElseOnThePage() async throws {
        let service = Service(2)
        #expect(await service.call() == nil)
        service.server.endSessions()
        service.server.subject = "grace"
        #expect(await service.call()?.signInError == .differentUser)
        // The button begins a session of hers.
        try await service.signIn.signIn(to: service.atom)
        #expect(await service.call() == nil)
        let stored = try IDToken(#require(service.wire.tokenStore.stored?.idToken))
        #expect(stored.subject == "grace")
    }

    @Test("A person who signs in for more writes over nobody who has signed in elsewhere meanwhile")
    func somebodyElseElsewhere() async throws {
        let service = Service(1)
        #expect(await service.call(.literal("/y")) == nil)
        service.server.require(scope: "write", at: "/x")
        service.server.holdPages()
        let call = Task { await service.callWithStepUp() }
        #expect(await service.wire.idle(until: { service.server.counts.pages == 2 }))
        let other = service.server.signIn()
        try await service.wire.tokenStore.save(other)
        service.server.releasePages()
        #expect(isSignedOut(await call.value))
        #expect(service.wire.tokenStore.stored == other)
    }

    @Test("A second step asks for what the first one has brought, too")
    func twoSteps() async throws {
        let service = Service(2)
        service.server.require(scope: "write", at: "/x")
        service.server.require(scope: "admin", at: "/z")
        #expect(await service.callWithStepUp() == nil)
        #expect(await service.callWithStepUp(.literal("/z")) == nil)
        #expect(service.wire.tokenStore.stored?.scope == "openid write admin")
    }

    @Test("A sign-out while the person signs in for more keeps nothing of it")
    func signOutDuringStepUp() async throws {
        let service = Service(1)
        #expect(await service.call(.literal("/y")) == nil)
        service.server.require(scope: "write", at: "/x")
        service.server.holdPages()
        let call = Task { await service.callWithStepUp() }
        #expect(await service.wire.idle(until: { service.server.counts.pages == 2 }))
        try await service.atom.signOut()
        service.server.releasePages()
        #expect(isSignedOut(await call.value))
        #expect(service.wire.tokenStore.stored == nil)
    }

    @Test("A server that demands more and more is asked three times")
    func endlessDemands() async throws {
        let service = Service()
        let demand = { (scope: String) in
            ScriptedResponse.status(
                403, headerItems: ["WWW-Authenticate": #"Bearer error="insufficient_scope", scope="\#(scope)""#])
        }
        service.wire.add(demand("a"), demand("b"), demand("c"))
        #expect(await service.callWithStepUp()?.response?.statusCode == 403)
        #expect(service.server.counts.pages == 3)
    }

    // MARK: On another device

    @Test("A request shows a code for another device, and waits until the person has approved")
    func device() async throws {
        let wire = ScriptedTransport()
        wire.add(.status(204))
        let client = wire.client(scopes: ["openid"])
        let shown = Guarded<[String]>([])
        let signIn = SignIn(client, store: wire.tokenStore) { authorization in
            shown.withLock { $0.append(authorization.userCode) }
        }
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(client.authentication(store: wire.tokenStore, signIn: signIn)),
            timeout: ServiceTimeout(request: 30, resource: 600))
        wire.install(in: &configuration)
        let atom = Atom(serviceConfiguration: configuration)
        let request = Task { try await atom.enqueue(Call()).resume() }
        await wire.clock.waitForAlarm(within: .seconds(6))
        wire.authorizationServer.approveDevices()
        await wire.advance(by: .seconds(6))
        _ = try await request.value
        #expect(shown.withLock { $0 } == ["CODE-1"])
        #expect(wire.requests.map(\.bearerToken) == ["A1"])
    }

    // MARK: What is shown

    @Test("The log has no code, state or verifier of a sign-in")
    func log() async throws {
        let lines = Guarded<[String]>([])
        let wire = ScriptedTransport()
        var client = wire.client(scopes: ["openid"])
        client.configuration.isLogEnabled = true
        client.configuration.logHandler = { line in lines.withLock { $0.append(line) } }
        let signIn = SignIn(client, browser: wire.authorizationServer.browser, store: wire.tokenStore)
        let credential = try await signIn.credential(replacing: nil)
        let text = lines.withLock { $0.joined(separator: "\n") }
        #expect(text.contains("/token"))
        let sent = wire.authorizationServer.requests.flatMap { request in
            ["code", "code_verifier", "state", "nonce", "code_challenge", "request_uri"].compactMap { request.form($0) }
        }
        #expect(!sent.isEmpty)
        for secret in sent + [credential.accessToken, credential.refreshToken] where secret.count > 2 {
            #expect(!text.contains(secret), "\(secret)")
        }
    }

    // MARK: Several processes

    @Test("Of two processes that want a sign-in at once one shows a page, and the other finds its tokens")
    func twoProcesses() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let lock = folder.appendingPathComponent("sign-in.lock")
        let file = folder.appendingPathComponent("tokens.json")
        let first = Service(1, lock: lock, store: FileTokenCredentialStore(fileURL: file))
        let second = Service(1, lock: lock, store: FileTokenCredentialStore(fileURL: file), wire: first.wire)
        first.server.holdPages()
        let one = Task { await first.call() }
        #expect(await first.wire.idle(until: { first.server.counts.pages == 1 }))
        let two = Task { await second.call() }
        await first.wire.clock.waitForAlarm(within: .milliseconds(200))
        first.server.releasePages()
        // It is sent when its token is in the file.
        #expect(await one.value == nil)
        let ticking = Task {
            while !Task.isCancelled {
                first.wire.clock.advance(by: .milliseconds(50))
                await Task.yield()
            }
        }
        #expect(await two.value == nil)
        ticking.cancel()
        #expect(first.server.counts.pages == 1)
        #expect(first.wire.requests.map(\.bearerToken) == ["A1", "A1"])
    }
}
