import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("A session with a store or a provider that breaks its promises", .limited)
struct StoredSessionFaultTests {
    @Test("An exchange that runs its body again stores the new credential, and spends no refresh token twice")
    func bodyTwice() async throws {
        let store = RepeatingStore(.issued(0, life: 0))
        let session = try SessionFixture(store: store)
        let call = session.call()
        await session.refresh().grant(1)
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A1")
        exchange.answer()
        #expect(await call.status() == 200)
        #expect(session.refreshes.count == 1)
        #expect(await store.load()?.accessToken == "A1", "the refresh token R0 is spent")
    }

    @Test("An exchange that runs its body twice at once sends one refresh, and its result isn't lost")
    func bodyTwiceAtOnce() async throws {
        let store = RepeatingStore(.issued(0, life: 0), isAtOnce: true)
        let session = try SessionFixture(
            store: store,
            script: { exchange in
                if exchange.request.method == "POST" { exchange.grant(1) } else { exchange.answer() }
            })
        #expect(await session.call().status() == 200)
        try #require(session.refreshes.count == 1)
        #expect(session.sent[0].token == "A1")
        // If the first run was not over when the second began, the write is tried again.
        #expect(
            await eventually {
                // Its pause may begin only now.
                session.time.advance(by: .seconds(1))
                return await store.load()?.accessToken == "A1"
            })
    }

    /// A refresh that is still under way when the store has given its exchange up.
    private func givenUp() async throws -> (SessionFixture, GivingUpStore, Call, ScriptedExchange) {
        let store = GivingUpStore(.issued(0, life: 0))
        let session = try SessionFixture(store: store)
        let call = session.call()
        let refresh = await session.refresh()
        await store.giveUp()
        return (session, store, call, refresh)
    }

    @Test("What the token endpoint says after a store has given its exchange up is heard")
    func storeGivesUp() async throws {
        let (session, store, call, refresh) = try await givenUp()
        refresh.grant(1)
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A1")
        exchange.answer()
        #expect(await call.status() == 200)
        let isWritten = await eventually {
            // The pause before another write may begin only now.
            session.time.advance(by: .seconds(1))
            return (try? await store.load())?.refreshToken == "R1"
        }
        #expect(isWritten, "the refresh token R0 is spent")
        #expect(session.refreshes.count == 1)
    }

    @Test("A refusal after a store has given its exchange up ends the session")
    func refusedAfterGivingUp() async throws {
        let (session, _, call, refresh) = try await givenUp()
        refresh.deny("invalid_grant")
        guard case .authentication(.refreshRejected) = await call.error() else { throw Unexpected("not refused") }
        guard case .authentication(.refreshRejected) = await session.call().error() else { throw Unexpected("goes on") }
        #expect(session.refreshes.count == 1)
    }

    @Test("A failure after a store has given its exchange up is the failure of the refresh")
    func failedAfterGivingUp() async throws {
        let (session, _, call, refresh) = try await givenUp()
        refresh.answer(status: 503, headers: [("Retry-After", "60")])
        guard case .authentication(.refreshFailed(_, _?, _)) = await call.error() else { throw Unexpected("no delay") }
        #expect(session.refreshes.count == 1)
    }

    @Test("What an observer does while the session has its turn at the store is no call of the store")
    func observerInTheTurn() async throws {
        let calls = Locked<[Bool]>([])
        let observer = RecordingObserver { event in
            guard case .sessionEnded = event.kind else { return }
            calls.with { $0.append(SessionOperation.onStore == nil) }
        }
        let session = try SessionFixture(
            store: InMemoryTokenCredentialStore(.issued(0, life: 0)), change: { $0.observers = [observer] })
        let call = session.call()
        await session.refresh().deny("invalid_grant")
        _ = await call.outcome()
        #expect(await eventually { calls.value == [true] })
    }

    @Test("After a write that failed, the next refresh that is stored is announced as stored")
    func storedByTheNextRefresh() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.saveError = DiskFailure()
        let session = try SessionFixture(store: disk)
        let events = session.atom.events
        let first = session.call()
        await session.refresh().grant(1)
        await session.transport.exchange(1).answer()
        _ = await first.outcome()
        disk.saveError = nil
        // The clock has not moved: the failed write itself is not tried again yet.
        let second = session.call()
        await session.transport.exchange(2).answer(status: 401)
        await session.refresh(1).grant(2)
        await session.transport.exchange(4).answer()
        #expect(await second.status() == 200)
        #expect(disk.stored?.accessToken == "A2")
        #expect(try await session.kinds(of: events) == ["not stored", "refreshed", "stored", "refreshed"])
    }

    @Test("A write that failed but reached the store is announced as stored when that is found out")
    func writtenAfterAll() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.saveError = DiskFailure()
        let store = RecordingTokenCredentialStore(sharing: disk)
        let session = try SessionFixture(store: store)
        let events = session.atom.events
        let call = session.call()
        await session.refresh().grant(1)
        await session.transport.exchange(1).answer()
        _ = await call.outcome()
        disk.saveError = nil
        disk.stored = session.held
        let reads = disk.operations.count
        session.time.advance(by: .seconds(1))
        try #require(await eventually { disk.operations.count > reads })
        #expect(disk.writes.isEmpty)
        #expect(try await session.kinds(of: events) == ["not stored", "refreshed", "stored"])
    }

    @Test("A sign-in that is stored after one that failed is announced as stored")
    func signedInAgain() async throws {
        let disk = RecordingTokenCredentialStore()
        disk.saveError = DiskFailure()
        let session = try SessionFixture(store: disk)
        let events = session.atom.events
        await #expect(throws: AtomError.self) { try await session.atom.signIn(with: .issued(1)) }
        disk.saveError = nil
        try await session.atom.signIn(with: .issued(2))
        #expect(disk.stored == .issued(2))
        #expect(try await session.kinds(of: events) == ["signed in", "not stored", "signed in", "stored"])
    }

    // MARK: A full disk

    @Test("A refresh token isn't spent when its note can't be written, and the next attempt goes on with it")
    func noteNotWritten() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let store = FullStore(disk)
        let session = try SessionFixture(store: store)
        guard case .authentication(.refreshFailed(TokenStoreError.diskFull, _, .notSent)) = await session.call().error()
        else { throw Unexpected("not refused") }
        #expect(session.transport.exchanges.isEmpty)
        store.isFull.set(false)
        let call = session.call()
        await session.refresh().grant(1)
        await session.transport.exchange(1).answer()
        #expect(await call.status() == 200)
        #expect(disk.stored?.refreshToken == "R1")
    }

    @Test("An access token that is still valid is used when the note of an early refresh can't be written")
    func earlyNoteNotWritten() async throws {
        let store = FullStore(RecordingTokenCredentialStore(.issued(0, life: 100)))
        let session = try SessionFixture(store: store, bearer: { $0.leeway = .seconds(60) })
        for index in 0...1 {
            session.time.advance(by: .seconds(45))
            let call = session.call()
            let exchange = await session.transport.exchange(index)
            #expect(exchange.token == "A0")
            exchange.answer()
            #expect(await call.status() == 200)
        }
        #expect(session.refreshes.isEmpty)
    }

    @Test("What can't be stored is said by the log at each level", arguments: LogLevel.allCases)
    func notStoredIsLogged(level: LogLevel) async throws {
        let lines = Locked<[String]>([])
        func said() -> [String] {
            lines.value.filter { $0.contains("The token store could not be written: DiskFailure.") }
        }
        func session(_ store: RecordingTokenCredentialStore) throws -> SessionFixture {
            store.saveError = DiskFailure()
            let log = RequestLog(from: level) { level, line in lines.with { $0.append("\(level): \(line)") } }
            return try SessionFixture(store: store, change: { $0.observers = [log] })
        }
        let refreshing = try session(RecordingTokenCredentialStore(.issued(0, life: 0)))
        let call = refreshing.call()
        await refreshing.refresh().grant(1)
        await refreshing.transport.exchange(1).answer()
        #expect(await call.status() == 200)
        // The requests that waited are told first.
        #expect(await eventually { said().count == 1 })
        // It is tried again in silence, until it is given up.
        let isGivenUp = await eventually {
            refreshing.time.advance(by: .seconds(60))
            return said().count == 2
        }
        #expect(isGivenUp)
        try? await refreshing.atom.signOut()
        #expect(await eventually { said().count == 3 })
        try? await session(RecordingTokenCredentialStore()).atom.signIn(with: .issued(1))
        #expect(await eventually { said().count == 4 })
        #expect(said().allSatisfy { $0.hasPrefix("error: ") && !$0.contains("A1") && !$0.contains("R1") })
    }

    @Test("A new refresh token beside a failure that can't be stored is announced, and so is the write that succeeds")
    func keptRefreshTokenNotStored() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.saveError = DiskFailure()
        let session = try SessionFixture(store: disk)
        let events = session.atom.events
        let call = session.call()
        await session.refresh().answer(#"{"access_token":"a b","token_type":"bearer","refresh_token":"R1"}"#)
        guard case .authentication(.refreshFailed) = await call.error() else { throw Unexpected("not failed") }
        disk.saveError = nil
        #expect(
            await eventually {
                session.time.advance(by: .seconds(1))
                return disk.stored?.refreshToken == "R1"
            })
        #expect(try await session.kinds(of: events) == ["not stored", "failed", "stored"])
    }

    @Test("A refresh that has not begun when the app signs out sends nothing")
    func signedOutBeforeTheRefreshBegan() async throws {
        let session = try SessionFixture(lifetime: 0)
        let actor = try #require(session.atom.manager.session)
        let asking = Exchange(
            try session.atom.manager.prepare(PathEndpoint()), manager: session.atom.manager,
            listener: .completion { _ in })
        let (_, actions) = actor.gate.with {
            $0.asked(
                asking, by: .refreshToken, read: (session.tokens.tokenCredential, $0.version),
                deadline: session.time.now + .seconds(60),
                now: actor.moment)
        }
        guard case .refresh(let number, let credential, _)? = actions.last else { throw Unexpected("no refresh") }
        try await session.atom.signOut()
        await actor.refresh(number, replacing: credential, for: session.atom.manager)
        #expect(session.transport.exchanges.isEmpty, "the person whose token it is has signed out")
        #expect(!actor.gate.with { $0.isRefreshOnItsWay })
    }

    @Test(
        "Times beyond all measure end in no trap",
        arguments: [Duration.seconds(Int64.max), .seconds(Int64.max) * 4, .seconds(Int64.min) * 4])
    func extremeDurations(_ duration: Duration) async throws {
        struct Offline: Error {}
        let login = ScriptedLogin()
        let session = try SessionFixture(
            store: InMemoryTokenCredentialStore(), provider: login,
            bearer: {
                $0.deadline = max(duration, .seconds(1))
                $0.leeway = duration
                $0.fruitlessRefreshWindow = duration
                $0.fruitlessRefreshLimit = 1
            })
        let first = session.call()
        await login.form(0).finish(
            .success(TokenCredential(accessToken: "A", expiresAt: .distantPast, refreshToken: "")))
        await session.transport.exchange(0).answer(status: 401)
        let second: ScriptedLogin.Form?
        if duration > .zero {
            second = nil
            guard case .authentication(.tooManyRefreshes) = await first.error() else { throw Unexpected("not limited") }
        } else {
            second = await login.form(1)
        }
        second?.finish(.failure(TokenCredentialProviderError.retryAfter(duration, Offline())))
        if second != nil { #expect(await first.error()?.isAccessTokenRefreshFailure == true) }
        try await session.atom.signOut()
        let third = session.call()
        await login.form(second == nil ? 1 : 2)
            .finish(.failure(TokenCredentialProviderError.retryAfter(duration, Offline())))
        let error = await third.error()
        #expect(error?.isAccessTokenRefreshFailure == true)
        #expect(error?.description.isEmpty == false)
    }
}

