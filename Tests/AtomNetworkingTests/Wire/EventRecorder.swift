import Foundation

@testable import AtomNetworking

/// Records the events of one exchange and detects violations.
final class EventRecorder: @unchecked Sendable {
    enum Kind: Equatable, Sendable {
        case sent
        case response
        case data
        case measured
        case finished
        case failed
    }

    // All variables are accessed only under `lock`.
    private let lock = NSLock()
    private var recorded: [TransportEvent] = []
    private var threadInCancel: Thread?
    private var complaints: [String] = []

    /// Locked while an event is processed.
    ///
    /// No event waits for it, because that would put the second of two events
    /// behind the first.
    private let receiving = NSLock()
    private let whileReceiving: @Sendable () -> Void

    /// - Parameter whileReceiving: Runs while an event is processed. By default
    ///   it yields, so that concurrent events overlap.
    init(whileReceiving: @escaping @Sendable () -> Void = { for _ in 0..<5 { sched_yield() } }) {
        self.whileReceiving = whileReceiving
    }

    func receive(_ event: TransportEvent) {
        let isAlone = receiving.try()
        defer { if isAlone { receiving.unlock() } }
        lock.withLock {
            if !isAlone { complaints.append("two events at a time") }
            if threadInCancel === Thread.current { complaints.append("an event inside cancel") }
            recorded.append(event)
        }
        if isAlone { whileReceiving() }
    }

    func cancel(_ exchange: any TransportExchange) {
        lock.withLock { threadInCancel = Thread.current }
        exchange.cancel()
        lock.withLock { threadInCancel = nil }
    }

    var events: [TransportEvent] { lock.withLock { recorded } }

    var kinds: [Kind] {
        events.map { event in
            switch event {
            case .sent: .sent
            case .response: .response
            case .data: .data
            case .measured: .measured
            case .finished: .finished
            case .failed: .failed
            }
        }
    }

    var terminals: Int { kinds.count { $0 == .finished || $0 == .failed } }

    var body: Data {
        events.reduce(into: Data()) { body, event in
            if case .data(let data) = event { body.append(data) }
        }
    }

    var sent: Int {
        events.reduce(0) { sum, event in if case .sent(let count) = event { sum + count } else { sum } }
    }

    var failure: TransportFailure? {
        if case .failed(let failure) = events.last { failure } else { nil }
    }

    /// The violations of the order of events, for an exchange that has ended.
    var violations: [String] {
        var violations = lock.withLock { complaints }
        let kinds = kinds
        if terminals != 1 { violations.append("\(terminals) last events") }
        if let last = kinds.last, last != .finished, last != .failed { violations.append("\(last) after the end") }
        if kinds.count(where: { $0 == .response }) > 1 { violations.append("two responses") }
        if let data = kinds.firstIndex(of: .data), kinds.firstIndex(of: .response).map({ $0 > data }) ?? true {
            violations.append("data before the response")
        }
        if kinds.last == .finished, !kinds.contains(.response) { violations.append("an end without a response") }
        return violations
    }
}
