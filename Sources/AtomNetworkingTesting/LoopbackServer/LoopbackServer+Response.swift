import Foundation

extension LoopbackServer {
    /// How the server behaves for one request, with or without a valid
    /// response.
    ///
    /// ```swift
    /// import AtomNetworkingTesting
    ///
    /// let gate = LoopbackServer.Gate()
    /// let responses: [LoopbackServer.Response] = [
    ///     .json(#"{"id": 1}"#),
    ///     .text("slow down", status: 429).adding("Retry-After", "3").closing(),
    ///     .json("{}").after(gate),
    ///     .streamed([.write(text: "one"), .wait(gate), .reset]),
    ///     .hang,
    /// ]
    /// ```
    ///
    /// `Content-Length`, `Transfer-Encoding` and `Connection` are added as
    /// needed, unless the headers contain them: your own fields are sent
    /// unchanged, even if they are wrong. `HEAD` requests and the statuses 1xx,
    /// 204 and 304 get no body.
    public struct Response: Sendable {
        /// The server's actions, in order.
        ///
        /// Consecutive writes are sent together.
        public enum Step: Sendable {
            /// Writes bytes; in a chunked body they are one chunk.
            case write(Data)
            /// Writes this many bytes of a pattern, without storing them in
            /// memory; see ``Response/generatedByte(at:)``.
            case generate(length: Int64, chunk: Int)
            /// Writes this many zeros, without storing them in memory.
            case zeros(length: Int64)
            /// Writes the bytes again and again, until the client disconnects or the server stops.
            case endless(Data)
            /// Sends the written bytes, then waits for the gate, and notices if the client disconnects in the meantime.
            case wait(LoopbackServer.Gate)
            /// Sends the written bytes, then waits for this time, and notices
            /// if the client disconnects in the meantime.
            case delay(milliseconds: Int)
            /// Sends the written bytes, then nothing until the client disconnects or the server stops.
            case hang
            /// Sends the written bytes and closes the connection, even if the response is incomplete.
            case close
            /// Sends the written bytes and resets the connection (RST).
            case reset

            /// Writes a text as UTF-8.
            public static func write(text: String) -> Step { .write(Data(text.utf8)) }
        }

        /// A place in a response, for ``cut(at:)`` and others.
        public enum Position: Sendable, Hashable {
            /// Behind this many bytes of all that is sent, the head included.
            case byte(Int64)
            /// Behind the head and this many bytes after it, as they are sent:
            /// in a chunked body the sizes of the chunks count.
            case bodyByte(Int64)

            /// Behind the head, before the first byte of the body.
            public static var head: Position { .bodyByte(0) }
        }

        struct Interruption: Sendable {
            enum Kind: Sendable { case close, reset, stall }

            var kind: Kind
            var position: Position
        }

        struct Pace: Sendable {
            var bytes: Int
            var milliseconds: Int
            var isForHeadOnly: Bool
        }

        enum Framing: Sendable {
            /// No head: the steps write raw bytes.
            case bare
            case length(Int64)
            case chunked
        }

        /// The status code; it has no meaning for `.raw`, `.script` and other responses that aren't HTTP.
        public var statusCode = 200
        /// The header fields in the order in which they are sent.
        public var headers: [(name: String, value: String)] = []
        /// Whether the connection stays open; if not, `Connection: close` is sent and the server closes the connection.
        public var keepsAlive = true
        /// The fields after a chunked body.
        public var trailers: [(name: String, value: String)] = []
        var closesSilently = false
        /// The steps before the first byte.
        var preamble: [Step] = []
        var framing: Framing = .bare
        var steps: [Step]

        /// Where and how the response is interrupted.
        var interruption: Interruption?
        /// How slowly it is sent.
        var pace: Pace?

        init(
            _ status: Int = 200, _ headers: [(String, String)] = [], framing: Framing = .bare, steps: [Step]
        ) {
            statusCode = status
            self.headers = headers.map { (name: $0.0, value: $0.1) }
            self.framing = framing
            self.steps = steps
        }

