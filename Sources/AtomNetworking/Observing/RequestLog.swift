/// Writes a line for what happens to each request.
///
/// ```swift
/// import AtomNetworking
///
/// var configuration = ServiceConfiguration()
/// configuration.observers = [RequestLog.system(from: .info)]
/// ```
///
/// At ``LogLevel/info`` there is one line for each sending of a request, when it
/// has ended. At ``LogLevel/debug`` there are also lines for what the request waits
/// for, when it is sent and when it is answered. Each line begins with the number
/// of the request. No line shows a secret: see ``RequestEvent``.
public struct RequestLog: RequestObserver {
    private let minimumLevel: LogLevel
    private let write: @Sendable (LogLevel, String) -> Void

    /// Creates a log for a logger of yours.
    ///
    /// - Parameters:
    ///   - minimumLevel: Less important lines are not made.
    ///   - write: Gets the lines, on any thread, several at a time. It must not
    ///     wait.
    public init(from minimumLevel: LogLevel = .info, write: @escaping @Sendable (LogLevel, String) -> Void) {
        self.minimumLevel = minimumLevel
        self.write = write
    }

    /// The system's log: the unified log on Apple's systems, and standard error
    /// elsewhere.
    public static func system(from minimumLevel: LogLevel = .info) -> RequestLog {
        RequestLog(from: minimumLevel, write: SystemLog.write)
    }

    /// Standard error, also on Apple's systems; for command-line tools.
    public static func standardError(from minimumLevel: LogLevel = .info) -> RequestLog {
        RequestLog(from: minimumLevel) { _, line in SystemLog.writeToStandardError(line) }
    }

    /// Every line, for ``ServiceConfiguration/isLogEnabled``.
    init(_ handler: (@Sendable (String) -> Void)?) {
        self.init(from: .debug) { level, line in
            if let handler { handler(line) } else { SystemLog.write(level, line) }
        }
    }

    /// Writes the line of an event, if it is important enough.
    public func observe(_ event: RequestEvent) {
        let level = Self.level(of: event.kind)
        guard level >= minimumLevel else { return }
        let prefix = event.requestID.map { "[\($0)] " } ?? ""
        write(level, prefix + Self.text(of: event))
    }

    static func level(of kind: RequestEvent.Kind) -> LogLevel {
        switch kind {
        case .described, .queued, .admitted, .joined, .sent, .answered, .measured: .debug
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

    private static func text(of event: RequestEvent) -> String {
        let request = event.request.map(\.description) ?? ""
        return switch event.kind {
        case .described: request + (event.request?.endpoint.map { " of \($0)" } ?? "")
        case .refused(let refused): "✗ \(refused)"
        case .joined(let other): "⇉ \(request), shared with " + (other.map { "request \($0)" } ?? "a request in flight")
        case .queued(.refresh): "waits for a refresh: \(request)"
        case .queued(.slot): "waits for its turn: \(request)"
        case .queued(.network): "waits for a network: \(request)"
        case .admitted: "goes on: \(request)"
        case .sent(let sent): "→ \(sent.method) \(sent.url)" + (sent.number > 1 ? ", sending \(sent.number)" : "")
        case .answered(let head): "← HTTP \(head.statusCode) \(request)"
        case .redirected(let address): "← \(request), redirected to \(address)"
        case .retried(let failure, _, let delay):
            "↻ \(request): \(failure), to be sent again " + (delay.map { "in \($0)" } ?? "at once")
        case .measured(let metrics, let number): "sending \(number): " + text(of: metrics)
        case .finished(let summary):
            summary.failure.map { "✗ \(request) in \(summary.duration): \($0.description)" }
                ?? "← HTTP \(summary.statusCode ?? 0), \(summary.bytesReceived) bytes \(request) in \(summary.duration)"
        case .refreshed(let failure):
            failure.map { "✗ refresh: \($0.description)" } ?? "The access token has been refreshed"
        case .sessionEnded(let failure): "✗ The session is over: \(failure.description)"
        }
    }

    private static func text(of metrics: TransportMetrics) -> String {
        let connection = metrics.isConnectionReused.map { $0 ? "connection kept" : "connection new" }
        let address = metrics.remoteAddress.map { "\($0) port \(metrics.remotePort ?? 0)" }
        let waiting = metrics.waiting.map { "first byte after \($0)" }
        let parts = [metrics.networkProtocol, connection, address, waiting].compactMap { $0 }
        return parts.isEmpty ? "nothing measured" : parts.joined(separator: ", ")
    }
}
