import Foundation

/// Reads the requests of a connection, one after the other.
///
/// It is strict (RFC 9112), so that tests notice errors that a lenient server would ignore.
final class RequestReader {
    struct Limits: Sendable {
        var keepsBodies: Bool
        var maximumBodyLength: Int64
    }

    enum Failure: Error {
        /// The connection ended between two requests.
        case ended
        /// The connection ended in the middle of a request.
        case incomplete
        /// The bytes aren't HTTP.
        case malformed(String, status: Int = 400)
    }

    private static let largestHead = 1 << 20
    private static let tooLarge = Failure.malformed("The body is too large", status: 413)

    private let socket: Socket
    private let limits: Limits
    private var buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: 65_536)
    private var capacity = 65_536
    /// The unread bytes are between these two positions.
    private var start = 0
    private var end = 0

    init(socket: Socket, limits: Limits) {
        self.socket = socket
        self.limits = limits
    }

    deinit {
        buffer.deallocate()
    }

    /// The next request, including its body.
    ///
    /// It responds to `Expect: 100-continue` on the way.
    func next() throws(Failure) -> LoopbackServer.Request {
        if start == end, try !fill() { throw .ended }
        var budget = Self.largestHead
        var request = try requestLine(of: line(budget: &budget))
        request.headers = try fields(budget: &budget)
        let framing = try BodyFraming(of: request)
        if case .length(let length) = framing, length > limits.maximumBodyLength { throw Self.tooLarge }
        // HTTP/1.0 knows no interim responses (RFC 9110 §15.2).
        if framing != .none, request.version != "HTTP/1.0", request["Expect"]?.lowercased() == "100-continue" {
            let go = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
            _ = go.withUnsafeBytes { socket.sendAll($0) }
        }
        switch framing {
        case .none: break
        case .length(let length): try readBytes(length, into: &request)
        case .chunked: try readChunks(into: &request)
        }
        return request
    }

    /// Waits for the gate, for the given milliseconds, or forever.
    ///
    /// Returns `false` if the client disconnects first.
    func wait(for gate: LoopbackServer.Gate?, milliseconds: Int?) -> Bool {
        let deadline = milliseconds.map { Deadline(milliseconds: $0) }
        while true {
            let remaining = deadline?.remaining ?? -1
            guard hasRoom else {
                // The client is assumed to be connected; only a stop ends that.
                switch LoopbackServer.Gate.waitForOne(of: gate, remaining) {
                case .gate: return true
                case .stop: return false
                case nil: if remaining == 0 { return true }
                }
                continue
            }
            let ready = poll(reading: socket, gate: gate, milliseconds: remaining)
            if ready.socket {
                do { guard try fill() else { return false } } catch { return false }
            }
            if ready.gate || remaining == 0 { return true }
        }
    }

    /// Discards the received bytes.
    ///
    /// Returns `false` at the end of the connection.
    func discardArrived() -> Bool {
        start = 0
        end = 0
        return (try? fill()) ?? false
    }

    // MARK: - Head

    private func requestLine(of line: Bytes) throws(Failure) -> LoopbackServer.Request {
        guard let first = line.index(of: 0x20), let second = line.index(of: 0x20, from: first + 1) else {
            throw .malformed("No request line: \(line.quoted)")
        }
        let method = line[0, first]
        let target = line[first + 1, second]
        let version = line[second + 1, line.count].text
        guard method.isToken else { throw .malformed("Not a method: \(method.quoted)") }
        guard target.isTarget else { throw .malformed("Not a request target: \(target.quoted)") }
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw .malformed("Not a version: \(line.quoted)")
        }
        return LoopbackServer.Request(method: method.text, target: target.text, version: version)
    }

    /// Header fields or trailers, up to the empty line.
    private func fields(budget: inout Int) throws(Failure) -> [LoopbackServer.Field] {
        var fields: [LoopbackServer.Field] = []
        fields.reserveCapacity(12)
        while true {
            let line = try line(budget: &budget)
            if line.isEmpty { return fields }
            guard let colon = line.index(of: UInt8(ascii: ":")), line[0, colon].isToken else {
                throw .malformed("Not a header field: \(line.quoted)")
            }
            let value = line[colon + 1, line.count].trimmed
            if value.hasControl() { throw .malformed("Control characters in a header field: \(line.quoted)") }
            fields.append(LoopbackServer.Field(name: line[0, colon].text, value: value.text))
        }
    }

    /// The next line, which must end with CRLF, without the CRLF.
    private func line(budget: inout Int) throws(Failure) -> Bytes {
        var scanned = 0
        while true {
            let arrived = Bytes(base: UnsafePointer(buffer + start), count: end - start)
            if let length = arrived.index(of: 0x0A, from: scanned) {
                budget -= length + 1
                guard budget > 0 else { throw .malformed("The head is too large", status: 431) }
                start += length + 1
                guard length > 0, arrived.base[length - 1] == 0x0D else {
                    throw .malformed("A line ends without CR: \(arrived[0, length].quoted)")
                }
                return arrived[0, length - 1]
            }
            // Other protocols, for example a TLS handshake, may never send a line feed.
            if arrived[scanned, arrived.count].hasControl(exceptReturn: true) {
                throw .malformed("Control characters: \(arrived.quoted)")
            }
            scanned = arrived.count
            guard scanned < budget else { throw .malformed("The head is too large", status: 431) }
            guard try fill() else { throw .incomplete }
        }
    }

    // MARK: - Body

    private func readBytes(_ length: Int64, into request: inout LoopbackServer.Request) throws(Failure) {
        guard length <= limits.maximumBodyLength - request.bodyLength else { throw Self.tooLarge }
        if limits.keepsBodies, length < 1 << 24, let length = Int(exactly: length) {
            request.body.reserveCapacity(request.body.count + length)
        }
        var remaining = length
        while remaining > 0 {
            if start == end, try !fill() { throw .incomplete }
            let count = min(end - start, Int(clamping: remaining))
            if limits.keepsBodies { request.body.append(buffer + start, count: count) }
            start += count
            remaining -= Int64(count)
        }
        request.bodyLength += length
    }

    private func readChunks(into request: inout LoopbackServer.Request) throws(Failure) {
        while true {
            var budget = 4_096
            let line = try line(budget: &budget)
            let digits = line[0, line.index(of: UInt8(ascii: ";")) ?? line.count].trimmed
            // Int64 would accept a sign, which sorts before the digits.
            guard digits.count <= 15, let size = Int64(digits.text, radix: 16), digits.base[0] >= 0x30 else {
                throw .malformed("Not a chunk size: \(line.quoted)")
            }
            if size == 0 { break }
            try readBytes(size, into: &request)
            guard try self.line(budget: &budget).isEmpty else { throw .malformed("A chunk is longer than its size") }
        }
        var budget = Self.largestHead
        request.trailers = try fields(budget: &budget)
    }

    // MARK: - Buffer

    private var hasRoom: Bool { end - start < Self.largestHead }

    /// Waits for bytes and reads them.
    ///
    /// Returns `false` at the end of the connection.
    private func fill() throws(Failure) -> Bool {
        if start == end {
            start = 0
            end = 0
        }
        if end == capacity { makeRoom() }
        let count = socket.receive(into: UnsafeMutableRawBufferPointer(start: buffer + end, count: capacity - end))
        guard count > 0 else { return false }
        end += count
        return true
    }

    private func makeRoom() {
        let used = end - start
        if used > capacity / 2 {
            let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * 2)
            larger.update(from: buffer + start, count: used)
            buffer.deallocate()
            buffer = larger
            capacity *= 2
        } else {
            buffer.update(from: buffer + start, count: used)
        }
        start = 0
        end = used
    }
}
