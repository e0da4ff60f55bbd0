import AirlineServer
import Foundation
import Terminal

/// The result of processes that shared a session.
struct ProcessesReport: Sendable {
    /// What happened to the processes.
    enum Treatment: Sendable, Equatable {
        /// They ran from start to end.
        case unharmed
        /// Some were killed, and the server repeats a lost response.
        case killedWithGrace
        /// Some were killed, and the server accepts no refresh token twice.
        case killedStrictly
    }

    var treatment: Treatment
    var processes: Int
    var seconds = 0.0
    /// As reported by the processes that were not killed.
    var answered = 0
    /// Counts by description.
    var failures: [String: Int] = [:]
    /// Requests that failed because the session has ended.
    var refused = 0
    var kills = 0
    /// Processes that ended unexpectedly.
    var crashes = 0
    /// Sessions that ended, by the error that the first process reported.
    var interrupted = 0
    var rejected = 0
    /// Later reports about a session that contradict the first.
    var contradictions = 0
    /// The server's counters.
    var server = Counters()

    var failed: Int { failures.values.reduce(0, +) }

    /// The differences from the expectation, one sentence each.
    var complaints: [String] {
        var complaints: [String] = []
        func expect(_ isTrue: Bool, _ complaint: String) {
            if !isTrue { complaints.append(complaint) }
        }
        expect(answered > 0, "No request was answered.")
        expect(failed == 0, "Requests failed.")
        expect(crashes == 0, "Processes ended unexpectedly.")
        expect(
            server.tokensIssued == server.signIns + server.refreshes + server.repeatedRefreshes,
            "The server's counts of tokens are inconsistent.")
        if treatment == .killedStrictly {
            expect(
                server.familiesRevoked == interrupted,
                "Sessions ended, but no process reported an interrupted refresh.")
            expect(rejected == 0 && contradictions == 0, "An interrupted refresh was reported as another error.")
            expect(server.reuseDetected == server.familiesRevoked, "Sessions ended for a reason other than reuse.")
        } else {
            expect(server.reuseDetected == 0, "A refresh token was used twice.")
            expect(server.familiesRevoked == 0 && interrupted + rejected == 0, "A session ended.")
        }
        if treatment == .unharmed {
            expect(server.peakConcurrentTokenRequests <= 1, "Two refreshes ran at once.")
            expect(
                server.tokenRequests == server.tokensIssued && server.repeatedRefreshes == 0,
                "A call of the token endpoint failed.")
        }
        return complaints
    }

    var isAsExpected: Bool { complaints.isEmpty }

    func show(on terminal: Terminal) {
        terminal.print(table(for: terminal))
        for (description, count) in failures.sorted(by: { $0.value > $1.value }).prefix(5) {
            terminal.print(terminal.styled("\(count) ×", .red) + " " + description)
        }
        for complaint in complaints {
            terminal.print(terminal.styled(complaint, .red))
        }
    }

    func table(for terminal: Terminal) -> Table {
        func good(_ count: Int, when isGood: Bool) -> String {
            terminal.styled("\(count)", isGood ? .green : .red)
        }
        let isStrict = treatment == .killedStrictly
        var table = Table("Processes", .right("\(processes)"))
        table.add("time", "\((seconds * 10).rounded() / 10) s")
        if treatment != .unharmed { table.add("processes killed", "\(kills)") }
        table.add("requests answered, per the server", "\(server.apiRequestsAccepted)")
        table.add("requests answered, per the processes", "\(answered)")
        table.add("requests failed", good(failed, when: failed == 0))
        table.add("requests rejected after a session ended", good(refused, when: isStrict || refused == 0))
        table.add("sign-ins", "\(server.signIns)")
        table.add("refreshes", "\(server.refreshes)")
        if server.repeatedRefreshes > 0 { table.add("refreshes repeated after a kill", "\(server.repeatedRefreshes)") }
        table.add("tokens issued", "\(server.tokensIssued)")
        table.add("concurrent refreshes, maximum", "\(server.peakConcurrentTokenRequests)")
        table.add("invalid tokens received", "\(server.apiRequestsWithDeadToken)")
        table.add("refresh tokens reused", good(server.reuseDetected, when: isStrict || server.reuseDetected == 0))
        table.add(
            "sessions ended, per the server",
            good(server.familiesRevoked, when: isStrict || server.familiesRevoked == 0))
        table.add("reported as an interrupted refresh", good(interrupted, when: interrupted == server.familiesRevoked))
        table.add("reported as something else", good(rejected + contradictions, when: rejected + contradictions == 0))
        if crashes > 0 { table.add("processes that ended unexpectedly", good(crashes, when: false)) }
        return table
    }
}
