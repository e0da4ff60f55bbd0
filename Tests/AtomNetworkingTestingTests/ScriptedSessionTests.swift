import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@Suite(.limited)
struct ScriptedSessionTests {
    private func failure(_ atom: Atom, _ call: Call = Call()) async -> AtomError? {
        do {
            try await atom.enqueue(call).resume()
            return nil
        } catch {
            return error
        }
    }

    private func failsToRefresh(_ atom: Atom) async -> Bool {
        await failure(atom)?.isAccessTokenRefreshFailure == true
    }

    private typealias Counts = ScriptedAuthorizationServer.Counts

    private func counts(_ change: (inout Counts) -> Void) -> Counts {
        var counts = Counts()
        change(&counts)
        return counts
    }

    @Test func requestsAreSigned() async throws {
        let (atom, wire) = Atom.scripted(.status(204).times(2), signedIn: true)
        try await atom.enqueue(Call()).resume()
        try await atom.enqueue(Call(requiresAuthorization: false)).resume()
        #expect(wire.requests.map(\.bearerToken) == ["A1", nil])
        #expect(wire.authorizationServer.counts == counts { $0.accepted = 1 })
        try wire.verify()
    }

    @Test func aLifetimeInAnAnswerCountsFromTheClock() async throws {
        let tokens = #"{"access_token": "a", "expires_in": 900}"#
        let (atom, wire) = Atom.scripted(.json(text: tokens).times(4), .json(text: tokens, status: 400))
        wire.clock.advance(by: .seconds(60))
        let expiry = wire.clock.date + 900
        let awaited = try await atom.enqueue(Call()).resume(expecting: TokenCredential.self)
        #expect(awaited.expiresAt == expiry)
        let whole = try await atom.enqueue(Call()).resume(decoding: TokenCredential.self)
        #expect(whole.model.expiresAt == expiry)
        let completed = await withCheckedContinuation { continuation in
            atom.enqueue(Call()).resume(expecting: TokenCredential.self) { continuation.resume(returning: $0) }
        }
        #expect(try completed.get().expiresAt == expiry)
        let response = try await atom.enqueue(Call()).resume()
        #expect(try response.decode(TokenCredential.self).expiresAt == expiry)
        let error = await #expect(throws: AtomError.self) { try await atom.enqueue(Call()).resume() }
        #expect(try error?.decodeIfPresent(as: TokenCredential.self)?.expiresAt == expiry)
        // Outside of a service there is only the system's clock.
        let now = Date()
        let alone = try JSONDecoder().decode(TokenCredential.self, from: Data(tokens.utf8))
        #expect(alone.expiresAt >= now + 900 && alone.expiresAt <= Date() + 900)
        try wire.verify()
    }

    @Test func theAppsOwnConfigurationGetsTheWire() async throws {
        var own = ServiceConfiguration()
        own.headerItems = ["X-App": "1"]
        let (atom, wire) = Atom.scripted(.never, signedIn: true) { $0 = own }
        let task = Task { try await atom.enqueue(Call()).resume() }
        await wire.idle()
        #expect(wire.requests.map { $0["X-App"] } == ["1"])
        #expect(wire.requests.map(\.bearerToken) == ["A1"])
        // And the clock.
        await wire.advance(by: .seconds(3_600))
        await #expect(throws: AtomError.self) { try await task.value }
        try wire.verify()
    }

    @Test func aTransportOfTheTestStays() async throws {
        let other = ScriptedTransport([.status(204)])
        let (atom, wire) = Atom.scripted(configure: { $0.transport = other })
        try await atom.enqueue(Call()).resume()
        #expect(other.requests.count == 1 && wire.requests.isEmpty)
        try other.verify()
    }

    @Test func anExpiredTokenIsRefreshedFirst() async throws {
        let (atom, wire) = Atom.scripted(.status(204).times(2), signedIn: true, expiringIn: .seconds(60))
        try await atom.enqueue(Call()).resume()
        wire.clock.advance(by: .seconds(61))
        try await atom.enqueue(Call()).resume()
        #expect(wire.requests.map(\.bearerToken) == ["A1", "A2"])
        #expect(wire.authorizationServer.requests.map { $0.form("refresh_token") } == ["R1"])
        #expect(wire.tokenStore.stored?.accessToken == "A2")
        #expect(wire.tokenStore.writes.map { $0?.refreshToken } == ["R2"])
        #expect(wire.tokenStore.loads == 1)
        try wire.verify()
    }

