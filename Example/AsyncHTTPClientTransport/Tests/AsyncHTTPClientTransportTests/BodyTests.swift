import AsyncHTTPClientTransport
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct BodyTests {
    /// `{"seats": 180}`, compressed.
    static let codings = [
        ("gzip", "H4sIAAAAAAACA6tWKk5NLClWslIwtDCoBQCvPjPLDgAAAA=="),
        ("GZIP", "H4sIAAAAAAACA6tWKk5NLClWslIwtDCoBQCvPjPLDgAAAA=="),
        ("deflate", "eJyrVipOTSwpVrJSMLQwqAUAIuYEUA=="),
    ]

    @Test(arguments: codings)
    func aCodedBodyArrivesDecoded(coding: String, base64: String) async throws {
        let body = try #require(Data(base64Encoded: base64))
        let server = try LoopbackServer { _ in
            .status(200, headers: [("Content-Encoding", coding)], body: body)
        }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: .asyncHTTPClient).outcome(of: server.endpoint())
        #expect(outcome.text == #"{"seats": 180}"#)
        // As with URLSession.
        #expect(outcome.response?.headerFields["Content-Encoding"] == coding)
        #expect(outcome.response?.headerFields["Content-Length"] == "\(body.count)")
        #expect(server.requests.first?.values(for: "Accept-Encoding") == ["gzip, deflate"])
    }

    @Test func whoeverNamesCodingsIsTakenAtTheirWord() async throws {
        let server = try LoopbackServer { _ in
            .status(200, headers: [("Content-Encoding", "br")], body: Data("as it is".utf8))
        }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: .asyncHTTPClient).outcome(
            of: server.endpoint(headers: ["accept-encoding": "br"]))
        #expect(outcome.text == "as it is")
        #expect(server.requests.first?.values(for: "Accept-Encoding") == ["br"])
    }

    @Test(arguments: [
        ("HEAD", 200, "Content-Length: 34\r\n"), ("GET", 304, ""), ("GET", 204, ""),
        ("GET", 200, "Content-Length: 0\r\n"),
    ])
    func aCodingOfABodyThatIsNotThereIsNoFailure(method: String, status: Int, length: String) async throws {
        let wire = "HTTP/1.1 \(status) X\r\nContent-Encoding: gzip\r\n\(length)\r\n"
        let server = try LoopbackServer { _ in .script([.write(text: wire)]) }
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport()
        for _ in 0..<5 {
            let (recorder, _) = try start(transport, server, method: method)
            #expect(await recorder.end() == .finished)
            #expect(recorder.response?.statusCode == status)
            #expect(recorder.body.isEmpty && recorder.violations == [])
        }
    }

    @Test func aCodedBodyThatEndsTooSoonIsAFailure() async throws {
        let body = try #require(Data(base64Encoded: Self.codings[0].1)).prefix(12)
        let server = try LoopbackServer { _ in .status(200, headers: [("Content-Encoding", "gzip")], body: body) }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: .asyncHTTPClient).outcome(of: server.endpoint())
        #expect(outcome.urlError?.code == .cannotDecodeRawData)
        #expect(outcome.error?.delivery == .answered)
    }

    @Test func headerFieldsKeepTheirOrderAndTheirRepeats() async throws {
        let answered = [
            ("B", "1"), ("a", "2"), ("B", "3"), ("Set-Cookie", "x=1"), ("Set-Cookie", "y=2"), ("c", "a, b"),
        ]
        let server = try LoopbackServer { _ in .empty(200, headers: answered) }
        defer { server.stop() }
        let sent = ["Z": "1", "A": "2", "z": "3", "Accept": "*/*"] as [HeaderItem]
        let fields = HeaderFields(sent.map { HeaderFields.Field(name: $0.name, value: $0.value) })
        let (recorder, _) = try start(AsyncHTTPClientTransport(), server, headerFields: fields)
        #expect(await recorder.end() == .finished)
        let names = server.requests.first?.headers.map(\.name)
        #expect(names == ["Host", "Z", "A", "z", "Accept", "Accept-Encoding"])
        #expect(server.requests.first?["Host"] == "127.0.0.1:\(server.port)")
        let received = recorder.response?.headerFields.prefix(answered.count).map { "\($0.name): \($0.value)" }
        #expect(received == answered.map { "\($0.0): \($0.1)" })
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "REPORT"])
    func anUploadTellsOfItsProgress(method: String) async throws {
        let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let (recorder, _) = try start(AsyncHTTPClientTransport(), server, method: method, body: body)
        #expect(await recorder.end() == .finished)
        #expect(server.requests.first?.body == body)
        #expect(server.requests.first?.values(for: "Content-Length") == ["3000000"])
        #expect(recorder.sent == body.count && recorder.kinds.count { $0 == .sent } >= 20)
        #expect(recorder.violations == [])
    }

    @Test(arguments: [200, 401, 413])
    func anAnswerBeforeTheUploadIsDoneArrives(status: Int) async throws {
        let listener = try EarlyAnswer(
            "HTTP/1.1 \(status) X\r\nContent-Length: 5\r\nConnection: close\r\n\r\nearly", readsOn: status != 200)
        defer { listener.close() }
        let base = try BaseURL(scheme: .http, host: "127.0.0.1", port: listener.port)
        let request = try TransportRequest(
            method: "POST", base: base, path: URLPath("/"), body: Data(count: 20_000_000))
        let recorder = EventRecorder()
        let transport = AsyncHTTPClientTransport()
        _ = transport.start(request) { recorder.receive($0) }
        #expect(await recorder.end() == .finished)
        #expect(recorder.body == Data("early".utf8))
        #expect(recorder.response?.statusCode == status && recorder.violations == [])
    }

    @Test func whoeverIsCancelledInTheMiddleOfAnUploadEndsAtOnce() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport()
        let body = Data(count: 50_000_000)
        for _ in 0..<5 {
            let (recorder, exchange) = try start(transport, server, method: "PUT", body: body)
            #expect(await eventually { recorder.sent > 0 })
            recorder.cancel(exchange)
            #expect(await recorder.end() != nil)
            #expect(recorder.violations == [])
        }
        let (after, _) = try start(transport, server)
        #expect(await after.end() == .finished)
    }

    #if os(Linux)
        @Test func aLargeBodyTakesNoMoreMemoryThanItsReceiver() async {
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer { _ in .generated(length: 1_000_000_000) }
                defer { server.stop() }
                let received = Locked(0)
                let base = try BaseURL(scheme: .http, host: server.host, port: server.port)
                let request = try TransportRequest(base: base, path: URLPath("/"))
                let transport = AsyncHTTPClientTransport()
                _ = transport.start(request) { event in
                    switch event {
                    case .data(let data): received.with { $0 += data.count }
                    case .finished: received.with { $0 += 1 }
                    default: break
                    }
                }
                #expect(await eventually { received.value == 1_000_000_001 })
                #expect(try Memory.peak() < 100_000)
            }
        }

        @Test func aReceiverThatStopsIsSentNoMore() async {
            await #expect(processExitsWith: .success) {
                let server = try LoopbackServer { _ in .generated(length: 300_000_000) }
                defer { server.stop() }
                let gate = Gate()
                let received = Locked(0)
                let base = try BaseURL(scheme: .http, host: server.host, port: server.port)
                let request = try TransportRequest(base: base, path: URLPath("/"))
                let transport = AsyncHTTPClientTransport()
                let exchange = transport.start(request) { event in
                    guard case .data(let data) = event else { return }
                    received.with { $0 += data.count }
                    gate.wait()
                }
                #expect(await eventually { received.value > 0 })
                let before = received.value
                // The server writes until the system's buffers are full; data
                // that is read here increases the memory.
                for _ in 0..<200 { await Task.yield() }
                #expect(received.value == before)
                #expect(try Memory.peak() < 100_000)
                exchange.cancel()
                gate.open()
                #expect(await server.waitForDisconnects(1))
                #expect(received.value < 300_000_000)
            }
        }
    #endif
}

enum Memory {
    /// The peak memory of this process, in kilobytes.
    static func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? .max
    }
}
