import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("Waiting for a refresh before the process ends", .limited)
struct FinishRefreshTests {
    /// A call of `finishRefresh(within:)` of which the test knows when it waits
    /// and when it has returned.
    private final class Waiting: Sendable {
        let hasReturned = Locked(false)
        private let task: Task<AuthenticationError?, Never>

        /// - Parameter duration: One for which no other alarm is set.
        init(_ session: SessionFixture, within duration: Duration = .seconds(77)) async {
            let atom = session.atom
            task = Task { [hasReturned] in
                defer { hasReturned.set(true) }
                return await atom.finishRefresh(within: duration)
            }
            let alarm = session.time.now.advanced(by: duration)
            #expect(await eventually { session.time.hasAlarm(at: alarm) }, "it waits")
        }

        func cancel() { task.cancel() }

        /// What is lost, by a name.
        @discardableResult
        func end() async -> String { FinishRefreshTests.name(await task.value) }
    }

    /// What is lost, and why.
    private static func name(_ loss: AuthenticationError?) -> String {
        switch loss {
        case nil: "nothing"
        case .credentialNotStored(AtomError.session(let error as URLError), .notSent)?
        where error.code == .timedOut: "a write that runs"
        case .credentialNotStored(let cause, .notSent)?: "not stored: \(cause)"
        case .refreshFailed(AtomError.session(let error as URLError), nil, .notSent)?
        where error.code == .timedOut: "a refresh that runs"
        case let other?: "\(other)"
        }
    }

    // MARK: What is waited for

    @Test("It returns when the app's variable has the new tokens, whoever was cancelled")
    func variable() async throws {
        let session = try SessionFixture(lifetime: 0)
        let call = session.call()
        let refresh = await session.refresh()
        call.cancel()
        _ = await call.outcome()
        let waiting = await Waiting(session)
        #expect(!waiting.hasReturned.value)
        refresh.grant(1)
        #expect(await waiting.end() == "nothing")
        #expect(session.tokens.writes.map(\.accessToken) == ["A1"])
    }

