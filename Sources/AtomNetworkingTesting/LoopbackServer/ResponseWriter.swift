import Foundation

/// Sends responses on a connection.
///
/// Consecutive writes are sent together.
final class ResponseWriter {
    enum Ending {
        case keepAlive
        case close
        case reset
        case clientLeft
    }

    /// From this size on, bytes are sent directly and not copied together with others.
    private static let largeWrite = 65_536

    private let socket: Socket
    private let reader: RequestReader
    private var pending: [UInt8] = []
    private var interruption: LoopbackServer.Response.Interruption?
    private var pace: LoopbackServer.Response.Pace?
    /// How many bytes of the response have been sent, and where its head ends, once that is known.
    private var sent: Int64 = 0
    private var headEnd: Int64?
    private var isInterrupted = false
    private var ending: (() -> Void)?

    init(socket: Socket, reader: RequestReader) {
        self.socket = socket
        self.reader = reader
    }

    /// Sends a response; `ending` is called before the last bytes are sent, if that point is reached.
    func write(
        _ response: LoopbackServer.Response, to request: LoopbackServer.Request?, ending: @escaping () -> Void
    ) -> Ending {
        (interruption, pace, sent, headEnd, isInterrupted) = (response.interruption, response.pace, 0, nil, false)
        self.ending = ending
        defer { self.ending = nil }
        let end = writeAll(of: response, to: request)
        guard isInterrupted, let interruption else { return end }
        pending.removeAll(keepingCapacity: true)
        switch interruption.kind {
        case .close: return .close
        case .reset: return .reset
        case .stall:
            _ = reader.wait(for: nil, milliseconds: nil)
            return .clientLeft
        }
    }

    private func writeAll(of response: LoopbackServer.Response, to request: LoopbackServer.Request?) -> Ending {
        for step in response.preamble {
            if let early = perform(step, chunked: false) { return early }
        }
        let closes = append(headOf: response, to: request)
        headEnd = sent + Int64(pending.count)
        let chunked = response.isChunked(for: request)
        if response.hasBody(for: request) {
            for (index, step) in response.steps.enumerated() {
                // After a body in chunks there is still the last chunk.
                let isEnd = !chunked && response.steps.dropFirst(index + 1).allSatisfy(\.sendsNothing)
                if let early = perform(step, chunked: chunked, isEnd: isEnd) { return early }
            }
            if chunked { append(lastChunkOf: response) }
        }
        guard flush(isEnd: true) else { return .clientLeft }
        return closes ? .close : .keepAlive
    }

    /// Returns `nil` to continue.
    ///
    /// - Parameter isEnd: Whether the response has arrived with these bytes.
    private func perform(_ step: LoopbackServer.Response.Step, chunked: Bool, isEnd: Bool = false) -> Ending? {
        switch step {
        case .write(let data):
            return write(data, chunked: chunked, isEnd: isEnd) ? nil : .clientLeft
        case .generate(let length, let chunk):
            return generate(length, chunk: chunk, chunked: chunked, isEnd: isEnd) ? nil : .clientLeft
        case .zeros(let length):
            return zeros(length, chunked: chunked, isEnd: isEnd) ? nil : .clientLeft
        case .endless(let data):
            while write(data, chunked: chunked), !data.isEmpty {}
            return .clientLeft
        case .wait(let gate):
            return flush() && reader.wait(for: gate, milliseconds: nil) ? nil : .clientLeft
        case .delay(let milliseconds):
            return flush() && reader.wait(for: nil, milliseconds: milliseconds) ? nil : .clientLeft
        case .hang:
            _ = flush() && reader.wait(for: nil, milliseconds: nil)
            return .clientLeft
        case .close:
            return flush(isEnd: true) ? .close : .clientLeft
        case .reset:
            return flush(isEnd: true) ? .reset : .clientLeft
        }
    }

    // MARK: - Head

