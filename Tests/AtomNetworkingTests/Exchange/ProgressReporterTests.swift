import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("The progress of a transfer", .limited)
struct ProgressReporterTests {
    @Test("It is reported thirty times a second at most, and always at the end")
    func throttled() {
        let queue = DispatchQueue(label: "progress")
        let heard = Locked<[Int64]>([])
        let reporter = ProgressReporter(on: queue) { progress in heard.with { $0.append(progress.completed) } }
        let start = MonotonicInstant(nanoseconds: 0)
        // A second, a report each millisecond.
        for number in 1...1_000 {
            reporter.report(
                TransferProgress(completed: Int64(number), total: 1_000), isLast: number == 1_000,
                at: start.advanced(by: .milliseconds(number)))
        }
        queue.sync {}
        #expect(heard.value.first == 1)
        #expect(heard.value.last == 1_000)
        #expect((28...31).contains(heard.value.count))
        #expect(heard.value == heard.value.sorted())
    }

    @Test("The same progress is reported once")
    func once() {
        let queue = DispatchQueue(label: "progress")
        let heard = Locked(0)
        let reporter = ProgressReporter(on: queue) { _ in heard.with { $0 += 1 } }
        for second in 0..<3 {
            reporter.report(
                TransferProgress(completed: 5, total: 5), isLast: true,
                at: MonotonicInstant(nanoseconds: Int64(second) * 1_000_000_000))
        }
        queue.sync {}
        #expect(heard.value == 1)
    }

    @Test("Nothing is reported after the completion")
    func afterTheEnd() async throws {
        let queue = DispatchQueue(label: "progress")
        let transport = ScriptedTransport.held(endsOnCancel: false)
        var configuration = ServiceConfiguration(dispatchQueue: queue)
        configuration.transport = transport
        let heard = Locked<[Int64]>([])
        let call = Call()
        let service = Atom(serviceConfiguration: configuration).enqueue(RecordingEndpoint())
        let task = service.resume(
            expecting: Data.self, progress: { progress in heard.with { $0.append(progress.completed) } },
            completion: { result in
                heard.with { $0.append(-1) }
                call.heard(result.map { _ in .success })
            })
        transport.exchanges[0].send(.sent(3))
        task.cancel()
        transport.exchanges[0].send(.sent(4))
        guard case .failure(.cancelled) = await call.outcome() else { throw AtomError.unexpected }
        queue.sync {}
        #expect(heard.value == [3, -1])
    }

    @Test func aFractionIsNeverAboveOne() {
        #expect(TransferProgress(completed: 1, total: 4).fraction == 0.25)
        #expect(TransferProgress(completed: 9, total: 4).fraction == 1)
        #expect(TransferProgress(completed: 0, total: 0).fraction == 1)
        #expect(TransferProgress(completed: 3, total: nil).fraction == nil)
    }
}

@Suite(.limited) struct ContentRangeTests {
    @Test(arguments: [
        "bytes", "bytes ", "bytes 0-1", "bytes 1-0/2", "bytes 0-1/1", "bytes */5", "items 0-1/2", "bytes -1/2",
        "bytes 0-/2", "bytes 0-1/", "bytes 0-1/x", "bytes +0-1/2", "bytes 0-99999999999999999999/*", "",
    ])
    func whatIsNoRangeIsRefused(value: String) {
        #expect(ContentRange(value) == nil)
    }

    @Test func aRangeIsRead() {
        #expect(ContentRange("bytes 0-99/200").map { [$0.first, $0.last, $0.total] } == [0, 99, 200])
        #expect(ContentRange("Bytes 5-5/*").map { [$0.first, $0.last, $0.total] } == [5, 5, nil])
        #expect(ContentRange(nil) == nil)
    }
}
