import AsyncHTTPClientTransport
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Responses for which Foundation on Linux ends the process, and invalid
/// responses of all kinds.
@Suite(.timeLimit(.minutes(5))) struct TrapTests {
    @Test func anEndInTheMiddleOfTheHeadIsAFailure() async throws {
        let server = try LoopbackServer { _ in .raw("HTTP/1.1 200 OK\r\nA: b") }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: .asyncHTTPClient).outcome(of: server.endpoint())
        #expect(outcome.urlError?.code == .networkConnectionLost)
        #expect(outcome.error?.delivery == .maybeSent)
    }

    @Test func aChunkedBodyWithTrailersIsAnAnswer() async throws {
        let answer = LoopbackServer.Response.chunked([Data("hi".utf8)], trailers: [("X-Checksum", "1")])
        let server = try LoopbackServer { _ in answer }
        defer { server.stop() }
        #expect(await Atom.forTest(over: .asyncHTTPClient).outcome(of: server.endpoint()).text == "hi")
    }

    @Test func aLocationWithAZoneLeadsNowhere() async throws {
        let server = try LoopbackServer { _ in .redirect(302, location: "//[::1%25eth0]:80/x") }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: .asyncHTTPClient).outcome(of: server.endpoint())
        #expect(outcome.response?.statusCode == 302)
        #expect(outcome.error?.delivery == .answered)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi, and more than was announced",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.1 204 No Content\r\n\r\nhi", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\nhi",
    ])
    func whatComesAfterTheAnswerIsNobodys(wire: String) async throws {
        let server = try LoopbackServer { $0.path == "/next" ? .text("next") : .script([.write(text: wire)]) }
        defer { server.stop() }
        let atom = Atom.forTest(over: .asyncHTTPClient)
        var endpoint = server.endpoint()
        endpoint.acceptableStatusCodes = 200...399
        for _ in 0..<20 {
            let outcome = await atom.outcome(of: endpoint)
            #expect(outcome.response.map { $0.statusCode == 200 ? $0.data.count == 2 : $0.data.isEmpty } == true)
            // A client that kept the rest would read it as the response to this
            // request.
            let next = await atom.outcome(of: server.endpoint("/next"))
            #expect(next.text == "next" || [.networkConnectionLost, .badServerResponse].contains(next.urlError?.code))
        }
    }

    @Test(arguments: [UInt64.random(in: 0...999_999)])
    func nonsenseThatBeginsLikeHTTPNeverCrashesOrHangs(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let parts = [
            "HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n",
            "HTTP/1.0 302 Found\r\n", "HTTP/1.1 204 No Content\r\n", "Content-Length: 5\r\n", "Content-Length: 0\r\n",
            "Content-Length: 99999999999999999999\r\n", "Transfer-Encoding: chunked\r\n",
            "Transfer-Encoding: gzip, chunked\r\n", "Content-Encoding: gzip\r\n", "Connection: close\r\n",
            "Connection: upgrade\r\nUpgrade: h2c\r\n", "Location: //[::1%25eth0]:80/x\r\n", "\r\n", "\r\n\r\n", "5\r\n",
            "hello", "0\r\n\r\n", "X: \u{0}\r\n", ": \r\n", "\u{1F600}", "HTTP/2 200\r\n", "PRI * HTTP/2.0\r\n\r\n",
        ]
        let wires = (0..<600).map { _ in
            let count = Int.random(in: 1...9, using: &generator)
            return parts[0] + (0..<count).map { _ in parts.randomElement(using: &generator) ?? "" }.joined()
        }
        let server = try LoopbackServer { .raw(wires[$0.receivedAt % wires.count]) }
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport()
        for index in wires.indices {
            let (recorder, _) = try start(transport, server, method: index % 3 == 0 ? "HEAD" : "GET")
            #expect(await recorder.end() != nil, "\(seed): \(wires[index].debugDescription)")
            #expect(recorder.violations == [], "\(seed): \(wires[index].debugDescription)")
        }
    }
}
