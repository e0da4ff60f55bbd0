import ArgumentParser
import Foundation

/// Sends many requests with a session whose token keeps expiring.
struct StormCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storm",
        abstract: "Sends many requests over a session whose token keeps expiring, and prints the counts.",
        discussion: """
            The server runs in this process. The exit status is 0 if every request got its own response and no refresh \
            token was used twice, 1 if not, and 130 after Ctrl-C. Invalid tokens are only counted: with lifetimes of a \
            few hundred milliseconds, or with --revoke-every, some can't be avoided.

            --timeline draws what happened when, as an SVG: each refresh, and for each request, or for a sample of \
            \(StormPicture.mostRows), when it waited, was on the wire, got a 401 and was sent again. --dark-timeline \
            draws the same in dark colours:

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

    @Option(
        help: .init("Draw what happened, as an SVG in this file.", valueName: "file"),
        completion: .file(extensions: ["svg"]))
    var timeline: String?

    @Option(
        help: .init("The same in dark colours, in this file.", valueName: "file"),
        completion: .file(extensions: ["svg"]))
    var darkTimeline: String?

    func validate() throws {
        guard requests > 0, concurrency > 0 else { throw ValidationError("A storm needs at least one request.") }
        guard tokenLifetime > 0, revokeEvery ?? 1 > 0 else {
            throw ValidationError("A time must be a positive number of seconds.")
        }
        guard (0...600_000).contains(work) else { throw ValidationError("--work must be from 0 to 600000.") }
        try checkOutput(timeline, of: "--timeline")
        try checkOutput(darkTimeline, of: "--dark-timeline")
    }

    func run() async throws {
        let (report, signal) = try await perform(output: .standardOutput)
        if let signal { throw ExitCode(128 + signal) }
        guard report.isAsExpected else { throw ExitCode.failure }
    }

    /// Runs the storm, draws the pictures, and prints the report.
    func perform(output: Terminal) async throws -> (report: StormReport, signal: Int32?) {
        let storm = Storm(
            requests: requests, concurrency: min(concurrency, requests), tokenLifetime: tokenLifetime,
            workMilliseconds: work, expireEvery: revokeEvery)
        let pictures: [(file: String?, StormPicture.Palette)] = [(timeline, .light), (darkTimeline, .dark)]
        let recorder = pictures.contains { $0.file != nil } ? TimelineRecorder() : nil
        let (report, signal) = try await withInterruption {
            try await storm.run(observers: [recorder].compactMap(\.self))
        }
        if let timeline = recorder?.timeline {
            for case (let file?, let palette) in pictures {
                try StormPicture(timeline, palette).svg().write(toFile: file, atomically: true, encoding: .utf8)
            }
        }
        report.show(on: output)
        return (report, signal)
    }
}
