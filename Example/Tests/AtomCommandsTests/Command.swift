import AirlineServer
import ArgumentParser
import Foundation
import Testing

@testable import AtomCommands

/// What a command has written, and how it ended.
struct Run {
    let status: RequestExitStatus
    let output: String
    let notes: String

    /// Runs a command in this process.
    init(
        _ arguments: [String], password: String? = nil, notes: RecordingTerminal = RecordingTerminal(),
        openPage: (@Sendable (URL) async -> Bool)? = nil
    ) async throws {
        let output = RecordingTerminal()
        let console = Console(
            output: output.terminal(), notes: notes.terminal(), writeBytes: output.write, openPage: openPage)
        let command = try AtomCommand.parseAsRoot(arguments)
        if let login = command as? LoginCommand {
            status = await login.perform(on: console) { _ in password }
        } else {
            status = try await #require(command as? any StatusCommand).perform(on: console)
        }
        (self.output, self.notes) = (output.text, notes.text)
    }
}
