import Foundation

extension LoopbackServer {
    /// How the server behaves towards one request, proper answer or not.
    ///
    /// ```swift
    /// .json(#"{"id": 1}"#)
    /// .text("slow down", status: 429).adding("Retry-After", "3").closing()
    /// .json("{}").after(gate)
    /// .streamed([.write(text: "one"), .wait(gate), .reset])
    /// .hang
    /// ```
    ///
    /// `Content-Length`, `Transfer-Encoding` and `Connection` are added as needed, unless the headers name them: what
    /// you name is sent as you say, also when it is a lie. `HEAD` requests and the statuses 1xx, 204 and 304 get no body.
    public struct Response: Sendable {
        /// What the server does, one after the other.
        ///
        /// What is written is sent together, up to the next step that isn't a write.
        public enum Step: Sendable {
            /// Writes bytes; in a chunked body they are one chunk.
            case write(Data)
            /// Writes that many bytes of a pattern, never held in memory; see ``Response/generatedByte(at:)``.
            case generate(length: Int64, chunk: Int)
            /// Sends what was written, then waits for the gate, and notices if the client goes away meanwhile.
            case wait(Gate)
            /// Sends what was written, then waits so long, and notices if the client goes away meanwhile.
            case delay(milliseconds: Int)
            /// Sends what was written, then nothing more until the client goes away or the server stops.
            case hang
            /// Sends what was written and closes the connection, finished or not.
            case close
            /// Sends what was written and resets the connection (RST).
            case reset

            /// Writes a text as UTF-8.
            public static func write(text: String) -> Step { .write(Data(text.utf8)) }
        }

        enum Framing: Sendable {
            /// No head at all: the steps write the bytes of the wire.
            case bare
            case length(Int64)
            case chunked
        }

        /// The status code; without meaning for `.raw`, `.script` and other answers that aren't HTTP.
        public var statusCode = 200
        /// The header fields in the order in which they are sent.
        public var headers: [(name: String, value: String)] = []
        /// Whether the connection stays open; if not, `Connection: close` is sent and the server closes it.
        public var keepsAlive = true
        /// The fields after a chunked body.
        public var trailers: [(name: String, value: String)] = []
        var closesSilently = false
        /// What happens before the first byte.
        var preamble: [Step] = []
        var framing: Framing = .bare
        var steps: [Step]

        private init(
            _ status: Int = 200, _ headers: [(String, String)] = [], framing: Framing = .bare, steps: [Step]
        ) {
            statusCode = status
            self.headers = headers.map { (name: $0.0, value: $0.1) }
            self.framing = framing
            self.steps = steps
        }

        /// The byte at that place of a generated body: the place modulo 251.
        public static func generatedByte(at offset: Int64) -> UInt8 { UInt8(offset % 251) }
    }
}

// MARK: - Proper answers

extension LoopbackServer.Response {
    /// An answer with a body of known length.
    public static func status(_ status: Int, headers: [(String, String)] = [], body: Data = Data()) -> Self {
        Self(status, headers, framing: .length(Int64(body.count)), steps: body.isEmpty ? [] : [.write(body)])
    }

    /// An answer without a body.
    public static func empty(_ status: Int = 204, headers: [(String, String)] = []) -> Self {
        .status(status, headers: headers)
    }

    /// JSON, given as text.
    public static func json(_ json: String, status: Int = 200, headers: [(String, String)] = []) -> Self {
        .status(status, headers: [("Content-Type", "application/json")] + headers, body: Data(json.utf8))
    }

    /// Plain text.
    public static func text(_ text: String, status: Int = 200, headers: [(String, String)] = []) -> Self {
        .status(status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers, body: Data(text.utf8))
    }

    /// A chunked body, one chunk for each part, with trailers if you like.
    public static func chunked(
        _ parts: [Data], status: Int = 200, headers: [(String, String)] = [], trailers: [(String, String)] = []
    ) -> Self {
        var response = Self(status, headers, framing: .chunked, steps: parts.map { .write($0) })
        response.trailers = trailers.map { (name: $0.0, value: $0.1) }
        return response
    }

