import AtomNetworking
import AtomNetworkingExports
import AtomNetworkingTesting
import Foundation
import Testing

/// Which bodies of responses observers hear, and what a recorder keeps of them.
@Suite(.limited)
struct RecordedBodiesTests {
    /// Keeps what it hears; without a lock, because the wire is immediate.
    private final class Listener: RequestObserver, @unchecked Sendable {
        // Unchecked: used in one thread.
        private(set) var story: [String] = []

        /// Hears bodies for it.
        var bodies: ResponseBodyObserver {
            ResponseBodyObserver { [self] part in
                story.append("part of \(part.attempt): \(String(decoding: part.data, as: UTF8.self))")
            }
        }

        func observe(_ event: RequestEvent) {
            switch event.kind {
            case .sent(let request): story.append("sent \(request.attempt)")
            case .answered(let head): story.append("answered \(head.statusCode)")
            case .finished: story.append("finished")
            default: break
            }
        }
    }

    /// Tells a recorder of an attempt only when its answer has been heard.
    ///
    /// Parts don't wait for events, so a recorder can hear them so.
    private final class LateTeller: BodyObserver, @unchecked Sendable {
        // Unchecked: used in one thread.
        private let recorder: HARRecorder
        private let losesParts: Bool
        private var held: [RequestEvent] = []

        init(_ recorder: HARRecorder, losesParts: Bool = false) {
            (self.recorder, self.losesParts) = (recorder, losesParts)
        }

        func observe(_ event: RequestEvent) {
            switch event.kind {
            case .sent, .answered: held.append(event)
            default:
                for event in held { recorder.observe(event) }
                held = []
                recorder.observe(event)
            }
        }

        func observe(_ part: Data, of requestID: UInt64, attempt: Int) {
            if !losesParts { recorder.observe(part, of: requestID, attempt: attempt) }
        }
    }

    private func texts(_ har: Data) throws -> [String?] {
        let file = try #require(try JSONSerialization.jsonObject(with: har) as? [String: Any])
        let entries = try #require((file["log"] as? [String: Any])?["entries"] as? [[String: Any]])
        return entries.map { (($0["response"] as? [String: Any])?["content"] as? [String: Any])?["text"] as? String }
    }

    /// Records one response.
    private func recorded(
        _ answer: ScriptedResponse, showing disclosure: RequestDisclosure = .allButCredentials, upTo limit: Int = 1_000
    ) async throws -> String? {
        let recorder = HARRecorder(showing: disclosure, responseBodiesUpTo: limit)
        let (atom, wire) = Atom.scripted(answer) { $0.observers = [recorder] }
        try await atom.enqueue(Call()).resume()
        try wire.verify()
        return try #require(try texts(await wire.recorded(by: recorder)).first)
    }

    @Test(arguments: [false, true]) func aPartThatIsHeardBeforeItsSendingIsRecorded(isLost: Bool) async throws {
        let recorder = HARRecorder(showing: .everything, responseBodiesUpTo: 1_000)
        let (atom, wire) = Atom.scripted(.chunks([Data("a".utf8), Data("b".utf8)]), .text("c"), delivery: .immediate) {
            $0.observers = [LateTeller(recorder, losesParts: isLost)]
        }
        for _ in 0..<2 { try await atom.enqueue(Call()).resume() }
        try wire.verify()
        let har = await wire.recorded(by: recorder)
        #expect(try texts(har) == (isLost ? [nil, nil] : ["ab", "c"]))
        // What is lost isn't taken for an empty body.
        #expect(try HTTPArchive(har).review.findings(.unanswerable).isEmpty == !isLost)
    }

