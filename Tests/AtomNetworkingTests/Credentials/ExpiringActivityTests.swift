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
@Suite(.timeLimit(.minutes(5))) struct ExpiringActivityTests {
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
        #expect(recording.ended == 2)
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
        #expect(recording.ended == 2)
        other.withLock { $0.take() }?.unlock()
        try await keeper().save(.numbered(3))
        #expect(try await folder.store().load() == .numbered(3))
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
