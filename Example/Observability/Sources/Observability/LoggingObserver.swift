import AtomNetworking
import Logging

/// Writes the lines of `RequestLog` to a logger of swift-log.
///
/// ```swift
/// configuration.observers.append(LoggingObserver(Logger(label: "requests")))
/// ```
///
/// The number of the request is in the metadata, as `request`, and not in the line. The line of an attempt has its
/// `traceparent` too, if it is signed with a ``TraceContextSigner``. What the logger's level leaves out is not made.
public struct LoggingObserver: RequestObserver {
    private let logger: Logger

    /// Creates an observer.
    ///
    /// - Parameter logger: Gets the lines, with its own metadata.
    public init(_ logger: Logger) {
        self.logger = logger
    }

    /// Writes the line of an event.
    public func observe(_ event: RequestEvent) {
        let number = event.requestID.map { "\($0)" }
        let prefix = number.map { "[\($0)] " } ?? ""
        let log = RequestLog(from: minimumLevel) { [logger] level, line in
            var metadata: Logger.Metadata = [:]
            if let number { metadata["request"] = "\(number)" }
            if case .sent(let sent) = event.kind, let parent = sent.traceParent {
                metadata["traceparent"] = "\(parent)"
            }
            logger.log(
                level: Self.level(level), "\(line.hasPrefix(prefix) ? String(line.dropFirst(prefix.count)) : line)",
                metadata: metadata)
        }
        log.observe(event)
    }

    private var minimumLevel: LogLevel {
        LogLevel.allCases.first { Self.level($0) >= logger.logLevel } ?? .error
    }

    /// The two libraries have the same names.
    private static func level(_ level: LogLevel) -> Logger.Level { Logger.Level(rawValue: "\(level)") ?? .critical }
}