    /// Returns whether to close the connection after the response.
    private func append(headOf response: LoopbackServer.Response, to request: LoopbackServer.Request?) -> Bool {
        var closes = !response.keepsAlive || request?.closesConnection ?? false
        guard response.hasHead else { return closes || response.closesSilently }
        append("HTTP/1.1 ")
        append(String(response.statusCode))
        append(" ")
        append(Self.reason(response.statusCode))
        append("\r\n")
        var names = (length: false, coding: false, connection: false)
        for (name, value) in response.headers {
            switch name.utf8.count {
            case 10 where isSameName(name, "Connection"):
                names.connection = true
                if isClose(value) { closes = true }
            case 14: names.length = names.length || isSameName(name, "Content-Length")
            case 17: names.coding = names.coding || isSameName(name, "Transfer-Encoding")
            default: break
            }
            append(field: name, value)
        }
        switch response.framing {
        case .length(let length) where response.statusAllowsBody && !names.length && !names.coding:
            append(field: "Content-Length", String(length))
        case .chunked where response.statusAllowsBody && !names.coding && response.isChunked(for: request):
            append(field: "Transfer-Encoding", "chunked")
        default: break
        }
        if closes, !names.connection { append(field: "Connection", "close") }
        append("\r\n")
        return closes || response.closesSilently
    }

    private func append(field name: String, _ value: String) {
        append(name)
        append(": ")
        append(value)
        append("\r\n")
    }

    private func append(_ text: String) {
        pending.append(contentsOf: text.utf8)
    }

    private func append(lastChunkOf response: LoopbackServer.Response) {
        append("0\r\n")
        for (name, value) in response.trailers { append(field: name, value) }
        append("\r\n")
    }

    // MARK: - Bytes

    private func write(_ data: Data, chunked: Bool, isEnd: Bool = false) -> Bool {
        if data.isEmpty { return true }  // an empty chunk would end the body
        return data.withUnsafeBytes { write($0, chunked: chunked, isEnd: isEnd) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer, chunked: Bool, isEnd: Bool) -> Bool {
        if chunked { append(String(bytes.count, radix: 16) + "\r\n") }
        guard append(bytes, isEnd: isEnd) else { return false }
        if chunked { append("\r\n") }
        return true
    }

    private func append(_ bytes: UnsafeRawBufferPointer, isEnd: Bool) -> Bool {
        if pending.count + bytes.count < Self.largeWrite {
            pending.append(contentsOf: bytes)
            return true
        }
        return flush() && send(bytes, isEnd: isEnd)
    }

    private func zeros(_ length: Int64, chunked: Bool, isEnd: Bool) -> Bool {
        var remaining = length
        while remaining > 0 {
            let count = min(Self.largeWrite, Int(clamping: remaining))
            remaining -= Int64(count)
            let isLast = isEnd && remaining == 0
            let isWritten = Self.zeros.withUnsafeBytes { zeros in
                write(UnsafeRawBufferPointer(rebasing: zeros[..<count]), chunked: chunked, isEnd: isLast)
            }
            guard isWritten else { return false }
        }
        return true
    }

    private static let zeros = [UInt8](repeating: 0, count: largeWrite)

    private func generate(_ length: Int64, chunk: Int, chunked: Bool, isEnd: Bool) -> Bool {
        var offset: Int64 = 0
        while offset < length {
            let piece = min(Int64(max(1, chunk)), length - offset)
            if chunked { append(String(piece, radix: 16) + "\r\n") }
            let pieceEnd = offset + piece
            while offset < pieceEnd {
                let count = min(Self.largeWrite, Int(clamping: pieceEnd - offset))
                let phase = Int(clamping: offset % 251)
                offset += Int64(count)
                let isLast = isEnd && offset == length
                let sent = Self.pattern.withUnsafeBytes { pattern in
                    append(UnsafeRawBufferPointer(rebasing: pattern[phase..<(phase + count)]), isEnd: isLast)
                }
                guard sent else { return false }
            }
            if chunked { append("\r\n") }
        }
        return true
    }

    /// Long enough for a large write from any position of the pattern.
    private static let pattern = (0..<(largeWrite + 251)).map {
        LoopbackServer.Response.generatedByte(at: Int64($0))
    }

    /// - Parameter isEnd: Whether the response has arrived with these bytes.
    private func flush(isEnd: Bool = false) -> Bool {
        guard !pending.isEmpty else {
            if isEnd { end() }
            return true
        }
        defer { pending.removeAll(keepingCapacity: true) }
        return pending.withUnsafeBytes { send($0, isEnd: isEnd) }
    }

    /// Says that the client has the response with what is sent next.
    private func end() {
        let ending = ending
        self.ending = nil
        ending?()
    }

    /// Sends bytes up to the place where the response is interrupted, as fast as it may be.
    private func send(_ bytes: UnsafeRawBufferPointer, isEnd: Bool = false) -> Bool {
        var rest = bytes[...]
        if let limit = interruption.flatMap({ limit(of: $0.position) }), sent + Int64(rest.count) >= limit {
            isInterrupted = true
            rest = rest.prefix(Int(clamping: max(0, limit - sent)))
        }
        // All that is left but the last part may take long, or never be sent.
        let reachesEnd = isEnd && rest.count == bytes.count
        while !rest.isEmpty {
            var count = rest.count
            if isPaced, let pace {
                let head = pace.isForHeadOnly ? headEnd.map { Int(clamping: $0 - sent) } : nil
                count = min(count, max(1, min(pace.bytes, head ?? .max)))
            } else if reachesEnd, count >= Self.largeWrite {
                count -= 1
            }
            if reachesEnd, count == rest.count { end() }
            guard socket.sendAll(UnsafeRawBufferPointer(rebasing: rest.prefix(count))) else {
                isInterrupted = false
                return false
            }
            sent += Int64(count)
            rest = rest.dropFirst(count)
            if isPaced, let pace, !rest.isEmpty, !reader.wait(for: nil, milliseconds: pace.milliseconds) {
                isInterrupted = false
                return false
            }
        }
        return !isInterrupted
    }

    /// Whether the next bytes are sent slowly.
    private var isPaced: Bool {
        guard let pace else { return false }
        return !pace.isForHeadOnly || headEnd.map { sent < $0 } ?? true
    }

    /// The number of bytes until a position; `nil` if it isn't known yet.
    private func limit(of position: LoopbackServer.Response.Position) -> Int64? {
        switch position {
        case .byte(let count): count
        case .bodyByte(let count): headEnd.map { $0 + count }
        }
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Status"
        }
    }
}

