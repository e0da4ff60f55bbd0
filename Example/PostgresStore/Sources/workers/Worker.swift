import Foundation

/// A worker process, for its parent.
struct Worker {
    private let process = Process()
    private let reading: Task<Data, Never>

    init(port: UInt16, session: String) throws {
        let output = Pipe()
        process.executableURL = Bundle.main.executableURL
        // The database isn't an argument: all users of the machine can read arguments.
        process.arguments = ["work", "\(port)", session]
        process.standardOutput = output
        try process.run()
        let reader = output.fileHandleForReading
        reading = Task {
            await withCheckedContinuation { continuation in
                Thread { continuation.resume(returning: (try? reader.readToEnd() ?? Data()) ?? Data()) }.start()
            }
        }
    }

    /// Ends it with a signal, and returns what it has written.
    func end(by signal: Int32) async -> [Substring] {
        kill(process.processIdentifier, signal)
        let lines = String(decoding: await reading.value, as: UTF8.self).split(separator: "\n")
        process.waitUntilExit()
        return lines
    }
}
