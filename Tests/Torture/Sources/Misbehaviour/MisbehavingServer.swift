import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A TCP server that does what a behaviour says; each connection has a thread.
///
/// Requests for `/next` and `/beside` get their own response, over whichever
/// connection they come.
final class MisbehavingServer: Sendable {
    /// What the server saw of the requests that it was to misbehave to.
    struct Record: Sendable {
        /// Method and target of each head, in order.
        var heads: [Head] = []
        /// Whether a byte of one has been read.
        var hasRead = false
        /// Whether a byte of a response was written.
        var hasWritten = false
        /// How many requests had come over each connection, by its number.
        var connections = 0
        /// How many requests are being answered.
        var working = 0
    }

    let port: Int
    /// Whether new connections get the behaviour's greeting.
    private let isArmed = Locked(true)
    private let isHealed = Locked(false)
    let record = Locked(Record())
    private let open = Locked<Set<Int32>>([])
    private let isStopped = Locked(false)
    private let listener: Int32

    init(_ behaviour: Behaviour, _ hold: Hold, isSecure: Bool = false) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && Glibc.listen(listener, 64) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard isBound else { throw CocoaError(.fileNoSuchFile) }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0, !isStopped.value else { break }
                var yes: Int32 = 1
                setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
                open.with { _ = $0.insert(descriptor) }
                let number = record.with { record in
                    record.connections += 1
                    return record.connections
                }
                Thread.detachNewThread { [self] in
                    let line = Line(descriptor, hold, record)
                    if let ending = serve(line, behaviour, number) { end(line, ending) }
                }
            }
            close(listener)
        }
    }

    /// Lets new connections be served as they should.
    func disarm() { isArmed.with { $0 = false } }

    /// Lets the token endpoint and `/healed` be served as they should.
    func heal() { isHealed.with { $0 = true } }

    /// Returns when every misbehaviour is over.
    func settled() async {
        while record.value.working > 0 { try? await Task.sleep(for: .milliseconds(2)) }
    }

    func stop() {
        isStopped.with { $0 = true }
        open.with { for descriptor in $0 { shutdown(descriptor, Int32(SHUT_RDWR)) } }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve(_ line: Line, _ behaviour: Behaviour, _ number: Int) -> Ending? {
        if let greeting = behaviour.greeting, isArmed.value {
            switch greeting(line) {
            case .keep: break
            case let ending: return ending
            }
        }
        while let head = line.readHead() {
            if head.path == "/next" || head.path == "/beside" {
                guard line.readBody(of: head) != nil else { return .close }
                let text = head.query.map { "\(head.path) \($0)" } ?? head.path
                line.writeQuietly("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
                continue
            }
            if isHealed.value, ["/token", "/healed"].contains(head.path) {
                guard line.readBody(of: head) != nil else { return .close }
                let isSigned = head["Authorization"] == "Bearer \(Trial.newToken)"
                let body =
                    head.path == "/token" ? Trial.grant : isSigned ? "healed" : "not signed"
                let status = head.path == "/token" || isSigned ? 200 : 401
                line.writeQuietly("HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                continue
            }
            let hit = record.with { record in
                record.heads.append(head)
                record.working += 1
                return record.heads.count { $0.path == head.path }
            }
            let ending = behaviour.serve(line, head, hit)
            defer { record.with { $0.working -= 1 } }
            if ending != .keep {
                end(line, ending)
                return nil
            }
        }
        return .close
    }

    private func end(_ line: Line, _ ending: Ending) {
        switch ending {
        case .keep, .close:
            // Unread bytes would make a reset of it.
            shutdown(line.descriptor, Int32(SHUT_WR))
            line.drain(milliseconds: 500)
        case .abruptly: break
        case .halfClose:
            shutdown(line.descriptor, Int32(SHUT_WR))
            line.drain(milliseconds: nil)
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(
                line.descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }
        open.with {
            $0.remove(line.descriptor)
            close(line.descriptor)
        }
    }
}

/// How a server leaves a connection.
enum Ending: Sendable, CaseIterable {
    /// It waits for the next request.
    case keep
    case close
    /// Even if something has not been read, which makes a reset of it.
    case abruptly
    /// It sends no more, and reads until the client has left.
    case halfClose
    case reset
}

/// The head of a request.
struct Head: Sendable {
    let method: String
    let target: String
    let fields: [(name: String, value: String)]

    var path: String { String(target.prefix { $0 != "?" }) }
    var query: String? { target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) } }

    subscript(name: String) -> String? { fields.first { $0.name.lowercased() == name.lowercased() }?.value }

    init(_ text: String) {
        let lines = text.replacingOccurrences(of: "\r\n", with: "\n").split(separator: "\n")
        let words = (lines.first ?? "").split(separator: " ").map(String.init)
        method = words.first ?? ""
        target = words.count > 1 ? words[1] : ""
        fields = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (String(line[..<colon]), value)
        }
    }
}

/// The server's end of a connection; one thread uses it.
final class Line: @unchecked Sendable {
    let descriptor: Int32
    let hold: Hold
    private let record: Locked<MisbehavingServer.Record>
    private var buffer: [UInt8] = []

