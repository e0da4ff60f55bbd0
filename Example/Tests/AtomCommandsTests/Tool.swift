import Foundation

/// The tool as a process of its own.
enum Tool {
    /// The tool; SwiftPM puts it next to the tests.
    static var executable: URL {
        #if os(macOS)
            let products = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        #else
            let products = Bundle.main.executableURL
        #endif
        return (products ?? URL(fileURLWithPath: "/")).deletingLastPathComponent().appendingPathComponent("atom")
    }

    /// What a process wrote, and how it ended.
    struct Run {
        let status: Int32
        let output: String
        let notes: String
    }

    /// Runs the tool, and sends it a signal; it must write less than a pipe holds.
    ///
    /// - Parameters:
    ///   - environment: What is added to this process's.
    ///   - signal: By default the one of Ctrl-C.
    ///   - isReady: Asked again and again until the signal may be sent.
    ///   - isDue: Asked again and again, with what the tool has noted so far, until the signal is sent once more; `nil`
    ///     for never.
    ///   - goOn: Called when the tool has acted on the signal.
    static func interrupt(
        _ arguments: [String], environment: [String: String] = [:], by signal: Int32 = SIGINT,
        when isReady: () -> Bool,
        again isDue: ((String) -> Bool)? = nil, then goOn: () -> Void = {}
    ) async throws -> Run {
        let process = Process()
        let output = Pipe()
        // A file can be read while the tool runs.
        let folder = try TemporaryFolder()
        let noteURL = folder.url.appendingPathComponent("notes")
        try Data().write(to: noteURL)
        let notes = try FileHandle(forWritingTo: noteURL)
        func noted() throws -> String { String(decoding: try Data(contentsOf: noteURL), as: UTF8.self) }
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = notes
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { end.yield($0.terminationStatus) }
        try process.run()
        while process.isRunning, !isReady() { try await Task.sleep(for: .milliseconds(10)) }
        let before = try noted()
        if process.isRunning { kill(process.processIdentifier, signal) }
        // The tool ends, or says what it waits for; no other signal tells it anything.
        while [SIGINT, SIGTERM, SIGKILL].contains(signal), process.isRunning, try signal == SIGKILL || noted() == before
        {
            try await Task.sleep(for: .milliseconds(1))
        }
        if let isDue {
            while process.isRunning, try !isDue(noted()) { try await Task.sleep(for: .milliseconds(1)) }
            if process.isRunning { kill(process.processIdentifier, signal) }
        }
        goOn()
        let status = await ends.first { _ in true }
        return try withExtendedLifetime(folder) {
            Run(status: status ?? -1, output: try text(output), notes: try noted())
        }
    }

    private static func text(_ pipe: Pipe) throws -> String {
        String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }
}