    @Test("It returns when the store holds the new tokens, not when the server has responded")
    func store() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk)
        session.call()
        let refresh = await session.refresh()
        disk.holdWrites()
        let waiting = await Waiting(session)
        refresh.grant(1)
        let actor = try #require(session.atom.manager.session)
        try #require(await eventually { actor.gate.with { $0.held?.credential.accessToken == "A1" } })
        #expect(!waiting.hasReturned.value)
        disk.releaseWrites()
        #expect(await waiting.end() == "nothing")
        #expect(disk.stored?.accessToken == "A1")
    }

    @Test("A write that runs for longer than the duration is not stored")
    func heldWrite() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk)
        session.call()
        let refresh = await session.refresh()
        disk.holdWrites()
        let waiting = await Waiting(session)
        refresh.grant(1)
        let actor = try #require(session.atom.manager.session)
        try #require(await eventually { actor.gate.with { $0.isStoring } })
        session.time.advance(by: .seconds(77))
        #expect(await waiting.end() == "a write that runs")
        disk.releaseWrites()
        #expect(await eventually { disk.stored?.accessToken == "A1" })
    }

    @Test("Without a duration it waits for the same")
    func unlimited() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk)
        session.call()
        let refresh = await session.refresh()
        let stored = Task {
            await session.atom.finishRefresh()
            return disk.stored?.accessToken
        }
        refresh.grant(1)
        #expect(await stored.value == "A1")
    }

    @Test("Every service of a session waits for its refresh")
    func sharedSession() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk)
        let other = try SessionFixture(store: disk, time: session.time)
        session.call()
        let refresh = await session.refresh()
        let waitings = [await Waiting(session, within: .seconds(77)), await Waiting(other, within: .seconds(66))]
        refresh.grant(1)
        for waiting in waitings { await waiting.end() }
        #expect(disk.stored?.accessToken == "A1")
    }

    @Test("A refresh that fails is over", arguments: [400, 503])
    func failed(status: Int) async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0, life: 0)))
        let call = session.call()
        let refresh = await session.refresh()
        let waiting = await Waiting(session)
        if status == 400 { refresh.deny("invalid_grant") } else { refresh.answer(status: status) }
        #expect(await waiting.end() == "nothing")
        #expect(await call.error()?.isAccessTokenRefreshFailure == true)
    }

    @Test("What a sign-in or a sign-out has to write is waited for", arguments: [true, false])
    func writes(isSignIn: Bool) async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk)
        try await session.atom.loadSession()
        let isFree = Signal()
        let process = Task {
            try await disk.exchange { stored in
                await isFree.wait()
                return stored
            }
        }
        try #require(await eventually { disk.isInUse })
        let change = Task {
            if isSignIn { try await session.atom.signIn(with: .issued(1)) } else { try await session.atom.signOut() }
        }
        let actor = try #require(session.atom.manager.session)
        try #require(await eventually { actor.gate.with { $0.store.hasToWrite(again: false) } })
        let waiting = await Waiting(session)
        #expect(!waiting.hasReturned.value)
        isFree.raise()
        await waiting.end()
        #expect(disk.stored == (isSignIn ? .issued(1) : nil))
        try await change.value
        _ = try await process.value
    }

    @Test("Tokens that come home for somebody who is signed in again are waited for")
    func signedInAgain() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk)
        session.call()
        let refresh = await session.refresh()
        try await session.atom.signOut()
        try await session.atom.signIn(with: .issued(0))
        let waiting = await Waiting(session)
        refresh.grant(1)
        await waiting.end()
        #expect(disk.stored?.accessToken == "A1")
    }

    @Test("A refresh that fails for somebody who is signed in again is over")
    func failedForSignedInAgain() async throws {
        let session = try SessionFixture(lifetime: 0)
        session.call()
        let refresh = await session.refresh()
        try await session.atom.signOut()
        try await session.atom.signIn(with: .issued(0, life: 0))
        let waiting = await Waiting(session)
        refresh.answer(status: 503)
        await waiting.end()
        #expect(session.tokens.writes.last?.refreshToken == "R0")
    }

    // MARK: A store that fails

    @Test("Without a duration a write is waited for that fails, but not until it is repeated")
    func failedWrite() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.saveError = DiskFailure()
        let session = try SessionFixture(store: disk)
        session.call()
        let refresh = await session.refresh()
        let waiting = Task { await session.atom.finishRefresh() }
        refresh.grant(1)
        #expect(Self.name(await waiting.value) == "not stored: DiskFailure()")
        #expect(disk.operations.last == .failure)
        #expect(disk.stored?.accessToken == "A0")
    }

    @Test("Within the duration it waits until the write has succeeded")
    func repeatedWrite() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.failSaves(3, with: DiskFailure())
        let session = try SessionFixture(store: disk)
        session.call()
        let refresh = await session.refresh()
        let waiting = await Waiting(session)
        refresh.grant(1)
        for seconds in [1, 2, 4] {
            try #require(await eventually { session.time.nextAlarm == session.time.now + .seconds(seconds) })
            #expect(!waiting.hasReturned.value)
            session.time.advance(by: .seconds(seconds))
        }
        #expect(await waiting.end() == "nothing")
        #expect(disk.stored?.accessToken == "A1")
    }

    @Test(
        "A write that no time helps is not waited for, and what it failed with is returned",
        arguments: [
            TokenStoreError.diskFull, .readOnly, .locked, .newerFormat(version: 2), .refused("it is a folder"),
            .corrupt("it is empty", keptAt: nil), .system(operation: "rename", code: Int(EISDIR)),
        ])
    func hopelessWrite(error: TokenStoreError) async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.saveError = error
        let session = try SessionFixture(store: disk)
        session.call()
        let refresh = await session.refresh()
        let waiting = await Waiting(session)
        refresh.grant(1)
        // The clock stands still.
        #expect(await waiting.end() == "not stored: \(error)")
        for duration in [nil, Duration.zero, .seconds(77)] {
            #expect(Self.name(await session.atom.finishRefresh(within: duration)) == "not stored: \(error)")
        }
        disk.saveError = nil
        let isStored = await eventually {
            // The pause before the next write may begin only now.
            session.time.advance(by: .seconds(1))
            return await session.atom.finishRefresh(within: .zero) == nil
        }
        #expect(isStored)
        #expect(disk.stored?.accessToken == "A1")
    }

    @Test("A sign-in that no time helps is not waited for, either")
    func hopelessSignIn() async throws {
        let disk = RecordingTokenCredentialStore()
        disk.saveError = TokenStoreError.diskFull
        let session = try SessionFixture(store: disk)
        await #expect(throws: AtomError.self) { try await session.atom.signIn(with: .issued(1)) }
        let loss = await session.atom.finishRefresh(within: .seconds(77))
        #expect(Self.name(loss) == "not stored: \(TokenStoreError.diskFull)")
        #expect(loss?.description.contains("The disk is full.") == true)
    }

    @Test(
        "A write that keeps failing is waited for as long as the duration says",
        arguments: [
            DiskFailure(), TokenStoreError.lockTimedOut(.seconds(45)),
            TokenStoreError.corrupt("it is empty", keptAt: URL(fileURLWithPath: "/tokens.corrupt")),
            TokenStoreError.overtaken, TokenStoreError.system(operation: "fsync", code: Int(EIO)),
        ] as [any Error])
    func failingWrite(error: any Error) async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.saveError = error
        let session = try SessionFixture(store: disk)
        session.call()
        let refresh = await session.refresh()
        let waiting = await Waiting(session, within: .milliseconds(2_500))
        refresh.grant(1)
        for milliseconds in [1_000, 1_500] {
            let alarm = session.time.now + .milliseconds(milliseconds)
            try #require(await eventually { session.time.nextAlarm == alarm })
            #expect(!waiting.hasReturned.value)
            session.time.advance(by: .milliseconds(milliseconds))
        }
        #expect(await waiting.end() == "not stored: \(error)")
        #expect(disk.stored?.accessToken == "A0")
    }

    // MARK: A provider

    @Test("A login screen isn't waited for")
    func loginScreen() async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(store: RecordingTokenCredentialStore(), provider: login)
        session.call()
        let form = await login.form(0)
        for duration in [nil, Duration.seconds(10)] {
            #expect(await session.atom.finishRefresh(within: duration) == nil)
        }
        form.finish(.failure(CancellationError()))
    }

    @Test("A refresh is waited for until it asks for a sign-in")
    func turnsToLoginScreen() async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0, life: 0)), signIn: login)
        session.call()
        let refresh = await session.refresh()
        let waiting = await Waiting(session)
        refresh.deny("invalid_grant")
        await waiting.end()
        await login.form(0).finish(.failure(CancellationError()))
    }

    @Test("What a provider has returned is waited for, also while another process holds the store")
    func provided() async throws {
        let login = ScriptedLogin()
        let disk = RecordingTokenCredentialStore()
        let session = try SessionFixture(store: disk, provider: login)
        session.call()
        let form = await login.form(0)
        let isFree = Signal()
        let process = Task {
            try await disk.exchange { stored in
                await isFree.wait()
                return stored
            }
        }
        try #require(await eventually { disk.isInUse })
        form.finish(.success(.issued(1)))
        let actor = try #require(session.atom.manager.session)
        try #require(await eventually { actor.gate.with { $0.unfinishedRefresh != nil } })
        let waiting = await Waiting(session)
        isFree.raise()
        await waiting.end()
        #expect(disk.stored == .issued(1))
        _ = try await process.value
    }

    // MARK: When it returns at once

    @Test("With nothing to wait for it returns at once")
    func nothing() async throws {
        let atoms = [
            Atom(), try SessionFixture().atom, try SessionFixture(store: RecordingTokenCredentialStore()).atom,
            Atom(
                serviceConfiguration: ServiceConfiguration(
                    authenticationMethod: .basic(BasicCredential(password: "secret", username: "ada")))),
        ]
        for atom in atoms {
            await atom.finishRefresh()
            #expect(await atom.finishRefresh(within: .seconds(10)) == nil)
        }
    }

    @Test("A duration that is over is no time to wait", arguments: [Duration.zero, .seconds(-1)])
    func noTime(duration: Duration) async throws {
        let session = try SessionFixture(lifetime: 0)
        session.call()
        _ = await session.refresh()
        #expect(Self.name(await session.atom.finishRefresh(within: duration)) == "a refresh that runs")
    }

    @Test("When the duration is over it returns, and the refresh goes on")
    func deadline() async throws {
        let session = try SessionFixture(lifetime: 0)
        session.call()
        let refresh = await session.refresh()
        let waiting = await Waiting(session)
        session.time.advance(by: .seconds(77))
        #expect(await waiting.end() == "a refresh that runs")
        refresh.grant(1)
        #expect(await eventually { session.tokens.writes.map(\.accessToken) == ["A1"] })
    }

    @Test("A cancelled caller returns at once, and the refresh goes on")
    func cancelled() async throws {
        let session = try SessionFixture(lifetime: 0)
        session.call()
        let refresh = await session.refresh()
        let waiting = await Waiting(session)
        waiting.cancel()
        #expect(await waiting.end() == "a refresh that runs")
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await session.atom.finishRefresh()
        }
        await late.value
        refresh.grant(1)
        #expect(await eventually { session.tokens.writes.map(\.accessToken) == ["A1"] })
    }

    @Test("The refresh of somebody who has signed out isn't waited for")
    func signedOut() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0, life: 0)))
        session.call()
        let refresh = await session.refresh()
        let waiting = await Waiting(session)
        try await session.atom.signOut()
        #expect(await waiting.end() == "nothing")
        #expect(await session.atom.finishRefresh() == nil)
        refresh.grant(1)
    }

    @Test("A refresh that begins in the meantime isn't waited for")
    func nextRefresh() async throws {
        let session = try SessionFixture(lifetime: 0)
        let call = session.call()
        let refresh = await session.refresh()
        let waiting = await Waiting(session)
        refresh.grant(1)
        await session.transport.exchange(1).answer(status: 401)
        let next = await session.refresh(1)
        await waiting.end()
        next.grant(2)
        await session.transport.exchange(3).answer()
        #expect(await call.status() == 200)
    }

    @Test("A store that calls it doesn't wait for itself")
    func inStore() async throws {
        let store = FinishingStore()
        let session = try SessionFixture(store: store)
        store.atom.set(session.atom)
        let call = session.call()
        await session.refresh().grant(1)
        await session.transport.exchange(1).answer()
        #expect(await call.status() == 200)
        #expect(store.calls.value == 2)
    }
}

/// A store that waits for the refresh whose tokens it has to keep.
private final class FinishingStore: TokenCredentialStore {
    let atom = Locked<Atom?>(nil)
    let calls = Locked(0)
    private let inner = InMemoryTokenCredentialStore(.issued(0, life: 0))

    func load() async throws -> TokenCredential? { try await inner.load() }

    func save(_ credential: TokenCredential?) async throws { try await inner.save(credential) }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        let new = try await body(await load())
        for duration in [nil, Duration.seconds(10)] {
            await atom.value?.finishRefresh(within: duration)
            calls.with { $0 += 1 }
        }
        try await save(new)
        return new
    }
}
