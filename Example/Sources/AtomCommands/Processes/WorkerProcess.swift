import Foundation

/// A process that this one has started, and that doesn't outlive it.
final class WorkerProcess: Sendable {
    private let process: Process
    private let lifeline: FileHandle
    private let exit: Task<Int32, Never>

    /// What it writes, a line at a time, up to its end.
    let lines: AsyncStream<String>

    /// Starts it.
    ///
    /// - Throws: What the system says if it can't be started.
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

    /// Ends it as a power failure would.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
    }

    /// Tells it to come to an end.
    func finish() {
        try? lifeline.close()
    }

    /// Waits until it is gone and the system has forgotten it.
    ///
    /// - Returns: Its exit status, or the number of the signal that ended it.
    func waitUntilExit() async -> Int32 {
        await exit.value
    }

    var identifier: Int32 { process.processIdentifier }
}
