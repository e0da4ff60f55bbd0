import AtomNetworking
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite("One sign-in that several wait for", .limited)
struct SharedRunTests {
    private let credential = TokenCredential(accessToken: "A", expiresAt: .distantFuture, refreshToken: "")

    /// A sign-in that ends when the test says so, or is cancelled.
    private final class Page: Sendable {
        private let stream = AsyncStream<SharedRun.Outcome>.makeStream()
        let wasCancelled = AsyncStream<Void>.makeStream()

        func finish(_ result: SharedRun.Outcome) { stream.continuation.yield(result) }

        func work() async -> SharedRun.Outcome {
            await withTaskCancellationHandler {
                for await result in stream.stream { return result }
                return .failure(.cancelled(.notSent))
            } onCancel: {
                stream.continuation.finish()
                wasCancelled.continuation.yield()
            }
        }
    }

    @Test("All who wait get the result, and nobody joins afterwards")
    func all() async throws {
        let (run, page) = (SharedRun(), Page())
        let tickets = try (0..<5).map { _ in try #require(run.join(for: nil)) }
        run.begin { await page.work() }
        run.begin { .failure(.unexpected) }
        let waiting = tickets.map { ticket in Task { await run.outcome(of: ticket) } }
        page.finish(.success(credential))
        for task in waiting { #expect(try await task.value.get() == credential) }
        #expect(run.join(for: nil) == nil)
    }

    @Test("It knows who has to be told of the result")
    func listeners() async throws {
        let run = SharedRun()
        _ = run.join(for: Atom())
        #expect(run.listeners.atom != nil && !run.listeners.isOfSession)
        let ticket = try #require(run.join(for: nil))
        #expect(run.listeners.atom != nil && run.listeners.isOfSession)
        let leaving = Task { await run.outcome(of: ticket) }
        leaving.cancel()
        _ = await leaving.value
        #expect(!run.listeners.isOfSession, "the session's call has gone")
    }

    @Test("Who only watches hears when it is over, and takes no part in it")
    func watchers() async throws {
        let (run, page) = (SharedRun(), Page())
        let ticket = try #require(run.join(for: nil))
        run.begin { await page.work() }
        let watching = Task { await run.isOver() }
        let leaving = Task { await run.outcome(of: ticket) }
        leaving.cancel()
        _ = await leaving.value
        await watching.value
        await run.isOver()
    }

    @Test("One who is cancelled leaves at once, and the others wait on")
    func cancellationOfOne() async throws {
        let (run, page) = (SharedRun(), Page())
        let first = try #require(run.join(for: nil))
        let second = try #require(run.join(for: nil))
        run.begin { await page.work() }
        let leaving = Task { await run.outcome(of: first) }
        leaving.cancel()
        let left = await leaving.value
        #expect(throws: AtomError.self) { try left.get() }
        let staying = Task { await run.outcome(of: second) }
        page.finish(.success(credential))
        #expect(try await staying.value.get() == credential)
    }

    @Test("When nobody waits any more it is cancelled, and nobody joins it")
    func cancellationOfAll() async throws {
        let (run, page) = (SharedRun(), Page())
        let tickets = try (0..<2).map { _ in try #require(run.join(for: nil)) }
        run.begin { await page.work() }
        let waiting = tickets.map { ticket in Task { await run.outcome(of: ticket) } }
        for task in waiting { task.cancel() }
        for task in waiting { _ = await task.value }
        for await _ in page.wasCancelled.stream { break }
        #expect(run.join(for: nil) == nil)
    }

    @Test("A caller that is cancelled before it waits gets its cancellation")
    func cancelledBefore() async throws {
        let (run, page) = (SharedRun(), Page())
        let ticket = try #require(run.join(for: nil))
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return await run.outcome(of: ticket)
        }
        late.cancel()
        let outcome = await late.value
        #expect(throws: AtomError.self) { try outcome.get() }
        // It was given up before it began.
        run.begin { await page.work() }
        for await _ in page.wasCancelled.stream { break }
    }
}