    @Test func aRevokedTokenGetsA401AndUsesUpNoAnswer() async throws {
        let (atom, wire) = Atom.scripted(.text("mine"), signedIn: true)
        wire.authorizationServer.revokeAccessTokens()
        #expect(try await atom.enqueue(Call()).resume(expecting: String.self) == "mine")
        #expect(wire.requests.map(\.bearerToken) == ["A1", "A2"])
        #expect(wire.authorizationServer.counts.dead == 1)
        try wire.verify()
    }

    @Test func anUnknownTokenGetsA401() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signedIn: false)
        let foreign = TokenCredential(accessToken: "foreign", expiresAt: .distantFuture, refreshToken: "foreign")
        try await atom.signIn(with: foreign)
        #expect(await failsToRefresh(atom))
        #expect(wire.authorizationServer.counts.unknown == 1)
        #expect(wire.authorizationServer.counts.refusals == 1)
        try await atom.signIn(with: wire.authorizationServer.signIn())
        try await atom.enqueue(Call()).resume()
        try wire.verify()
    }

    @Test func aRefusedRefreshEndsTheSession() async throws {
        let (atom, wire) = Atom.scripted(signedIn: true)
        wire.authorizationServer.revokeAccessTokens()
        wire.authorizationServer.refuseRefreshes()
        #expect(await failsToRefresh(atom))
        if case .ended = atom.sessionState {} else { Issue.record("\(atom.sessionState)") }
        #expect(await failure(atom)?.delivery == .notSent)
        #expect(wire.authorizationServer.counts.refreshes == 1)
    }

    @Test func aRefusedRefreshAsksTheProviderOfTheTest() async throws {
        let wire = ScriptedTransport([.status(204)])
        let server = wire.authorizationServer
        wire.tokenStore.stored = server.signIn()
        var configuration = ServiceConfiguration()
        configuration.authenticationMethod = .bearer(
            server.authentication(wire.tokenStore, signIn: Login(server: server)))
        wire.install(in: &configuration)
        server.endSessions()
        try await Atom(serviceConfiguration: configuration).enqueue(Call()).resume()
        #expect(wire.requests.map(\.bearerToken) == ["A1", "A2"])
        #expect(server.counts.refusals == 1 && wire.tokenStore.stored?.refreshToken == "R2")
        try wire.verify()
    }

    @Test func aServerCanBeUnavailable() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signedIn: true, expiringIn: .seconds(60))
        wire.authorizationServer.failRefreshes(retryAfter: 10)
        wire.clock.advance(by: .seconds(61))
        let error = await failure(atom)
        #expect(error?.isAccessTokenRefreshFailure == true)
        #expect(error?.retryAt == wire.clock.date + 10)
        wire.clock.advance(by: .seconds(10))
        try await atom.enqueue(Call()).resume()
        #expect(wire.authorizationServer.counts.refreshes == 2)
    }

    @Test func aTokenThatIsUsedTwiceEndsItsFamily() async throws {
        let (atom, wire) = Atom.scripted(signedIn: true, expiringIn: .seconds(60))
        wire.authorizationServer.loseAnswerOfNextRefresh()
        wire.clock.advance(by: .seconds(61))
        #expect(await failsToRefresh(atom))
        wire.clock.advance(by: .seconds(60))
        #expect(await failsToRefresh(atom))
        #expect(wire.authorizationServer.counts.tokensIssued == 1)
        #expect(wire.authorizationServer.counts.reuses == 1)
    }

    @Test func refreshesCanBeHeld() async throws {
        let (atom, wire) = Atom.scripted(.status(204).times(3), signedIn: true, expiringIn: .seconds(60))
        wire.clock.advance(by: .seconds(61))
        wire.authorizationServer.holdRefreshes()
        let tasks = (0..<3).map { _ in Task { await failure(atom) } }
        await wire.idle()
        #expect(wire.requests.isEmpty)
        #expect(wire.authorizationServer.counts.refreshes == 1)
        wire.authorizationServer.releaseRefreshes()
        for task in tasks { #expect(await task.value == nil) }
        #expect(wire.requests.map(\.bearerToken) == ["A2", "A2", "A2"])
        try wire.verify()
    }

    @Test func aRefreshCanBeSlowByTheClock() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signedIn: true, expiringIn: .seconds(60))
        wire.clock.advance(by: .seconds(61))
        wire.authorizationServer.delayNextRefresh(by: .seconds(5))
        let task = Task { await failure(atom) }
        await wire.idle()
        wire.clock.advance(by: .seconds(4))
        #expect(wire.requests.isEmpty)
        wire.clock.advance(by: .seconds(1))
        #expect(await task.value == nil)
    }

    @Test func signingOutRevokes() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signedIn: true)
        try await atom.enqueue(Call()).resume()
        try await atom.signOut(waitingForRevocation: true)
        #expect(wire.authorizationServer.counts.revocations == 1)
        #expect(wire.tokenStore.stored == nil)
        #expect(wire.tokenStore.writes == [nil])
    }

    @Test func endingTheSessionsRefusesEverything() async throws {
        let (atom, wire) = Atom.scripted(signedIn: true)
        wire.authorizationServer.endSessions()
        #expect(await failsToRefresh(atom))
        #expect(wire.authorizationServer.counts.refusals == 1)
    }

    @Test func endingNoSessionsLetsTheNextOneBe() async throws {
        let (atom, wire) = Atom.scripted(.text("a"), signedIn: false)
        wire.authorizationServer.endSessions()
        try await wire.tokenStore.save(wire.authorizationServer.signIn())
        wire.authorizationServer.revokeAccessTokens()
        #expect(try await atom.enqueue(Call()).resume(expecting: String.self) == "a")
        #expect(wire.authorizationServer.counts.refreshes == 1)
    }

    @Test func somethingCanFailForEver() async throws {
        let (atom, wire) = Atom.scripted(signedIn: true) { $0.retryPolicy = RetryPolicy.none }
        wire.authorizationServer.revokeAccessTokens()
        wire.authorizationServer.failRefreshes(.max)
        wire.authorizationServer.refuseRefreshes(.min)
        #expect(await failsToRefresh(atom))
        wire.tokenStore.failLoads(.max, with: DiskError())
        wire.tokenStore.failSaves(-1, with: DiskError())
        for _ in 0..<3 { await #expect(throws: DiskError.self) { try await wire.tokenStore.load() } }
        try wire.verify()
    }

    @Test func idleWaitsForTheRefreshThatIsComing() async throws {
        for _ in 0..<50 {
            let (atom, wire) = Atom.scripted(.json(Page()), signedIn: true)
            wire.authorizationServer.revokeAccessTokens()
            let model = await ListModel(atom: atom)
            await model.appear()
            await wire.idle()
            #expect(await model.state == .loaded([Page()]))
            #expect(wire.authorizationServer.counts.refreshes == 1)
        }
    }

    /// Lets other tasks run very often before and after it does anything, as a thread does that stands still.
    private final class SlowStore: TokenCredentialStore {
        private let store: RecordingTokenCredentialStore

        init(_ store: RecordingTokenCredentialStore) { self.store = store }

        func load() async throws -> TokenCredential? { try await store.load() }

        func save(_ credential: TokenCredential?) async throws { try await store.save(credential) }

        func exchange(
            _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
        ) async throws -> TokenCredential? {
            await standStill()
            let result = try await store.exchange(body)
            await standStill()
            return result
        }

        private func standStill() async { for _ in 0..<20_000 { await MainActor.run {} } }
    }

    private struct Login: TokenCredentialProvider {
        let server: ScriptedAuthorizationServer
        var button: AsyncStream<Never>?

        func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
            if let button { for await _ in button {} }
            return server.signIn()
        }
    }

    /// A service whose store is slow.
    private func slowAtom(
        _ wire: ScriptedTransport, signIn provider: Login? = nil, observers: [any RequestObserver] = []
    ) -> Atom {
        // On a busy machine the store takes longer than a wire usually waits.
        wire.clock.patience = .seconds(120)
        wire.tokenStore.stored = wire.authorizationServer.signIn()
        var configuration = ServiceConfiguration()
        configuration.observers = observers
        configuration.authenticationMethod = .bearer(
            wire.authorizationServer.authentication(SlowStore(wire.tokenStore), signIn: provider))
        wire.install(in: &configuration)
        wire.authorizationServer.revokeAccessTokens()
        return Atom(serviceConfiguration: configuration)
    }

    @Test(arguments: [false, true])
    func idleWaitsForARefreshHoweverLateItBeginsAndEnds(hasProvider: Bool) async throws {
        let wire = ScriptedTransport([.json(Page())])
        let atom = slowAtom(wire, signIn: hasProvider ? Login(server: wire.authorizationServer) : nil)
        let model = await ListModel(atom: atom)
        await model.appear()
        await wire.idle()
        #expect(await model.state == .loaded([Page()]))
        #expect(wire.authorizationServer.counts.refreshes == 1)
    }

    /// Stands still when it hears that a request was sent, as its thread may.
    private struct HesitatingObserver: RequestObserver {
        let enter: AsyncStream<Never>.Continuation
        let goOn: DispatchSemaphore

        func observe(_ event: RequestEvent) {
            guard event.purpose == .service, case .sent = event.kind else { return }
            enter.finish()
            goOn.wait()
        }
    }

    @Test func idleWaitsForARefreshThatNoObserverHasHeardOf() async throws {
        let (entered, enter) = AsyncStream<Never>.makeStream()
        let goOn = DispatchSemaphore(value: 0)
        let wire = ScriptedTransport([.status(204)])
        let atom = slowAtom(wire, observers: [HesitatingObserver(enter: enter, goOn: goOn)])
        let task = Task.detached { [self] in await failure(atom) }
        Task {
            for await _ in entered {}
            for _ in 0..<1_000 { await MainActor.run {} }
            // The request is sent twice.
            for _ in 0..<2 { goOn.signal() }
        }
        await wire.idle()
        #expect(wire.authorizationServer.counts.refreshes == 1)
        #expect(await task.value == nil)
    }

    @Test func idleWaitsForTheRefreshAfterOneThatFailed() async throws {
        let wire = ScriptedTransport([.json(Page())])
        let atom = slowAtom(wire)
        wire.authorizationServer.failRefreshes()
        #expect(await failsToRefresh(atom))
        let model = await ListModel(atom: atom)
        await model.appear()
        await wire.settle()
        #expect(await model.state == .loaded([Page()]))
    }

    @Test func advancingWaitsForTheRefreshAfterAPause() async throws {
        let wire = ScriptedTransport([.status(204)])
        let atom = slowAtom(wire)
        wire.authorizationServer.failRefreshes(retryAfter: 10)
        #expect(await failsToRefresh(atom))
        let task = Task { await failure(atom) }
        await wire.settle()
        // The deadline of the request is at thirty.
        await wire.advance(by: .seconds(40))
        #expect(await task.value == nil)
    }

    @Test func heldWritesDoNotHoldUpTheRefreshBeforeThem() async throws {
        let wire = ScriptedTransport([.json(Page())])
        let atom = slowAtom(wire)
        wire.tokenStore.holdWrites()
        let model = await ListModel(atom: atom)
        await model.appear()
        await wire.idle()
        #expect(wire.authorizationServer.counts.refreshes == 1)
        wire.tokenStore.releaseWrites()
        await wire.idle()
        #expect(await model.state == .loaded([Page()]))
    }

    @Test func nothingIsWaitedForThatWaitsForAPerson() async throws {
        let (button, press) = AsyncStream<Never>.makeStream()
        let wire = ScriptedTransport([.status(204)])
        // Longer than the time limit.
        wire.clock.patience = .seconds(3_600)
        var configuration = ServiceConfiguration()
        configuration.authenticationMethod = .bearer(
            wire.authorizationServer.authentication(
                wire.tokenStore, signIn: Login(server: wire.authorizationServer, button: button)))
        wire.install(in: &configuration)
        let atom = Atom(serviceConfiguration: configuration)
        let task = Task { await failure(atom) }
        await wire.settle()
        #expect(wire.requests.isEmpty)
        press.finish()
        #expect(await task.value == nil)
    }

    @Test func nothingIsWaitedForWhileTheSessionPauses() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signedIn: true, expiringIn: .seconds(60))
        wire.clock.patience = .seconds(3_600)
        wire.clock.advance(by: .seconds(61))
        wire.authorizationServer.failRefreshes(retryAfter: 10)
        #expect(await failsToRefresh(atom))
        let task = Task { await failure(atom) }
        await wire.idle()
        await wire.settle()
        #expect(wire.authorizationServer.counts.refreshes == 1)
        await wire.advance(by: .seconds(10))
        #expect(await task.value == nil)
        #expect(wire.authorizationServer.counts.refreshes == 2)
    }

    @Test func nothingIsWaitedForWhileTheTestHoldsTheStore() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signedIn: true, expiringIn: .seconds(60))
        wire.clock.patience = .seconds(3_600)
        wire.clock.advance(by: .seconds(61))
        wire.tokenStore.holdWrites()
        let task = Task { await failure(atom) }
        await wire.idle()
        #expect(wire.requests.isEmpty && wire.authorizationServer.counts.refreshes == 1)
        wire.tokenStore.releaseWrites()
        #expect(await task.value == nil)
    }

    @Test func nothingIsWaitedForWhileAnotherProcessHasTheStore() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signedIn: true, expiringIn: .seconds(60))
        wire.clock.patience = .seconds(3_600)
        wire.clock.advance(by: .seconds(61))
        let other = RecordingTokenCredentialStore(sharing: wire.tokenStore)
        let (gate, open) = AsyncStream<Never>.makeStream()
        let (beginning, begin) = AsyncStream<Never>.makeStream()
        let holder = Task {
            try await other.exchange { stored in
                begin.finish()
                for await _ in gate {}
                return stored
            }
        }
        for await _ in beginning {}
        let task = Task { await failure(atom) }
        await wire.settle()
        #expect(wire.authorizationServer.counts.refreshes == 0)
        open.finish()
        #expect(await task.value == nil)
        _ = try await holder.value
    }

    /// A store that the wire doesn't know holds the session up.
    @Test func whatTheTestHoldsUpItselfIsGivenUp() async throws {
        final class Gated: TokenCredentialStore {
            let (gate, open) = AsyncStream<Never>.makeStream()

            func load() async throws -> TokenCredential? {
                for await _ in gate {}
                return TokenCredential(accessToken: "a", expiresAt: .distantFuture, refreshToken: "r")
            }

            func save(_ credential: TokenCredential?) async throws {}
        }
        let store = Gated()
        let (atom, wire) = Atom.scripted(.status(204)) {
            $0.authenticationMethod = .bearer(
                BearerAuthentication(
                    endpoint: ScriptedTransport().authorizationServer.tokenEndpoint, client: ClientCredential(id: "c"),
                    store: store))
        }
        wire.clock.patience = .milliseconds(100)
        let task = Task { await failure(atom) }
        await wire.settle()
        #expect(wire.requests.isEmpty)
        store.open.finish()
        #expect(await task.value == nil)
    }

    @Test("Many sessions at once get all their answers, and only those that have expired refresh")
    func sessionStorm() async throws {
        let wrong = await withTaskGroup(of: Bool.self, returning: Int.self) { group in
            for number in 0..<SideBySide.count {
                group.addTask {
                    let (atom, wire) = Atom.scripted(
                        .json(Page(number: number)).times(5), signedIn: true, expiringIn: .seconds(60))
                    wire.clock.advance(by: number % 2 == 0 ? .seconds(61) : .zero)
                    let results = await withTaskGroup(of: Int?.self, returning: [Int?].self) { calls in
                        for _ in 0..<5 {
                            calls.addTask {
                                try? await atom.enqueue(Call()).resume(expecting: Page.self).number
                            }
                        }
                        return await calls.reduce(into: []) { $0.append($1) }
                    }
                    await wire.idle()
                    return results != Array(repeating: number, count: 5)
                        || wire.authorizationServer.counts.refreshes != (number % 2 == 0 ? 1 : 0)
                        || wire.requests.count != 5
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wrong == 0)
    }

    // MARK: The store

    struct DiskError: Error {}

    @Test func aStoreFailsToOrder() async throws {
        let store = RecordingTokenCredentialStore()
        store.failLoads(with: DiskError())
        await #expect(throws: DiskError.self) { try await store.load() }
        #expect(try await store.load() == nil)
        store.failSaves(2, with: DiskError())
        let credential = TokenCredential(accessToken: "a", expiresAt: .distantFuture, refreshToken: "r")
        await #expect(throws: DiskError.self) { try await store.save(credential) }
        await #expect(throws: DiskError.self) { try await store.exchange { _ in credential } }
        #expect(store.stored == nil)
        #expect(try await store.exchange { _ in credential } == credential)
        #expect(
            store.operations == [.failure, .load, .failure, .failure, .exchange(old: nil, new: credential)])
    }

    @Test func tokensThatTheTestSetsStay() async throws {
        let store = RecordingTokenCredentialStore()
        let (mine, theirs) = (
            TokenCredential(accessToken: "m", expiresAt: .distantFuture, refreshToken: "m"),
            TokenCredential(accessToken: "t", expiresAt: .distantFuture, refreshToken: "t")
        )
        let result = try await store.exchange { _ in
            store.stored = theirs
            return mine
        }
        #expect(result == theirs)
        #expect(store.stored == theirs)
    }

    @Test func exchangesAreExclusive() async throws {
        let store = RecordingTokenCredentialStore()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    _ = try? await store.exchange { old in
                        await Task.yield()
                        let number = Int(old?.accessToken ?? "0") ?? 0
                        return TokenCredential(
                            accessToken: "\(number + 1)", expiresAt: .distantFuture, refreshToken: "r")
                    }
                }
            }
        }
        #expect(store.stored?.accessToken == "100")
    }

    @Test func aFailedWriteIsToldToTheApp() async throws {
        let (atom, wire) = Atom.scripted(signedIn: false)
        wire.tokenStore.failSaves(with: DiskError())
        await #expect(throws: AtomError.self) { try await atom.signIn(with: wire.authorizationServer.signIn()) }
    }
}
