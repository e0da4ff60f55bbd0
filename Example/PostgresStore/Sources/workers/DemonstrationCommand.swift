import AirlineServer
import ArgumentParser
import AtomNetworking
import Foundation
import PostgresStore

/// Starts the airline's server and the workers, and tells what the server saw.
struct DemonstrationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demonstration",
        abstract: "Starts an authorization server and workers, and tells what the server saw. The default.",
        discussion: """
            The server runs in this process, on 127.0.0.1. Its access tokens live for two seconds, each refresh \
            token can be used once, and one that comes back ends the session for everybody.

            Ends with status 0 if the session was refreshed, no refresh token was used twice, and no request failed.
            """)

    @Option(help: "How many worker processes.")
    var count = 4

    @Option(help: "How long they send requests.")
    var seconds = 20.0

    @Option(help: .init("How long an access token lives.", valueName: "seconds"))
    var tokenLifetime = 2.0

    @Option(help: .init("How long the server takes for a refresh.", valueName: "seconds"))
    var refreshTime = 0.2

    @Option(help: .init("Kill a worker again and again, and start another (default: never)", valueName: "seconds"))
    var killEvery: Double?

    @Option(
        help: .init(
            "How long a used refresh token may be used again, as after an answer that a killed worker lost.",
            valueName: "seconds"))
    var gracePeriod = 0.0

    @Option(help: .init("Where the database is (default: what ATOM_POSTGRES says)", valueName: "connection string"))
    var database: String?

    func validate() throws {
        guard count > 0, seconds > 0, tokenLifetime > 0, refreshTime >= 0, killEvery ?? 1 > 0, gracePeriod >= 0
        else {
            throw ValidationError("There is at least one worker, and a time is a positive number of seconds.")
        }
    }

    func run() async throws {
        let database = database ?? ProcessInfo.processInfo.environment["ATOM_POSTGRES"] ?? ""
        let session = "workers-\(UUID())"
        let store = PostgresTokenCredentialStore(database, session: session)
        try await store.prepare()
        let server = try await AirlineServer.start(configuration)
        try await store.save(try await signIn(to: server))
        // Long enough for all workers to find the token too old, and for some to be killed meanwhile.
        server.updateFaults { $0.delayMilliseconds = Int(min(refreshTime, 600) * 1000) }

        print("\(count) processes share a session in PostgreSQL for \(seconds) s.")
        print("An access token lives \(tokenLifetime) s, a refresh token can be used once.")
        let report = await send(Assignment(port: server.port, database: database, session: session))
        let counters = server.counters
        await server.stop()
        // The session goes with the tokens' server.
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
        print(isAsExpected ? "One session, and nobody's token was used twice." : "This is not what was promised.")
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

    /// Lets the workers work, and kills some of them if that is asked for.
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
            ("refreshes at one moment, at most", counters.peakConcurrentTokenRequests),
            ("refresh tokens used twice (reuse detected)", counters.reuseDetected),
            ("requests that the server answered with data", counters.apiRequestsAccepted),
            ("requests that came with a dead token", counters.apiRequestsWithDeadToken),
            ("requests answered, as the workers saw it", report.answered),
            ("requests failed, as the workers saw it", report.failed),
        ]
        if killEvery != nil {
            lines.append(("workers killed and replaced", report.killed))
            lines.append(("refreshes repeated in the grace period", counters.repeatedRefreshes))
        }
        return lines
    }
}

/// What the workers said.
struct Report {
    var answered = 0
    var failures: [String: Int] = [:]
    var killed = 0
    /// Workers that ended in another way than they were asked to.
    var brokenWorkers = 0

    var failed: Int { failures.values.reduce(0, +) }

    mutating func add(_ result: WorkerProcess.Result) {
        answered += result.answered
        failures.merge(result.failures, uniquingKeysWith: +)
    }
}