    /// A 401 with a challenge, `Basic realm="x"` for example.
    public static func challenge(_ challenge: String, body: Data = Data()) -> Self {
        .status(401, headers: [("WWW-Authenticate", challenge)], body: body)
    }

    /// A redirect, 301 to 308.
    public static func redirect(_ status: Int, location: String) -> Self {
        .status(status, headers: [("Location", location)])
    }

    /// A large body of a known pattern that is never held in memory, with `Content-Length` or else chunked.
    public static func generated(
        length: Int64, chunk: Int = 65_536, chunked: Bool = false, headers: [(String, String)] = []
    ) -> Self {
        Self(
            200, headers, framing: chunked ? .chunked : .length(length),
            steps: [.generate(length: length, chunk: chunk)])
    }

    /// A body that is sent step by step: chunked, or else with the `Content-Length` that you declare.
    public static func streamed(
        _ steps: [Step], status: Int = 200, headers: [(String, String)] = [], length: Int64? = nil
    ) -> Self {
        Self(status, headers, framing: length.map { .length($0) } ?? .chunked, steps: steps)
    }

    /// A chunked body whose head and first part come at once, and the rest when the gate is open.
    public static func drip(
        _ parts: [Data], gate: Gate, status: Int = 200, headers: [(String, String)] = []
    ) -> Self {
        .streamed(
            parts.enumerated().flatMap { $0.offset == 0 ? [.write($0.element)] : [.wait(gate), .write($0.element)] },
            status: status, headers: headers)
    }
}

// MARK: - Improper answers

extension LoopbackServer.Response {
    /// These bytes and nothing else, then the connection is closed.
    public static func raw(_ bytes: Data) -> Self { Self(steps: [.write(bytes), .close]) }

    /// This text and nothing else, then the connection is closed.
    public static func raw(_ text: String) -> Self { .raw(Data(text.utf8)) }

    /// The steps and nothing else: the writes are the bytes of the wire.
    ///
    /// Afterwards the next request is read, unless the last step closes.
    public static func script(_ steps: [Step]) -> Self { Self(steps: steps) }

    /// A `Content-Length` of more than is sent before the connection is closed.
    public static func truncated(
        declaredLength: Int, body: Data, status: Int = 200, headers: [(String, String)] = []
    ) -> Self {
        .streamed([.write(body), .close], status: status, headers: headers, length: Int64(declaredLength))
    }

    /// The connection is closed without a byte.
    public static var closeImmediately: Self { Self(steps: [.close]) }

    /// The connection is reset (RST) without a byte.
    public static var reset: Self { Self(steps: [.reset]) }

    /// No answer, until the client goes away or the server stops.
    public static var hang: Self { Self(steps: [.hang]) }
}

// MARK: - Variations

extension LoopbackServer.Response {
    /// The same, with one more header field.
    public func adding(_ name: String, _ value: String) -> Self {
        var response = self
        response.headers.append((name: name, value: value))
        return response
    }

    /// The same, but not a byte before the gate is open.
    ///
    /// A client that goes away meanwhile is noticed.
    public func after(_ gate: Gate) -> Self {
        var response = self
        response.preamble.insert(.wait(gate), at: 0)
        return response
    }

    /// The same, but not a byte before the time is over.
    ///
    /// A client that goes away meanwhile is noticed.
    public func delayed(milliseconds: Int) -> Self {
        var response = self
        response.preamble.insert(.delay(milliseconds: milliseconds), at: 0)
        return response
    }

    /// The same, with `Connection: close`, and the connection is closed after it.
    public func closing() -> Self {
        var response = self
        response.keepsAlive = false
        return response
    }

    /// The same, and the connection is closed after it without a word: what a client with a kept connection meets
    /// when the server's idle time is over.
    public func closingSilently() -> Self {
        var response = self
        response.closesSilently = true
        return response
    }
}
