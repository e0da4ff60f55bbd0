import Foundation

/// The parameters of a worker.
struct Assignment: Sendable {
    let port: UInt16
    let database: String
    let session: String
}

/// A worker process, for its parent.
final class WorkerProcess: Sendable {
    struct Result: Sendable {
        var answered = 0
        var failures: [String: Int] = [:]
        /// Whether it ended on request, and said so.
        var endedWell = false
    }

    private let process: SendableProcess
    private let input = Pipe()
    private let reading: Task<Result, Never>

    init(_ assignment: Assignment) throws {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["work", "--port", "\(assignment.port)", "--session", assignment.session]
        // Not an argument: all users of the machine can read arguments.
        process.environment = ProcessInfo.processInfo.environment
            .merging(["ATOM_POSTGRES": assignment.database]) { $1 }
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        self.process = SendableProcess(process: process)
        let reader = output.fileHandleForReading
        reading = Task {
            await withCheckedContinuation { continuation in
                Thread { continuation.resume(returning: Self.read(reader)) }.start()
            }
        }
    }

    /// Kills it at once.
    func kill() { Foundation.kill(process.process.processIdentifier, SIGKILL) }

    /// Asks it to finish its current work and to end.
    func finish() { try? input.fileHandleForWriting.close() }

    /// Its result, after it has ended.
    func result() async -> Result {
        let result = await reading.value
        process.process.waitUntilExit()
        return result
    }

    /// Reads to the end; blocks.
    private static func read(_ reader: FileHandle) -> Result {
        var result = Result()
        var rest = Data()
        while case let data = reader.availableData, !data.isEmpty {
            rest += data
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
                rest = Data(rest[rest.index(after: end)...])
                switch line {
                case WorkCommand.answeredLine: result.answered += 1
                case WorkCommand.endLine: result.endedWell = true
                default: result.failures[line, default: 0] += 1
                }
            }
        }
        return result
    }
}

/// A process that has been started.
///
/// After the start only its identifier is read, and one caller waits for its
/// end.
private struct SendableProcess: @unchecked Sendable {
    let process: Process
}
