import AtomNetworkingTesting
import Foundation
import Testing

/// What HTTP says of connections, versions and targets.
@Suite(.limited) struct MessageRulesTests {
    /// Sends a request to a server with this response, and reads until the end.
    private func ask(
        _ head: String, body: String = "", of response: LoopbackServer.Response = .text("x"),
        maximumBodyLength: Int64 = 1_000
    ) throws -> (text: String, end: PlainConnection.End, requests: [LoopbackServer.Request]) {
        let server = try LoopbackServer(maximumBodyLength: maximumBodyLength) { _ in response }
        defer { server.stop() }
        let connection = try PlainConnection(server)
        connection.send(head + "\r\n\r\n" + body)
        let (bytes, end) = connection.read()
        return (bytes.text, end, server.requests)
    }

    @Test(
        "A connection closes if any of its options says so",
        arguments: [
            "Connection: close", "Connection: keep-alive, close", "Connection: Close , x",
            "Connection: x\r\nConnection: close",
        ])
    func closing(lines: String) throws {
        let answer = try ask("GET / HTTP/1.1\r\nHost: here\r\n\(lines)")
        #expect(answer.end == .closed)
        #expect(answer.text.contains("Connection: close\r\n"))
    }

    @Test("A response closes the connection too", arguments: ["close", "x, close"])
    func closingResponse(value: String) throws {
        let answer = try ask("GET / HTTP/1.1\r\nHost: here", of: .text("x", headers: [("Connection", value)]))
        #expect(answer.end == .closed)
    }

    @Test(
        "Another option keeps the connection",
        arguments: ["Connection: closed", "X: close", "Connection: keep-alive"])
    func keeping(line: String) throws {
        let server = try LoopbackServer { _ in .text("x") }
        defer { server.stop() }
        let connection = try PlainConnection(server)
        for _ in 0..<2 {
            connection.send("GET / HTTP/1.1\r\nHost: here\r\n\(line)\r\n\r\n")
            var text = ""
            while !text.hasSuffix("\r\n\r\nx") {
                let part = connection.read(atMost: 1)
                guard part.end == .enough else { break }
                text += part.bytes.text
            }
            #expect(text.hasSuffix("\r\n\r\nx"))
        }
        #expect(server.requests.map(\.connection) == [0, 0])
    }

    @Test("A body with a length and chunks is the last one of its connection")
    func twoFramings() throws {
        let answer = try ask(
            "POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 6\r\nTransfer-Encoding: chunked",
            body: "1\r\na\r\n0\r\n\r\n")
        #expect(answer.requests.map(\.text) == ["a"])
        #expect(answer.end == .closed)
        #expect(answer.text.contains("Connection: close\r\n"))
    }

    @Test("HTTP/1.0 gets no interim response and no chunks")
    func olderVersion() throws {
        let answer = try ask(
            "POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1", body: "a",
            of: .chunked([Data("so".utf8), Data("me".utf8)]))
        #expect(answer.text.hasPrefix("HTTP/1.1 200"))
        #expect(!answer.text.contains("Transfer-Encoding"))
        #expect(answer.text.hasSuffix("\r\n\r\nsome"))
        #expect(answer.end == .closed)
    }

    @Test(
        "The path and the query of a whole URL are its own",
        arguments: [
            ("http://h:1/info?a=1", "/info", "a=1"), ("http://h:1", "/", nil),
            ("http://h?a=http://x/", "/", "a=http://x/"), ("/info?u=http://x/y", "/info", "u=http://x/y"),
            ("*", "*", nil), ("h:443", "h:443", nil),
        ] as [(String, String, String?)])
    func targets(target: String, path: String, query: String?) throws {
        let request = try #require(
            try ask("GET \(target) HTTP/1.1\r\nHost: here\r\nConnection: close").requests.first)
        #expect(request.target == target)
        #expect(request.path == path)
        #expect(request.query == query)
    }

    @Test("A body that is too large isn't asked for")
    func tooLarge() throws {
        let answer = try ask("PUT / HTTP/1.1\r\nHost: here\r\nExpect: 100-continue\r\nContent-Length: 1001")
        #expect(answer.text.hasPrefix("HTTP/1.1 413"))
        let fitting = try ask(
            "PUT / HTTP/1.1\r\nHost: here\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 1",
            body: "a")
        #expect(fitting.text.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200"))
    }
}
