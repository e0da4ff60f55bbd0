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

/// A TCP socket: a descriptor with the calls that the server needs.
///
/// Its owner closes it.
struct Socket: Sendable {
    let descriptor: Int32

    /// Opens a listening socket on the loopback interface and returns its port.
    static func listening(ipv6: Bool, port: Int) throws -> (socket: Socket, port: Int) {
        raiseDescriptorLimit
        guard (0...0xFFFF).contains(port) else { throw LoopbackServer.SetupError(call: "bind", code: EINVAL) }
        let descriptor = socket(ipv6 ? AF_INET6 : AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw LoopbackServer.SetupError(call: "socket", code: errno) }
        let listener = Socket(descriptor: descriptor)
        do {
            listener.setOption(SOL_SOCKET, SO_REUSEADDR, Int32(1))
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            try listener.bindToLoopback(ipv6: ipv6, port: port)
            guard listen(descriptor, 4096) == 0 else { throw LoopbackServer.SetupError(call: "listen", code: errno) }
            return (listener, try listener.localPort())
        } catch {
            listener.discard()
            throw error
        }
    }

    private func bindToLoopback(ipv6: Bool, port: Int) throws {
        let bound: Int32
        if ipv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = in_port_t(UInt16(port).bigEndian)
            address.sin6_addr = in6addr_loopback
            bound = Self.withAddress(&address) { bind(descriptor, $0, $1) }
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(UInt16(port).bigEndian)
            address.sin_addr.s_addr = in_addr_t(UInt32(0x7F00_0001).bigEndian)
            bound = Self.withAddress(&address) { bind(descriptor, $0, $1) }
        }
        guard bound == 0 else { throw LoopbackServer.SetupError(call: "bind", code: errno) }
    }

    private static func withAddress<Address>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    private func localPort() throws -> Int {
        var storage = sockaddr_in6()  // large enough for both families, which have the port at the same offset
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { throw LoopbackServer.SetupError(call: "getsockname", code: errno) }
        return Int(UInt16(bigEndian: storage.sin6_port))
    }

    /// The next connection, or `nil` if there is none at the moment.
    func acceptNext() -> Socket? {
        let accepted = accept(descriptor, nil, nil)
        guard accepted >= 0 else {
            if errno == EMFILE || errno == ENFILE { usleep(5_000) }  // until a descriptor is closed
            return nil
        }
        let socket = Socket(descriptor: accepted)
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        socket.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
        #if canImport(Darwin)
            _ = fcntl(accepted, F_SETFL, 0)  // it inherits O_NONBLOCK there
            socket.setOption(SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
        #endif
        return socket
    }

    /// Reads available bytes; 0 at the end, negative on an error.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Sends all bytes, and blocks while the client is slow.
    ///
    /// Returns `false` if the connection is lost.
    func sendAll(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = send(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, noSignal)
            if count > 0 {
                sent += count
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Shuts down both directions, which wakes a thread that is blocked on the socket.
    ///
    /// The descriptor stays open.
    func shutDown() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Sends FIN after the written bytes; reading continues.
    func finishWriting() {
        _ = shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Closes the connection normally.
    ///
    /// Unread bytes would turn the close into a reset, so they are read first.
    func closeGracefully() {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { scratch in
            var rounds = 0
            while rounds < 256, poll(reading: self, gate: nil, milliseconds: 0).socket, receive(into: scratch) > 0 {
                rounds += 1
            }
        }
        shutDown()  // for a child process may hold the descriptor too
        discard()
    }

    /// Closes with RST.
    func closeWithReset() {
        setOption(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
        discard()
    }

    /// Closes the descriptor.
    func discard() {
        _ = close(descriptor)
    }

    private func setOption<Value: BitwiseCopyable>(_ level: Int32, _ name: Int32, _ value: Value) {
        withUnsafeBytes(of: value) { bytes in
            _ = setsockopt(descriptor, level, name, bytes.baseAddress, socklen_t(bytes.count))
        }
    }
}

/// Waits until the socket is readable or has ended, the gate is open or the time has passed.
///
/// A negative time means forever.
@discardableResult
func poll(reading socket: Socket, gate: LoopbackServer.Gate?, milliseconds: Int32) -> (socket: Bool, gate: Bool) {
    var gateDescriptor: Int32 = -1
    if let gate {
        guard let descriptor = gate.waitDescriptor else { return (false, true) }
        gateDescriptor = descriptor
    }
    let ready = poll(waiting: [socket.descriptor, gateDescriptor], milliseconds: milliseconds)
    return (ready[0], ready[1])
}

/// Waits until one of the descriptors is readable or has ended; negative descriptors are ignored.
@discardableResult
func poll(waiting descriptors: [Int32], milliseconds: Int32) -> [Bool] {
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let count = poll(&entries, nfds_t(entries.count), milliseconds)
    return entries.map { count > 0 && $0.revents != 0 }
}

/// Raises the limit of descriptors: thousands of connections with both ends in
/// one process need more than the usual 1,024.
///
/// This happens once.
private let raiseDescriptorLimit: Void = {
    #if canImport(Glibc) && !canImport(Darwin)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        let resource = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return }
    let wanted = min(limit.rlim_max, 10_240)
    guard limit.rlim_cur < wanted else { return }
    limit.rlim_cur = wanted
    _ = setrlimit(resource, &limit)
}()
