import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(Glibc)
    import Glibc
#endif

/// Many requests that handles and tasks cancel at random moments: each caller
/// gets one result, nothing leaks and the process survives.
@Suite(.serialized, .limited(minutes: 10)) struct CancellationStormTests {
    private static let requests = TestExtent.isWhole ? 30_000 : TestExtent.isUnderThreadSanitizer ? 2_000 : 4_000

    private struct Tally {
        var succeeded = 0
        var cancelled = 0
        var others: [String] = []
        var heard: [UInt8]

        mutating func hear(_ index: Int, _ outcome: Result<AtomResponse, AtomError>) {
            heard[index] += 1
            switch outcome {
            case .success: succeeded += 1
            case .failure(.cancelled): cancelled += 1
            case .failure(let error): others.append(error.description)
            }
        }
    }

    private static let handler: LoopbackServer.Handler = { request in
        switch request.receivedAt % 8 {
        case 0: .json("{}").delayed(milliseconds: 2)
        case 1: .streamed([.write(text: "a"), .delay(milliseconds: 1), .write(text: "b")])
        case 2: .redirect(307, location: "/again")
        case 3: .challenge(#"Basic realm="x""#)
        default: .json("{}")
        }
    }

    @Test(arguments: [UInt64.random(in: 0...999_999)], TransportUnderTest.all)
    func aStormOfCancellationsLeavesNothingBehind(seed: UInt64, over transport: TransportUnderTest) async throws {
        let count = Self.requests
        let workers = 16
        let tally = Locked(Tally(heard: Array(repeating: 0, count: count)))
        let server = try LoopbackServer(handler: Self.handler)
        defer { server.stop() }
        let transport = transport.make()
        let manager = RequestableQueueManager(
            .forTest(over: transport) {
                // Most are cancelled on the wire, the others while they wait
                // for a slot.
                $0.maximumExchangesPerOrigin = 12
            })
        var endpoint = server.endpoint()
        endpoint.acceptableStatusCodes = 200...499
        let service = Service(endpoint, RequestSharing(manager))
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &+ UInt64(worker))
                    for index in stride(from: worker, to: count, by: workers) {
                        let longest = [0, 2_000, 6_000, 15_000, 40_000, 200_000, nil][
                            Int.random(in: 0...6, using: &generator)]
                        let delay = longest.map { Int.random(in: -1...$0, using: &generator) }
                        let outcome =
                            index % 2 == 0
                            ? await Self.asyncCall(service, cancelledAfter: delay)
                            : await Self.completionCall(service, cancelledAfter: delay)
                        tally.with { $0.hear(index, outcome) }
                    }
                }
            }
        }
        if let transport = transport as? URLSessionTransport {
            #expect(await eventually { transport.delegate.count == 0 }, "the table is empty")
        }
        #expect(await eventually { manager.slots.counts == (0, 0) }, "the slots are free")
        #expect(await eventually { manager.deadlines.count == 0 })
        let after = await service.outcome()
        #expect(after.error == nil, "the transport still works")
        let result = tally.value
        #expect(result.heard.allSatisfy { $0 == 1 })
        #expect(result.others.isEmpty, "\(result.others.prefix(3))")
        #expect(result.cancelled > 0 && result.succeeded > 0)
        print("storm: seed \(seed), \(count) requests, \(result.cancelled) cancelled, \(result.succeeded) succeeded")
    }

    /// Microseconds until the cancellation; negative for at once, `nil` for none.
    private static func asyncCall(
        _ service: Service, cancelledAfter delay: Int?
    ) async -> Result<AtomResponse, AtomError> {
        let task = Task { await service.outcome() }
        cancel(after: delay) { task.cancel() }
        return await task.value
    }

    private static func completionCall(
        _ service: Service, cancelledAfter delay: Int?
    ) async -> Result<AtomResponse, AtomError> {
        await withCheckedContinuation { continuation in
            let handle = service.resume { continuation.resume(returning: $0) }
            cancel(after: delay) { handle.cancel() }
        }
    }

    private static func cancel(after delay: Int?, _ body: @escaping @Sendable () -> Void) {
        guard let delay else { return }
        guard delay >= 0 else { return body() }
        DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay), execute: body)
    }
}
