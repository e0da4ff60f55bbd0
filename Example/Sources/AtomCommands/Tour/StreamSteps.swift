import AtomNetworking
import Foundation

extension Tour {
    /// Listens to announcements while the token of the stream expires, and goes
    /// on with the next token when the connection has ended.
    mutating func listen() async throws {
        /// How many announcements a connection has.
        let each = 8
        let atom = try atom(try await tokens())
        server.resetCounters()
        let stream = try await atom.enqueue(AccountEndpoint.gates(airline, milliseconds: 40, each: each))
            .serverSentEvents(reconnection: .automatic())
        var events = stream.makeAsyncIterator()
        var numbers: [Int] = []
        while numbers.count < 2 * each, let event = try await events.next() {
            numbers.append(try JSONDecoder().decode(GateAnnouncement.self, from: Data(event.data.utf8)).number)
            guard numbers.count == 3 else { continue }
            server.expireAccessTokens()
            try await atom.enqueue(AccountEndpoint.account(airline)).resume()
            checklist.check(
                server.counters.refreshes == 1, "its token expires, and another request refreshes it",
                detail: "the server counted \(server.counters.refreshes) refresh")
        }
        let counters = server.counters
        checklist.check(
            counters.apiRequestsWithDeadToken <= 1 && counters.refreshes == 1,
            "the connection ends after \(each) announcements: the next one carries the new token")
        checklist.check(
            numbers == Array(1...2 * each), "every announcement arrived once, in order",
            detail: "\(numbers.count) announcements")
    }
}
