import Foundation

#if canImport(os)
    import os
#endif

/// Writes a line for what happens to each request.
///
/// At ``LogLevel/info`` there is one line for each attempt of a request, when it has ended; at ``LogLevel/debug`` also
/// for what it waits for, when it is sent and when it is answered. Each line begins with the number of the request. No
/// line shows a secret: see ``RequestEvent``.
public struct RequestLog: RequestObserver {
    private let minimumLevel: LogLevel
    private let write: @Sendable (LogLevel, String) -> Void

    /// Creates a log for a logger of yours.
    ///
    /// - Parameters:
    ///   - minimumLevel: Less important lines are not made.
    ///   - write: Gets the lines, on any thread, several at a time. It must not wait.
    public init(from minimumLevel: LogLevel = .info, write: @escaping @Sendable (LogLevel, String) -> Void) {
        self.minimumLevel = minimumLevel
        self.write = write
    }

    /// The unified log on Apple platforms, and standard error elsewhere.
    public static func system(from minimumLevel: LogLevel = .info) -> RequestLog {
        RequestLog(from: minimumLevel) { level, line in
            #if canImport(os)
                logger.log(level: level.systemLevel, "\(line, privacy: .public)")
            #else
                writeToStandardError(line)
            #endif
        }
    }

    /// Standard error, also on Apple platforms; for command-line tools.
    public static func standardError(from minimumLevel: LogLevel = .info) -> RequestLog {
        RequestLog(from: minimumLevel) { _, line in writeToStandardError(line) }
    }

    private static func writeToStandardError(_ line: String) {
        // The variant that doesn't throw traps when standard error is closed.
        try? FileHandle.standardError.write(contentsOf: Data("AtomNetworking: \(line)\n".utf8))
    }

    #if canImport(os)
        private static let logger = Logger(subsystem: "AtomNetworking", category: "exchange")
    #endif

    /// Writes the ``RequestEvent/description``, if the event is important enough.
    public func observe(_ event: RequestEvent) {
        let level = Self.level(of: event.kind)
        if level >= minimumLevel { write(level, event.description) }
    }

    func note(_ line: String, at level: LogLevel = .debug) {
        if level >= minimumLevel { write(level, line) }
    }

    private static func level(of kind: RequestEvent.Kind) -> LogLevel {
        switch kind {
        case .described, .queued, .admitted, .joined, .cached, .sent, .answered, .measured: .debug
        case .redirected, .refreshed(nil): .info
        case .retried: .notice
        case .refreshed: .warning
        case .refused, .sessionEnded: .error
        case .finished(let summary):
            switch summary.failure?.kind {
            case nil, .cancelled: .info
            case .response, .session, .transfer: .warning
            case .requestable, .authentication, .decoder, .unexpected: .error
            }
        }
    }
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