        /// The byte at this offset of a generated body: the offset modulo 251.
        public static func generatedByte(at offset: Int64) -> UInt8 { UInt8(offset % 251) }
    }
}

// MARK: - Valid responses

extension LoopbackServer.Response {
    /// A response with a body of known length.
    public static func status(_ status: Int, headers: [(String, String)] = [], body: Data = Data()) -> Self {
        Self(status, headers, framing: .length(Int64(body.count)), steps: body.isEmpty ? [] : [.write(body)])
    }

    /// A response without a body.
    public static func empty(_ status: Int = 204, headers: [(String, String)] = []) -> Self {
        .status(status, headers: headers)
    }

    /// A JSON response.
    public static func json(_ json: String, status: Int = 200, headers: [(String, String)] = []) -> Self {
        .status(status, headers: [("Content-Type", "application/json")] + headers, body: Data(json.utf8))
    }

    /// A plain text response.
    public static func text(_ text: String, status: Int = 200, headers: [(String, String)] = []) -> Self {
        .status(status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers, body: Data(text.utf8))
    }

    /// A chunked body with one chunk for each part, and optional trailers.
    public static func chunked(
        _ parts: [Data], status: Int = 200, headers: [(String, String)] = [], trailers: [(String, String)] = []
    ) -> Self {
        var response = Self(status, headers, framing: .chunked, steps: parts.map { .write($0) })
        response.trailers = trailers.map { (name: $0.0, value: $0.1) }
        return response
    }

    /// A 401 with a challenge, for example `Basic realm="x"`.
    public static func challenge(_ challenge: String, body: Data = Data()) -> Self {
        .status(401, headers: [("WWW-Authenticate", challenge)], body: body)
    }

    /// A redirect, 301 to 308.
    public static func redirect(_ status: Int, location: String) -> Self {
        .status(status, headers: [("Location", location)])
    }

    /// A large body with a known pattern that isn't stored in memory, with `Content-Length` or chunked.
    public static func generated(
        length: Int64, chunk: Int = 65_536, chunked: Bool = false, headers: [(String, String)] = []
    ) -> Self {
        Self(
            200, headers, framing: chunked ? .chunked : .length(length),
            steps: [.generate(length: length, chunk: chunk)])
    }

    /// A body that is sent step by step: chunked, or with the given `Content-Length`.
    public static func streamed(
        _ steps: [Step], status: Int = 200, headers: [(String, String)] = [], length: Int64? = nil
    ) -> Self {
        Self(status, headers, framing: length.map { .length($0) } ?? .chunked, steps: steps)
    }

    /// A chunked body whose head and first part are sent at once, and the rest when the gate is open.
    public static func drip(
        _ parts: [Data], gate: LoopbackServer.Gate, status: Int = 200, headers: [(String, String)] = []
    ) -> Self {
        .streamed(
            parts.enumerated().flatMap { $0.offset == 0 ? [.write($0.element)] : [.wait(gate), .write($0.element)] },
            status: status, headers: headers)
    }
}

// MARK: - Variations

extension LoopbackServer.Response {
    /// The same response with one more header field.
    public func adding(_ name: String, _ value: String) -> Self {
        var response = self
        response.headers.append((name: name, value: value))
        return response
    }

    /// The same response, sent after the gate has been opened.
    ///
    /// It notices if the client disconnects in the meantime.
    public func after(_ gate: LoopbackServer.Gate) -> Self {
        var response = self
        response.preamble.insert(.wait(gate), at: 0)
        return response
    }

    /// The same response, sent after this time.
    ///
    /// It notices if the client disconnects in the meantime.
    public func delayed(milliseconds: Int) -> Self {
        var response = self
        response.preamble.insert(.delay(milliseconds: milliseconds), at: 0)
        return response
    }

    /// The same response with `Connection: close`; the connection is closed after it.
    public func closing() -> Self {
        var response = self
        response.keepsAlive = false
        return response
    }

    /// The same response, but the connection is closed after it without notice,
    /// as a server does when its idle timeout passes.
    public func closingSilently() -> Self {
        var response = self
        response.closesSilently = true
        return response
    }
}
