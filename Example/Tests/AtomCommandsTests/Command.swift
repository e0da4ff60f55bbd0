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
    init(_ arguments: [String], password: String? = nil) async throws {
        let (output, notes) = (RecordingTerminal(), RecordingTerminal())
        let command = try AtomCommand.parseAsRoot(arguments)
        if let login = command as? LoginCommand {
            status = await login.perform(notes: notes.terminal()) { _ in password }
        } else {
            status = try await #require(command as? any StatusCommand).perform(
                on: Console(output: output.terminal(), notes: notes.terminal(), writeBytes: output.write))
        }
        (self.output, self.notes) = (output.text, notes.text)
    }
}
