import FlyingFox
import FlyingSocks
import Foundation

/// A server on 127.0.0.1 that sends any bytes, also those that are not HTTP.
///
/// It serves one connection after the other: it reads the head of a request,
/// sends the bytes for its path, or none for another path, and closes the
/// connection.
///
/// ```swift
/// let server = try await RawServer.start(["/torn": "HTTP/1.1 200 OK\r\nA: b"])
/// print(server.port)
/// await server.stop()
/// ```
public final class RawServer: Sendable {
    /// The port that the server listens on.
    public let port: UInt16

    private let running: Task<Void, any Error>

    private init(port: UInt16, running: Task<Void, any Error>) {
        self.port = port
        self.running = running
    }

    deinit {
        running.cancel()
    }

    /// Starts a server that accepts connections as soon as this returns.
    ///
    /// Ignores SIGPIPE in this process: clients may have closed their
    /// connections.
    ///
    /// - Parameter answers: The bytes for each path.
    /// - Throws: The system's error if there is no free port.
    public static func start(_ answers: [String: String]) async throws -> RawServer {
        signal(SIGPIPE, SIG_IGN)
        let listener = try Socket(domain: AF_INET, type: .stream)
        try listener.bind(to: .inet(ip4: "127.0.0.1", port: 0))
        try listener.listen()
        guard case .ip4(_, let port) = try listener.sockname() else { throw SocketError.disconnected }
        let pool = HTTPServer.defaultPool()
        try await pool.prepare()
        let socket = try AsyncSocket(socket: listener, pool: pool)
        return RawServer(
            port: port,
            running: Task {
                defer { try? socket.close() }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await pool.run() }
                    group.addTask {
                        for try await connection in socket.sockets {
                            try? await serve(connection, answers)
                            try? connection.close()
                        }
                    }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            })
    }

    private static func serve(_ connection: AsyncSocket, _ answers: [String: String]) async throws {
        let end = Array("\r\n\r\n".utf8)
        var head: [UInt8] = []
        while !head.suffix(end.count).elementsEqual(end), head.count < 65_536 {
            head.append(try await connection.read())
        }
        let requestLine = String(decoding: head.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        let path = requestLine.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        guard let answer = answers[path] else { return }
        try await connection.write(Data(answer.utf8))
    }

    /// Closes the port, and waits until that is done.
    public func stop() async {
        running.cancel()
        _ = await running.result
    }
}