extension SessionFixture {
    /// The credential that the session uses.
    fileprivate var held: TokenCredential? { atom.manager.session?.gate.with { $0.held?.credential } }

    /// What has happened up to now, when the store's last operation is over.
    fileprivate func kinds(of events: AsyncStream<SessionEvent>) async throws -> [String] {
        if let session = atom.manager.session { await session.takeTurn().run {} }
        // The last event ends the list.
        try await atom.signOut()
        var kinds: [String] = []
        for await event in events {
            switch event {
            case .signedIn: kinds.append("signed in")
            case .signedOut: return kinds
            case .refreshed: kinds.append("refreshed")
            case .credentialChanged: kinds.append("changed")
            case .refreshFailed: kinds.append("failed")
            case .ended: kinds.append("ended")
            case .credentialNotStored: kinds.append("not stored")
            case .credentialStored: kinds.append("stored")
            }
        }
        return kinds
    }
}

/// A store that runs an exchange's body more than once, as after a conflict
/// when it writes.
private actor RepeatingStore: TokenCredentialStore {
    private var content: TokenCredential?
    private let isAtOnce: Bool

    init(_ content: TokenCredential?, isAtOnce: Bool = false) {
        self.content = content
        self.isAtOnce = isAtOnce
    }

    func load() -> TokenCredential? { content }
    func save(_ credential: TokenCredential?) { content = credential }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        let old = content
        if isAtOnce {
            async let first = body(old)
            async let second = body(old)
            let results = (try await first, try await second)
            content = results.1
        } else {
            _ = try await body(old)
            content = try await body(old)
        }
        return content
    }
}