    @Test func partsComeBetweenTheHeadAndTheEnd() async throws {
        let (all, none) = (Listener(), Listener())
        let (atom, wire) = Atom.scripted(
            .chunks([Data("so".utf8), Data("rry".utf8)], status: 307, headerItems: ["Location": "/y"]),
            .chunks([Data("a".utf8), Data("b".utf8)]), delivery: .immediate
        ) { $0.observers = [none, all, all.bodies] }
        try await atom.enqueue(Call()).resume()
        try wire.verify()
        #expect(
            all.story.filter { !$0.contains("part of 1") } == [
                "sent 1", "answered 307", "sent 2", "answered 200", "part of 2: a", "part of 2: b", "finished",
            ], "\(all.story)")
        #expect(all.story.filter { $0.contains("part of 1") } == ["part of 1: so", "part of 1: rry"])
        #expect(none.story == ["sent 1", "answered 307", "sent 2", "answered 200", "finished"])
    }

    @Test func aStreamIsHeardAsItComes() async throws {
        let listener = Listener()
        let (atom, wire) = Atom.scripted(.events(["1", "2"]), delivery: .immediate) {
            $0.observers = [listener, listener.bodies]
        }
        var events: [String] = []
        for try await event in try await atom.enqueue(Call()).serverSentEvents() {
            events.append(event.data)
        }
        #expect(events == ["1", "2"])
        #expect(listener.story.filter { $0.hasPrefix("part") }.count == 2)
        try? wire.verify()
    }

    @Test func withoutAskingThereIsNone() async throws {
        #expect(try await recorded(.text("a"), upTo: 0) == nil)
        #expect(try await recorded(.text("a"), upTo: -1) == nil)
        #expect(try await recorded(.text("a"), showing: .onlyHarmless) == nil)
        #expect(try await recorded(.text("a")) == "a")
        #expect(try await recorded(.text("a"), upTo: 1) == "a")
        #expect(try await recorded(.text("ab"), upTo: 1) == nil)
    }

    @Test(arguments: [
        (#"{"access_token":"planted","n":1}"#, "application/json", #"{"access_token":"HIDDEN","n":1}"#),
        (
            "{\"token\":\"planted\"}\n{\"token\":\"planted\"}\n", "application/jsonl",
            "{\"token\":\"HIDDEN\"}\n{\"token\":\"HIDDEN\"}\n"
        ),
        (
            "event: a\r\ndata: {\"token\":\"planted\"}\r\n\r\n:\ndata\ndata: 1\n", "text/event-stream",
            "event: a\r\ndata: {\"token\":\"HIDDEN\"}\r\n\r\n:\ndata\ndata: 1\n"
        ),
        ("data: the token is planted\n\n", "text/event-stream", nil), ("token planted\n", "text/event-stream", nil),
        (
            "access_token=planted&token_type=bearer", "application/x-www-form-urlencoded",
            "access_token=HIDDEN&token_type=bearer"
        ),
        ("<p>Your password is planted</p>", "text/html", nil), ("<p>Hello</p>", "text/html", "<p>Hello</p>"),
        ("a pin b", "image/png", nil), ("a pen b", "image/png", "a pen b"),
        ("<svg>pin planted</svg>", "image/svg+xml", nil),
        ("#EXTM3U\nhttps://h/1.ts?Signature=planted\n", "audio/mpegurl", nil),
        (#"{"body":"{\"token\":\"planted\"}"}"#, "application/json", #"{"body":"{\"token\":\"HIDDEN\"}"}"#),
        ("data: {\ndata: \"a\":1}\n\n", "text/event-stream", nil),
    ])
    func credentialsAreHidden(body: String, type: String, shown: String?) async throws {
        let answer = ScriptedResponse.data(Data(body.utf8), headerItems: ["Content-Type": type])
        #expect(try await recorded(answer) == shown)
        #expect(try await recorded(answer, showing: .everything) == body)
    }

    @Test(arguments: [RequestDisclosure.allButCredentials, .everything])
    func aByteOrderMarkStays(disclosure: RequestDisclosure) async throws {
        let mark = Data([0xEF, 0xBB, 0xBF])
        let body = mark + Data("seats".utf8)
        let recorder = HARRecorder(showing: disclosure, responseBodiesUpTo: 1_000)
        let (atom, wire) = Atom.scripted(.data(body, headerItems: ["Content-Type": "text/csv"])) {
            $0.observers = [recorder]
        }
        let upload = Call(method: .post, body: .data(body, contentType: "text/csv"))
        try await atom.enqueue(upload).resume()
        try wire.verify()
        let archive = try HTTPArchive(await wire.recorded(by: recorder))
        try await Atom.withScript { atom, wire in
            wire.replay(archive)
            let unmarked = Call(method: .post, body: .data(body.dropFirst(3), contentType: "text/csv"))
            await #expect(throws: AtomError.self) { try await atom.enqueue(unmarked).resume() }
            try? wire.verify()
            let answer = try await atom.enqueue(upload).resume()
            #expect(answer.data == body)
        }
    }

    @Test func aByteOrderMarkBeforeHiddenTokensStays() async throws {
        let text = "\u{FEFF}" + #"{"access_token":"HIDDEN"}"#
        let quoted = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        let har = #"""
            {"log":{"entries":[{"request":{"method":"GET","url":"https://api.example.com/x"},
            "response":{"status":200,"content":{"text":\#(quoted)}}}]}}
            """#
        try await Atom.withScript { atom, wire in
            wire.replay(try HTTPArchive(Data(har.utf8)))
            let data = try await atom.enqueue(Call()).resume().data
            #expect(data == Data("\u{FEFF}{\"access_token\":\"HIDDEN-1\"}".utf8), "\(data.text)")
        }
    }

    @Test func manyBodiesDropOldEntries() async throws {
        let recorder = HARRecorder(showing: .everything, responseBodiesUpTo: 16 << 20)
        let (atom, wire) = Atom.scripted(.data(Data(repeating: 0x61, count: 16 << 20)).times(6)) {
            $0.observers = [recorder]
        }
        for _ in 0..<6 { try await atom.enqueue(Call()).resume() }
        try wire.verify()
        // The fifth one is too much: then two stay.
        let archive = recorder.har()
        #expect(try texts(archive).count == 3)
        #expect(String(decoding: archive.prefix(4_000), as: UTF8.self).contains("3 older entries were dropped"))
    }
}
