import AtomNetworkingTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct ServerLifetimeTests {
    @Test("A hundred servers at once have a hundred ports")
    func ports() throws {
        let servers = try (0..<100).map { _ in try LoopbackServer { _ in .text("x") } }
        #expect(Set(servers.map(\.port)).count == 100)
        for server in servers { server.stop() }
    }

    @Test("A stopped server refuses connections, has none open, and ends what was waiting")
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
        #expect(throws: POSIXError.self) { _ = try PlainConnection(server) }
        #expect(await server.waitForRequests(4) == false)
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
            #expect(sockets(on: server.port) == 2)
            withExtendedLifetime(connection) {}
            server.stop()
            #expect(sockets(on: server.port) == 0)
            // A thread has told its end before the system forgets it.
            while try threads(named: name) > 0 { await Task.yield() }
        }

        private func threads(named name: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count { thread in
                text(of: "task/\(thread)/comm").trimmingCharacters(in: .newlines) == name
            }
        }

        /// Such a file has no size, and is read to its end.
        private func text(of file: String) -> String {
            let handle = FileHandle(forReadingAtPath: "/proc/self/\(file)")
            return handle.map { String(decoding: $0.readDataToEndOfFile(), as: UTF8.self) } ?? ""
        }

        /// The sockets of this side that somebody still holds: they have an inode.
        private func sockets(on port: Int) -> Int {
            let local = ":" + String(port, radix: 16, uppercase: true)
            return text(of: "net/tcp").split(separator: "\n").count {
                let columns = $0.split(separator: " ")
                return columns.count > 9 && columns[1].hasSuffix(local) && columns[9] != "0"
            }
        }
    #endif
}
