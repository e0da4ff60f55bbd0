import AtomNetworkingTesting
import Foundation

/// Announcements as server-sent events (WHATWG HTML §9.2).
///
/// They are numbered from 1, and their numbers are their IDs. A client that sends `Last-Event-ID` gets those after it,
/// and 204 if there will be none. These items of the query change the stream:
///
/// - `count`: the number of the last announcement.
/// - `each`: how many announcements a connection has, before it ends.
/// - `milliseconds`: the time between two announcements.
struct GateEndpoints {
    let state: Locked<ServerState>

    var routes: [String: Endpoint] {
        ["GET /gates": { request throws(Problem) in try announcements(request) }]
    }

    /// The response to a request for announcements.
    func announcements(_ request: LoopbackServer.Request) throws(Problem) -> LoopbackServer.Response {
        let count = try request.query("count", default: Int.max - 1000, in: 0...Int.max - 1000)
        let each = try request.query("each", default: 1000, in: 1...1000)
        let milliseconds = try request.query("milliseconds", default: 1000, in: 1...60_000)
        let last = request["Last-Event-ID"].flatMap { Int($0) }.map { min(max($0, 0), count) } ?? 0
        guard last < count else { return .empty(204) }
        let flights = state.withLock(\.desk.flights)
        // The head and this go out at once, before any announcement.
        var steps: [LoopbackServer.Response.Step] = [
            .write(text: "retry: \(milliseconds)\n: welcome at the gates\n\n")
        ]
        for number in last + 1...min(last + each, count) {
            steps += [.delay(milliseconds: milliseconds), .write(text: Self.event(number, flights))]
        }
        return .streamed(steps, headers: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")])
    }

    /// The number of an announcement decides its content.
    private static func event(_ number: Int, _ flights: [Flight]) -> String {
        let flight = flights[(number - 1) / 3 % flights.count].number
        let status = ["assigned", "boarding", "closed"][(number - 1) % 3]
        return "id: \(number)\nevent: gate\n"
            + #"data: {"flight":"\#(flight)","number":\#(number),"status":"\#(status)"}"# + "\n\n"
    }
}
