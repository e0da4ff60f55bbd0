import Foundation
import Testing

@testable import AtomNetworking
@testable import AtomNetworkingExports

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The recorder, by a clock and a network that the test holds.
@Suite(.limited) struct HARRecorderTests {
    private func atom(_ session: SessionFixture, _ observers: [any RequestObserver]) -> Atom {
        var configuration = session.configuration
        configuration.observers = observers
        configuration.retryPolicy = .standard
        return Atom(configuration, time: session.time, random: { 0.5 })
    }

    private func call(_ atom: Atom, _ endpoint: some Requestable) -> Call {
        let call = Call()
        call.keep(atom.enqueue(endpoint).resume { call.heard($0) })
        return call
    }

    private func entries(_ recorder: HARRecorder) throws -> [[String: Any]] {
        let data = recorder.har()
        #expect(HARSchema.faults(in: data) == [])
        let file = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        return try #require((file["log"] as? [String: Any])?["entries"] as? [[String: Any]])
    }

    @Test("An entry has the request, the response, their sizes and the times")
    func entry() async throws {
        let session = try SessionFixture()
        let recorder = HARRecorder()
        let call = call(
            atom(session, [recorder]),
            RecordingEndpoint(
                path: "/seats", method: .post, headerItems: ["Accept": "text/plain", "X-Key": "planted"],
                queryItems: ["q": "planted"], body: .data(Data("planted".utf8), contentType: "text/plain")))
        #expect(try entries(recorder).isEmpty)
        let exchange = session.sent[0]
        session.time.advance(by: .milliseconds(20))
        exchange.send(
            .response(
                TransportResponse(
                    statusCode: 201,
                    headerFields: HeaderFields([.init(name: "Content-Type", value: "application/json; charset=utf-8")]))
            ))
        session.time.advance(by: .milliseconds(5))
        exchange.send(.data(Data("hello".utf8)))
        var metrics = TransportMetrics()
        metrics.networkProtocol = "h2"
        metrics.remoteAddress = "192.0.2.1"
        metrics.remotePort = 443
        metrics.domainLookup = .milliseconds(1)
        metrics.connect = .milliseconds(2)
        metrics.secureConnection = .milliseconds(3)
        metrics.waiting = .milliseconds(12)
        metrics.receiving = .microseconds(4_500)
        exchange.send(.measured(metrics))
        exchange.send(.finished)
        #expect(await call.status() == 201)

        let entry = try #require(try entries(recorder).first)
        #expect(entry["time"] as? Double == 25)
        #expect(
            entry["timings"] as? [String: Double]
                == ["blocked": 2.5, "dns": 1, "connect": 5, "ssl": 3, "send": 0, "wait": 12, "receive": 4.5])
        #expect(entry["serverIPAddress"] as? String == "192.0.2.1")
        #expect(entry["connection"] as? String == "443")
        #expect(entry["_error"] == nil)
        let request = try #require(entry["request"] as? [String: Any])
        #expect(request["method"] as? String == "POST")
        #expect(request["url"] as? String == "https://api.example.com/seats?q=HIDDEN")
        #expect(request["queryString"] as? [[String: String]] == [["name": "q", "value": "HIDDEN"]])
        #expect(request["httpVersion"] as? String == "HTTP/2")
        #expect(request["bodySize"] as? Int == 7)
        #expect(request["postData"] == nil)
        let headers = try #require(request["headers"] as? [[String: String]])
        #expect(headers.contains(["name": "Accept", "value": "text/plain"]))
        #expect(headers.contains(["name": "X-Key", "value": "HIDDEN"]))
        let response = try #require(entry["response"] as? [String: Any])
        #expect(response["status"] as? Int == 201 && response["statusText"] as? String == "Created")
        #expect(response["bodySize"] as? Int == 5)
        let content = try #require(response["content"] as? [String: Any])
        #expect(content["size"] as? Int == 5)
        #expect(content["mimeType"] as? String == "application/json; charset=utf-8")
    }

    @Test("Waiting for a refresh is blocked, and the refresh is an entry too")
    func refresh() async throws {
        let session = try SessionFixture(lifetime: 0)
        let recorder = HARRecorder()
        let call = call(atom(session, [recorder]), PathEndpoint())
        // It starts on another thread.
        let refresh = await session.refresh()
        session.time.advance(by: .milliseconds(30))
        refresh.grant(1)
        let exchange = await session.transport.exchange(1)
        session.time.advance(by: .milliseconds(10))
        exchange.answer("{}")
        #expect(await call.status() == 200)
        let entries = try entries(recorder)
        try #require(entries.count == 2)
        let service = try #require(entries.first { ($0["comment"] as? String)?.hasSuffix("attempt 1") == true })
        let timings = try #require(service["timings"] as? [String: Double])
        #expect(timings == ["blocked": 30, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 10, "receive": 0])
        #expect(service["time"] as? Double == 40)
        let token = try #require(
            entries.first { ($0["comment"] as? String)?.hasSuffix("for a new access token") == true })
        #expect(token["time"] as? Double == 30)
    }

    @Test("A redirect and a retry are entries of their own, with the pause before")
    func severalSendings() async throws {
        let session = try SessionFixture()
        let recorder = HARRecorder()
        let call = call(atom(session, [recorder]), PathEndpoint())
        let first = session.sent[0]
        session.time.advance(by: .milliseconds(3))
        first.redirect(to: "https://api.example.com/y?code=planted&x=1")
        let second = await session.transport.exchange(1)
        session.time.advance(by: .milliseconds(4))
        second.answer("later", status: 503, headers: [("Retry-After", "2")])
        session.time.advance(by: .seconds(2))
        let third = await session.transport.exchange(2)
        third.send(.response(TransportResponse(statusCode: 200)))
        third.send(.data(Data("done".utf8)))
        third.send(.finished)
        #expect(await call.status() == 200)
        let entries = try entries(recorder)
        try #require(entries.count == 3)
        #expect(entries.map { ($0["response"] as? [String: Any])?["status"] as? Int } == [302, 503, 200])
        #expect(
            (entries[0]["response"] as? [String: Any])?["redirectURL"] as? String
                == "https://api.example.com/y?code=HIDDEN&x=HIDDEN")
        #expect(entries.map { $0["time"] as? Double } == [3, 4, 2_000])
        #expect((entries[2]["timings"] as? [String: Double])?["blocked"] == 2_000)
        let sizes = entries.map { (($0["response"] as? [String: Any])?["content"] as? [String: Any])?["size"] as? Int }
        #expect(sizes == [0, 5, 4])
    }

    @Test("A body that the SDK has left is not shown as the whole one")
    func bodyThatIsLeft() async throws {
        let session = try SessionFixture()
        let recorder = HARRecorder(showing: .everything, responseBodiesUpTo: 1_000)
        let call = call(atom(session, [recorder]), PathEndpoint())
        func leave(_ number: Int, _ fields: [(String, String)], body: String) async {
            let exchange = await session.transport.exchange(number)
            let all = fields + [("Location", "https://api.example.com/y")]
            exchange.send(
                .response(
                    TransportResponse(
                        statusCode: 307, headerFields: HeaderFields(all.map { HeaderItem(name: $0.0, value: $0.1) }))))
            exchange.send(.data(Data(body.utf8)))
        }
        await leave(0, [("Content-Length", "100")], body: "half")
        await leave(1, [("Content-Length", "5")], body: "whole")
        await leave(2, [("Content-Length", "5"), ("Content-Encoding", "gzip")], body: "coded")
        await leave(3, [], body: "chunk")
        await session.transport.exchange(4).answer("{}")
        #expect(await call.status() == 200)
        let responses = try entries(recorder).compactMap { $0["response"] as? [String: Any] }
        #expect(responses.map { $0["bodySize"] as? Int } == [-1, 5, -1, -1, 2])
        let contents = responses.compactMap { $0["content"] as? [String: Any] }
        #expect(contents.map { $0["text"] as? String } == ["half", "whole", "coded", "chunk", "{}"])
        let comment = "The rest wasn't read."
        #expect(contents.map { $0["comment"] as? String } == [comment, nil, comment, comment, nil])
    }

    @Test(
        "A redirect shows nobody's password, however a URL is written",
        arguments: [
            "//u:hunter2@b.example/x", "https://u:a/hunter2@b.example/x", "/\\u:hunter2@b.example/x",
            "https:\\\\u:hunter2@b.example/x", "https:/u:hunter2@b.example/x", "https:///u:hunter2@b.example/x",
        ])
    func redirectWithPassword(location: String) async throws {
        for disclosure in [RequestDisclosure.onlyHarmless, .allButCredentials] {
            let session = try SessionFixture { $0.answer("", status: 304, headers: [("Location", location)]) }
            let recorder = HARRecorder(showing: disclosure)
            _ = await call(atom(session, [recorder]), PathEndpoint()).outcome()
            let response = try #require(try entries(recorder).first?["response"] as? [String: Any])
            #expect((response["redirectURL"] as? String)?.contains("HIDDEN@b.example/x") == true)
            #expect(!String(decoding: recorder.har(), as: UTF8.self).contains("hunter2"))
        }
    }

    @Test("A “…” that a server has sent is shown as it is")
    func trueEllipsis() async throws {
        let session = try SessionFixture {
            $0.answer("", status: 304, headers: [("Server", "…"), ("X-Key", "…"), ("Location", "/…?q=…")])
        }
        let recorder = HARRecorder()
        _ = await call(atom(session, [recorder]), PathEndpoint()).outcome()
        let response = try #require(try entries(recorder).first?["response"] as? [String: Any])
        #expect(
            response["headers"] as? [[String: String]]
                == [
                    ["name": "Server", "value": "…"], ["name": "X-Key", "value": "HIDDEN"],
                    ["name": "Location", "value": "HIDDEN"],
                ])
        #expect(response["redirectURL"] as? String == "/…?q=HIDDEN")
    }

    @Test("A failure is an entry with status 0 and the reason")
    func failure() async throws {
        let session = try SessionFixture()
        let recorder = HARRecorder()
        let call = call(atom(session, [recorder]), PathEndpoint())
        session.sent[0].fail(.notConnectedToInternet, delivery: .maybeSent)
        session.time.advance(by: .seconds(60))
        let again = await session.transport.exchange(1)
        again.fail(.networkConnectionLost)
        session.time.advance(by: .seconds(60))
        await session.transport.exchange(2).fail(.networkConnectionLost)
        _ = await call.outcome()
        let entries = try entries(recorder)
        #expect(entries.count == 3)
        for entry in entries {
            #expect((entry["response"] as? [String: Any])?["status"] as? Int == 0)
            #expect(!((entry["_error"] as? String) ?? "").isEmpty)
        }
    }

    @Test("What isn't acceptable is an answer, and no error")
    func notFound() async throws {
        let session = try SessionFixture()
        let recorder = HARRecorder()
        let call = call(atom(session, [recorder]), PathEndpoint())
        session.sent[0].answer("no", status: 404)
        _ = await call.outcome()
        let entry = try #require(try entries(recorder).first)
        #expect((entry["response"] as? [String: Any])?["status"] as? Int == 404)
        #expect(entry["_error"] == nil)
    }

    @Test("The values are there if they are asked for")
    func everything() async throws {
        let session = try SessionFixture { $0.answer("{}", headers: [("Set-Cookie", "a=b")]) }
        let (all, some) = (HARRecorder(showing: .everything), HARRecorder(showing: .allButCredentials))
        let call = call(
            atom(session, [all, some]),
            RecordingEndpoint(
                method: .post, queryItems: ["page": "a b"], body: .data(Data([0xFF, 0]), contentType: "image/x")))
        _ = await call.outcome()
        let (entry, safe) = (try #require(try entries(all).first), try #require(try entries(some).first))
        let request = try #require(entry["request"] as? [String: Any])
        #expect((request["headers"] as? [[String: String]])?.contains { $0["value"] == "Bearer A0" } == true)
        #expect(request["queryString"] as? [[String: String]] == [["name": "page", "value": "a b"]])
        #expect((request["postData"] as? [String: Any])?["text"] as? String == "/wA=")
        #expect((request["postData"] as? [String: Any])?["_encoding"] as? String == "base64")
        #expect(
            ((entry["response"] as? [String: Any])?["headers"] as? [[String: String]])
                == [["name": "Set-Cookie", "value": "a=b"]])
        let headers = (safe["request"] as? [String: Any])?["headers"] as? [[String: String]]
        #expect(headers?.contains { $0["value"] == "Bearer HIDDEN" } == true)
        #expect(((safe["response"] as? [String: Any])?["headers"] as? [[String: String]])?.first?["value"] == "HIDDEN")
    }

    @Test("The oldest entries are dropped, and the file says how many", arguments: [1, 3, 10])
    func limit(count: Int) async throws {
        let session = try SessionFixture { $0.answer("{}") }
        let recorder = HARRecorder(limit: count)
        let atom = atom(session, [recorder])
        for number in 0..<20 {
            _ = await call(atom, PathEndpoint(pathText: "/\(number)")).outcome()
            session.time.advance(by: .milliseconds(1))
        }
        let urls = try entries(recorder).compactMap { ($0["request"] as? [String: Any])?["url"] as? String }
        #expect(urls == ((20 - count)..<20).map { "https://api.example.com/\($0)" })
        #expect(String(decoding: recorder.har(), as: UTF8.self).contains("\(20 - count) older entries were dropped."))
    }

    @Test("The file is replaced as a whole, and an error says that it can't be written")
    func writing() async throws {
        let folder = try TransferFolder()
        let recorder = HARRecorder()
        let file = try folder.file("a.har", Data("old".utf8))
        try recorder.write(to: file)
        #expect(try Data(contentsOf: file) == recorder.har())
        #expect(folder.names == ["a.har"])
        #expect(HARSchema.faults(in: recorder.har()) == [])
        let absent = folder.url.appendingPathComponent("none/a.har")
        let remote = try #require(URL(string: "https://example.com/a.har"))
        for (url, reason) in [(absent, TransferError.Reason.writingFailed), (remote, .destinationUnusable)] {
            let error = #expect(throws: AtomError.self) { try recorder.write(to: url) }
            guard case .transfer(let error)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(error.reason == reason)
        }
    }

    @Test("A new file is for this user only, and an existing one keeps its mode", arguments: [0o600, 0o640, 0o666])
    func mode(ofFile mode: Int) throws {
        let folder = try TransferFolder()
        func modes() throws -> [Int?] {
            try folder.names.map { name in
                let path = folder.url.appendingPathComponent(name).path
                return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
        }
        let file = try folder.file("a.har")
        try HARRecorder().write(to: file)
        #expect(try modes() == [0o600])
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        try HARRecorder().write(to: file)
        #expect(try modes() == [mode])
        let link = folder.url.appendingPathComponent("link.har")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        try HARRecorder().write(to: link)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == file.path)
        #expect(try modes().first == mode)
        // A folder of this name stays, and nothing is left beside it.
        let taken = folder.url.appendingPathComponent("b.har")
        try FileManager.default.createDirectory(at: taken, withIntermediateDirectories: false)
        #expect(throws: AtomError.self) { try HARRecorder().write(to: taken) }
        #expect(folder.names == ["a.har", "b.har", "link.har"])
    }

    @Test("A pipe is written to and stays")
    func pipe() throws {
        let folder = try TransferFolder()
        let pipe = folder.url.appendingPathComponent("a.har")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        let ends = try #require(FileHandle(forUpdatingAtPath: pipe.path))
        let recorder = HARRecorder()
        try recorder.write(to: pipe)
        #expect(try ends.read(upToCount: recorder.har().count) == recorder.har())
        var status = stat()
        #expect(lstat(pipe.path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO && folder.names == ["a.har"])
    }

    @Test("Another user's link in a folder for everybody is refused", .enabled(if: geteuid() == 0, "only root can"))
    func strangersLink() throws {
        let folder = try TransferFolder()
        let secret = try folder.file("secret", Data("old".utf8))
        let link = folder.url.appendingPathComponent("a.har")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: secret)
        #expect(chmod(folder.url.path, 0o1777) == 0 && lchown(link.path, 12_345, 12_345) == 0)
        let error = #expect(throws: AtomError.self) { try HARRecorder().write(to: link) }
        #expect(error?.description.contains("“a.har” belongs to another user") == true, "\(error as Any)")
        #expect(try Data(contentsOf: secret) == Data("old".utf8) && folder.names == ["a.har", "secret"])
    }

    @Test("Bodies are searched when somebody reads, not while requests wait")
    func notes() async throws {
        let count = 4_000
        let body =
            "[" + (0..<count).map { #"{"number":\#($0),"note":"a: b","token":"planted"}"# }.joined(separator: ",") + "]"
        let session = try SessionFixture { $0.answer(body) }
        let recorder = HARRecorder(showing: .allButCredentials, responseBodiesUpTo: 1 << 20)
        let commands = Locked<[String]>([])
        let (isWritten, mayWrite) = (Signal(), DispatchSemaphore(value: 0))
        let commandObserver = CurlCommandObserver { command in
            mayWrite.wait()
            commands.with { $0.append(command) }
            if commands.value.count == 2 { isWritten.raise() }
        }
        let (measuring, other) = (MeasuringObserver(recorder), MeasuringObserver(commandObserver))
        let atom = atom(session, [measuring, other])
        for _ in 0..<2 {
            let endpoint = RecordingEndpoint(
                method: .post, body: .data(Data(body.utf8), contentType: "application/json"))
            #expect(await call(atom, endpoint).status() == 200)
        }
        #expect(commands.value.isEmpty, "the command's reader holds nobody up")
        for _ in 0..<2 { mayWrite.signal() }
        await isWritten.wait()
        #expect(commands.value.allSatisfy { $0.contains("HIDDEN") && !$0.contains("planted") })
        var har = Data()
        let reading = await onAThreadOfItsOwn { processorTime { _ = recorder.har() } }
        har = recorder.har()
        #expect(!String(decoding: har, as: UTF8.self).contains("planted"))
        #expect(measuring.work + other.work < reading / 4, "\(measuring.work) \(other.work) \(reading)")
    }

    @Test("Many requests at once are all recorded")
    func concurrency() async throws {
        let session = try SessionFixture { $0.answer("{}") }
        let recorder = HARRecorder(limit: 400)
        let atom = atom(session, [recorder])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 {
                group.addTask {
                    _ = try? await atom.enqueue(PathEndpoint()).resume()
                    if Int.random(in: 0..<50) == 0 { _ = recorder.har() }
                }
            }
        }
        #expect(try entries(recorder).count == 400)
    }
}