/// A store whose exchange is given up while its body runs, as one does that
/// limits its transactions.
private final class GivingUpStore: TokenCredentialStore {
    private let memory: InMemoryTokenCredentialStore
    private let isGivenUp = Signal()
    private let gaveUp = Locked(false)
    /// Raised when its body has ended.
    private let hasEnded = Signal()

    init(_ credential: TokenCredential) { memory = InMemoryTokenCredentialStore(credential) }

    func giveUp() async {
        isGivenUp.raise()
        await hasEnded.wait()
    }

    func load() async throws -> TokenCredential? { try await memory.load() }

    func save(_ credential: TokenCredential?) async throws { try await memory.save(credential) }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        // Only the first one is given up.
        let isFirst = gaveUp.with { isOver in
            defer { isOver = true }
            return !isOver
        }
        guard isFirst else { return try await memory.exchange(body) }
        return try await withoutActuallyEscaping(body) { body in
            try await withThrowingTaskGroup(of: TokenCredential?.self) { [memory, isGivenUp, hasEnded] group in
                group.addTask { try await body(memory.load()) }
                await isGivenUp.wait()
                group.cancelAll()
                _ = try await group.next()
                hasEnded.raise()
                throw DiskFailure()
            }
        }
    }
}

/// A store whose disk is full: it can be read, and no note can be written.
private final class FullStore: RefreshIntentRecording {
    let isFull = Locked(true)
    private let base: RecordingTokenCredentialStore

    init(_ base: RecordingTokenCredentialStore) { self.base = base }

    func load() async throws -> TokenCredential? { try await base.load() }

    func save(_ credential: TokenCredential?) async throws { try await base.save(credential) }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        try await base.exchange(body)
    }

    func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool {
        if isFull.value { throw TokenStoreError.diskFull }
        return try await base.recordRefreshIntent(for: credential)
    }

    func removeRefreshIntent(for credential: TokenCredential) async { await base.removeRefreshIntent(for: credential) }
}
