import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Records activities, and announces their end when the test wants it.
private final class RecordingActivity: Sendable {
    private struct State {
        var begun = 0
        var ended = 0
        var onExpiry: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())

    var begun: Int { state.withLock { $0.begun } }
    var ended: Int { state.withLock { $0.ended } }

    var activity: ExpiringActivity {
        ExpiringActivity { [state] onExpiry in
            state.withLock { state in
                state.begun += 1
                state.onExpiry = onExpiry
            }
            return { state.withLock { $0.ended += 1 } }
        }
    }

    func expire() { state.withLock { $0.onExpiry }?() }
}

/// The system suspends a process that holds a lock in a shared container only
/// after it has announced that.
@Suite(.limited) struct ExpiringActivityTests {
    private let folder: TemporaryFolder
    private let recording = RecordingActivity()

    init() throws { folder = try TemporaryFolder() }

    private func keeper(lockTimeout: Duration = .seconds(60)) -> CredentialKeeper<CredentialFile> {
        CredentialKeeper(
            CredentialFile(folder.file), lockTimeout: lockTimeout, time: SystemTimeSource(),
            activity: recording.activity)
    }

    /// What another process gets when it tries.
    private func lockOfAnotherProcess() throws -> Descriptor? {
        let place = try FilePlace(folder.file).lock
        return try #require(try StoreFolder(place.folder, creating: false)).tryLock(place.name)
    }

    @Test func theLockIsHeldWithinOneActivity() async throws {
        try await keeper().save(.numbered(1))
        #expect(recording.begun == 1 && recording.ended == 1)
        _ = try await keeper().exchange { old in
            #expect(recording.begun == 2 && recording.ended == 1)
            let other = try lockOfAnotherProcess()
            #expect(other == nil)
            return old
        }
        #expect(recording.begun == 2 && recording.ended == 2)
    }

    @Test func theLockIsGivenBackOnExpiry() async throws {
        try await keeper().save(.numbered(1))
        let stored = try await keeper().exchange { _ in
            recording.expire()
            let other = try #require(try lockOfAnotherProcess())
            other.unlock()
            return .numbered(2)
        }
        #expect(stored == .numbered(2))
        #expect(try await folder.store().load() == .numbered(2))
        #expect(recording.begun == 3 && recording.ended == 3)
        #expect(try lockOfAnotherProcess() != nil)
    }

    @Test func whatAnotherProcessStoredAfterwardsStays() async throws {
        try await keeper().save(.numbered(1))
        let stored = try await keeper().exchange { _ in
            recording.expire()
            // Another process writes while this one is suspended.
            try CredentialFile(folder.file).write(StoredCredential(credential: .numbered(7)))
            return .numbered(2)
        }
        #expect(stored == .numbered(7))
        #expect(try await folder.store().load() == .numbered(7))
    }

    @Test func whoHasSignedOutInAnotherProcessStaysSignedOut() async throws {
        try await keeper().save(.numbered(1))
        let stored = try await keeper().exchange { _ in
            recording.expire()
            try CredentialFile(folder.file).write(nil)
            return .numbered(2)
        }
        #expect(stored == nil)
        #expect(try await folder.store().load() == nil)
    }

