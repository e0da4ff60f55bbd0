import Testing

@testable import AtomCommands

@Suite struct TimelineTests {
    @Test func lanesShareOneAxis() {
        var timeline = Timeline(from: 10, to: 11)
        timeline.add(.init("refresh", [.init(.refresh, from: 10.25, to: 10.5)]))
        timeline.add(.init("a", [.init(.waiting, from: 10, to: 10.5), .init(.onWire, from: 10.5, to: 11)]))
        let lines = timeline.lines(for: RecordingTerminal().terminal())
        let columns = 80 - 9 - 8
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("         0"))
        #expect(lines[0].hasSuffix(" ms"))
        #expect(lines[1].hasPrefix("refresh  " + String(repeating: " ", count: columns / 4) + "#"))
        #expect(lines[2].hasPrefix("a        ."))
        #expect(lines[2].filter { $0 == "." }.count == columns / 2)
        #expect(lines[2].hasSuffix("="))
    }

    @Test func aMomentIsSeenHoweverShort() {
        var timeline = Timeline(from: 0, to: 100)
        timeline.add(.init("a", [.init(.onWire, from: 0, to: 50), .init(.refused, at: 50)], note: "why"))
        let line = timeline.lines(for: RecordingTerminal().terminal()).last ?? ""
        #expect(line.filter { $0 == "x" }.count == 1)
        #expect(line.hasSuffix("x why"))
    }

    @Test func onATerminalThereAreColoursAndSymbols() {
        var timeline = Timeline(from: 0, to: 1)
        timeline.add(.init("a", [.init(.onWire, from: 0, to: 1)]))
        let terminal = RecordingTerminal().terminal(isTerminal: true)
        #expect(timeline.lines(for: terminal).last?.contains("\u{1B}[32m━━━") == true)
        #expect(timeline.legend(for: terminal).contains("on the wire"))
        #expect(!timeline.legend(for: terminal).contains("refresh"))
    }
}

@Suite struct SessionRoundTests {
    private func record(_ number: Int?, _ start: Double, _ end: Double, status: Int = 200) -> WireTap.Record {
        WireTap.Record(
            method: "GET", url: "", path: "", requestID: number.map(String.init), startedAt: start, endedAt: end,
            status: status)
    }

    private func request(_ number: Int, resumedAt: Double, _ attempts: WireTap.Record...) -> SessionRound.Request {
        SessionRound.Request(
            number: number, resumedAt: resumedAt, endedAt: attempts.last?.endedAt ?? 0, attempts: attempts, error: nil)
    }

    private func round(_ order: [Int]) -> SessionRound {
        let requests = [
            request(1, resumedAt: 0, record(1, 0, 1)),
            request(2, resumedAt: 0, record(2, 0, 1, status: 401), record(2, 2.1, 3)),
            request(3, resumedAt: 1.5, record(3, 2.2, 3)),
            request(4, resumedAt: 1.6, record(4, 2.3, 3)),
            request(5, resumedAt: 2.5, record(5, 2.5, 3)),
        ]
        let sent = order.map { record($0, 0, 0) }
        return SessionRound(requests: requests, records: sent + [record(nil, 1.1, 2)], startedAt: 0, endedAt: 3)
    }

    @Test func theFateOfARequestIsToldByItsTimes() {
        #expect(round([]).requests.map(\.fate) == [.direct, .sentAgain, .waited, .waited, .afterwards])
        #expect(round([]).refused == 1)
    }

    @Test func theOrderOfReleaseIsThatOfTheWire() {
        #expect(round([1, 2, 2, 3, 4, 5]).isReleasedInOrder)
        #expect(!round([1, 2, 2, 4, 3, 5]).isReleasedInOrder)
        #expect(round([1, 2, 2, 3, 4, 5]).releaseSummary == "3, 4")
    }

    @Test func neighboursOfOneFateShareALane() {
        let terminal = RecordingTerminal().terminal()
        let grouped = SessionPicture(round([]), showsEveryRequest: false).timeline().lines(for: terminal)
        #expect(grouped.contains { $0.hasPrefix("requests 3-4 ") })
        let single = SessionPicture(round([]), showsEveryRequest: true).timeline().lines(for: terminal)
        #expect(single.contains { $0.hasPrefix("request 4 ") })
    }
}
