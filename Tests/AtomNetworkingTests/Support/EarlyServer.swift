import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A server on 127.0.0.1 that answers one request after its head, and reads of
/// its body only what the test asks for.
final class EarlyServer: @unchecked Sendable {
    let port: Int
    /// The head has been read, and the answer begun.
    let hasAnswered = Signal()
    private let listener: Int32
    // Set before `hasAnswered` is raised, and used by the test afterwards.
    private var connection: Int32 = -1

    /// - Parameter answer: What is sent after the head.
    init(_ answer: String) throws {
        #if canImport(Glibc) && !canImport(Darwin)
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        // So that little of the body is under way.
        var bufferSize: Int32 = 16 << 10
        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &bufferSize, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(UInt32(0x7F00_0001).bigEndian)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let listens = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
                    && listen(descriptor, 1) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        guard listens else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRINUSE) }
        Thread.detachNewThread { [self] in
            connection = accept(descriptor, nil, nil)
            var head = Data()
            while !head.suffix(4).elementsEqual("\r\n\r\n".utf8), let byte = readSome(1) { head += byte }
            write(answer)
            hasAnswered.raise()
        }
    }

    /// Reads so many bytes of the body, or all that the client sends.
    func read(_ count: Int) async {
        // On a thread of its own: it blocks.
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                var left = count
                while left > 0, let part = readSome(min(left, 64 << 10)) { left -= part.count }
                continuation.resume()
            }
        }
    }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    private func readSome(_ count: Int) -> Data? {
        var bytes = [UInt8](repeating: 0, count: count)
        let received = recv(connection, &bytes, count, 0)
        return received > 0 ? Data(bytes[..<received]) : nil
    }

    /// Closes everything; the test calls it when the exchange has ended.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        if connection >= 0 { close(connection) }
        close(listener)
    }
}
