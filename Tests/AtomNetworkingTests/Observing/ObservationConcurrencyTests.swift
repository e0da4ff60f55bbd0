import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Events of one request come one at a time, whatever happens to it on other
/// threads.
@Suite(.limited) struct ObservationConcurrencyTests {
    /// Checks the events of each request while they come.
    private final class OrderObserver: RequestObserver, @unchecked Sendable {
        // Accessed only under `lock`.
        private let lock = NSLock()
        private var busy: Set<UInt64> = []
        private var finished: Set<UInt64> = []
        private var described: Set<UInt64> = []
        private var problems: [String] = []

        func observe(_ event: RequestEvent) {
            guard let id = event.requestID else { return }
            lock.withLock {
                if !busy.insert(id).inserted { problems.append("two events at a time") }
                if finished.contains(id) { problems.append("\(event.kind) after the end") }
                if case .described = event.kind { described.insert(id) }
                if !described.contains(id) { problems.append("\(event.kind) before the description") }
            }
            lock.withLock {
                busy.remove(id)
                if case .finished = event.kind { finished.insert(id) }
            }
        }

        var report: (described: Int, finished: Int, problems: [String]) {
            lock.withLock { (described.count, finished.count, problems) }
        }
    }

    @Test("Events come one at a time and in order when cancellations and responses meet")
    func cancellationsAndAnswersMeet() async throws {
        let observer = OrderObserver()
        let transport = ScriptedTransport.held { exchange in
            DispatchQueue.global().async { exchange.redirect(to: "/again") }
        }
        var configuration = ServiceConfiguration(dispatchQueue: DispatchQueue(label: "completions"))
        configuration.transport = transport
        configuration.timeSource = transport.clock
        configuration.observers = [observer]
        configuration.redirectLimit = 5
        let atom = Atom(serviceConfiguration: configuration)
        let count = 2_000
        let calls = (0..<count).map { number in
            let call = Call()
            call.keep(atom.enqueue(PathEndpoint(pathText: "/\(number)")).resume { call.heard($0) })
            if number % 2 == 0 { DispatchQueue.global().async { call.cancel() } }
            return call
        }
        for call in calls { _ = await call.outcome() }
        let report = observer.report
        #expect(report.problems.isEmpty, "\(Set(report.problems))")
        #expect(report.described == count && report.finished == count)
    }

    @Test func thousandRequestsStartInOrderWithObserversAlsoOverARefresh() async throws {
        let session = try SessionFixture(lifetime: 0)
        let observer = OrderObserver()
        let recorder = RecordingObserver()
        var configuration = session.configuration
        configuration.observers = [observer, recorder]
        let atom = Atom(configuration, time: session.time)
        func call(_ number: Int) -> Call {
            let call = Call()
            call.keep(atom.enqueue(PathEndpoint(pathText: "/\(number)")).resume { call.heard($0) })
            return call
        }
        let calls = (0..<500).map(call)
        await session.refresh().grant(1)
        let more = (500..<1_000).map(call)
        _ = await session.transport.exchange(1_000)
        let paths = (0..<1_000).map { "/\($0)" }
        #expect(session.sentPaths == paths)
        for exchange in session.sent { exchange.answer() }
        for call in calls + more { #expect(await call.status() == 200) }
        let sent = recorder.events.compactMap { event -> String? in
            guard event.purpose == .service, case .sent(let sent) = event.kind else { return nil }
            return sent.request.url
        }
        #expect(Set(sent) == Set(paths.map { "https://api.example.com\($0)" }) && sent.count == 1_000)
        #expect(observer.report.problems.isEmpty)
    }
}
