import AtomNetworking
import AtomNetworkingTesting
import Foundation

/// What stands before the servers and speaks HTTP/2 over TLS with the clients: nghttpx, behind a ``Relay``.
///
/// It takes few streams at once, which a new connection learns too late, and says GOAWAY after some requests. A restart
/// gives it other numbers: the old process says GOAWAY and ends its streams, while the next one has taken its place.
final class Front: Sendable {
    /// How it, and what is behind it, treats the clients.
    enum Manner: String, Sendable {
        /// It lets each request end, so none may fail for what happens on the way.
        case gentle
        /// All goes wrong as with HTTP/1.1; a restart cuts streams after a second, and at times it is killed.
        case rough
    }

    /// Of the API with its authorization server, and of the other origin.
    let ports: [Int]
    let manner: Manner
    private let folder: URL
    private let child = Locked<Child?>(nil)
    private let isReady = Locked(false)
    private let isOver = Locked(false)
    private let left = DispatchGroup()

    /// Makes the certificates, and looks for two ports.
    ///
    /// They are below those that the system gives to clients, one of which might take them while nghttpx is away.
    init(_ manner: Manner, in folder: URL) throws {
        self.manner = manner
        self.folder = folder
        let script = """
            cd "$0" && umask 077 && echo subjectAltName=IP:127.0.0.1 >extensions || exit
            for name in authority server; do
                openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out $name.key || exit
            done
            openssl req -x509 -key authority.key -subj /CN=Authority -days 2 -out authority.pem &&
                openssl req -new -key server.key -subj /CN=server -out request.pem &&
                openssl x509 -req -in request.pem -CA authority.pem -CAkey authority.key -CAcreateserial \\
                    -extfile extensions -days 2 -out server.pem
            """
        guard let maker = Child(["sh", "-c", script, folder.path], isSilent: true), maker.wait() == nil else {
            throw Fault(reason: "openssl made no certificates")
        }
        var found: [LoopbackServer] = []
        while found.count < 2 {
            if let server = try? LoopbackServer(port: .random(in: 20_000..<32_000), handler: { _ in .empty(500) }) {
                found.append(server)
            }
        }
        ports = found.map(\.port)
        for server in found { server.stop() }
    }

    private struct Fault: Error { let reason: String }

    /// Runs it until ``stop()``, again and again if it is killed.
    func start(before server: ChaosServer, _ chance: inout Chance) async throws {
        configure(before: server, &chance)
        let words = [folder.path, manner.rawValue, "\(chance.next())"] + ports.map(String.init)
        left.enter()
        // Linux ends it together with this thread.
        Thread.detachNewThread { [self] in
            while let next = isOver.with({ isOver in isOver ? nil : run(words) }) {
                next.wait { line in isReady.with { $0 = $0 || line == "ready" } }
            }
            left.leave()
        }
        for _ in 0..<100 {
            try await Task.sleep(for: .milliseconds(100))
            if isReady.value { return }
        }
        stop()
        throw Fault(reason: "nghttpx doesn't start, or python3 doesn't")
    }

    private func run(_ words: [String]) -> Child? {
        child.with {
            $0 = Child(["setpriv", "--pdeathsig", "KILL", "python3", "-c", Relay.program] + words, isSilent: true)
            return $0
        }
    }

    private func configure(before server: ChaosServer, _ chance: inout Chance) {
        let lines = [
            "frontend=unix:\(folder.path)/front.sock;no-tls", "backend=127.0.0.1,\(server.port)",
            "backend=127.0.0.1,\(server.otherPort);/elsewhere", "no-location-rewrite=yes", "workers=1",
            "frontend-http2-decoder-dynamic-table-size=0",
            "frontend-http2-max-concurrent-streams=\(chance.number(1...8))",
            "frontend-max-requests=\(chance.number(5...60))",
            "worker-process-grace-shutdown-period=\(manner == .gentle ? 0 : 1)",
        ]
        let file = folder.appendingPathComponent("front.conf")
        try? Data(lines.joined(separator: "\n").utf8).write(to: file, options: .atomic)
    }

    /// A rolling restart, with other numbers.
    func restart(before server: ChaosServer, _ chance: inout Chance) {
        configure(before: server, &chance)
        child.value?.kill(SIGHUP)
    }

    /// All connections end in the middle of what they carry, and for a moment nobody listens.
    func cut() { child.value?.kill() }

    /// Ends it, and waits for that.
    func stop() {
        isOver.with { $0 = true }
        cut()
        left.wait()
    }

    /// A client's transport, which trusts it.
    static func transport(_ folder: String) throws -> CurlTransport {
        let authority = try String(contentsOfFile: folder + "/authority.pem", encoding: .utf8)
        return try CurlTransport(authorities: authority, trustsSystem: false, proxy: .none)
    }
}
