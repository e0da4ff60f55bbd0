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

/// A TCP connection of a test to a port of this device, without any client's rules.
final class RawConnection: Sendable {
    private let descriptor: Int32

    /// Connects; `nil` if nobody listens there.
    init?(to port: Int, address: String = "127.0.0.1") {
        descriptor = socket(AF_INET, streamType, 0)
        #if canImport(Darwin)
            var value: Int32 = 1
            _ = setsockopt(
                descriptor, SOL_SOCKET, SO_NOSIGPIPE, &value, socklen_t(MemoryLayout<Int32>.size))
        #endif
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = in_port_t(UInt16(port).bigEndian)
        _ = inet_pton(AF_INET, address, &target.sin_addr)
        let isConnected = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return nil }
    }

    deinit { _ = close(descriptor) }

    /// Whether somebody listens on IPv6 at this port.
    static func isOpenOnIPv6(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET6, streamType, 0)
        defer { _ = close(descriptor) }
        var target = sockaddr_in6()
        target.sin6_family = sa_family_t(AF_INET6)
        target.sin6_port = in_port_t(UInt16(port).bigEndian)
        target.sin6_addr = in6addr_loopback
        return withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
            }
        }
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        // A listener that has closed the connection is what a test looks for with `rest()`.
        _ = bytes.withUnsafeBytes { write($0) }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var sent = 0
        while sent < bytes.count {
            #if canImport(Darwin)
                let count = Darwin.send(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, noSignal)
            #elseif canImport(Glibc)
                let count = Glibc.send(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, noSignal)
            #elseif canImport(Musl)
                let count = Musl.send(descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, noSignal)
            #endif
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// What comes until the connection's end, awaited on a thread of its own.
    func rest() async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var text: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while case let count = recv(self.descriptor, &buffer, buffer.count, 0), count > 0 {
                    text += buffer[..<count]
                }
                continuation.resume(returning: String(decoding: text, as: UTF8.self))
            }
        }
    }
}
