import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct ServerSentEventParserTests {
    struct Case: Sendable {
        let response: Data
        let events: [ServerSentEvent]
        /// After the whole response.
        let id: String
        let retry: Duration?

        init(_ response: String, _ events: [ServerSentEvent], id: String? = nil, retry: Duration? = nil) {
            self.init(bytes: Array(response.utf8), events, id: id, retry: retry)
        }

        init(bytes: [UInt8], _ events: [ServerSentEvent], id: String? = nil, retry: Duration? = nil) {
            response = Data(bytes)
            self.events = events
            self.id = id ?? events.last?.id ?? ""
            self.retry = retry
        }
    }

    private static func event(_ data: String, type: String = "message", id: String = "") -> ServerSentEvent {
        ServerSentEvent(type: type, data: data, id: id)
    }

    /// The examples of the standard, in sections 9.2.1 and 9.2.6.
    static let examplesOfStandard = [
        Case(
            """
            data: This is the first message.

            data: This is the second message, it
            data: has two lines.

            data: This is the third message.


            """,
            [
                event("This is the first message."), event("This is the second message, it\nhas two lines."),
                event("This is the third message."),
            ]),
        Case(
            """
            event: add
            data: 73857293

            event: remove
            data: 2153

            event: add
            data: 113411


            """,
            [event("73857293", type: "add"), event("2153", type: "remove"), event("113411", type: "add")]),
        Case("data: YHOO\ndata: +2\ndata: 10\n\n", [event("YHOO\n+2\n10")]),
        Case(
            """
            : test stream

            data: first event
            id: 1

            data:second event
            id

            data:  third event


            """, [event("first event", id: "1"), event("second event"), event(" third event")]),
        Case("data\n\ndata\ndata\n\ndata:\n", [event(""), event("\n")]),
        Case("data:test\n\ndata: test\n\n", [event("test"), event("test")]),
    ]

    static let framing = [
        Case("", []),
        Case("\n", []),
        Case("\n\n\n", []),
        Case("data: a", []),
        Case("data: a\n", []),
        Case("data: a\r", []),
        Case("data: a\r\n", []),
        Case("data: a\n\n", [event("a")]),
        Case("data: a\r\r", [event("a")]),
        Case("data: a\r\n\r\n", [event("a")]),
        Case("data: a\n\r", [event("a")]),
        Case("data: a\r\n\r", [event("a")]),
        Case("data: a\r\n\n", [event("a")]),
        Case("data: a\n\r\n", [event("a")]),
        Case("\n\r\n\rdata: a\r\r\n\r\n", [event("a")]),
        Case("data: a\r\rdata: b\n\ndata: c\r\n\r\n", [event("a"), event("b"), event("c")]),
        Case("data: a\rdata: b\ndata: c\r\ndata: d\n\n", [event("a\nb\nc\nd")]),
        Case("data: a\n\n\n\ndata: b\n\n", [event("a"), event("b")]),
        Case("data: a\n\ndata: b\n", [event("a")]),
        Case("\u{FEFF}data: a\n\n", [event("a")]),
        Case("\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [event("b")]),
        Case("\n\u{FEFF}data: a\n\n", []),
        Case("data: \u{FEFF}a\n\n", [event("\u{FEFF}a")]),
        Case("\u{FEFF}:\r\rdata\r\r", [event("")]),
        Case(bytes: [0xEF, 0xBB], []),
    ]

    static let fields = [
        Case(": a comment\ndata: a\n\n", [event("a")]),
        Case("data: a\n:data: b\ndata: c\n:\n\n", [event("a\nc")]),
        Case("data:a\n\n", [event("a")]),
        Case("data:  a\n\n", [event(" a")]),
        Case("data: \n\n", [event("")]),
        Case("data:\ta \n\n", [event("\ta ")]),
        Case("data:a:b: c\n\n", [event("a:b: c")]),
        Case("data::\n\n", [event(":")]),
        Case("data\ndata:\ndata: \n\n", [event("\n\n")]),
        Case("data: a\ndata\n\n", [event("a\n")]),
        Case(" data: a\n\n", []),
        Case("data : a\n\n", []),
        Case("Data: a\nDATA: b\n\n", []),
        Case("dat: a\ndataa: b\nx\n\n", []),
        Case("unknown: x\ndata: a\nother\n\n", [event("a")]),
        Case("data: a\0b\n\n", [event("a\0b")]),
        Case("data\0: a\n\n", []),
        Case("event: e\ndata: a\n\ndata: b\n\n", [event("a", type: "e"), event("b")]),
        Case("event: e\n\ndata: b\n\n", [event("b")]),
        Case("event: e\nevent: f\ndata: a\n\n", [event("a", type: "f")]),
        Case("event: e\nevent\ndata: a\n\n", [event("a")]),
        Case("data: a\nevent:  e \n\n", [event("a", type: " e ")]),
        Case(
            "event: \u{E9}\u{1F680}\ndata: \u{6F22}\u{5B57}\n\n", [event("\u{6F22}\u{5B57}", type: "\u{E9}\u{1F680}")]),
    ]

    static let ids = [
        Case("id: 1\ndata: a\n\ndata: b\n\n", [event("a", id: "1"), event("b", id: "1")]),
        Case("id: 1\n\n", [], id: "1"),
        Case("id: 1\n", []),
        Case("id: 1", []),
        Case("data: a\n\nid: 1\n", [event("a")], id: ""),
        Case("id: 1\n\ndata: a\n\n", [event("a", id: "1")]),
        Case("id: 1\ndata: a\n\nid\ndata: b\n\n", [event("a", id: "1"), event("b")]),
        Case("id: 1\nid: 2\ndata: a\n\n", [event("a", id: "2")]),
        Case("id: 1\ndata: a\nid: 2\n\n", [event("a", id: "2")]),
        Case("id: 1\ndata: a\n\nid: 2\nevent: e\n\n", [event("a", id: "1")], id: "2"),
        Case("id: 1\nid: 2\0\ndata: a\n\n", [event("a", id: "1")]),
        Case("id: \0\ndata: a\n\n", [event("a")]),
        Case("id: a:b c\u{E9}\ndata\n\n", [event("", id: "a:b c\u{E9}")]),
        Case("ID: 1\nid : 2\ndata\n\n", [event("")]),
    ]

    static let retries = [
        Case("retry: 1000\n", [], retry: .seconds(1)),
        Case("retry:0\n", [], retry: .zero),
        Case("retry: 007\n\n", [], retry: .milliseconds(7)),
        Case("retry: 1\nretry: 2\n", [], retry: .milliseconds(2)),
        Case("retry: 1\nretry: x\nretry: \nretry\n", [], retry: .milliseconds(1)),
        Case("retry: 5\ndata: a\n\n", [event("a")], retry: .milliseconds(5)),
        Case("retry: 1000", []),
        Case("retry: -1\n", []),
        Case("retry: +1\n", []),
        Case("retry: 1.5\n", []),
        Case("retry:  1\n", []),
        Case("retry: 1 \n", []),
        Case("retry: 1s\n", []),
        Case("retry: \u{663}\n", []),
        Case("retry: 3000000000\n", [], retry: .milliseconds(3_000_000_000 as Int64)),
        Case("retry: 9223372036854775807\n", [], retry: .milliseconds(Int64.max)),
        Case("retry: 9223372036854775808\n", []),
        Case("retry: 99999999999999999999999\n", []),
    ]

    /// Bytes that aren't UTF-8, as the WHATWG's encoding standard decodes them.
    static let replacements = [
        Case(bytes: "data: ".utf8 + [0xFF] + "\n\n".utf8, [event("\u{FFFD}")]),
        Case(bytes: "data: a".utf8 + [0xC3] + "\n\n".utf8, [event("a\u{FFFD}")]),
        Case(bytes: "data: ".utf8 + [0xF0, 0x9F, 0x98] + "a\n\n".utf8, [event("\u{FFFD}a")]),
        Case(bytes: "data: ".utf8 + [0xED, 0xA0, 0x80] + "\n\n".utf8, [event("\u{FFFD}\u{FFFD}\u{FFFD}")]),
        Case(bytes: "data: ".utf8 + [0xC0, 0x80] + "\n\n".utf8, [event("\u{FFFD}\u{FFFD}")]),
        // The parts of a character in two lines aren't one.
        Case(bytes: "data: ".utf8 + [0xC3] + "\ndata: ".utf8 + [0xA9] + "\n\n".utf8, [event("\u{FFFD}\n\u{FFFD}")]),
        Case(
            bytes: "event: ".utf8 + [0x80] + "\nid: ".utf8 + [0xE2, 0x82] + "\ndata\n\n".utf8,
            [event("", type: "\u{FFFD}", id: "\u{FFFD}")]),
        Case(bytes: "data".utf8 + [0xFF] + ": a\n\n".utf8, []),
    ]

    static let cases = examplesOfStandard + framing + fields + ids + retries + replacements

    private func events(
        of parts: [Data], with parser: inout ServerSentEventParser
    ) throws(AtomError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for part in parts {
            parser.append(part)
            while let event = try parser.next() { events.append(event) }
        }
        return events
    }

    private func failure(_ parts: [Data], with parser: inout ServerSentEventParser) -> TransferError? {
        do {
            _ = try events(of: parts, with: &parser)
            return nil
        } catch .transfer(let error) {
            return error
        } catch {
            return nil
        }
    }

    @Test("Events are the same wherever the parts end", arguments: cases)
    func splits(of example: Case) throws {
        for parts in example.response.splits {
            var parser = ServerSentEventParser(limit: 1_000)
            let events = try events(of: parts, with: &parser)
            let isExpected = events == example.events && parser.lastEventID == example.id
            #expect(isExpected && parser.retry == example.retry, "\(events) \(parts.map { Array($0) })")
        }
    }

    @Test("All streams in one are all events", arguments: ["\n", "\r", "\r\n"])
    func together(end: String) throws {
        var parser = ServerSentEventParser(limit: 1_000)
        let cases = Self.cases.filter { $0.response.first != 0xEF && !$0.response.contains(0x0D) }
        for (number, example) in cases.enumerated() {
            // What the stream leaves incomplete ends with an ID and a blank line.
            let complete = ServerSentEvent(data: "end", id: "\(number)")
            var text = example.response + Data("\n\nid\n\ndata: end\nid: \(number)\n\n".utf8)
            text = Data(text.flatMap { $0 == 0x0A ? Array(end.utf8) : [$0] })
            let events = try events(of: [Data("id\n\n".utf8), text], with: &parser)
            #expect(events.last == complete)
            #expect(events.starts(with: example.events))
        }
    }

    @Test("An event is there with its blank line, without the byte after it", arguments: ["\n", "\r", "\r\n"])
    func atOnce(end: String) throws {
        var parser = ServerSentEventParser(limit: 100)
        let event = ServerSentEvent(data: "a")
        for _ in 0..<3 {
            parser.append(Data("data: a\(end)".utf8))
            #expect(try parser.next() == nil)
            parser.append(Data(end.utf8))
            #expect(try parser.next() == event)
            #expect(try parser.next() == nil)
        }
    }

    @Test("The last event ID changes with the blank line")
    func lastEventID() throws {
        var parser = ServerSentEventParser(limit: 100)
        parser.append(Data("id: 1\ndata: a\n\nid: 2\ndata: b\n".utf8))
        #expect(try parser.next()?.id == "1")
        #expect(try parser.next() == nil)
        #expect(parser.lastEventID == "1")
        parser.append(Data("\n".utf8))
        #expect(parser.lastEventID == "1")
        #expect(try parser.next()?.id == "2")
        #expect(parser.lastEventID == "2")
    }

    @Test("An ID that can't be sent is the event's, and leaves the last one that can", arguments: ["2\u{1}", "\u{7F}"])
    func unsendable(id: String) throws {
        var parser = ServerSentEventParser(limit: 1_000)
        parser.append(Data("id: 1\ndata: a\n\nid: \(id)\ndata: b\n\ndata: c\n\nid: 3\n\nid: \(id)\n\n".utf8))
        #expect(try parser.next()?.id == "1")
        #expect(try parser.next()?.id == id && parser.lastEventID == "1")
        #expect(try parser.next()?.id == id && parser.lastEventID == "1")
        #expect(try parser.next() == nil && parser.lastEventID == "3")
    }

    @Test("A response may go on with the last event ID of the one before it")
    func resumed() throws {
        var parser = ServerSentEventParser(limit: 100, lastEventID: "7")
        #expect(parser.lastEventID == "7")
        parser.append(Data("data: a\n\nid\ndata: b\n\n".utf8))
        #expect(try parser.next() == ServerSentEvent(data: "a", id: "7"))
        #expect(parser.lastEventID == "7")
        #expect(try parser.next() == ServerSentEvent(data: "b"))
        #expect(parser.lastEventID == "")
    }

    @Test(
        "The lines of an event may be as large as the limit, and not larger",
        arguments: [
            "data: 890123456789", "data: 8901\ndata: 7890", "data\ndata\ndata\ndata\ndata",
            "event: 89\ndata: 7890", "id: 5678\nid: 3456\nid:9", "event: 90\nid: 4567890",
            ": 34567890123456789", "unknown: 01234567890",
        ])
    func limit(event: String) throws {
        // Without the ends of the lines.
        let size = event.split(separator: "\n").reduce(0) { $0 + $1.utf8.count }
        for parts in Data(String(repeating: event + "\r\n\r\n", count: 2).utf8).splits {
            var parser = ServerSentEventParser(limit: size)
            #expect(failure(parts, with: &parser) == nil)
            parser = ServerSentEventParser(limit: size - 1)
            let error = failure(parts, with: &parser)
            #expect(error?.reason == .tooLarge && error?.delivery == .answered)
            let again = failure([Data("\n\ndata: a\n\n".utf8)], with: &parser)
            #expect(again?.reason == .tooLarge)
        }
    }

    @Test("Comments, unknown fields and waiting times make no event larger")
    func comments() throws {
        var parser = ServerSentEventParser(limit: 10)
        let other = Data(": 34567890\nx: 4567890\nretry: 890\n".utf8)
        let events = try events(of: Array(repeating: other, count: 50) + [Data("data: 7890\n\n".utf8)], with: &parser)
        #expect(events == [ServerSentEvent(data: "7890")])
    }

    // With a search or a copy from the beginning after each part it would take
    // minutes.
    @Test("The time grows with the bytes, however small the parts are", .limited)
    func linear() throws {
        let count = 100_000
        var parser = ServerSentEventParser(limit: count * 5)
        parser.append(Data("data:".utf8))
        let part = Data("x".utf8)
        for _ in 0..<count {
            parser.append(part)
            guard try parser.next() == nil else { break }
        }
        parser.append(Data("\n\n".utf8))
        #expect(try parser.next()?.data.utf8.count == count)
        let line = Data("data\n".utf8)
        for _ in 0..<(count / 2) {
            parser.append(line)
            guard try parser.next() == nil else { break }
        }
        parser.append(Data("\n".utf8))
        #expect(try parser.next()?.data.utf8.count == count / 2 - 1)
    }

    @Test("An event for a test needs only its data")
    func defaults() {
        let event = ServerSentEvent(data: "a")
        #expect(event.type == "message" && event.id == "")
    }
}
