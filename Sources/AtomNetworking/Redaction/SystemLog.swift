import Foundation

#if canImport(os)
    import os
#endif

/// How important a line of a log is.
public enum LogLevel: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// What a developer wants to know now and then.
    case debug
    /// The end of each sending of a request.
    case info
    /// A request is sent again.
    case notice
    /// A request has failed because of the server or the network.
    case warning
    /// A request can't be sent, or the session is over.
    case error

    /// Whether the first is less important.
    public static func < (first: LogLevel, second: LogLevel) -> Bool { first.rawValue < second.rawValue }
}

/// The unified log on Apple's systems, and standard error elsewhere.
enum SystemLog {
    static func write(_ level: LogLevel, _ line: String) {
        #if canImport(os)
            logger.log(level: level.systemLevel, "\(line, privacy: .public)")
        #else
            writeToStandardError(line)
        #endif
    }

    static func writeToStandardError(_ line: String) {
        // The variant that doesn't throw traps when standard error is closed.
        try? FileHandle.standardError.write(contentsOf: Data("AtomNetworking: \(line)\n".utf8))
    }

    #if canImport(os)
        private static let logger = Logger(subsystem: "AtomNetworking", category: "exchange")
    #endif
}

#if canImport(os)
    extension LogLevel {
        fileprivate var systemLevel: OSLogType {
            switch self {
            case .debug: .debug
            case .info: .info
            case .notice: .default
            // The unified log has no level for a warning.
            case .warning, .error: .error
            }
        }
    }
#endif
