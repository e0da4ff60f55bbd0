import Foundation

/// A child process that ends with this one.
final class WorkerProcess: Sendable {
    private let process: Process
    private let lifeline: FileHandle
    private let exit: Task<Int32, Never>

    /// The lines of its output.
    let lines: AsyncStream<String>

    /// Starts the process.
    ///
    /// - Throws: The system's error if it can't be started.
    init(_ executable: URL, _ arguments: [String]) throws {
        let process = Process()
        let input = Pipe()
        let output = Pipe()
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        let (exits, exit) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            exit.yield($0.terminationStatus)
            exit.finish()
        }
        try process.run()
        self.process = process
        lifeline = input.fileHandleForWriting
        self.exit = Task { await exits.first { _ in true } ?? -1 }
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        let handle = output.fileHandleForReading
        Thread {
            Self.split(handle) { line.yield($0) }
            line.finish()
        }.start()
    }

    private static func split(_ handle: FileHandle, _ yield: (String) -> Void) {
        var rest = Data()
        while case let data = handle.availableData, !data.isEmpty {
            rest.append(data)
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                yield(String(decoding: rest[..<end], as: UTF8.self))
                rest = Data(rest[(end + 1)...])
            }
        }
    }

    /// Kills the process without warning.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
    }

    /// Asks the process to end.
    func finish() {
        try? lifeline.close()
    }

    /// Waits until the process has ended and has been reaped.
    ///
    /// - Returns: Its exit status, or the number of the signal that ended it.
    func waitUntilExit() async -> Int32 {
        await exit.value
    }

    var identifier: Int32 { process.processIdentifier }
}
