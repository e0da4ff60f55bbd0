import ArgumentParser
import Foundation

/// A command that ends with a status, also after Ctrl-C.
protocol StatusCommand: AsyncParsableCommand, Sendable {
    /// Does the work, and ends early when the task is cancelled.
    func perform(on console: Console) async throws -> RequestExitStatus
}

extension StatusCommand {
    func run() async throws {
        let (status, signal) = try await withInterruption { try await perform(on: .standard) }
        let last = status.after(signal)
        guard last == .success else { throw ExitCode(last.rawValue) }
    }
}

/// Where a command writes, and shows pages.
struct Console: Sendable {
    /// For the result.
    let output: Terminal
    /// For everything else.
    let notes: Terminal
    /// The destination of body bytes that aren't for a terminal.
    let writeBytes: @Sendable (Data) -> Void
    /// Opens a page, and returns whether that was possible; `nil` for the system's browser.
    var openPage: (@Sendable (URL) async -> Bool)?

    static var standard: Console {
        Console(
            output: .standardOutput, notes: .standardError, writeBytes: { FileHandle.standardOutput.write($0) },
            openPage: PageSignIn.programOfEnvironment)
    }
}
