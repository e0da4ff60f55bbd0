import AtomNetworkingTesting
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A TCP connection to a server, which shows what a client gets byte by byte.
final class PlainConnection {
    enum End: Equatable {
        /// The server has closed the connection.
        case closed
        case reset
        /// Nothing has come for a while.
        case silent
        /// As many bytes as were asked for have come.
        case enough
    }

    private let descriptor: Int32

    init(_ server: LoopbackServer) throws {
        #if canImport(Glibc) && !canImport(Darwin)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(server.port).bigEndian)
        address.sin_addr.s_addr = in_addr_t(UInt32(0x7F00_0001).bigEndian)
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        // It is complete, so `deinit` closes its socket after a throw too.
        guard connected == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ECONNREFUSED) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Sends bytes until the server takes no more for a moment.
    func fill() {
        let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 65_536)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while poll(&entry, 1, 200) > 0, write(descriptor, bytes, bytes.count) > 0 {}
    }

    /// Asks for a path, and reads until nothing more comes.
    func ask(
        _ method: String = "GET", _ path: String = "/", atMost: Int = .max, patience: Int32 = 60_000
    ) -> (bytes: Data, end: End) {
        send("\(method) \(path) HTTP/1.1\r\nHost: here\r\n\r\n")
        return read(atMost: atMost, patience: patience)
    }

    /// Reads a number of bytes, however long they take, and then what comes in a
    /// moment.
    func readUntilSilent(after count: Int) -> (bytes: Data, end: End) {
        let expected = read(atMost: count)
        guard expected.end == .enough else { return expected }
        let more = read(patience: 100)
        return (expected.bytes + more.bytes, more.end)
    }

    func read(atMost: Int = .max, patience: Int32 = 60_000) -> (bytes: Data, end: End) {
        var bytes = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < atMost {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, patience) > 0 else { return (bytes, .silent) }
            let count = recv(descriptor, &buffer, min(buffer.count, atMost - bytes.count), 0)
            if count == 0 { return (bytes, .closed) }
            if count < 0 { return (bytes, .reset) }
            bytes.append(contentsOf: buffer[..<count])
        }
        return (bytes, .enough)
    }
}

extension Data {
    var text: String { String(decoding: self, as: UTF8.self) }
}
