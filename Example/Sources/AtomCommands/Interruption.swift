import AtomNetworking
import Foundation

extension Atom {
    /// Waits until the tokens of a running refresh are stored.
    ///
    /// The last call of a command: if the process ended before, the session
    /// could be lost. It is shorter than the ten seconds that many supervisors
    /// wait between SIGTERM and SIGKILL.
    func finishBeforeExit() async {
        // In a task of its own: a cancelled one would not wait.
        await Task { await finishRefresh(within: .seconds(8)) }.value
    }
}

/// Runs a body as a task that SIGINT and SIGTERM cancel.
///
/// The body ends normally; a second signal ends the process at once.
///
/// - Returns: The body's result, and the signal if there was one.
func withInterruption<Value: Sendable>(
    _ body: @escaping @Sendable () async -> Value
) async -> (value: Value, signal: Int32?) {
    let task = Task(operation: body)
    let interruption = Interruption { task.cancel() }
    let value = await task.value
    return (value, interruption.stop())
}

/// Handles signals once, instead of the system.
private final class Interruption: @unchecked Sendable {
    private let lock = NSLock()
    private var sources: [any DispatchSourceSignal] = []
    private var received: Int32?

    init(_ handler: @escaping @Sendable () -> Void) {
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in
                self?.heard(number)
                handler()
            }
            sources.append(source)
            source.activate()
        }
    }

    private func heard(_ number: Int32) {
        let isFirst = lock.withLock {
            guard received == nil else { return false }
            received = number
            return true
        }
        if !isFirst { _exit(128 + number) }
    }

    /// Restores the system's signal handling.
    func stop() -> Int32? {
        for source in sources { source.cancel() }
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
        return lock.withLock { received }
    }
}
