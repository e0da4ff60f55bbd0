import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.limited) struct URLSessionTransportTests {
    @Test("URLSession's timeout never comes before the SDK's")
    func neverFirst() {
        #expect(URLSessionTransport.timeoutInterval >= Duration.year.seconds)
    }

    #if canImport(FoundationNetworking)
        @Test func onLinuxItsTimersAreNeverArmedAndItsMillisecondsFit() {
            let milliseconds = URLSessionTransport.timeoutInterval * 1_000
            #expect(milliseconds < Double(Int.max))
            let interval = DispatchTimeInterval.milliseconds(Int(milliseconds))
            #expect(DispatchTime.now() + interval == .distantFuture)
        }
    #endif

    @Test func aBrokenPipeIsALostConnection() {
        let error = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: "Send failure: Broken pipe"])
        let failure = WireFailure(error: error, hasResponse: false, isSecure: false).transportFailure
        #expect(failure.urlError(delivery: .maybeSent).code == .networkConnectionLost)
        #expect(failure.delivery == .maybeSent)
    }

    private func fault(_ name: String, _ value: String) throws -> String? {
        let response = HTTPURLResponse(
            url: URL(fileURLWithPath: "/"), statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [name: value])
        return try #require(response).fault
    }

    @Test(arguments: ["0", "5", "00005", "5, 5", "5,5 ,\t5", "9223372036854775807"])
    func aLengthIsOneNumber(value: String) throws {
        #expect(try fault("content-length", value) == nil)
    }

    @Test(
        "Anything else is no length",
        arguments: [
            "5, 6", "5, ", ", 5", ",", "-1", "-0", "+5", "0x5", "5 5", "5;", "5a", "1e3", "5.0", "５", "5\u{A0}",
            "9223372036854775808", "chunked",
        ])
    func noLength(value: String) throws {
        #expect(try fault("Content-Length", value) == "Content-Length is not one number")
    }

    @Test func theOnlyTransferCodingIsChunked() throws {
        for coding in ["chunked", "Chunked", " CHUNKED\t"] { #expect(try fault("Transfer-Encoding", coding) == nil) }
        for coding in ["", ",", "gzip", "gzip, chunked", "chunked, chunked", "chunked;q=1", "xchunked"] {
            #expect(try fault("Transfer-Encoding", coding)?.contains("transfer coding") == true)
        }
        // Apple platforms also say it of what they have decoded.
        #expect(try fault("Transfer-Encoding", "identity") == nil)
        #expect(try fault("Content-Encoding", "gzip") == nil)
    }

    @Test("Only the first head is passed on, also if it is refused", arguments: [true, false])
    func oneHead(isRefused: Bool) async throws {
        func head(_ statusCode: Int, _ fields: [String: String]) throws -> HTTPURLResponse {
            try #require(
                HTTPURLResponse(
                    url: URL(fileURLWithPath: "/"), statusCode: statusCode, httpVersion: "HTTP/1.1",
                    headerFields: fields))
        }
        let (recorder, hasEnded) = (EventRecorder(), Signal())
        let exchange = DataTaskExchange(ExchangeDelegate()) { event in
            recorder.receive(event)
            if case .finished = event { hasEnded.raise() }
        }
        exchange.pass(try head(200, ["Content-Length": isRefused ? "5, 6" : "9"]))
        exchange.pass(.data(Data("a".utf8)))
        // Of a part, as Apple platforms make them.
        exchange.pass(try head(500, ["Content-Length": "1"]))
        exchange.pass(try head(200, ["Content-Length": "5, 6"]))
        exchange.pass(.data(Data("b".utf8)))
        exchange.pass(.finished)
        await hasEnded.wait()
        #expect(recorder.kinds == (isRefused ? [] : [.response]) + [.data, .data, .finished])
        #expect(exchange.statusCode == (isRefused ? nil : 200) && exchange.missing == (isRefused ? nil : 9))
        #expect((exchange.fault != nil) == isRefused)
    }

    #if os(Linux)
        @Test(
            "What hides the end of a body is refused as over libcurl, with or without a body to come",
            arguments: [
                ("200 OK\r\nContent-Length: 5\r\nContent-Length: 6", "Content-Length is not one number"),
                ("200 OK\r\nContent-Length: 999999999999999999999", "Content-Length is not one number"),
                ("200 OK\r\nTransfer-Encoding: gzip, chunked", "a transfer coding other than"),
                ("200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5", "a transfer coding other than"),
                ("401 No\r\nContent-Length: 5\r\nTransfer-Encoding: identity", "a transfer coding other than"),
                ("302 Found\r\nContent-Length: 5, 6", "Content-Length is not one number"),
                ("302 Found\r\nLocation: /x\r\nContent-Length: 5, 6", "Content-Length is not one number"),
            ], TransportUnderTest.all)
        func refused(head: (fields: String, words: String), over transport: TransportUnderTest) async throws {
            let server = try LoopbackServer {
                $0.path == "/next" ? .text("next") : .raw("HTTP/1.1 \(head.fields)\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
            }
            defer { server.stop() }
            let atom = Atom.forTest(over: transport)
            let outcome = await atom.outcome(of: server.endpoint())
            #expect(outcome.urlError?.code == .cannotParseResponse)
            #expect(outcome.error?.delivery == .answered, "it has a status")
            // libcurl 8 refuses some of them by itself, in its own words.
            let isLibcurls = transport.kind == .curl && CurlTransport.libraryVersion?.hasPrefix("7.") == false
            #expect(isLibcurls || outcome.error?.description.contains(head.words) == true, "\(outcome)")
            #expect(outcome.urlError?.userInfo[NSUnderlyingErrorKey] != nil)
            #expect(await atom.outcome(of: server.endpoint("/next")).text == "next")
        }

        @Test("A refused head ends the exchange, also if the server goes on", arguments: TransportUnderTest.all)
        func refusedAtOnce(over transport: TransportUnderTest) async throws {
            let server = try ByteServer { line in
                _ = line.readHead()
                line.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello")
                line.drain()
                return .close
            }
            defer { server.stop() }
            let endpoint = WireEndpoint(host: "127.0.0.1", port: server.port)
            #expect(await Atom.forTest(over: transport).outcome(of: endpoint).urlError?.code == .cannotParseResponse)
        }
    #endif
}
