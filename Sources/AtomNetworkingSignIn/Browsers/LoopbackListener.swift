import AtomNetworking
import Foundation

#if canImport(Darwin)
    import Darwin

    private let streamType = SOCK_STREAM
    private let noSignal: Int32 = 0
#elseif canImport(Glibc)
    import Glibc

    private let streamType = Int32(SOCK_STREAM.rawValue)
    private let noSignal = Int32(MSG_NOSIGNAL)
#elseif canImport(Musl)
    import Musl

    private let streamType = SOCK_STREAM
    private let noSignal = Int32(MSG_NOSIGNAL)
#endif

/// A port of this device, to which a browser brings a callback (RFC 8252 §7.3).
///
/// A thread of its own serves all connections, because a browser opens several, and some of them only in advance.
final class LoopbackListener: Sendable {
    /// Where the browser is sent.
    let redirectURI: String

    /// More connections than these are not kept; the oldest is given up.
    private static let mostConnections = 64

    private let listening: Int32
    private let port: Int
    private let path: String
    /// A pipe: a byte in it ends the thread.
    private let stopping: (reading: Int32, writing: Int32)

    /// Opens the port, and the caller closes it.
    init(port: Int, path: String) throws(SignInError) {
        guard path.hasPrefix("/"), path.utf8.allSatisfy({ LoopbackRequest.path.contains($0) }) else {
            throw .browserFailed("the path of the redirect URI must begin with a slash, and be percent-encoded")
        }
        var pair: [Int32] = [-1, -1]
        guard pipe(&pair) == 0 else { throw Self.failure(errno, port: port) }
        pair.forEach(Self.keepFromChildren)
        do throws(SignInError) {
            (listening, self.port) = try Self.openPort(port)
        } catch {
            for descriptor in pair { _ = close(descriptor) }
            throw error
        }
        self.path = path
        stopping = (pair[0], pair[1])
        redirectURI = "http://127.0.0.1:\(self.port)\(path)"
    }

    // Only here: an alarm may go off late, and must not write to a descriptor that is somebody else's.
    deinit {
        _ = close(stopping.reading)
        _ = close(stopping.writing)
    }

    /// The query of the callback, after its response has been written; `nil` if ``stop()`` was called before.
    ///
    /// It is called once.
    func callbackQuery() async throws(SignInError) -> String? {
        try await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.serve()) }
        }
        .get()
    }

    /// Lets ``callbackQuery()`` return, on any thread.
    func stop() {
        var byte: UInt8 = 0
        _ = write(stopping.writing, &byte, 1)
    }

    /// Closes the port, when ``callbackQuery()`` has returned or is never called.
    func closePort() {
        _ = close(listening)
    }

    private func serve() -> Result<String?, SignInError> {
        var connections: [Connection] = []
        defer {
            for connection in connections { connection.end() }
        }
        while true {
            var entries = ([stopping.reading, listening] + connections.map(\.descriptor))
                .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, nfds_t(entries.count), -1) >= 0 else {
                if errno == EINTR { continue }
                return .failure(Self.failure(errno, port: port))
            }
            // From the end, so that the others keep their places.
            for index in connections.indices.reversed() where entries[index + 2].revents != 0 {
                switch connections[index].receive() {
                case .goesOn: break
                case .ended: connections.remove(at: index).end()
                case .callback(let query): return .success(query)
                }
            }
            if entries[0].revents != 0 { return .success(nil) }
            // Not without an end: the time may be over.
            for _ in 0..<Self.mostConnections {
                guard entries[1].revents != 0, let descriptor = acceptNext() else { break }
                if connections.count == Self.mostConnections { connections.removeFirst().end() }
                connections.append(Connection(descriptor, LoopbackRequest(port: port, path: path)))
            }
        }
    }

    private func acceptNext() -> Int32? {
        let descriptor = accept(listening, nil, nil)
        guard descriptor >= 0 else {
            // The connection stays in the queue, so this would be a loop without a pause.
            if errno == EMFILE || errno == ENFILE { usleep(10_000) }
            return nil
        }
        Self.keepFromChildren(descriptor)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        #if canImport(Darwin)
            Self.setOption(SO_NOSIGPIPE, of: descriptor)
        #endif
        return descriptor
    }

    /// Opens a port of 127.0.0.1, and of no other address (RFC 8252 §8.3).
    private static func openPort(_ port: Int) throws(SignInError) -> (descriptor: Int32, port: Int) {
        guard let number = UInt16(exactly: port) else { throw .browserFailed("there is no port \(port)") }
        let descriptor = socket(AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw failure(errno, port: port) }
        keepFromChildren(descriptor)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        // A connection of the sign-in before may still be waiting for its last packets.
        if port != 0 { setOption(SO_REUSEADDR, of: descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(number.bigEndian)
        address.sin_addr.s_addr = in_addr_t(UInt32(0x7F00_0001).bigEndian)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isOpen else {
            let code = errno
            _ = close(descriptor)
            throw failure(code, port: port)
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func failure(_ code: Int32, port: Int) -> SignInError {
        switch code {
        case EADDRINUSE: .browserFailed("port \(port) is taken")
        case EACCES: .browserFailed("port \(port) needs more rights")
        default: .browserFailed("no port can be used for the callback (error \(code) of the system)")
        }
    }

    private static func keepFromChildren(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }

    private static func setOption(_ name: Int32, of descriptor: Int32) {
        var value: Int32 = 1
        _ = setsockopt(descriptor, SOL_SOCKET, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

/// A connection to the port; its owner ends it.
private struct Connection {
    enum Progress {
        case goesOn, ended
        case callback(query: String)
    }

    let descriptor: Int32
    private var request: LoopbackRequest
    /// How many bytes have come after the answer; `nil` before it.
    private var unread: Int?

    init(_ descriptor: Int32, _ request: LoopbackRequest) {
        self.descriptor = descriptor
        self.request = request
    }

    /// Reads what has arrived, and answers if that is all that an answer needs.
    mutating func receive() -> Progress {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            guard count > 0 else {
                return count < 0 && [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) ? .goesOn : .ended
            }
            if let unread {
                self.unread = unread + count
                return unread < 1 << 20 ? .goesOn : .ended
            }
            guard let answer = request.receive(buffer[..<count]) else { return .goesOn }
            let response = Array(answer.response)
            // The first bytes, and few: the system takes them all, or the browser has gone.
            _ = send(descriptor, response, response.count, noSignal)
            _ = shutdown(descriptor, Int32(SHUT_WR))
            if case .callback(let query) = answer { return .callback(query: query) }
            // Unread bytes would make the system reset the connection, and the response could be lost.
            unread = 0
            return .goesOn
        }
    }

    func end() { _ = close(descriptor) }
}
