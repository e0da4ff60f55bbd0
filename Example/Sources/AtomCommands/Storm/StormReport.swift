import Foundation
import Terminal

/// The result of a storm.
struct StormReport: Sendable {
    /// The server's counts during the storm.
    struct ServerSide: Sendable {
        var refreshes: Int
        var tokensIssued: Int
        var deadTokens: Int
        var reuseDetected: Int
        /// Since the start of the server, because a maximum can't be
        /// subtracted.
        var peakConcurrentRefreshes: Int
    }

    var requests: Int
    var answered: Int
    /// Responses that belonged to another request.
    var mixedUp: Int
    /// Requests that were never sent, or abandoned, because the storm was
    /// cancelled.
    var cancelled: Int
    /// Counts by description.
    var failures: [String: Int]
    var seconds: Double
    /// Of the answered requests.
    var latencies: Latencies
    var server: ServerSide?
    /// What happened when, if that was recorded.
    var timeline: StormTimeline?

    var failed: Int { failures.values.reduce(0, +) + mixedUp }

    var isAsExpected: Bool {
        answered == requests && (server?.reuseDetected ?? 0) == 0
    }

    func show(on terminal: Terminal) {
        terminal.print(table(for: terminal))
        for (description, count) in failures.sorted(by: { $0.value > $1.value }).prefix(5) {
            terminal.print(terminal.styled("\(count) ×", .red) + " " + description)
        }
    }

    func table(for terminal: Terminal) -> Table {
        var table = Table("Storm", .right(""))
        table.add("requests", "\(requests)")
        table.add("answered", terminal.styled("\(answered)", answered == requests ? .green : .yellow))
        table.add("failed", mark(failed, .red, terminal))
        if mixedUp > 0 { table.add("answers mixed up", terminal.styled("\(mixedUp)", .red)) }
        if cancelled > 0 { table.add("cancelled", terminal.styled("\(cancelled)", .yellow)) }
        if let server {
            table.add("refreshes", "\(server.refreshes)")
            table.add("concurrent refreshes, maximum", "\(server.peakConcurrentRefreshes)")
            table.add("tokens issued", "\(server.tokensIssued)")
            table.add("invalid tokens received", mark(server.deadTokens, .yellow, terminal))
            table.add("refresh tokens reused", mark(server.reuseDetected, .red, terminal))
        } else {
            table.add("server's counters", "not available")
        }
        table.add("time", "\(Self.rounded(seconds, 2)) s")
        table.add("throughput", seconds > 0 ? "\(Int(Double(answered) / seconds)) /s" : "-")
        table.add("latency p50", "\(milliseconds(latencies.percentile(perMille: 500))) ms")
        table.add("latency p99", "\(milliseconds(latencies.percentile(perMille: 990))) ms")
        if let memory = Self.peakMemory { table.add("peak memory", "\(memory / 1_048_576) MB") }
        return table
    }

    /// A number that should be zero.
    private func mark(_ count: Int, _ style: TextStyle, _ terminal: Terminal) -> String {
        terminal.styled("\(count)", count == 0 ? .green : style)
    }

    /// Zero if nothing was answered.
    private func milliseconds(_ latency: Duration?) -> Double {
        Self.rounded(Double(latency?.wholeNanoseconds ?? 0) / 1_000_000, 1)
    }

    private static func rounded(_ value: Double, _ digits: Int) -> Double {
        let factor = digits == 1 ? 10.0 : 100
        return (value * factor).rounded() / factor
    }

    /// The peak memory of this process in bytes.
    private static var peakMemory: Int? {
        var usage = rusage()
        #if canImport(Darwin)
            guard getrusage(RUSAGE_SELF, &usage) == 0 else { return nil }
            return Int(usage.ru_maxrss)
        #else
            guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return nil }
            // In kilobytes on Linux.
            return Int(usage.ru_maxrss) * 1024
        #endif
    }
}
