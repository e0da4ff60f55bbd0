import AirlineServer
import AtomNetworking
import Foundation
import PostgresStore

/// What a worker process does: it sends requests until it gets SIGTERM, and writes a line for each result.
struct Work {
    /// The line for a response.
    static let answered = "answered"

    let port: UInt16
    let store: PostgresTokenCredentialStore

    func run() async throws(AtomError) {
        let client = RegisteredClient.confidentialExample
        let atom = Atom(
            serviceConfiguration: ServiceConfiguration(
                authenticationMethod: .bearer(
                    try AuthorizationEndpoint(
                        scheme: .http, host: "127.0.0.1", port: Int(port), path: AirlineServer.tokenPath),
                    ClientCredential(id: client.id, secret: client.secret), store)))
        signal(SIGTERM, SIG_IGN)
        let stop = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
        let (stops, stopped) = AsyncStream.makeStream(of: Void.self)
        stop.setEventHandler { stopped.finish() }
        stop.activate()
        let port = port
        let sending = Task {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask { while !Task.isCancelled { Self.say(await Self.send(with: atom, to: port)) } }
                }
            }
        }
        for await _ in stops {}
        sending.cancel()
        await sending.value
        // The new tokens of a running refresh must not be lost.
        await atom.finishRefresh(within: .seconds(10))
    }

    private static func send(with atom: Atom, to port: UInt16) async -> String? {
        let number = UUID().uuidString
        do throws(AtomError) {
            let miles = try await atom.enqueue(AirlineEndpoint.miles(port: port, number: number))
                .resume(expecting: Miles.self)
            return miles.number == number ? answered : "the response to another request"
        } catch .cancelled {
            return nil
        } catch {
            // One line each, so that it arrives in one piece.
            return error.description.split(whereSeparator: \.isNewline).joined(separator: " ")
        }
    }

    private static func say(_ line: String?) {
        if let line { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
    }
}
