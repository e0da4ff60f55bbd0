import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Foundation on Linux reports most of these as "unknown error".
@Suite(.limited) struct WireFailureTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: LoopbackServer.Response
        let code: URLError.Code
        var delivery: AtomError.Delivery
        let words: String
        /// AsyncHTTPClient's own, if they are others.
        let wordsOfAsyncHTTPClient: String

        init(
            _ name: String, _ answer: LoopbackServer.Response, _ code: URLError.Code, _ delivery: AtomError.Delivery,
            _ words: String, asyncHTTPClient otherWords: String? = nil
        ) {
            testDescription = name
            (self.answer, self.code, self.delivery, self.words) = (answer, code, delivery, words)
            wordsOfAsyncHTTPClient = otherWords ?? words
        }
    }

    static let cases: [Case] = [
        Case("empty reply", .closeImmediately, .networkConnectionLost, .maybeSent, "without a response"),
        Case("reset", .reset, .networkConnectionLost, .maybeSent, "lost"),
        Case(
            "too short a body", .truncated(declaredLength: 100, body: Data("abc".utf8)), .networkConnectionLost,
            .answered, "before the whole body"),
        Case(
            "chunks without end", .streamed([.write(text: "abc"), .close]), .networkConnectionLost, .answered,
            "before the whole body"),
        Case("not HTTP", .raw("hello, world\r\n"), .badServerResponse, .maybeSent, "not HTTP"),
        Case("SSH", .raw("SSH-2.0-OpenSSH_9.2\r\n"), .badServerResponse, .maybeSent, "not HTTP"),
        Case("bytes", .raw(Data([0, 1, 2, 0xFF, 0x0A])), .badServerResponse, .maybeSent, "not HTTP"),
        Case(
            "TLS", .raw(Data([0x15, 3, 1, 0, 2, 2, 70])), .badServerResponse, .maybeSent, "expects https",
            asyncHTTPClient: "not HTTP"),
        Case("no status", .raw("HTTP/1.1 abc\r\n\r\n"), .badServerResponse, .maybeSent, "not HTTP"),
        Case("status 42", .raw("HTTP/1.1 42 X\r\n\r\n"), .badServerResponse, .maybeSent, "not HTTP"),
        Case(
            "no colon", .raw("HTTP/1.1 200 OK\r\nno colon\r\n\r\n"), .cannotParseResponse, .maybeSent,
            "without colon", asyncHTTPClient: "header"),
        Case(
            "negative length", .raw("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhi"), .cannotParseResponse,
            .maybeSent, "Content-Length", asyncHTTPClient: "content-length"),
        Case(
            "one large header field", .empty(200, headers: [("X-Big", String(repeating: "a", count: 2_000_000))]),
            .cannotParseResponse, .maybeSent, "too large"),
        Case(
            "many header fields",
            .empty(200, headers: (0..<9_000).map { ("X-\($0)", String(repeating: "a", count: 40)) }),
            .cannotParseResponse, .maybeSent, "too large"),
        Case(
            "broken gzip", .status(200, headers: [("Content-Encoding", "gzip")], body: Data("nope".utf8)),
            .cannotDecodeRawData, .answered, "can't be read"),
        Case(
            "broken chunk", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n"),
            .cannotDecodeRawData, .answered, "can't be read"),
        Case(
            "only an interim answer", .raw("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"), .networkConnectionLost,
            .maybeSent, "without a response"),
    ]

    /// Responses that only URLSession on Linux can't read.
    static let casesOfURLSession: [Case] = [
        Case(
            "not UTF-8", .raw(Data("HTTP/1.1 200 OK\r\nX: ".utf8) + [0xE9] + Data("\r\n\r\n".utf8)),
            .cannotParseResponse, .maybeSent, "UTF-8")
    ]

    @Test("A body is lost at once when its kept connection closes", arguments: [10, 100_000], TransportUnderTest.all)
    func keptConnection(size: Int, over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { $0.method == "GET" ? .text("kept") : .closeImmediately }
        defer { server.stop() }
        // Without the fix, URLSession on Linux waits for the idle timeout.
        let atom = Atom.forTest(over: transport)
        #expect(await atom.outcome(of: server.endpoint()).text == "kept")
        let post = server.endpoint(method: .post(Data(repeating: 0x61, count: size)))
        let outcome = await atom.outcome(of: post)
        #expect(outcome.urlError?.code == .networkConnectionLost)
        #expect(outcome.error?.delivery == .maybeSent)
        #expect(await atom.outcome(of: server.endpoint()).text == "kept")
    }

    @Test(
        "A failure says what happened and how far the request got",
        arguments: TransportUnderTest.all.flatMap { transport in
            (transport.kind == .urlSession ? cases + casesOfURLSession : cases).map { ($0, transport) }
        })
    func failure(_ failure: Case, over transport: TransportUnderTest) async throws {
        let words = transport.kind == .asyncHTTPClient ? failure.wordsOfAsyncHTTPClient : failure.words
        var failure = failure
        // Only libcurl itself hands over the status of a head that can't be read.
        if transport.kind == .curl, failure.code == .cannotParseResponse { failure.delivery = .answered }
        try await expect(failure, words, over: transport.make())
    }

    @Test("A reset in the body is no answer that is whole", arguments: TransportUnderTest.all)
    func resetInTheBody(over transport: TransportUnderTest) async throws {
        // A reset takes away what hasn't been read.
        let isHeadRead = Gate()
        let failure = Case(
            "reset in the body", .streamed([.write(text: "abc"), .wait(isHeadRead), .reset]), .networkConnectionLost,
            .answered, "lost")
        let spy = SpyTransport(base: transport.make()) { if case .response = $0 { isHeadRead.open() } }
        try await expect(failure, failure.words, over: spy)
    }

    private func expect(_ failure: Case, _ words: String, over transport: any Transport) async throws {
        let server = try LoopbackServer { _ in failure.answer }
        defer { server.stop() }
        let endpoint = server.endpoint("/secret", headers: ["X-Key": "hush"])
        let outcome = await Atom(.forTest(over: transport)).outcome(of: endpoint)

        #expect(outcome.urlError?.code == failure.code)
        #expect(outcome.error?.delivery == failure.delivery)
        let description = outcome.error?.description ?? ""
        #expect(description.contains(words), "\(description)")
        #expect(!description.contains("hush"))
        #expect(outcome.urlError?.userInfo[NSUnderlyingErrorKey] != nil, "the cause is kept")
    }

    @Test(arguments: TransportUnderTest.all)
    func aRefusedConnectionHasSentNothing(over transport: TransportUnderTest) async throws {
        let port = try RefusingPort()
        defer { withExtendedLifetime(port) {} }
        let outcome = await Atom.forTest(over: transport).outcome(of: port.endpoint(method: .post(Data("x".utf8))))
        #expect(outcome.urlError?.code == .cannotConnectToHost)
        #expect(outcome.error?.delivery == .notSent)
        #expect(outcome.error?.description.contains("refused") == true)
    }

    @Test(arguments: TransportUnderTest.all)
    func anUnknownHostHasSentNothing(over transport: TransportUnderTest) async {
        let endpoint = WireEndpoint(host: "nonexistent.invalid")
        let outcome = await Atom.forTest(over: transport).outcome(of: endpoint)
        #expect(outcome.urlError?.code == .cannotFindHost)
        #expect(outcome.error?.delivery == .notSent)
    }

    @Test(arguments: TransportUnderTest.all)
    func aRefusedRedirectTargetIsAnsweredAllTheSame(over transport: TransportUnderTest) async throws {
        let port = try RefusingPort()
        defer { withExtendedLifetime(port) {} }
        let server = try LoopbackServer { _ in .redirect(307, location: "http://127.0.0.1:\(port.number)/") }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: transport).outcome(of: server.endpoint(method: .post(Data("x".utf8))))
        #expect(outcome.urlError?.code == .cannotConnectToHost)
        #expect(outcome.error?.delivery == .answered)
    }

    @Test(arguments: TransportUnderTest.all)
    func aBodyLargerThanAllowedIsCutOff(over transport: TransportUnderTest) async throws {
        let endless = (0..<20_000).flatMap { _ in
            [LoopbackServer.Response.Step.generate(length: 40_000, chunk: 40_000), .delay(milliseconds: 1)]
        }
        let server = try LoopbackServer { _ in .streamed(endless) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport) { $0.maximumResponseSize = 100_000 }
        let outcome = await atom.outcome(of: server.endpoint())
        #expect(outcome.urlError?.code == .dataLengthExceedsMaximum)
        #expect(outcome.error?.delivery == .answered)
        #expect(outcome.error?.description.contains("100000") == true)
        #expect(await server.waitForDisconnects(1))
    }

    @Test(arguments: TransportUnderTest.all)
    func aBodyOfJustTheSizeAllowedArrives(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .generated(length: 100_000) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport) { $0.maximumResponseSize = 100_000 }
        let outcome = await atom.outcome(of: server.endpoint())
        #expect(outcome.response?.data.count == 100_000)
    }

    // AsyncHTTPClient never sends twice and may fail here.
    @Test(arguments: TransportUnderTest.all.filter { $0.kind != .asyncHTTPClient })
    func aConnectionThatTheServerClosedWhileIdleIsReplaced(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}").closingSilently() }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        for _ in 0..<5 {
            #expect(await atom.outcome(of: server.endpoint(method: .post(Data("x".utf8)))).response?.statusCode == 200)
            #expect(await server.waitForOpenConnections(atMost: 0))
        }
        #expect(server.requests.map(\.text) == Array(repeating: "x", count: 5))
    }

    @Test(arguments: TransportUnderTest.all)
    func theQueryIsInNoDescriptionOfAFailure(over transport: TransportUnderTest) async throws {
        let port = try RefusingPort()
        defer { withExtendedLifetime(port) {} }
        var endpoint = port.endpoint()
        endpoint.queryItems = ["token": "hush"]
        let error = await Atom.forTest(over: transport).outcome(of: endpoint).error
        let texts = [error?.description, error.map { "\($0)" }, error.map { String(reflecting: $0) }]
        #expect(texts.allSatisfy { $0?.contains("hush") == false })
    }

    @Test(arguments: TransportUnderTest.all)
    func nonsenseNeverCrashesOrHangs(over transport: TransportUnderTest) async throws {
        var generator = SystemRandomNumberGenerator()
        // Never an end inside the head, for which Foundation traps; see
        // `FoundationTrapTests`.
        let answers = (0..<200).map { _ in
            Data(
                (0..<Int.random(in: 1...200, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
                })
        }.filter { !$0.starts(with: Data("HTTP/".utf8)) }
        let server = try LoopbackServer { .raw(answers[$0.receivedAt % answers.count]) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        for _ in answers { #expect(await atom.outcome(of: server.endpoint()).error != nil) }
    }
}
