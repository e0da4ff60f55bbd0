import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited)
struct TimeSourceWaitTests {
    @Test("It waits until the instant, and leaves no alarm behind")
    func waits() async throws {
        let clock = ManualClock()
        let instant = clock.now.advanced(by: .seconds(5))
        let waiting = Task {
            try await clock.wait(until: instant)
            return clock.now
        }
        await clock.waitForAlarm()
        clock.advance(by: .seconds(4))
        #expect(clock.hasAlarm(at: instant))
        clock.advance(by: .seconds(1))
        #expect(try await waiting.value == instant)
        #expect(clock.alarmCount == 0)
    }

    @Test("Cancellation ends it at once, also before it begins")
    func cancellation() async {
        let clock = ManualClock()
        let waiting = Task { try await clock.wait(until: clock.now.advanced(by: .seconds(5))) }
        await clock.waitForAlarm()
        waiting.cancel()
        let error = await #expect(throws: AtomError.self) { try await waiting.value }
        #expect(error?.isCancelled == true)
        #expect(clock.alarmCount == 0)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.wait(until: clock.now)
        }
        await #expect(throws: AtomError.self) { try await late.value }
        #expect(clock.alarmCount == 0)
    }
}
