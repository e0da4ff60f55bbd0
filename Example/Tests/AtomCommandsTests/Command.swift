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
        switch try AtomCommand.parseAsRoot(arguments) {
        case let command as RequestCommand:
            status = try await command.perform(
                body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
        case let command as UploadCommand:
            status = try await command.perform(
                body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
        case let command as DownloadCommand:
            status = try await command.perform(
                body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
        case let command as StreamCommand:
            status = try await command.perform(
                body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
        case let command as LoginCommand:
            status = await command.perform(notes: notes.terminal()) { _ in password }
        case let command as WhoamiCommand:
            status = await command.perform(output: output.terminal(), notes: notes.terminal())
        case let command as LogoutCommand:
            status = await command.perform(notes: notes.terminal())
        default: throw UnknownCommand()
        }
        (self.output, self.notes) = (output.text, notes.text)
    }

    private struct UnknownCommand: Error {}
}

/// Runs a body with a server, and stops the server afterwards.
func withServer(
    _ configuration: ServerConfiguration = ServerConfiguration(), _ body: (AirlineServer) async throws -> Void
) async throws {
    let server = try await AirlineServer.start(configuration)
    do {
        try await body(server)
    } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}
