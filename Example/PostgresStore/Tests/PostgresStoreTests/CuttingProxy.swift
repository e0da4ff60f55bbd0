import Foundation
import Testing

/// A proxy to the server that fails at the first COMMIT.
final class CuttingProxy: @unchecked Sendable {
    enum Fault {
        /// The server never gets the COMMIT, and both sides lose the connection.
        case cutBeforeCommit
        /// The server commits, and the client loses the connection before it
        /// gets the result.
        case cutAfterCommit
    }

    // Immutable. The accepting thread ends when the listener is shut down.
    private let listener: LoopbackSocket

    var port: UInt16 { listener.port }

    init(to target: UInt16, _ fault: Fault) throws {
        listener = try LoopbackSocket()
        let descriptor = listener.descriptor
        try #require(listen(descriptor, 16) == 0)
        Thread {
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                Thread { Self.relay(client, to: target, fault) }.start()
            }
            close(descriptor)
        }.start()
    }

    deinit {
        shutdown(listener.descriptor, Int32(SHUT_RDWR))
    }

    /// Forwards bytes in both directions until the fault, or an end.
    private static func relay(_ client: Int32, to target: UInt16, _ fault: Fault) {
        let server = socket(AF_INET, LoopbackSocket.stream, 0)
        defer {
            close(server)
            close(client)
        }
        var address = LoopbackSocket.address(target)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return }
        var isCommitting = false
        while true {
            var waiting = [pollfd(fd: client, events: Int16(POLLIN), revents: 0)]
            waiting.append(pollfd(fd: server, events: Int16(POLLIN), revents: 0))
            guard poll(&waiting, 2, -1) > 0 else { return }
            if waiting[0].revents != 0 {
                guard let bytes = read(from: client) else { return }
                // With its terminator, because BEGIN contains READ COMMITTED.
                if String(decoding: bytes, as: UTF8.self).contains("COMMIT\0") {
                    switch fault {
                    case .cutBeforeCommit: return
                    case .cutAfterCommit: isCommitting = true
                    }
                }
                guard bytes.withUnsafeBytes({ write(server, $0.baseAddress, $0.count) }) == bytes.count else { return }
            }
            if waiting[1].revents != 0 {
                guard let bytes = read(from: server), !isCommitting else { return }
                guard bytes.withUnsafeBytes({ write(client, $0.baseAddress, $0.count) }) == bytes.count else { return }
            }
        }
    }

    private static func read(from descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}

/// A socket with a port of 127.0.0.1 that no other program can use.
struct LoopbackSocket {
    let descriptor: Int32
    let port: UInt16

    init() throws {
        let descriptor = socket(AF_INET, Self.stream, 0)
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isBound)
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    #if canImport(Glibc)
        static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        static let stream = SOCK_STREAM
    #endif

    static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }
}
