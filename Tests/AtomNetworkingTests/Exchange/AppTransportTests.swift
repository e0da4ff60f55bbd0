import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A transport of the app's", .limited)
struct AppTransportTests {
    private typealias Receive = @Sendable (TransportEvent) -> Void

    private struct AppTransport: Transport {
        let begin: @Sendable (_ attempt: Int, @escaping Receive) -> any TransportExchange

        func start(_ request: TransportRequest, receive: @escaping Receive) -> any TransportExchange {
            begin(request.attempt, receive)
        }
    }

    private struct Started: TransportExchange {
        func cancel() {}
    }

    /// Says when it is let go of: as a handle, or as a part of an error.
    private final class Fuse: TransportExchange {
        let burn: @Sendable () -> Void

        init(_ burn: @escaping @Sendable () -> Void) { self.burn = burn }

        deinit { burn() }

        func cancel() {}
    }

    private static let ok = TransportEvent.response(TransportResponse(statusCode: 200))

    private static let redirect = TransportEvent.response(
        TransportResponse(statusCode: 302, headerFields: HeaderFields([.init(name: "Location", value: "/next")])))

    private static func lost(_ fuse: Fuse? = nil) -> TransportEvent {
        let error = URLError(.networkConnectionLost, userInfo: fuse.map { ["fuse": $0] } ?? [:])
        return .failed(TransportFailure(error, delivery: .notSent))
    }

    private static let withoutPause = RetryPolicy(
        maximumAttempts: 2_000, baseDelay: .zero, maximumDelay: .zero, quota: 0, cost: 0)

    private static func service(over transport: AppTransport) -> Service {
        var configuration = ServiceConfiguration(dispatchQueue: DispatchQueue(label: "completions"))
        configuration.transport = transport
        configuration.redirectLimit = 2_000
        configuration.retryPolicy = withoutPause
        configuration.timeSource = ManualClock()
        configuration.observers = [RecordingObserver()]
        return Atom(serviceConfiguration: configuration).enqueue(PathEndpoint())
    }

    /// What the app gives away for the last time.
    enum Gift: CaseIterable { case handle, handleOfARedirect, error }

    @Test("What cancels the request when it is let go of doesn't hang it", arguments: Gift.allCases)
    func released(gift: Gift) async throws {
        let (call, receivers) = (Call(), Locked<[Receive]>([]))
        let service = Self.service(
            over: AppTransport { attempt, receive in
                receivers.with { $0.append(receive) }
                return gift == .error || attempt > 1 ? Started() : Fuse { call.cancel() }
            })
        call.keep(service.resume { call.heard($0) })
        let hasReturned = Locked(false)
        // It would never return.
        Thread.detachNewThread {
            func receive(_ attempt: Int, _ event: TransportEvent) {
                let receiver = receivers.with { $0.count >= attempt ? $0[attempt - 1] : nil }
                receiver?(event)
            }
            switch gift {
            case .handle: receive(1, Self.ok)
            case .handleOfARedirect: receive(1, Self.redirect)
            case .error:
                receive(1, Self.lost(Fuse { call.cancel() }))
                receive(2, Self.lost())
                receive(3, Self.lost())
            }
            receive(1, .finished)
            receive(2, .finished)
            hasReturned.set(true)
        }
        try #require(await eventually(seconds: 20) { hasReturned.value })
        let outcome = await call.outcome()
        if gift == .handle { #expect(outcome.response?.statusCode == 200) } else { #expect(outcome.isCancelled) }
    }

    @Test("What cancels a stream's reader when it is let go of doesn't hang the stream")
    func releasedByAStream() async throws {
        let (receiver, reading) = (Locked<Receive?>(nil), Locked<Task<Int, any Error>?>(nil))
        let service = Self.service(
            over: AppTransport { _, receive in
                receiver.set(receive)
                return Fuse { reading.value?.cancel() }
            })
        reading.set(
            Task { try await service.bytes().reduce(0) { count, part in count + part.count } })
        try #require(await eventually { receiver.value != nil })
        let hasReturned = Locked(false)
        // It would never return.
        Thread.detachNewThread {
            for event in [Self.ok, .data(Data("ab".utf8)), .finished] { receiver.value?(event) }
            hasReturned.set(true)
        }
        try #require(await eventually(seconds: 20) { hasReturned.value })
        switch await reading.value?.result {
        case .success(let count)?: #expect(count == 2)
        case .failure(let error)?: #expect((error as? AtomError)?.isCancelled == true)
        case nil: Issue.record("nothing was read")
        }
    }

    @Test("What was to follow an answer inside `start` isn't sent after a cancellation, and keeps no slot")
    func cancelledInsideStart() async throws {
        let (call, starts, receiver) = (Locked<Call?>(nil), Locked<[Int]>([]), Locked<Receive?>(nil))
        let transport = AppTransport { attempt, receive in
            starts.with { $0.append(attempt) }
            if attempt == 1 { receiver.set(receive) }
            if attempt == 2 {
                receive(Self.redirect)
                receive(.finished)
                call.value?.cancel()
            }
            return Started()
        }
        let session = try SessionFixture(change: { $0.transport = transport })
        call.set(session.call(signed: false))
        try #require(await eventually { receiver.value != nil })
        for event in [Self.redirect, .finished] { receiver.value?(event) }
        #expect(await call.value?.outcome().isCancelled == true)
        #expect(starts.value == [1, 2])
        #expect(session.atom.manager.slots.counts == (0, 0))
    }

    @Test("It may answer inside `start`, again and again", arguments: [true, false], [true, false])
    func answersAtOnce(redirects: Bool, isSigned: Bool) async throws {
        let depth = Locked((now: 0, most: 0))
        let transport = AppTransport { attempt, receive in
            depth.with { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            if attempt <= 1_000, !redirects {
                receive(Self.lost())
            } else {
                receive(attempt <= 1_000 ? Self.redirect : Self.ok)
                receive(.finished)
            }
            depth.with { $0.now -= 1 }
            return Started()
        }
        let session = try SessionFixture(
            change: {
                $0.transport = transport
                $0.redirectLimit = 2_000
                $0.retryPolicy = Self.withoutPause
            })
        let call = session.call(signed: isSigned)
        #expect(await call.status() == 200)
        #expect(depth.value == (0, 1))
        #expect(session.atom.manager.slots.counts == (0, 0))
    }

    @Test("Whatever it says of how much has been sent is no sum too large", arguments: [Int.max, .min])
    func countsWithoutEnd(count: Int) async throws {
        let service = Self.service(
            over: AppTransport { _, receive in
                for _ in 0..<3 { receive(.sent(count)) }
                receive(Self.ok)
                receive(.finished)
                return Started()
            })
        let call = Call()
        call.keep(
            service.resume(expecting: Data.self, progress: { _ in }) { call.heard($0.map { _ in .success }) })
        #expect(await call.outcome().response?.isSuccess == true)
    }
}
