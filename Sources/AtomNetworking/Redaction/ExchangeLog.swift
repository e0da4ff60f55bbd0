/// Logs what belongs to no request, or nothing.
///
/// What happens to a request is told to observers; a `RequestLog` is one.
struct ExchangeLog: Sendable {
    private let write: (@Sendable (String) -> Void)?

    init(isEnabled: Bool, handler: (@Sendable (String) -> Void)?) {
        write = isEnabled ? handler ?? { SystemLog.write(.debug, $0) } : nil
    }

    /// The line is built only if logging is on.
    func callAsFunction(_ line: @autoclosure () -> String) {
        write?(line())
    }
}
