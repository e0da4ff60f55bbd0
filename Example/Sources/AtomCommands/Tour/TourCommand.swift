import ArgumentParser

/// The default command: it shows and checks everything that the SDK does.
struct TourCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tour",
        abstract: "Starts the server, and runs every feature once.",
        discussion: """
            The exit status is 0 if the client's errors and the server's own counters are as expected, and 1 if not. \
            Colours and symbols are used only on terminals; NO_COLOR is respected.
            """
    )

    @OptionGroup var archive: ArchiveOption

    func run() async throws {
        let recording = archive.makeRecording()
        let isPassed = try await Tour.run(on: .standardOutput, recorder: recording?.recorder)
        let isWritten = recording?.write(notes: .standardError) ?? true
        guard isPassed, isWritten else { throw ExitCode.failure }
    }
}
