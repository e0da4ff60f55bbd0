import Foundation
import Testing

@testable import AtomNetworking

@Suite("Callers of a shared exchange cancel", .limited)
struct SharingCancellationTests {
    @Test("The first, or one in the middle, is told at once, and harms nobody", arguments: [0, 1])
    func oneOfThree(leaver: Int) async throws {
        let service = SharingFixture()
        let calls = (0..<3).map { _ in service.call() }
        calls[leaver].cancel()
        calls[leaver].cancel()
        guard case .cancelled(.maybeSent)? = await calls[leaver].error() else { throw Unexpected("not cancelled") }
        #expect(service.transport.cancelled == 0)
        #expect(service.counts == (1, 2))
        let joined = service.call()
        #expect(service.count == 1)
        try service.last.answer()
        for call in calls.enumerated().filter({ $0.offset != leaver }).map(\.element) + [joined] {
            #expect(await call.status() == 200)
        }
        #expect(calls.allSatisfy { $0.count == 1 })
    }

    @Test("The last one cancels the exchange, and the next request is sent")
    func lastOfThree() async throws {
        let service = SharingFixture(exchangesPerOrigin: 1, endsOnCancel: false)
        let calls = (0..<3).map { _ in service.call() }
        for call in calls { call.cancel() }
        for call in calls {
            guard case .cancelled(.maybeSent)? = await call.error() else { throw Unexpected("not cancelled") }
        }
        let cancelled = try service.last
        #expect(cancelled.cancelCount == 1 && service.counts == (0, 0))
        let next = service.call()
        #expect(service.count == 1, "the slot is still taken")
        cancelled.fail(.cancelled)
        #expect(service.count == 2)
        try service.last.answer()
        #expect(await next.status() == 200)
        #expect(calls.allSatisfy { $0.count == 1 } && next.count == 1)
    }

    @Test("Nothing is sent for callers who all leave before")
    func beforeItIsSent() async throws {
        let service = SharingFixture(exchangesPerOrigin: 1)
        let other = service.call(SharedEndpoint(pathText: "/other"))
        let calls = (0..<2).map { _ in service.call() }
        calls[1].cancel()
        // It may still be sent for the other one.
        guard case .cancelled(.maybeSent)? = await calls[1].error() else { throw Unexpected("not cancelled") }
        calls[0].cancel()
        guard case .cancelled(.notSent)? = await calls[0].error() else { throw Unexpected("not cancelled") }
        try service.last.answer()
        #expect(await other.status() == 200)
        #expect(service.count == 1 && service.atom.manager.slots.counts == (0, 0))
    }

    @Test("A caller who leaves while the body arrives knows of the answer")
    func answered() async throws {
        let service = SharingFixture()
        let calls = (0..<2).map { _ in service.call() }
        try service.last.send(.response(TransportResponse(statusCode: 200, headerFields: HeaderFields())))
        for call in calls {
            call.cancel()
            guard case .cancelled(.answered)? = await call.error() else { throw Unexpected("not cancelled") }
        }
        #expect(service.transport.cancelled == 1)
    }

    @Test("Somebody who asks while an exchange is being cancelled gets a new one")
    func whileItIsCancelled() async throws {
        let service = SharingFixture()
        let next = Locked<Call?>(nil)
        let task = Locked<ServiceTask?>(nil)
        let isTold = Signal()
        // In the midst of the cancellation: the queue is the thread itself.
        task.set(
            service.atom.enqueue(SharedEndpoint()).resume(expecting: Data.self) { _ in
                next.set(service.call())
                isTold.raise()
            })
        task.value?.cancel()
        await isTold.wait()
        let call = try #require(next.value)
        #expect(service.count == 2)
        try service.last.answer()
        #expect(await call.status() == 200)
    }

    @Test("A caller who joins and leaves while the exchange is being started harms nobody else")
    func whileItIsStarted() async throws {
        let atom = Locked<Atom?>(nil)
        let joined = Locked<[Call]>([])
        let service = SharingFixture { _ in
            guard let atom = atom.value, joined.value.isEmpty else { return }
            let calls = (0..<2).map { _ in Call() }
            joined.with { $0 = calls }
            for call in calls { call.keep(atom.enqueue(SharedEndpoint()).resume { call.heard($0) }) }
            calls[0].cancel()
        }
        atom.with { $0 = service.atom }
        let first = service.call()
        #expect(service.count == 1)
        guard case .cancelled(.maybeSent)? = await joined.value[0].error() else { throw Unexpected("not cancelled") }
        try service.last.answer()
        #expect(await first.status() == 200)
        #expect(await joined.value[1].status() == 200)
        atom.with { $0 = nil }
    }

    @Test("A cancelled task leaves, and one that is cancelled before sends nothing")
    func tasks() async throws {
        let service = SharingFixture()
        let atom = service.atom
        let tasks = (0..<3).map { _ in Task { await atom.enqueue(SharedEndpoint()).outcome() } }
        #expect(await atom.hasSharers(3))
        tasks[0].cancel()
        guard case .failure(.cancelled(.maybeSent)) = await tasks[0].value else { throw Unexpected("not cancelled") }
        #expect(service.transport.cancelled == 0)
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await atom.enqueue(SharedEndpoint(pathText: "/late")).outcome()
        }
        guard case .failure(.cancelled(.notSent)) = await late.value else { throw Unexpected("not cancelled") }
        tasks[1].cancel()
        guard case .failure(.cancelled(.maybeSent)) = await tasks[1].value else { throw Unexpected("not cancelled") }
        try service.last.answer("[]")
        #expect(try await tasks[2].value.get().body == "[]")
        #expect(service.count == 1 && service.counts == (0, 0))
    }

    @Test("Cancelling after the end changes nothing")
    func afterTheEnd() async throws {
        let service = SharingFixture()
        let calls = (0..<2).map { _ in service.call() }
        try service.last.answer()
        for call in calls {
            #expect(await call.status() == 200)
            call.cancel()
        }
        let next = service.call()
        for call in calls { call.cancel() }
        try service.last.answer()
        #expect(await next.status() == 200)
        #expect(calls.allSatisfy { $0.count == 1 } && service.transport.cancelled == 0)
    }
}
