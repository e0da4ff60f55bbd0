import AirlineServer
import AtomNetworking
import Foundation
import Terminal

/// Listens to announcements while the token of the stream expires, and goes on
/// with the next token when the connection has ended.
struct StreamSteps {
    let tour: Tour

    /// The time between two announcements.
    private static let milliseconds = 40
    /// More than are ever needed.
    private static let most = 500
    private static let path = "/account/gates"

    func run(_ checklist: inout Checklist) async {
        checklist.section("A stream outlives its token")
        let result = await outcome { () async throws(AtomError) in try await listen(&checklist) }
        if let error = result.error { checklist.check(false, "the stream goes on", detail: error.description) }
    }

    private func listen(_ checklist: inout Checklist) async throws(AtomError) {
        let atom = try await signIn()
        tour.server.resetCounters()
        let stream = try await atom.enqueue(
            AccountEndpoint.gates(tour.airline, milliseconds: Self.milliseconds)
        ).serverSentEvents(reconnection: .automatic())
        var reader = Reader(stream.makeAsyncIterator())

        try await reader.read { $0.count == 3 }
        tour.server.expireAccessTokens()
        let account = try await atom.enqueue(AccountEndpoint.account(tour.airline)).resume(expecting: Member.self)
        let refreshedAt = tour.stopwatch.seconds
        try await reader.read { $0.last?.announcedAt ?? 0 > refreshedAt }
        let counters = tour.server.counters
        checklist.check(
            account.name == NameAndSecret.exampleUser.name && counters.refreshes == 1 && requests.count == 1
                && reader.announcements.last?.announcedAt ?? 0 > refreshedAt,
            "its token expires and another request renews it: the stream goes on",
            detail: "\(reader.announcements.count) announcements over one connection, and one refresh")

        tour.server.endStreams()
        let server = tour.server
        var lastBefore = reader.announcements.last?.number
        try await reader.read { announcements in
            if Self.requests(to: server).count > 1 { return true }
            lastBefore = announcements.last?.number
            return false
        }
        let newest = tour.server.events().last { $0.path == "/account" && $0.status == 200 }?.token
        checklist.check(
            requests.map(\.status) == [200, 200] && requests.last?.token == newest
                && requests.first?.token != newest && newest != nil,
            "the connection ends: the next one carries the newest token",
            detail: requests.map { $0.token.map { "token \($0)" } ?? "no token" }.joined(separator: ", then "))
        checklist.check(
            requests.last?.detail == lastBefore.map { "after announcement \($0)" },
            "and the ID of the last announcement", detail: requests.last?.detail)
        let numbers = reader.announcements.map(\.number)
        checklist.check(
            !numbers.isEmpty && numbers == Array(1...max(numbers.count, 1)),
            "every announcement arrived once, in order", detail: "1 to \(numbers.count)")
    }

    private func signIn() async throws(AtomError) -> Atom {
        let client = NameAndSecret.exampleClient
        let tokens = try await tour.atom().enqueue(
            SignInEndpoint.password(tour.airline, user: .exampleUser, client: client)
        ).resume(expecting: TokenCredential.self)
        return tour.atom(
            .bearer(
                try tour.airline.authorizationEndpoint(), ClientCredential(id: client.name, secret: client.secret),
                TokenBox(tokens)))
    }

    /// The server's view of the stream's connections.
    private var requests: [ServerEvent] { Self.requests(to: tour.server) }

    private static func requests(to server: AirlineServer) -> [ServerEvent] {
        server.events().filter { $0.path == path }
    }

    /// Reads announcements, and keeps them.
    private struct Reader {
        private var events: ServerSentEventStream.Iterator
        private(set) var announcements: [GateAnnouncement] = []

        init(_ events: ServerSentEventStream.Iterator) {
            self.events = events
        }

        /// Reads until a condition is met, or until something is wrong.
        mutating func read(until isEnough: ([GateAnnouncement]) -> Bool) async throws(AtomError) {
            while announcements.count < StreamSteps.most, let event = try await events.next() {
                guard let announcement = try? JSONDecoder().decode(GateAnnouncement.self, from: Data(event.data.utf8)),
                    event.id == String(announcement.number)
                else { return }
                announcements.append(announcement)
                if isEnough(announcements) { return }
            }
        }
    }
}