    init(_ descriptor: Int32, _ hold: Hold, _ record: Locked<MisbehavingServer.Record>) {
        self.descriptor = descriptor
        self.hold = hold
        self.record = record
    }

    /// Waits until the trial has seen that others aren't held up.
    func holdHere() { hold.reachAndWait() }

    // MARK: Writing

    @discardableResult
    func write(_ text: String) -> Bool { write(Data(text.utf8)) }

    @discardableResult
    func write(_ data: Data) -> Bool {
        if !data.isEmpty { record.with { $0.hasWritten = true } }
        return send(data)
    }

    /// Writes what belongs to no misbehaviour.
    func writeQuietly(_ text: String) { _ = send(Data(text.utf8)) }

    private func send(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let start = bytes.baseAddress.map { $0 + sent }
                let count = Glibc.send(descriptor, start, bytes.count - sent, Int32(MSG_NOSIGNAL))
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    /// Writes the bytes in parts, with a pause after each.
    @discardableResult
    func drip(_ data: Data, bytes: Int = 1, milliseconds: Int) -> Bool {
        var rest = data[...]
        while !rest.isEmpty {
            guard write(Data(rest.prefix(bytes))) else { return false }
            rest = rest.dropFirst(bytes)
            pause(milliseconds)
        }
        return true
    }

    func pause(_ milliseconds: Int) { usleep(useconds_t(milliseconds * 1_000)) }

    // MARK: Reading

    /// The next bytes; empty at the end, or when the time has passed.
    func read(atMost size: Int = 65_536, milliseconds: Int? = nil) -> [UInt8] {
        if !buffer.isEmpty {
            defer { buffer = [] }
            return buffer
        }
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, milliseconds.map(Int32.init) ?? -1) > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: size)
        let count = recv(descriptor, &bytes, size, 0)
        return count > 0 ? Array(bytes.prefix(count)) : []
    }

    /// Reads until the client has left, or has sent nothing for so long.
    func drain(milliseconds: Int?) {
        buffer = []
        while !read(milliseconds: milliseconds).isEmpty {}
    }

    func readHead() -> Head? {
        var bytes: [UInt8] = []
        while true {
            let part = read()
            guard !part.isEmpty else { return nil }
            bytes += part
            if bytes.starts(with: Array("GET /next".utf8)) == false,
                bytes.starts(with: Array("GET /beside".utf8)) == false
            {
                record.with { $0.hasRead = true }
            }
            let start = max(0, bytes.count - part.count - 3)
            guard let end = bytes[start...].firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            buffer = Array(bytes[end.upperBound...])
            let head = Data(bytes[..<end.upperBound])
            // What isn't UTF-8 is compared octet by octet.
            return Head(String(data: head, encoding: .utf8) ?? String(data: head, encoding: .isoLatin1) ?? "")
        }
    }

    /// The whole body; `nil` if the client has left before.
    func readBody(of head: Head, atMost limit: Int = .max) -> [UInt8]? {
        if head["Transfer-Encoding"] != nil {
            var bytes: [UInt8] = []
            if head["Expect"] != nil { writeQuietly("HTTP/1.1 100 Continue\r\n\r\n") }
            while bytes.count < limit, !bytes.suffix(5).elementsEqual(Array("0\r\n\r\n".utf8)) {
                let part = read()
                if part.isEmpty { return nil }
                bytes += part
            }
            return bytes
        }
        let length = min(head["Content-Length"].flatMap { Int($0) } ?? 0, limit)
        var bytes: [UInt8] = []
        if length > 0, head["Expect"] != nil { writeQuietly("HTTP/1.1 100 Continue\r\n\r\n") }
        while bytes.count < length {
            let part = read()
            if part.isEmpty { return nil }
            bytes += part
        }
        if bytes.count > length { buffer = Array(bytes[length...]) }
        return Array(bytes.prefix(length))
    }
}

/// Where a server waits until the trial lets it go on.
final class Hold: Sendable {
    private let state = Locked<(isReached: Bool, isReleased: Bool, waiter: CheckedContinuation<Void, Never>?)>(
        (false, false, nil))
    private let released = NSCondition()

    func reachAndWait() {
        reach()
        released.lock()
        while !state.value.isReleased { released.wait() }
        released.unlock()
    }

    /// The server is there, or will never be.
    func reach() {
        let waiter = state.with { state in
            state.isReached = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func reached() async {
        await withCheckedContinuation { continuation in
            let isReached = state.with { state in
                if !state.isReached { state.waiter = continuation }
                return state.isReached
            }
            if isReached { continuation.resume() }
        }
    }

    func release() {
        released.lock()
        state.with { $0.isReleased = true }
        released.broadcast()
        released.unlock()
    }
}

/// A value behind a lock.
final class Locked<Value: Sendable>: @unchecked Sendable {
    // The lock guards the value.
    private var stored: Value
    private let lock = NSLock()

    init(_ value: Value) { stored = value }

    var value: Value { lock.withLock { stored } }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try lock.withLock { try body(&stored) }
    }
}
