import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// On Linux a task that is cancelled while it completes ends the process.
@Suite(.limited) struct CancellationConcurrencyTests {
    /// The moment of the cancellation.
    enum Moment: CaseIterable, Sendable {
        case head
        case firstBytes
        case end
    }

    @Test(arguments: TransportUnderTest.all)
    func aTaskThatIsCancelledBeforehandSendsNothing(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint())
        let outcome = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await service.outcome()
        }.value
        guard case .failure(.cancelled(.notSent)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: TransportUnderTest.all)
    func cancelledRightAfterItsStartItIsCancelled(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .hang }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        for _ in 0..<50 {
            let outcome = await withCheckedContinuation { continuation in
                atom.enqueue(server.endpoint()).resume { continuation.resume(returning: $0) }.cancel()
            }
            #expect(outcome.isCancelled)
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func cancelledWhileItWaitsForASlotItWasNeverSent(over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .json("{}").after(gate) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport) { $0.maximumExchangesPerOrigin = 1 }
        async let first = atom.outcome(of: server.endpoint("/first"))
        #expect(await server.waitForRequests(1))
        let second = await withCheckedContinuation { continuation in
            atom.enqueue(server.endpoint("/second")).resume { continuation.resume(returning: $0) }.cancel()
        }
        async let third = atom.outcome(of: server.endpoint("/third"))
        gate.open()
        guard case .failure(.cancelled(.notSent)) = second else {
            Issue.record("\(second)")
            return
        }
        #expect(await first.response?.statusCode == 200)
        #expect(await third.response?.statusCode == 200)
        #expect(server.requests.map(\.path) == ["/first", "/third"])
    }

    @Test(arguments: TransportUnderTest.all)
    func cancelledWhileTheServerThinksItMayHaveBeenSent(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .hang }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint())
        let task = Task { await service.outcome() }
        #expect(await server.waitForRequests(1))
        task.cancel()
        guard case .failure(.cancelled(.maybeSent)) = await task.value else {
            Issue.record("\(await task.value)")
            return
        }
        #expect(await server.waitForDisconnects(1), "the connection is not kept waiting")
    }

    @Test("Cancelled once an answer has begun, it was answered", arguments: Moment.allCases, TransportUnderTest.all)
    func midAnswer(moment: Moment, over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let answer = LoopbackServer.Response.streamed(
            moment == .end ? [.write(text: "a")] : [.write(text: "a"), .hang])
        let server = try LoopbackServer { _ in answer.after(gate) }
        defer { server.stop() }
        let handle = Locked<ServiceTask?>(nil)
        let spy = SpyTransport(base: transport.make()) { event in
            switch (event, moment) {
            case (.data, .head), (.data, .firstBytes): DispatchQueue.global().async { handle.value?.cancel() }
            case (.finished, .end): handle.value?.cancel()
            default: break
            }
        }
        let atom = Atom(.forTest(over: spy))
        let outcome = await withCheckedContinuation { continuation in
            handle.with {
                $0 = atom.enqueue(server.endpoint()).resume { continuation.resume(returning: $0) }
            }
            gate.open()
        }
        guard case .failure(.cancelled(.answered)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func cancellingAfterTheEndDoesNothing(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        for _ in 0..<50 {
            let handle = Locked<ServiceTask?>(nil)
            let outcome = await withCheckedContinuation { continuation in
                let task = atom.enqueue(server.endpoint()).resume { continuation.resume(returning: $0) }
                handle.with { $0 = task }
            }
            handle.value?.cancel()
            handle.value?.cancel()
            #expect(outcome.response?.statusCode == 200)
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func cancelledFromManyThreadsAtOnceItIsHeardOnce(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}").delayed(milliseconds: 1) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        for _ in 0..<30 {
            let heard = Locked(0)
            await withCheckedContinuation { continuation in
                let handle = atom.enqueue(server.endpoint()).resume { _ in
                    heard.with { $0 += 1 }
                    continuation.resume()
                }
                DispatchQueue.concurrentPerform(iterations: 8) { _ in handle.cancel() }
            }
            #expect(heard.value == 1)
        }
    }

    @Test(arguments: TransportUnderTest.all)
    func aCancelledRedirectStopsWhereItIs(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            request.path == "/old" ? .redirect(302, location: "/new") : .hang
        }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint("/old"))
        let task = Task { await service.outcome() }
        #expect(await server.waitForRequests(2))
        task.cancel()
        let error = await task.value.error
        #expect(error?.isCancelled == true && error?.delivery != .notSent)
    }

    @Test(arguments: TransportUnderTest.all)
    func oneCallersCancellationTouchesNoOther(over transport: TransportUnderTest) async throws {
        let gate = Gate()
        let server = try LoopbackServer { _ in .json("{}").after(gate) }
        defer { server.stop() }
        let service = Atom.forTest(over: transport).enqueue(server.endpoint())
        let first = Task { await service.outcome() }
        let second = Task { await service.outcome() }
        #expect(await server.waitForRequests(2))
        first.cancel()
        #expect(await first.value.isCancelled)
        gate.open()
        #expect(await second.value.response?.statusCode == 200)
    }
}
