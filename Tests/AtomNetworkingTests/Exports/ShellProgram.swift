#if os(Linux) || os(macOS)
    import Foundation
    import Testing

    /// Runs commands in the system's shell, and finds programs.
    enum ShellProgram {
        /// Whether a program is installed.
        static func isInstalled(_ name: String) -> Bool {
            (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
                FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
            }
        }

        /// What a script wrote to standard output, and its status.
        struct Ending {
            let output: Data
            let status: Int32
        }

        /// Runs a script with `/bin/sh`, without the settings of this user.
        ///
        /// The script is read from a file: an argument may not be as long as a
        /// command with a large body.
        static func run(_ script: String, in folder: URL) async throws -> Ending {
            let file = folder.appendingPathComponent("script")
            let output = folder.appendingPathComponent("output")
            try Data(script.utf8).write(to: file)
            try Data().write(to: output)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = [file.path]
            process.environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "HOME": folder.path]
            process.currentDirectoryURL = folder
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = try FileHandle(forWritingTo: output)
            process.standardError = FileHandle.nullDevice
            let hasEnded = Signal()
            process.terminationHandler = { _ in hasEnded.raise() }
            // Scripts are started by the hundred, so each waits only if it must.
            await waitForFewDescriptors(below: 1_200)
            try process.run()
            await hasEnded.wait()
            guard !process.isRunning else {
                kill(process.processIdentifier, SIGKILL)
                throw POSIXError(.ETIMEDOUT)
            }
            return Ending(output: try Data(contentsOf: output), status: process.terminationStatus)
        }
    }
#endif
