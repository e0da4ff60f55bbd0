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

    /// Runs the tool, and sends it a signal as Ctrl-C does; it must write less
    /// than a pipe holds.
    ///
    /// - Parameter isReady: Asked again and again until the signal may be sent.
    static func interrupt(_ arguments: [String], when isReady: () -> Bool) async throws -> Run {
        let process = Process()
        let output = Pipe()
        let notes = Pipe()
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = notes
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { end.yield($0.terminationStatus) }
        try process.run()
        while process.isRunning, !isReady() { try await Task.sleep(for: .milliseconds(10)) }
        process.interrupt()
        let status = await ends.first { _ in true }
        return Run(status: status ?? -1, output: try text(output), notes: try text(notes))
    }

    private static func text(_ pipe: Pipe) throws -> String {
        String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }
}
