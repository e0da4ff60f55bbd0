import Foundation

// What no correct server sends. Each says what a client gets to see.

// MARK: - Instead of a response

extension LoopbackServer.Response {
    /// Only these bytes, then the connection is closed.
    public static func raw(_ bytes: Data) -> Self { Self(steps: [.write(bytes), .close]) }

    /// Only this text, then the connection is closed.
    public static func raw(_ text: String) -> Self { .raw(Data(text.utf8)) }

    /// Only these steps: the writes are raw bytes.
    ///
    /// After them the next request is read, unless the last step closes the connection.
    public static func script(_ steps: [Step]) -> Self { Self(steps: steps) }

    /// Closes the connection without sending a byte: the client gets an empty reply, or a lost connection.
    public static var closeImmediately: Self { Self(steps: [.close]) }

    /// Resets the connection (RST) without sending a byte: the client gets a lost connection.
    public static var reset: Self { Self(steps: [.reset]) }

    /// Sends nothing until the client disconnects or the server stops: the client gets a timeout.
    public static var hang: Self { Self(steps: [.hang]) }
}

// MARK: - A part of a response

extension LoopbackServer.Response {
    /// The same response, after a part of which the connection is closed.
    ///
    /// In the head the client gets a lost connection, in the body one too, or a
    /// body that is shorter than its head says. A position behind the end
    /// changes nothing.
    ///
    /// ```swift
    /// import AtomNetworkingTesting
    ///
    /// let response = LoopbackServer.Response.json(#"{"flights": []}"#).cut(at: .bodyByte(10))
    /// ```
    public func cut(at position: Position) -> Self { interrupted(.close, position) }

    /// The same response, after a part of which the connection is reset (RST):
    /// the client gets a lost connection, perhaps without the last bytes.
    public func reset(at position: Position) -> Self { interrupted(.reset, position) }

    /// The same response, after a part of which nothing more comes until the
    /// client disconnects or the server stops: the client gets a timeout.
    ///
    /// ```swift
    /// import AtomNetworkingTesting
    ///
    /// let response = LoopbackServer.Response.json("{}").stalled(at: .head)
    /// ```
    public func stalled(at position: Position) -> Self { interrupted(.stall, position) }

    private func interrupted(_ kind: Interruption.Kind, _ position: Position) -> Self {
        var response = self
        response.interruption = Interruption(kind: kind, position: position)
        return response
    }

    /// A `Content-Length` that is larger than the body, and then the connection is closed: the client gets a lost
    /// connection, or an error for a body that is too short.
    public static func truncated(
        declaredLength: Int, body: Data, status: Int = 200, headers: [(String, String)] = []
    ) -> Self {
        .streamed([.write(body), .close], status: status, headers: headers, length: Int64(declaredLength))
    }

    /// The same response with this `Content-Length`, whatever the length of its
    /// body; the connection is closed after it.
    ///
    /// If it is larger than the body, the client gets an error for a body that is too short. If it is smaller, the
    /// client gets so much of the body, and must not take the rest for the next response.
    public func declaring(length: Int64) -> Self {
        var response = self
        response.framing = .length(length)
        response.closesSilently = true
        return response
    }
}

// MARK: - Slowly

extension LoopbackServer.Response {
    /// The same response, sent in small parts with a pause after each: the
    /// client gets all of it, unless it limits the whole request.
    ///
    /// It never waits long enough for a timeout of idle time.
    public func dripping(bytes: Int = 1, everyMilliseconds milliseconds: Int) -> Self {
        paced(Pace(bytes: bytes, milliseconds: milliseconds, isForHeadOnly: false))
    }

    /// The same response, whose head is sent in small parts with a pause after each, and the body as usual.
    public func slowHead(bytes: Int = 1, everyMilliseconds milliseconds: Int) -> Self {
        paced(Pace(bytes: bytes, milliseconds: milliseconds, isForHeadOnly: true))
    }

    private func paced(_ pace: Pace) -> Self {
        var response = self
        response.pace = pace
        return response
    }

    /// The same response after an interim one (RFC 9110 §15.2), which a client skips; each call adds one.
    public func afterInterim(_ status: Int = 103, headers: [(String, String)] = []) -> Self {
        var response = self
        let fields = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
        response.preamble.append(.write(text: "HTTP/1.1 \(status) Interim\r\n\(fields)\r\n"))
        return response
    }
}

// MARK: - Wrong, and without an end

extension LoopbackServer.Response {
    /// A chunked body of which one chunk is sound, and the next one has this text instead of a size: the client gets an
    /// error for a response that isn't HTTP.
    public static func badChunk(_ size: String = "xyz") -> Self {
        .script([
            .write(text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nsound\r\n\(size)\r\nbroken\r\n"),
            .close,
        ])
    }

    /// A body that never ends: a client without a limit for what it keeps fills
    /// its memory, and one with a limit gets that error.
    public static func endlessBody(headers: [(String, String)] = []) -> Self {
        .streamed([.generate(length: .max, chunk: 65_536)], headers: headers)
    }

    /// Header fields without end: a client without a limit fills its memory.
    public static var endlessHeaderFields: Self {
        let fields = String(repeating: "X-Field: and there is always one more\r\n", count: 1_000)
        return .script([.write(text: "HTTP/1.1 200 OK\r\n"), .endless(Data(fields.utf8))])
    }

    /// A redirect to the path of the request, so to the same redirect again: the
    /// client gets an error for too many redirects, or the 3xx itself.
    public static func redirectLoop(_ status: Int = 302) -> Self { .redirect(status, location: "?again") }

    /// A small body that is large when the client has decompressed it: zeros,
    /// with `Content-Encoding: gzip`, of which a thousand take one byte.
    ///
    /// It is valid, and a client that limits what it keeps gets that error. The server doesn't hold it in memory.
    ///
    /// - Parameter length: The least length after decompression; it is rounded up a little.
    public static func compressionBomb(length: Int64 = 1 << 30) -> Self {
        let bomb = ZeroBomb(length: length)
        return Self(
            200, [("Content-Type", "application/octet-stream"), ("Content-Encoding", "gzip")],
            framing: .length(bomb.compressedLength),
            steps: [.write(Data(bomb.beginning)), .zeros(length: bomb.zeros), .write(Data(bomb.end))])
    }
}
