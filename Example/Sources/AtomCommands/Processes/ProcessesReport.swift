import AirlineServer
import Foundation
import Terminal

/// What came of processes that shared a session.
struct ProcessesReport: Sendable {
    /// How the processes were treated.
    enum Treatment: Sendable, Equatable {
        /// They ran from beginning to end.
        case unharmed
        /// Some were killed, and the server repeats an answer that was lost.
        case killedWithGrace
        /// Some were killed, and the server takes no refresh token twice.
        case killedStrictly
    }

    var treatment: Treatment
    var processes: Int
    var seconds = 0.0
    /// As the processes that lived to tell have it.
    var answered = 0
    /// How often, by description.
    var failures: [String: Int] = [:]
    /// Requests that were told that the session is over.
    var refused = 0
    var kills = 0
    /// Processes that ended without having been told to.
    var crashes = 0
    /// Sessions that were over, by what the first process to notice called it.
    var interrupted = 0
    var rejected = 0
    /// Later words about a session that said anything else than its end by an interruption.
    var contradictions = 0
    /// What the server counted.
    var server = Counters()

    var failed: Int { failures.values.reduce(0, +) }

    /// What was not as it should be, a sentence each.
    var complaints: [String] {
        var complaints: [String] = []
        func expect(_ isTrue: Bool, _ complaint: String) {
            if !isTrue { complaints.append(complaint) }
        }
        expect(answered > 0, "No request was answered.")
        expect(failed == 0, "Requests failed.")
        expect(crashes == 0, "Processes ended by themselves.")
        expect(
            server.tokensIssued == server.signIns + server.refreshes + server.repeatedRefreshes,
            "The server's count of tokens doesn't add up.")
        if treatment == .killedStrictly {
            expect(
                server.familiesRevoked == interrupted,
                "Sessions ended without a process having said that a refresh was interrupted.")
            expect(rejected == 0 && contradictions == 0, "An interrupted refresh was called something else.")
            expect(server.reuseDetected == server.familiesRevoked, "Sessions ended for another reason than reuse.")
        } else {
            expect(server.reuseDetected == 0, "A refresh token was used twice.")
            expect(server.familiesRevoked == 0 && interrupted + rejected == 0, "A session ended.")
        }
        if treatment == .unharmed {
            expect(server.peakConcurrentTokenRequests <= 1, "Two refreshes ran at once.")
            expect(
                server.tokenRequests == server.tokensIssued && server.repeatedRefreshes == 0,
                "A call of the token endpoint was in vain.")
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
        table.add("requests answered, says the server", "\(server.apiRequestsAccepted)")
        table.add("requests answered, say the processes", "\(answered)")
        table.add("requests failed", good(failed, when: failed == 0))
        table.add("requests refused after a session's end", good(refused, when: isStrict || refused == 0))
        table.add("sign-ins", "\(server.signIns)")
        table.add("refreshes", "\(server.refreshes)")
        if server.repeatedRefreshes > 0 { table.add("refreshes repeated after a kill", "\(server.repeatedRefreshes)") }
        table.add("tokens issued", "\(server.tokensIssued)")
        table.add("refreshes at once, at most", "\(server.peakConcurrentTokenRequests)")
        table.add("dead tokens seen", "\(server.apiRequestsWithDeadToken)")
        table.add("refresh tokens reused", good(server.reuseDetected, when: isStrict || server.reuseDetected == 0))
        table.add(
            "sessions ended, says the server",
            good(server.familiesRevoked, when: isStrict || server.familiesRevoked == 0))
        table.add("reported as an interrupted refresh", good(interrupted, when: interrupted == server.familiesRevoked))
        table.add("reported as something else", good(rejected + contradictions, when: rejected + contradictions == 0))
        if crashes > 0 { table.add("processes that ended by themselves", good(crashes, when: false)) }
        return table
    }
}
