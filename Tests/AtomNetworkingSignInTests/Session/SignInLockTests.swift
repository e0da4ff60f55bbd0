import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite("A file that one process has at a time", .limited)
struct SignInLockTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private let clock = ManualClock()

    private var lock: SignInLock { SignInLock(fileURL: folder.appendingPathComponent("sign-in.lock"), time: clock) }

    /// Lets the clock run for whoever waits, until this is done.
    private func value<T: Sendable>(of task: Task<T, any Error>) async throws -> T {
        let ticking = Task {
            while !Task.isCancelled {
                clock.advance(by: .milliseconds(200))
                await Task.yield()
            }
        }
        defer { ticking.cancel() }
        return try await task.value
    }

    @Test("Who comes later waits until it is given back")
    func waits() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try await lock.take()
        #expect(!first.hasWaited)
        let lock = lock
        let second = Task { try await lock.take() as SignInLock.Turn }
        // It looks once, and waits for the clock.
        await clock.waitForAlarm()
        first.giveBack()
        let turn = try await value(of: second)
        #expect(turn.hasWaited)
        #expect(!turn.wasDeclinedMeanwhile)
        turn.giveBack()
        #expect(try await !lock.take().hasWaited)
    }

    @Test("Who has waited hears that a person has declined, who comes later doesn't")
    func declined() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try await lock.take()
        let lock = lock
        let second = Task { try await lock.take() as SignInLock.Turn }
        await clock.waitForAlarm()
        first.noteDeclined()
        first.giveBack()
        let turn = try await value(of: second)
        #expect(turn.wasDeclinedMeanwhile)
        turn.giveBack()
        let third = try await lock.take()
        #expect(!third.wasDeclinedMeanwhile)
        third.giveBack()
    }

    @Test("Who is cancelled while it waits gets its cancellation")
    func cancellation() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let first = try await lock.take()
        let lock = lock
        let second = Task { try await lock.take() as SignInLock.Turn }
        await clock.waitForAlarm()
        second.cancel()
        await #expect(throws: AtomError.self) { try await second.value }
        first.giveBack()
    }

    @Test("Where no file can be made nobody is waited for")
    func noFile() async throws {
        let impossible = SignInLock(fileURL: URL(fileURLWithPath: "/dev/null/sign-in.lock"), time: clock)
        let turn = try await impossible.take()
        #expect(!turn.hasWaited)
        turn.noteDeclined()
        turn.giveBack()
    }
}
