import AirlineServer
import ArgumentParser
import AtomNetworking
import Foundation
import PostgresStore

/// Sends requests until standard input ends, and reports each result.
struct WorkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "work", abstract: "One worker: sends requests until standard input ends.", shouldDisplay: false)

    @Option var port: UInt16
    @Option var session: String
    @Option var concurrency = 4

    static let answeredLine = "answered"
    static let endLine = "ended"

    func run() async throws {
        let database = ProcessInfo.processInfo.environment["ATOM_POSTGRES"] ?? ""
        let store = PostgresTokenCredentialStore(database, session: session)
        let atom = Atom(
            serviceConfiguration: ServiceConfiguration(
                authenticationMethod: .bearer(
                    try AuthorizationEndpoint(
                        scheme: .http, host: "127.0.0.1", port: Int(port), path: AirlineServer.tokenPath),
                    SignIn.client, store)))
        let input = StandardInput()
        let (port, concurrency) = (port, concurrency)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<concurrency {
                group.addTask { await Self.send(with: atom, to: port, until: input) }
            }
        }
        Self.say(Self.endLine)
    }

    private static func send(with atom: Atom, to port: UInt16, until input: StandardInput) async {
        while !input.hasEnded {
            let number = UUID().uuidString
            do {
                let miles = try await atom.enqueue(MilesRequest(port: port, number: number))
                    .resume(expecting: Miles.self)
                say(miles.number == number ? answeredLine : "the response to another request")
            } catch {
                // One line each, so that it arrives in one piece.
                say(error.description.split(whereSeparator: \.isNewline).joined(separator: " "))
            }
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

/// Whether the parent process has closed this process's standard input, or has
/// ended.
private final class StandardInput: @unchecked Sendable {
    // Accessed only under `lock`.
    private let lock = NSLock()
    private var isAtEnd = false

    init() {
        Thread { [self] in
            while readLine() != nil {}
            lock.withLock { isAtEnd = true }
        }.start()
    }

    var hasEnded: Bool { lock.withLock { isAtEnd } }
}
