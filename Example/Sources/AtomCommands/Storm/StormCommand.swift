import AirlineServer
import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// Sends very many requests over a session whose token keeps expiring.
struct StormCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storm",
        abstract: "Sends very many requests over a session whose token keeps expiring, and counts.",
        discussion: """
            Without --server a server runs in this process, which shares the processors and the memory. With \
            --server it is one that speaks the same API, such as “atom serve” in another process; its token \
            lifetime is set for the storm and put back afterwards.

            Ends with status 0 if every request got its own answer and no refresh token was used twice, with 1 if \
            not, and with 130 after Ctrl-C. Dead tokens are counted, not judged: with lifetimes of a few hundred \
            milliseconds, or with --revoke-every, some can't be avoided.
            """
    )

    @Option(name: [.customShort("n"), .long], help: "How many requests.")
    var requests = 2000

    @Option(name: .shortAndLong, help: "How many of them at a time.")
    var concurrency = 100

    @Option(help: .init("How long an access token lives; fractions count.", valueName: "seconds"))
    var tokenLifetime = 0.5

    @Option(help: .init("How long the server takes for each answer.", valueName: "milliseconds"))
    var work = 0

    @Option(help: .init("Revoke all access tokens again and again (default: never)", valueName: "seconds"))
    var revokeEvery: Double?

    @Option(help: .init("The server to use (default: one of its own)", valueName: "URL"))
    var server: String?

    @Option(help: .init("Who signs in.", valueName: "name:password"))
    var user = NameAndSecret.exampleUser

    @Option(help: .init("The OAuth client.", valueName: "id:secret"))
    var client = NameAndSecret.exampleClient

    @Option(help: .init("The longest time for one request, waiting included.", valueName: "seconds"))
    var timeout = 60.0

    func validate() throws {
        guard requests > 0, concurrency > 0 else { throw ValidationError("A storm has at least one request.") }
        guard tokenLifetime > 0, revokeEvery ?? 1 > 0, timeout > 0 else {
            throw ValidationError("A time is a positive number of seconds.")
        }
        guard (0...600_000).contains(work) else { throw ValidationError("--work is from 0 to 600000.") }
    }

    func run() async throws {
        let terminal = Terminal.standardOutput
        let report = try await perform(progressOn: .standardError)
        report.report.show(on: terminal)
        if let signal = report.signal { throw ExitCode(128 + signal) }
        guard report.report.isAsExpected else { throw ExitCode.failure }
    }

    /// Runs the storm against the server that was asked for.
    func perform(progressOn terminal: Terminal) async throws -> (report: StormReport, signal: Int32?) {
        guard let server else {
            let embedded = try await AirlineServer.start()
            let result = try await run(against: try Airline(embedded), progressOn: terminal)
            await embedded.stop()
            return result
        }
        return try await run(against: try Airline(url: server), progressOn: terminal)
    }

    private func run(
        against airline: Airline, progressOn terminal: Terminal
    ) async throws -> (report: StormReport, signal: Int32?) {
        let plan = Storm.Plan(
            requests: requests, concurrency: min(concurrency, requests), tokenLifetime: tokenLifetime,
            workMilliseconds: work, revokeEvery: revokeEvery, user: user, client: client, timeout: timeout)
        let progress = ProgressBar("Storm", total: requests, on: terminal)
        let (outcome, signal) = await withInterruption {
            await AtomCommands.outcome { () async throws(AtomError) in
                try await Storm(plan: plan, airline: airline).run { progress.advance() }
            }
        }
        progress.finish()
        switch outcome {
        case .success(let report): return (report, signal)
        case .failure(let error):
            if let signal { throw ExitCode(128 + signal) }
            throw CommandFailure("The storm could not begin: \(error.description)")
        }
    }
}
