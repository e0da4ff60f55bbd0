import AirlineServer
import ArgumentParser
import AtomNetworking
import Foundation
import PostgresStore

/// Starts the airline server and the workers, and prints what the server
/// counted.
struct DemonstrationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demonstration",
        abstract: "Starts an authorization server and workers, and prints what the server counted. The default.",
        discussion: """
            The server runs in this process, on 127.0.0.1. Its access tokens are valid for two seconds, each refresh \
            token can be used once, and using one twice ends the session.

            The exit status is 0 if the session was refreshed, no refresh token was used twice, and no request failed.
            """)

    @Option(help: "The number of worker processes.")
    var count = 4

    @Option(help: "How long they send requests.")
    var seconds = 20.0

    @Option(help: .init("The lifetime of an access token.", valueName: "seconds"))
    var tokenLifetime = 2.0

    @Option(help: .init("The delay of each refresh on the server.", valueName: "seconds"))
    var refreshTime = 0.2

    @Option(help: .init("Kill and replace a worker repeatedly after this time (default: never)", valueName: "seconds"))
    var killEvery: Double?

    @Option(
        help: .init(
            "How long a used refresh token is still accepted, for example after a worker was killed.",
            valueName: "seconds"))
    var gracePeriod = 0.0

    @Option(help: .init("The database (default: $ATOM_POSTGRES)", valueName: "connection string"))
    var database: String?

    func validate() throws {
        guard count > 0, seconds > 0, tokenLifetime > 0, refreshTime >= 0, killEvery ?? 1 > 0, gracePeriod >= 0
        else {
            throw ValidationError("--count must be at least 1, and a time must be a positive number of seconds.")
        }
    }

    func run() async throws {
        let database = database ?? ProcessInfo.processInfo.environment["ATOM_POSTGRES"] ?? ""
        let session = "workers-\(UUID())"
        let store = PostgresTokenCredentialStore(database, session: session)
        try await store.prepare()
        let server = try await AirlineServer.start(configuration)
        try await store.save(try await signIn(to: server))
        // Long enough that all workers find the token expired, and that some
        // are killed in the meantime.
        server.updateFaults { $0.delayMilliseconds = Int(min(refreshTime, 600) * 1000) }

        print("\(count) processes share a session in PostgreSQL for \(seconds) s.")
        print("An access token is valid for \(tokenLifetime) s; a refresh token can be used once.")
        let report = await send(Assignment(port: server.port, database: database, session: session))
        let counters = server.counters
        await server.stop()
        // The session belongs to the server that issued its tokens.
        try await store.save(nil)

        print()
        for (name, number) in lines(report, counters) {
            print("  \(name.padding(toLength: 44, withPad: " ", startingAt: 0))\(number)")
        }
        for (failure, times) in report.failures.sorted(by: { $0.key < $1.key }) {
            print("  \(times) × \(failure)")
        }
        print()
        let isAsExpected =
            counters.refreshes > 0 && counters.reuseDetected == 0 && report.failed == 0 && report.answered > 0
            && report.brokenWorkers == 0
        print(isAsExpected ? "One session, and no token was used twice." : "The result is not as expected.")
        guard isAsExpected else { throw ExitCode.failure }
    }

    private var configuration: ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.policy.accessTokenLifetime = tokenLifetime
        configuration.policy.gracePeriod = gracePeriod
        return configuration
    }

    private func signIn(to server: AirlineServer) async throws -> TokenCredential {
        try await Atom().enqueue(SignIn(port: server.port)).resume(expecting: TokenCredential.self)
    }

    /// Runs the workers, and kills some of them if requested.
    private func send(_ assignment: Assignment) async -> Report {
        var report = Report()
        var workers: [WorkerProcess] = []
        func start() {
            do {
                workers.append(try WorkerProcess(assignment))
            } catch {
                report.brokenWorkers += 1
                report.failures["no worker could be started: \(error)", default: 0] += 1
            }
        }
        for _ in 0..<count { start() }
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        while case let rest = ContinuousClock.now.duration(to: end), rest > .zero {
            guard let killEvery else {
                try? await Task.sleep(for: rest)
                continue
            }
            // Not in step with the tokens.
            try? await Task.sleep(for: min(rest, .seconds(killEvery * .random(in: 0.5...1.5))))
            guard ContinuousClock.now < end, let victim = workers.indices.randomElement() else { continue }
            let worker = workers.remove(at: victim)
            worker.kill()
            report.killed += 1
            report.add(await worker.result())
            start()
        }
        for worker in workers { worker.finish() }
        for worker in workers {
            let result = await worker.result()
            report.add(result)
            if !result.endedWell { report.brokenWorkers += 1 }
        }
        return report
    }

    private func lines(_ report: Report, _ counters: Counters) -> [(String, Int)] {
        var lines = [
            ("tokens issued by the server", counters.tokensIssued),
            ("refreshes", counters.refreshes),
            ("refreshes at the same time, maximum", counters.peakConcurrentTokenRequests),
            ("refresh tokens used twice (reuse detected)", counters.reuseDetected),
            ("requests that the server answered with data", counters.apiRequestsAccepted),
            ("requests with an invalid token", counters.apiRequestsWithDeadToken),
            ("requests answered, per the workers", report.answered),
            ("requests failed, per the workers", report.failed),
        ]
        if killEvery != nil {
            lines.append(("workers killed and replaced", report.killed))
            lines.append(("refreshes repeated in the grace period", counters.repeatedRefreshes))
        }
        return lines
    }
}

/// The reports of the workers.
struct Report {
    var answered = 0
    var failures: [String: Int] = [:]
    var killed = 0
    /// Workers that ended unexpectedly.
    var brokenWorkers = 0

    var failed: Int { failures.values.reduce(0, +) }

    mutating func add(_ result: WorkerProcess.Result) {
        answered += result.answered
        failures.merge(result.failures, uniquingKeysWith: +)
    }
}
