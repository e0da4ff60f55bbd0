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

    @Test("An app's error that an event replaces goes when the lock is free")
    func replacedError() {
        let gate = SessionGate(
            SessionMachine(), keeper: .store(InMemoryTokenCredentialStore()), time: ManualClock())
        let wasFree = Locked<Bool?>(nil)
        func fail() -> AuthenticationError {
            let cause = LastWords {
                let isAnswered = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    _ = gate.with { $0.version }
                    isAnswered.signal()
                }
                // The time is up only if the lock is never free.
                wasFree.set(isAnswered.wait(timeout: .now() + 240) == .success)
            }
            return .credentialNotProvided(cause: cause, retryAt: nil, delivery: .notSent)
        }
        _ = gate.act { machine in
            machine.phase = .ended(SessionEnd(held: nil, error: fail(), means: .provider))
            return []
        }
        #expect(wasFree.value == nil)
        _ = gate.act { machine in
            machine.phase = .signedOut
            return []
        }
        #expect(wasFree.value == true)
    }
}