    @Test func aLockThatAnotherProcessKeepsIsWaitedForNoLongerThanItsTimeout() async throws {
        try await keeper().save(.numbered(1))
        let other = Guarded<Descriptor?>(nil)
        await #expect(throws: TokenStoreError.lockTimedOut(.milliseconds(20))) {
            _ = try await keeper(lockTimeout: .milliseconds(20)).exchange { _ in
                recording.expire()
                let taken = try lockOfAnotherProcess()
                other.withLock { $0 = taken }
                return .numbered(2)
            }
        }
        #expect(other.withLock { $0 } != nil)
        #expect(try await folder.store().load() == .numbered(1))
        #expect(recording.begun == 3 && recording.ended == 3)
        other.withLock { $0.take() }?.unlock()
        try await keeper().save(.numbered(3))
        #expect(try await folder.store().load() == .numbered(3))
    }

    // MARK: What another process does while this one is suspended

    /// A file, with something that happens whenever it has been locked, and before it is written.
    private struct WatchedFile: CredentialMedium {
        let file: CredentialFile
        var locked: @Sendable () -> Void = {}
        var beforeWrite: @Sendable (StoredCredential?) -> Void = { _ in }

        func read() throws(TokenStoreError) -> StoredCredential? { try file.read() }
        func setAside() throws(TokenStoreError) -> URL? { try file.setAside() }
        func lockKey() throws(TokenStoreError) -> StoreLock.Key { try file.lockKey() }

        func write(_ stored: StoredCredential?) throws(TokenStoreError) {
            beforeWrite(stored)
            try file.write(stored)
        }

        func tryLock() throws(TokenStoreError) -> StoreLock.Attempt {
            let attempt = try file.tryLock()
            if case .taken = attempt { locked() }
            return attempt
        }
    }

    private func keeper(_ medium: WatchedFile) -> CredentialKeeper<WatchedFile> {
        CredentialKeeper(
            medium, lockTimeout: .seconds(60), time: SystemTimeSource(), activity: recording.activity)
    }

    @Test func theLockIsTakenOnlyWithinAnActivityAlsoAgain() async throws {
        try await keeper().save(.numbered(1))
        let running = Guarded<[Int]>([])
        let medium = WatchedFile(
            file: CredentialFile(folder.file),
            locked: { [recording] in running.withLock { $0.append(recording.begun - recording.ended) } })
        _ = try await keeper(medium).exchange { _ in
            recording.expire()
            return .numbered(2)
        }
        #expect(running.withLock { $0 } == [1, 1])
        #expect(recording.begun == 3 && recording.ended == 3)
    }

    @Test func aWriteIsOverBeforeTheLockIsGivenBack() async throws {
        try await keeper().save(.numbered(1))
        let found = Guarded<[Bool]>([])
        let isGivenBack = DispatchSemaphore(value: 0)
        let medium = WatchedFile(
            file: CredentialFile(folder.file),
            beforeWrite: { [self] _ in
                // The system says it on a thread of its own.
                Thread.detachNewThread {
                    recording.expire()
                    isGivenBack.signal()
                }
                let other = try? lockOfAnotherProcess()
                found.withLock { $0.append(other != nil) }
                other?.unlock()
            })
        _ = try await keeper(medium).exchange { _ in .numbered(2) }
        isGivenBack.wait()
        #expect(found.withLock { $0 } == [false])
        #expect(try await folder.store().load() == .numbered(2))
    }

    @Test func aNoteIsWrittenUnderTheLock() async throws {
        try await keeper().save(.numbered(1))
        let found = Guarded<[Bool]>([])
        let medium = WatchedFile(
            file: CredentialFile(folder.file),
            beforeWrite: { [self] _ in
                let other = try? lockOfAnotherProcess()
                found.withLock { $0.append(other != nil) }
                other?.unlock()
            })
        let keeper = keeper(medium)
        _ = try await keeper.exchange { old in
            recording.expire()
            let wasInterrupted = try await keeper.recordRefreshIntent(for: .numbered(1))
            #expect(!wasInterrupted)
            await keeper.removeRefreshIntent(for: .numbered(1))
            return old
        }
        #expect(found.withLock { $0 } == [false, false])
    }

    @Test func aTokenThatAnotherProcessHasReplacedIsNeitherNotedNorPutBack() async throws {
        try await keeper().save(.numbered(1))
        let keeper = keeper()
        await #expect(throws: TokenStoreError.overtaken) {
            _ = try await keeper.exchange { old in
                recording.expire()
                try CredentialFile(folder.file).write(StoredCredential(credential: .numbered(7)))
                _ = try await keeper.recordRefreshIntent(for: .numbered(1))
                return old
            }
        }
        #expect(try await folder.store().load() == .numbered(7))
    }

    /// A store of a process that is suspended, while another one refreshes, as a refresh token is about to be spent.
    private final class OvertakenStore: KeptCredentialStore {
        let keeper: CredentialKeeper<CredentialFile>
        private let overtake: @Sendable () -> Void

        init(_ keeper: CredentialKeeper<CredentialFile>, overtake: @escaping @Sendable () -> Void) {
            self.keeper = keeper
            self.overtake = overtake
        }

        func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool {
            overtake()
            return try await keeper.recordRefreshIntent(for: credential)
        }
    }

    @Test func whatCannotBeLookedAtAgainCountsAsReplaced() async throws {
        try await keeper().save(.numbered(1))
        let keeper = keeper()
        await #expect(throws: TokenStoreError.overtaken) {
            _ = try await keeper.exchange { old in
                recording.expire()
                try Data("{".utf8).write(to: folder.file)
                _ = try await keeper.recordRefreshIntent(for: .numbered(1))
                return old
            }
        }
    }

    @Test func theSessionSendsNoTokenThatAnotherProcessHasReplaced() async throws {
        let old = TokenCredential(accessToken: "old", expiresAt: .distantPast, refreshToken: "r1")
        let new = TokenCredential(accessToken: "new", expiresAt: .distantFuture, refreshToken: "r2")
        try await keeper().save(old)
        let store = OvertakenStore(keeper()) { [recording, folder] in
            recording.expire()
            try? CredentialFile(folder.file).write(StoredCredential(credential: new))
        }
        let transport = ScriptedTransport.held()
        var configuration = ServiceConfiguration(dispatchQueue: DispatchQueue(label: "completions"))
        configuration.transport = transport
        configuration.authenticationMethod = .bearer(
            try AuthorizationEndpoint(host: "auth.example.com", path: "/token"), ClientCredential(id: "app"), store)
        let atom = Atom(configuration)
        let first = Call()
        first.keep(atom.enqueue(PathEndpoint()).resume { first.heard($0) })
        let overtaken = await first.error()
        guard case .authentication(.refreshFailed(let cause, _, _)) = overtaken else {
            Issue.record("\(String(describing: overtaken))")
            return
        }
        #expect(cause as? TokenStoreError == .overtaken && overtaken?.delivery == .notSent)
        #expect(transport.exchanges.isEmpty)
        let call = Call()
        call.keep(atom.enqueue(PathEndpoint()).resume { call.heard($0) })
        #expect(await eventually { transport.exchanges.count == 1 })
        #expect(transport.exchanges[0].request.headerFields["Authorization"] == "Bearer new")
        transport.exchanges[0].answer()
        #expect(await call.status() == 200)
    }

    @Test func anActivityThatHasExpiredBeforeItBeganLocksNobodyOut() async throws {
        let expired = ExpiringActivity { onExpiry in
            onExpiry()
            return {}
        }
        let keeper = CredentialKeeper(
            CredentialFile(folder.file), lockTimeout: .seconds(60), time: SystemTimeSource(), activity: expired)
        let stored = try await keeper.exchange { _ in
            let other = try #require(try lockOfAnotherProcess())
            other.unlock()
            return .numbered(2)
        }
        #expect(stored == .numbered(2))
    }
}
