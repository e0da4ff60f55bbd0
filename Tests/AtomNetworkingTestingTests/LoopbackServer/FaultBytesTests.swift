import AtomNetworkingTesting
import Foundation
import Testing

/// What comes over the wire, to the byte.
@Suite(.limited) struct FaultBytesTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n\r\n"

    private func ask(
        _ response: LoopbackServer.Response, atMost: Int = .max
    ) throws -> (bytes: Data, end: PlainConnection.End) {
        let server = try LoopbackServer { _ in response }
        defer { server.stop() }
        return try PlainConnection(server).ask(atMost: atMost)
    }

    /// Checks that the server sends so much, and then nothing, without an end.
    private func expectSilence(
        of response: LoopbackServer.Response, after text: String, at place: SourceLocation = #_sourceLocation
    ) throws {
        let server = try LoopbackServer { _ in response }
        defer { server.stop() }
        let connection = try PlainConnection(server)
        connection.send("GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        let (bytes, end) = connection.readUntilSilent(after: text.utf8.count)
        #expect(bytes.text == text && end == .silent, sourceLocation: place)
    }

    @Test("A response is cut where it was said", arguments: [0, 1, 20, 79, 80, 81, 84] as [Int64])
    func cut(position: Int64) throws {
        let whole = Self.head + "hello"
        let (bytes, end) = try ask(.text("hello").cut(at: .byte(position)))
        #expect(bytes.elementsEqual(whole.utf8.prefix(Int(position))) && end == .closed)
    }

    @Test("The bytes of a body are counted from the head on")
    func bodyBytes() throws {
        #expect(try ask(.text("hello").cut(at: .head)).bytes.text == Self.head)
        #expect(try ask(.text("hello").cut(at: .bodyByte(2))).bytes.text == Self.head + "he")
        let chunked = LoopbackServer.Response.chunked([Data("hello".utf8), Data("world".utf8)])
        #expect(try ask(chunked.cut(at: .bodyByte(13))).bytes.text.hasSuffix("\r\n\r\n5\r\nhello\r\n5\r\n"))
        let large = try ask(.generated(length: 1_000_000).cut(at: .bodyByte(500_000)))
        #expect(large.bytes.count > 500_000 && large.bytes.count < 500_200 && large.end == .closed)
    }

    @Test("A reset is one, also in the middle")
    func reset() throws {
        #expect(try ask(.reset).end == .reset)
        let (bytes, end) = try ask(.text("hello").reset(at: .bodyByte(2)))
        #expect(end == .reset && (bytes.isEmpty || bytes.text == Self.head + "he"))
    }

    @Test(
        "A response is in progress until its last byte",
        arguments: [
            (.generated(length: 32 << 20), true), (.generated(length: 32 << 20, chunked: true), true),
            (.status(200, body: Data(count: 32 << 20)), true), (.raw(Data(count: 32 << 20)), true),
            (.endlessBody(), false),
        ] as [(LoopbackServer.Response, Bool)])
    func inProgress(response: LoopbackServer.Response, hasEnd: Bool) throws {
        let server = try LoopbackServer { _ in response.closing() }
        defer { server.stop() }
        let connection = try PlainConnection(server)
        // More than the system keeps is left.
        _ = connection.ask(atMost: 100)
        #expect(server.requestsInProgress == 1)
        guard hasEnd else { return }
        while connection.read(atMost: 1 << 20).end == .enough {}
        #expect(server.requestsInProgress == 0)
    }

    @Test("A response that stalls or is slow is in progress too")
    func slowInProgress() async throws {
        let text = LoopbackServer.Response.text("hello")
        let slow = [
            text.stalled(at: .head), text.stalled(at: .bodyByte(4)), text.dripping(everyMilliseconds: 100_000),
        ]
        let server = try LoopbackServer(handler: LoopbackServer.inTurn(slow))
        defer { server.stop() }
        let connections = try slow.map { _ in
            let connection = try PlainConnection(server)
            connection.send("GET / HTTP/1.1\r\nHost: here\r\n\r\n")
            #expect(connection.read(atMost: 1).end == .enough)
            return connection
        }
        #expect(server.requestsInProgress == 3)
        withExtendedLifetime(connections) {}
    }

    @Test("A stalled response keeps the connection, and sends nothing more")
    func stalled() throws {
        try expectSilence(of: .text("hello").stalled(at: .head), after: Self.head)
        try expectSilence(of: .text("hello").stalled(at: .bodyByte(1)), after: Self.head + "h")
        try expectSilence(of: .hang, after: "")
    }

    @Test("A position behind the end changes nothing")
    func behindTheEnd() throws {
        let server = try LoopbackServer { _ in .text("hello").cut(at: .byte(10_000)) }
        defer { server.stop() }
        let connection = try PlainConnection(server)
        let size = Self.head.utf8.count + 5
        for _ in 0..<3 { #expect(connection.ask(atMost: size).bytes.text == Self.head + "hello") }
        #expect(server.connectionCount == 1)
    }

    @Test("A wrong length is sent as it was said, with all of the body")
    func wrongLength() throws {
        for length in [2, 9] as [Int64] {
            let (bytes, end) = try ask(.text("hello").declaring(length: length))
            #expect(bytes.text.contains("Content-Length: \(length)\r\n"))
            #expect(bytes.text.hasSuffix("\r\n\r\nhello") && end == .closed)
        }
        #expect(try ask(.truncated(declaredLength: 9, body: Data("x".utf8))).bytes.text.hasSuffix("\r\n\r\nx"))
    }

    @Test("A response that is sent slowly has the same bytes, part by part")
    func slowly() throws {
        let closing = LoopbackServer.Response.text("hello").closing()
        let whole = try ask(closing).bytes
        #expect(try ask(closing.dripping(everyMilliseconds: 1)).bytes == whole)
        #expect(try ask(closing.dripping(bytes: 7, everyMilliseconds: 1)).bytes == whole)
        #expect(try ask(closing.slowHead(everyMilliseconds: 1)).bytes == whole)
        // The pause is longer than this test may take, and the body needs none.
        let head = try ask(closing.slowHead(bytes: whole.count - 5, everyMilliseconds: 3_600_000))
        #expect(head.bytes == whole && head.end == .closed)
        // The first part comes alone.
        try expectSilence(of: closing.dripping(bytes: 3, everyMilliseconds: 3_600_000), after: "HTT")
        try expectSilence(of: closing.slowHead(bytes: 4, everyMilliseconds: 3_600_000), after: "HTTP")
        // So does the last but one.
        let raw = LoopbackServer.Response.raw(Data("ab".utf8))
        try expectSilence(of: raw.dripping(everyMilliseconds: 3_600_000), after: "a")
        let bodiless = try ask(.empty(204).closing()).bytes.text
        let allButOne = bodiless.utf8.count - 1
        try expectSilence(
            of: .empty(204).closing().slowHead(bytes: allButOne, everyMilliseconds: 3_600_000),
            after: String(decoding: bodiless.utf8.prefix(allButOne), as: UTF8.self))
    }

    @Test("Interim answers come first, in their order")
    func interim() throws {
        let response = LoopbackServer.Response.text("hello").closing()
            .afterInterim(100).afterInterim(103, headers: [("Link", "</style.css>")])
        let text = try ask(response).bytes.text
        #expect(
            text.hasPrefix(
                "HTTP/1.1 100 Interim\r\n\r\nHTTP/1.1 103 Interim\r\nLink: </style.css>\r\n\r\nHTTP/1.1 200 OK\r\n"))
    }

    @Test("A bad chunk follows a sound one")
    func badChunk() throws {
        #expect(try ask(.badChunk("-5")).bytes.text.hasSuffix("\r\n\r\n5\r\nsound\r\n-5\r\nbroken\r\n"))
    }

    @Test("Trailers follow the last chunk")
    func trailers() throws {
        let response = LoopbackServer.Response.chunked([Data("a".utf8)], trailers: [("Digest", "x")]).closing()
        #expect(try ask(response).bytes.text.hasSuffix("\r\n\r\n1\r\na\r\n0\r\nDigest: x\r\n\r\n"))
    }

    @Test("What is endless goes on, and ends with its reader")
    func endless() throws {
        for response in [LoopbackServer.Response.endlessBody(), .endlessHeaderFields] {
            let (bytes, end) = try ask(response, atMost: 3_000_000)
            #expect(bytes.count == 3_000_000 && end == .enough)
        }
        #expect(!(try ask(.endlessHeaderFields, atMost: 1_000_000)).bytes.text.contains("\r\n\r\n"))
    }

    @Test("A redirect loop leads to itself")
    func redirectLoop() throws {
        #expect(
            try ask(.redirectLoop(307).closing()).bytes.text.hasPrefix(
                "HTTP/1.1 307 Temporary Redirect\r\nLocation: ?again\r\n"))
    }

    @Test("A bomb is small on the wire")
    func bomb() throws {
        let bytes = try ask(.compressionBomb(length: 10_000_000).closing()).bytes
        #expect(bytes.count < 10_000 + 300 && bytes.text.contains("Content-Encoding: gzip\r\n"))
    }
}