/// Adds up the work of another observer.
private final class MeasuringObserver: BodyObserver {
    private let observer: any RequestObserver
    private let total = Locked(0.0)

    init(_ observer: any RequestObserver) { self.observer = observer }

    var work: Double { total.value }

    func observe(_ event: RequestEvent) { measure { observer.observe(event) } }

    func observe(_ part: Data, of requestID: UInt64, attempt: Int) {
        measure { (observer as? any BodyObserver)?.observe(part, of: requestID, attempt: attempt) }
    }

    private func measure(_ body: () -> Void) {
        let time = processorTime(of: body)
        total.with { $0 += time }
    }
}

@Suite(.limited) struct HARSchemaTests {
    private static let valid = #"""
        {"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":[{"startedDateTime":
        "2026-11-22T10:00:00.000Z","time":6,"cache":{},"request":{"method":"GET","url":"https://h/","httpVersion":"h2",
        "cookies":[],"headers":[{"name":"a","value":"b"}],"queryString":[],"headersSize":-1,"bodySize":0},
        "response":{"status":200,"statusText":"","httpVersion":"h2","cookies":[],"headers":[],"content":{"size":1,
        "mimeType":"a/b"},"redirectURL":"","headersSize":-1,"bodySize":-1},"timings":{"blocked":1,"dns":-1,"connect":2,
        "ssl":1,"send":0,"wait":1,"receive":2}}]}}
        """#

    @Test("The check accepts a valid file")
    func valid() {
        #expect(HARSchema.faults(in: Data(Self.valid.utf8)) == [])
    }

    @Test(
        "The check finds a planted fault",
        arguments: [
            (#""version":"1.2""#, #""version":1.2"#), (#""cache":{},"#, ""), (#""time":6"#, #""time":7"#),
            (#""time":6"#, #""time":"6""#), (":00.000Z", ":00Z"), (#""status":200"#, #""status":"200""#),
            (#""send":0,"#, ""), (#""wait":1"#, #""wait":-1"#), (#""ssl":1"#, #""ssl":3"#), (#""queryString":[],"#, ""),
            (#""name":"a","value":"b""#, #""name":"a""#), (#""bodySize":0"#, #""bodySize":0.5"#),
            (#""url":"https://h/""#, #""url":"…""#), (#""content":{"size":1,"#, #""content":{"#), ("}}]}}", "}}]}"),
            (#""redirectURL":"","#, ""), (#""creator":{"name":"a","#, #""creator":{"#),
        ])
    func planted(old: String, new: String) {
        let text = Self.valid.replacingOccurrences(of: "\n", with: "")
        #expect(text.contains(old))
        #expect(HARSchema.faults(in: Data(text.replacingOccurrences(of: old, with: new).utf8)) != [])
    }

    @Test("The check finds entries in the wrong order")
    func order() {
        let text = Self.valid.replacingOccurrences(of: "\n", with: "")
        guard let start = text.range(of: #"[{"started"#), let end = text.range(of: "}}]}}") else {
            Issue.record("no entry")
            return
        }
        let entry = text[text.index(after: start.lowerBound)..<text.index(end.lowerBound, offsetBy: 2)]
        let earlier = entry.replacingOccurrences(of: "2026", with: "2025")
        let both = text.replacingOccurrences(of: entry, with: entry + "," + earlier)
        #expect(HARSchema.faults(in: Data(both.utf8)) == ["entries aren't sorted"])
    }
}

@Suite(.limited) struct HARTimingsTests {
    @Test("Without measurements the head divides the time")
    func unmeasured() {
        let timings = HARTimings(
            queued: .milliseconds(2), answered: .milliseconds(7), ended: .milliseconds(10), metrics: nil)
        #expect(timings.blocked == 2_000 && timings.wait == 7_000 && timings.receive == 3_000)
        #expect(timings.dns == nil && timings.connect == nil && timings.ssl == nil && timings.total == 12_000)
    }

    @Test("A failure has only waited")
    func failed() {
        let timings = HARTimings(queued: .zero, answered: nil, ended: .milliseconds(10), metrics: nil)
        #expect(timings.wait == 10_000 && timings.receive == 0 && timings.total == 10_000)
    }

    @Test("Parts that are longer than the whole make it longer")
    func clocks() {
        var metrics = TransportMetrics()
        metrics.waiting = .milliseconds(30)
        let timings = HARTimings(
            queued: .milliseconds(1), answered: .milliseconds(5), ended: .milliseconds(6), metrics: metrics)
        #expect(timings.blocked == 1_000 && timings.total == 32_000)
    }

    @Test("A connection that never answered has the time until it was made")
    func connectOnly() {
        var metrics = TransportMetrics()
        metrics.domainLookup = .milliseconds(1)
        metrics.connect = .milliseconds(2)
        let timings = HARTimings(queued: .zero, answered: nil, ended: .milliseconds(9), metrics: metrics)
        #expect(timings.dns == 1_000 && timings.connect == 2_000 && timings.wait == 6_000 && timings.total == 9_000)
    }
}
