import AirlineServer
import AtomNetworking
import Foundation
import Terminal

/// Listens to announcements while the token of the stream expires, and goes on
/// with the next token when the connection has ended.
struct StreamSteps {
    let tour: Tour

    /// How many announcements a connection has.
    private static let each = 8

    func run(_ checklist: inout Checklist) async {
        checklist.section("A stream outlives its token")
        let result = await outcome { () async throws(AtomError) in try await listen(&checklist) }
        if let error = result.error { checklist.check(false, "the stream goes on", detail: error.description) }
    }

    private func listen(_ checklist: inout Checklist) async throws(AtomError) {
        let atom = try tour.atom(try await tour.tokens())
        tour.server.resetCounters()
        let stream = try await atom.enqueue(
            AccountEndpoint.gates(tour.airline, milliseconds: 40, each: Self.each)
        ).serverSentEvents(reconnection: .automatic())
        var events = stream.makeAsyncIterator()
        var numbers: [Int] = []
        while numbers.count < 2 * Self.each, let event = try await events.next() {
            guard let announcement = try? JSONDecoder().decode(GateAnnouncement.self, from: Data(event.data.utf8))
            else { break }
            numbers.append(announcement.number)
            guard numbers.count == 3 else { continue }
            tour.server.expireAccessTokens()
            try await atom.enqueue(AccountEndpoint.account(tour.airline)).resume()
            checklist.check(
                tour.server.counters.refreshes == 1, "its token expires, and another request refreshes it",
                detail: "the server counted \(tour.server.counters.refreshes) refresh")
        }
        let counters = tour.server.counters
        checklist.check(
            counters.apiRequestsWithDeadToken <= 1 && counters.refreshes == 1,
            "the connection ends after \(Self.each) announcements: the next one carries the new token")
        checklist.check(
            numbers == Array(1...2 * Self.each), "every announcement arrived once, in order",
            detail: "\(numbers.count) announcements")
    }
}
