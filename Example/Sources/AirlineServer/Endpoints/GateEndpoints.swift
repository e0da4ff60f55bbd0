import Foundation

/// Announcements as server-sent events (WHATWG HTML §9.2).
///
/// They are numbered from 1, and their numbers are their IDs. A client that
/// sends `Last-Event-ID` gets those after it, and 204 if there will be none.
/// These items of the query change the stream:
///
/// - `count`: the number of the last announcement; without it there is no last.
/// - `milliseconds`: the time between two announcements.
/// - `retry`: after how many milliseconds a client should connect again.
struct GateEndpoints {
    let state: Locked<ServerState>
    let clock: ServerClock

    func install(on router: inout Router) {
        router.on("GET", "/gates") { call in try announcements(call) }
    }

    /// The response to a request for announcements.
    func announcements(_ call: Call) throws -> Reply {
        let count = try call.query("count", default: Int.max - 1, in: 0...Int.max - 1)
        let milliseconds = try call.query("milliseconds", default: 1000, in: 1...60_000)
        let retry = try call.query("retry", default: 1000, in: 0...60_000)
        let last = call.header("Last-Event-ID").flatMap(Int.init).map { min(max($0, 0), count) }
        let note = last.map { "after announcement \($0)" }
        guard last ?? 0 < count else {
            return Reply(status: 204, note: note)
        }
        let (flights, generation) = state.withLock { ($0.desk.flights, $0.streamGeneration) }
        let number = Locked(last ?? 0)
        let isBegun = Locked(false)
        let state = state
        let clock = clock
        return Reply(
            status: 200, headers: [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")],
            delivery: .stream(length: nil) {
                let isFirst = isBegun.withLock { isBegun in
                    defer { isBegun = true }
                    return !isBegun
                }
                // The head and this go out at once, before any announcement.
                if isFirst { return Data("retry: \(retry)\n: welcome at the gates\n\n".utf8) }
                guard number.withLock({ $0 }) < count else { return nil }
                try await Task.sleep(for: .milliseconds(milliseconds))
                guard state.withLock(\.streamGeneration) == generation else { return nil }
                let next = number.withLock { number in
                    number += 1
                    return number
                }
                return GateAnnouncement(number: next, flights: flights, announcedAt: clock.now()).event
            }, note: note)
    }
}