extension LoopbackServer.Response {
    fileprivate var hasHead: Bool {
        if case .bare = framing { false } else { true }
    }

    /// HTTP/1.0 knows no chunks: there the end of the connection ends the body (RFC 9112 §6.1).
    fileprivate func isChunked(for request: LoopbackServer.Request?) -> Bool {
        if case .chunked = framing { request?.version != "HTTP/1.0" } else { false }
    }

    fileprivate var statusAllowsBody: Bool { statusCode >= 200 && statusCode != 204 && statusCode != 304 }

    /// RFC 9112 §6.3: a response to HEAD, or with certain statuses, ends with its head.
    fileprivate func hasBody(for request: LoopbackServer.Request?) -> Bool {
        !hasHead || (request?.method != "HEAD" && statusAllowsBody)
    }
}

extension LoopbackServer.Response.Step {
    /// Whether the response has arrived before this step.
    fileprivate var sendsNothing: Bool {
        switch self {
        case .close, .reset: true
        case .write(let data): data.isEmpty
        case .generate(let length, _), .zeros(let length): length <= 0
        case .endless, .wait, .delay, .hang: false
        }
    }
}

extension LoopbackServer.Request {
    fileprivate var closesConnection: Bool {
        if version == "HTTP/1.0" { return true }
        var (hasLength, hasCoding) = (false, false)
        for field in headers {
            switch field.name.utf8.count {
            case 10 where field.isNamed("Connection") && isClose(field.value): return true
            case 14: hasLength = hasLength || field.isNamed("Content-Length")
            case 17: hasCoding = hasCoding || field.isNamed("Transfer-Encoding")
            default: break
            }
        }
        // Where the body ends may be read in two ways (RFC 9112 §6.3).
        return hasLength && hasCoding
    }
}

/// Whether `close` is one of the options of a `Connection` field (RFC 9110 §7.6.1).
private func isClose(_ value: String) -> Bool {
    value.split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces).lowercased() == "close" }
}
