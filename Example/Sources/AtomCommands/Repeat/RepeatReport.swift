import AtomNetworking
import Foundation
import Terminal

/// What became of the requests of a repetition.
struct RepeatReport: Sendable {
    /// How a request ended, if it wasn't cancelled.
    ///
    /// There are few kinds, however many descriptions the errors have.
    enum Kind: Hashable, Sendable {
        case status(Int?)
        case failure(RequestExitStatus)

        var description: String {
            switch self {
            case .status(let status): status.map { "HTTP \($0)" } ?? "no status"
            case .failure(let status): status.explanation
            }
        }
    }

    let requests: Int
    var concurrency = 1
    private(set) var successes: [Kind: Int] = [:]
    private(set) var failures: [Kind: Int] = [:]
    /// Requests that were abandoned.
    private(set) var cancelled = 0
    /// Requests that weren't started.
    var notSent = 0
    /// The failure that happened first.
    private(set) var firstFailure: AtomError?
    /// Of the requests that were answered, whatever the status was.
    var latencies = Latencies()
    var elapsed = Duration.zero

    init(requests: Int) {
        self.requests = requests
    }

    /// Counts an outcome.
    ///
    /// - Returns: Whether the server answered, so that the latency counts.
    mutating func note(_ result: Result<AtomResponse, AtomError>) -> Bool {
        switch result {
        case .success(let response):
            successes[.status(response.statusCode), default: 0] += 1
            return true
        case .failure(.cancelled):
            cancelled += 1
            return false
        case .failure(let error):
            if firstFailure == nil { firstFailure = error }
            guard case .response(let response) = error else {
                failures[.failure(RequestExitStatus(error)), default: 0] += 1
                return false
            }
            failures[.status(response.statusCode), default: 0] += 1
            return true
        }
    }

    var succeeded: Int { successes.values.reduce(0, +) }

    var failed: Int { failures.values.reduce(0, +) }

    /// The first failure; that it was cancelled if it didn't come to its end.
    var result: Result<Void, AtomError> {
        if cancelled + notSent > 0 { return .failure(.cancelled(.maybeSent)) }
        return firstFailure.map { .failure($0) } ?? .success(())
    }

    /// The requests that came to their end, in a second.
    var requestsPerSecond: Double? {
        let seconds = Double(elapsed.wholeNanoseconds) / 1e9
        return seconds > 0 ? Double(succeeded + failed) / seconds : nil
    }

    // MARK: Showing it

    /// Prints the counts, the latencies and their histogram.
    ///
    /// - Parameter advice: The text to show instead of the first failure's own
    ///   description.
    func show(on terminal: Terminal, advice: SessionAdvice? = nil) {
        terminal.print(table(for: terminal))
        let buckets = latencies.buckets()
        if !buckets.isEmpty {
            var histogram = Histogram()
            let labels = LatencyText(usesSymbols: terminal.usesSymbols).labels(of: buckets)
            for (label, bucket) in zip(labels, buckets) { histogram.add(label, count: bucket.count) }
            terminal.print()
            terminal.print(histogram)
        }
        if let firstFailure {
            let label = terminal.styled("First failure:", .red, .bold)
            let text = ResponsePrinter.printable(advice?.message ?? firstFailure.description)
            terminal.print()
            terminal.print("\(label) \(ResponsePrinter.name(of: firstFailure)): \(text)")
        }
    }

    private func table(for terminal: Terminal) -> Table {
        var table = Table("Repeated request", .right(""))
        table.add("requests", "\(requests)")
        table.add("at once, at most", "\(concurrency)")
        table.add("succeeded", terminal.styled("\(succeeded)", succeeded == requests ? .green : .yellow))
        Self.add(successes, to: &table)
        table.add("failed", terminal.styled("\(failed)", failed == 0 ? .green : .red))
        Self.add(failures, to: &table)
        if cancelled > 0 { table.add("cancelled", terminal.styled("\(cancelled)", .yellow)) }
        if notSent > 0 { table.add("not sent", terminal.styled("\(notSent)", .yellow)) }
        let text = LatencyText(usesSymbols: terminal.usesSymbols)
        table.add("time", text.text(elapsed))
        table.add("throughput", requestsPerSecond.map { String(format: "%.1f", $0) + " /s" } ?? "-")
        for (label, latency) in measured { table.add("latency \(label)", text.text(latency)) }
        return table
    }

    /// Nothing if no request was answered.
    private var measured: [(label: String, latency: Duration)] {
        let percentiles = [("p50", 500), ("p90", 900), ("p95", 950), ("p99", 990), ("p99.9", 999)]
        let all =
            [("minimum", latencies.minimum), ("mean", latencies.mean)]
            + percentiles.map { ($0.0, latencies.percentile(perMille: $0.1)) }
            + [("maximum", latencies.maximum)]
        return all.compactMap { label, latency in latency.map { (label, $0) } }
    }

    /// The most frequent kind first.
    private static func add(_ counts: [Kind: Int], to table: inout Table) {
        let rows = counts.map { (label: $0.key.description, count: $0.value) }
        for row in rows.sorted(by: { ($1.count, $0.label) < ($0.count, $1.label) }) {
            table.add("  \(row.label)", "\(row.count)")
        }
    }
}
