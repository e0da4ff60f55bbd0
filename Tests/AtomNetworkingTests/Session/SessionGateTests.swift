import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("The session's state under its lock", .limited)
struct SessionGateTests {
    /// An app's error that does something when it goes.
    private final class LastWords: Error {
        private let say: @Sendable () -> Void

        init(_ say: @escaping @Sendable () -> Void) { self.say = say }

        deinit { say() }
    }

    private let gate = SessionGate(
        SessionMachine(), keeper: .store(InMemoryTokenCredentialStore()), time: ManualClock())
    /// Whether the lock was free when the error went.
    private let wasFree = Locked<Bool?>(nil)

    private func makeError() -> LastWords {
        LastWords { [gate, wasFree] in
            let isAnswered = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = gate.with { $0.version }
                isAnswered.signal()
            }
            // The time is up only if the lock is never free.
            wasFree.set(isAnswered.wait(timeout: .now() + 240) == .success)
        }
    }

    @Test("An app's error that an event replaces goes when the lock is free")
    func replacedError() {
        _ = gate.act { machine in
            let error = AuthenticationError.credentialNotProvided(cause: makeError(), retryAt: nil, delivery: .notSent)
            machine.phase = .ended(SessionEnd(held: nil, error: error, means: .provider))
            return []
        }
        #expect(wasFree.value == nil)
        _ = gate.act { machine in
            machine.phase = .signedOut
            return []
        }
        #expect(wasFree.value == true)
    }

    @Test("An app's error of a write that has succeeded since goes when the lock is free")
    func replacedFailure() {
        _ = gate.act { machine in
            let error = AuthenticationError.credentialNotStored(cause: makeError(), delivery: .notSent)
            _ = machine.store.writeFailed(.overOld, error, at: .now)
            return []
        }
        #expect(wasFree.value == nil)
        _ = gate.act { machine in
            _ = machine.store.wrote(.empty, in: machine.tenure)
            return []
        }
        #expect(wasFree.value == true)
    }
}
