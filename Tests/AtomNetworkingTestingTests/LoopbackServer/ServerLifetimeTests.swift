import AtomNetworkingTesting
import Foundation
import Testing

@Suite(.limited) struct ServerLifetimeTests {
    @Test("A hundred servers at once have a hundred ports")
    func ports() throws {
        let servers = try (0..<100).map { _ in try LoopbackServer { _ in .text("x") } }
        #expect(Set(servers.map(\.port)).count == 100)
        for server in servers { server.stop() }
    }

    @Test("A stopped server ends its connections, has none open, and ends what was waiting")
    func stopped() async throws {
        let gate = LoopbackServer.Gate()
        let server = try LoopbackServer { $0.path == "/gate" ? .text("x").after(gate) : .hang }
        let connections = try ["/gate", "/hang", "/hang"].map { path in
            let connection = try PlainConnection(server)
            connection.send("GET \(path) HTTP/1.1\r\nHost: here\r\n\r\n")
            return connection
        }
        #expect(await server.waitForRequests(3))
        server.stop()
        #expect(server.openConnections == 0)
        for connection in connections { #expect(connection.read().bytes.isEmpty) }
        #expect(await server.waitForRequests(4) == false)
    }

    #if os(Linux)
        @Test("A stopped server doesn't wait for a client that has sent too much", arguments: ["/gate", "/hang"])
        func stoppedWithAFullBuffer(path: String) async throws {
            let gate = LoopbackServer.Gate()
            let server = try LoopbackServer { $0.path == "/gate" ? .text("x").after(gate) : .hang }
            let connection = try PlainConnection(server)
            connection.send("GET \(path) HTTP/1.1\r\nHost: here\r\n\r\n")
            #expect(await server.waitForRequests(1))
            connection.fill()
            server.stop()
            while try threads(named: "Loopback \(server.port)") > 0 { await Task.yield() }
            withExtendedLifetime(connection) {}
        }
    #endif

    @Test("A port that can't be one is refused", arguments: [-1, 65_536, Int.max, Int.min])
    func impossiblePort(port: Int) {
        #expect(throws: LoopbackServer.SetupError.self) { _ = try LoopbackServer(port: port) { _ in .text("x") } }
    }

    @Test("A forgotten server ends with its last reference")
    func forgotten() throws {
        weak var forgotten: LoopbackServer?
        do {
            let server = try LoopbackServer { _ in .hang }
            forgotten = server
        }
        #expect(forgotten == nil)
    }

    #if os(Linux)
        @Test("No socket and no thread is left of a server")
        func nothingLeft() async throws {
            let server = try LoopbackServer { _ in .text("hello").stalled(at: .head) }
            let connection = try PlainConnection(server)
            connection.send("GET / HTTP/1.1\r\nHost: here\r\n\r\n")
            #expect(await server.waitForRequests(1))
            let name = "Loopback \(server.port)"
            // The system's list can miss a thread while others end.
            while try threads(named: name) < 2 { await Task.yield() }
            // The one that listens, and the connection's other side.
            let own = try Set(sockets().filter { $0.port == server.port })
            #expect(own.count == 2)
            withExtendedLifetime(connection) {}
            server.stop()
            #expect(try own.isDisjoint(with: sockets()))
            // A thread has told its end before the system forgets it.
            while try threads(named: name) > 0 { await Task.yield() }
        }

        private func threads(named name: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { thread in
                // A thread that has ended since has no name any more.
                let file = FileHandle(forReadingAtPath: "/proc/self/task/\(thread)/comm")
                guard let text = try? file?.readToEnd() else { return false }
                return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines) == name
            }
        }

        private struct Socket: Hashable {
            /// No other socket has it later.
            let inode: ino_t
            /// That of this side.
            let port: Int
        }

        /// The sockets that this process has open.
        ///
        /// The system's table of all connections isn't exact: it can show one
        /// twice while others end.
        private func sockets() throws -> Set<Socket> {
            let entries = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            return Set(entries.compactMap(Int32.init).compactMap(socket(of:)))
        }

        private func socket(of descriptor: Int32) -> Socket? {
            var status = stat()
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
            }
            guard result == 0, Int32(address.sin_family) == AF_INET, fstat(descriptor, &status) == 0 else { return nil }
            return Socket(inode: status.st_ino, port: Int(UInt16(bigEndian: address.sin_port)))
        }
    #endif
}
