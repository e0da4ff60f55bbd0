import Terminal

/// Draws a round: the tokens, the refresh, and the requests in the order of
/// their arrival.
struct SessionPicture {
    private let round: SessionRound
    private let showsEveryRequest: Bool
    private var firstToken: Timeline.Lane?

    init(_ round: SessionRound, showsEveryRequest: Bool) {
        self.round = round
        self.showsEveryRequest = showsEveryRequest
    }

    /// Adds the lifetime of the round's first token.
    ///
    /// - Parameter refreshedFrom: When a refresh becomes due, if that is known.
    mutating func addFirstToken(until death: Double, refreshedFrom due: Double?, label: String) {
        var segments = [Timeline.Segment(.token, from: round.startedAt, to: due ?? death)]
        if let due { segments.append(.init(.leeway, from: due, to: death)) }
        segments.append(.init(.dead, at: death))
        firstToken = Timeline.Lane("old token", segments, note: label)
    }

    func draw(on terminal: Terminal) {
        let timeline = timeline()
        for line in timeline.lines(for: terminal) { terminal.print("  " + line) }
        terminal.print()
        terminal.print("  " + timeline.legend(for: terminal))
        for line in counts() { terminal.print("  " + line) }
    }

    func timeline() -> Timeline {
        var timeline = Timeline(from: round.startedAt, to: round.endedAt)
        if let firstToken { timeline.add(firstToken) }
        for refresh in round.refreshes {
            let end = refresh.endedAt ?? round.endedAt
            timeline.add(.init("refresh", [.init(.refresh, from: refresh.startedAt, to: end)]))
            timeline.add(.init("new token", [.init(.token, from: end, to: round.endedAt)]))
        }
        for group in groups() { timeline.add(lane(of: group)) }
        return timeline
    }

    /// Adjacent requests with the same result share a lane, at most six.
    private func groups() -> [[SessionRound.Request]] {
        let limit = showsEveryRequest ? 1 : 6
        var groups: [[SessionRound.Request]] = []
        for request in round.requests {
            if let last = groups.last?.last, last.fate == request.fate, groups[groups.count - 1].count < limit {
                groups[groups.count - 1].append(request)
            } else {
                groups.append([request])
            }
        }
        return groups
    }

    private func lane(of group: [SessionRound.Request]) -> Timeline.Lane {
        let numbers = group.map(\.number)
        let first = numbers.first ?? 0
        let last = numbers.last ?? 0
        let label = first == last ? "request \(first)" : "requests \(first)-\(last)"
        return Timeline.Lane(label, group.flatMap(segments))
    }

    private func segments(of request: SessionRound.Request) -> [Timeline.Segment] {
        var segments: [Timeline.Segment] = []
        var free = request.resumedAt
        for attempt in request.attempts {
            let end = attempt.endedAt ?? request.endedAt
            segments.append(.init(.waiting, from: free, to: attempt.startedAt))
            segments.append(.init(.onWire, from: attempt.startedAt, to: end))
            if attempt.status == 401 { segments.append(.init(.refused, at: end)) }
            free = end
        }
        return segments
    }

    /// A sentence for each result that occurred.
    private func counts() -> [String] {
        let sentences: [(SessionRound.Fate, String)] = [
            (.direct, "were sent directly, with the old token"),
            (.sentAgain, "got a 401, waited for the refresh and were sent once more"),
            (.waited, "waited for the refresh, and were released in order"),
            (.afterwards, "started after the refresh and were sent with the new token"),
        ]
        return sentences.compactMap { fate, sentence in
            let count = round.requests.filter { $0.fate == fate }.count
            return count == 0 ? nil : (count < 10 ? " " : "") + "\(count) \(sentence)"
        }
    }
}
