import AirlineServer
import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// Sends many requests with a session whose token keeps expiring.
struct StormCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storm",
        abstract: "Sends many requests over a session whose token keeps expiring, and prints the counts.",
        discussion: """
            Without --server a server runs in this process and shares the processors and the memory. With --server \
            the storm uses a server with the same API, such as “atom serve” in another process; its token lifetime \
            is changed for the storm and restored afterwards.

            The exit status is 0 if every request got its own response and no refresh token was used twice, 1 if \
            not, and 130 after Ctrl-C. Invalid tokens are only counted: with lifetimes of a few hundred milliseconds, \
            or with --revoke-every, some can't be avoided. If the file of --timeline can't be written, there is no \
            storm, and the status is 1.

            --timeline draws what happened when, as an SVG that any browser shows, in light or dark colours: how many \
            requests were waiting or on the wire at once, each refresh, and a row for each request, or for a \
            sample of them, if there are more than \(StormTimeline.mostRows):

              atom storm --requests 60 --concurrency 20 --work 50 --timeline storm.svg
            """
    )

    @Option(name: [.customShort("n"), .long], help: "The number of requests.")
    var requests = 2000

    @Option(name: .shortAndLong, help: "The number of concurrent requests.")
    var concurrency = 100

    @Option(help: .init("The lifetime of an access token; fractions are allowed.", valueName: "seconds"))
    var tokenLifetime = 0.5

    @Option(help: .init("The delay of each response of the server.", valueName: "milliseconds"))
    var work = 0

    @Option(help: .init("Revoke all access tokens repeatedly after this time (default: never)", valueName: "seconds"))
    var revokeEvery: Double?

    @Option(help: .init("The server to use (default: a server in this process)", valueName: "URL"))
    var server: String?

    @Option(help: .init("The user who signs in.", valueName: "name:password"))
    var user = NameAndSecret.exampleUser

    @Option(help: .init("The OAuth client.", valueName: "id:secret"))
    var client = NameAndSecret.exampleClient

    @Option(help: .init("The longest time for one request, including waiting.", valueName: "seconds"))
    var timeout = 60.0

    @Option(
        help: .init("Draw what happened, as an SVG in this file; its folder must exist.", valueName: "file"),
        completion: .file(extensions: ["svg"]))
    var timeline: String?

    func validate() throws {
        guard requests > 0, concurrency > 0 else { throw ValidationError("A storm needs at least one request.") }
        guard tokenLifetime > 0, revokeEvery ?? 1 > 0, timeout > 0 else {
            throw ValidationError("A time must be a positive number of seconds.")
        }
        guard (0...600_000).contains(work) else { throw ValidationError("--work must be from 0 to 600000.") }
    }

    func run() async throws {
        let (report, signal) = try await perform(output: .standardOutput, notes: .standardError)
        if let signal { throw ExitCode(128 + signal) }
        guard report.isAsExpected else { throw ExitCode.failure }
    }

    /// Runs the storm, prints the report, and draws the picture.
    func perform(output: Terminal, notes: Terminal) async throws -> (report: StormReport, signal: Int32?) {
        let picture = try timeline.map { try PictureFile(path: $0) }
        let result = try await perform(progressOn: notes)
        // Before the report, because the process ends if nobody reads that to its
        // end.
        let writing = Result {
            guard let picture, let timeline = result.report.timeline else { return }
            try picture.write(StormPicture(timeline, concurrency: min(concurrency, requests), server: server).svg())
            notes.print("The picture is in \(ResponsePrinter.printable(picture.name)).")
        }
        result.report.show(on: output)
        try writing.get()
        return result
    }

    /// Runs the storm against the chosen server.
    private func perform(progressOn terminal: Terminal) async throws -> (report: StormReport, signal: Int32?) {
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
            workMilliseconds: work, revokeEvery: revokeEvery, user: user, client: client, timeout: timeout,
            recordsTimeline: timeline != nil)
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
            throw CommandFailure("The storm could not be started: \(error.description)")
        }
    }
}
