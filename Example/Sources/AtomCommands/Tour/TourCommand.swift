import ArgumentParser
import Terminal

/// The main job: everything that the SDK does, shown and checked.
struct TourCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tour",
        abstract: "Starts the server, does everything once, and draws what happened.",
        discussion: """
            Ends with status 0 if everything was as expected, by the client's errors and by the server's own \
            counters, and with 1 if not. Colours and symbols are for terminals; NO_COLOR is respected.
            """
    )

    @Flag(help: "Give every request of the timelines a line of its own.")
    var everyRequest = false

    func run() async throws {
        let isPassed = try await Tour.run(on: .standardOutput, showsEveryRequest: everyRequest)
        guard isPassed else { throw ExitCode.failure }
    }
}
