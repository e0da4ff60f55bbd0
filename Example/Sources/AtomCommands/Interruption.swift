import AirlineServer
import AtomNetworking
import Foundation

extension Atom {
    /// Waits until the tokens of a running refresh are stored.
    ///
    /// The last call of a command: if the process ended before, the session could be lost. It is shorter than the ten
    /// seconds that many supervisors wait between SIGTERM and SIGKILL.
    ///
    /// - Parameter notes: Where it says what it waits for, to somebody who has pressed Ctrl-C.
    /// - Returns: What is lost when the process ends: the next command may not be able to use the session.
    func finishBeforeExit(_ notes: Terminal) async -> AtomError? {
        // In a task of its own: a cancelled one would not wait.
        let finish = Task { await finishRefresh(within: .seconds(8)) }
        let loss = await withTaskCancellationHandler {
            await finish.value
        } onCancel: {
            Task {
                let goal: String
                switch await finishRefresh(within: .zero) {
                case nil: return
                case .credentialNotStored?: goal = "the session is stored"
                default: goal = "a refresh of the session is stored"
                }
                notes.print("Waiting up to 8 seconds until \(goal); a second Ctrl-C ends the command at once.")
            }
        }
        return loss.map { .authentication($0) }
    }
}

/// Runs a body as a task that SIGINT and SIGTERM cancel.
///
/// The body ends normally, and says what it waits for; a second signal ends the process at once.
///
/// - Returns: The body's result, and the signal if there was one.
func withInterruption<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> (value: Value, signal: Int32?) {
    let task = Task(operation: body)
    let interruption = Interruption { task.cancel() }
    let result = await task.result
    let signal = interruption.stop()
    return (try result.get(), signal)
}

/// Handles signals once, instead of the system.
private struct Interruption {
    private let sources: [any DispatchSourceSignal]
    private let received = Locked<Int32?>(nil)

    init(_ handler: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { [received] number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                let isFirst = received.withLock { received in
                    defer { received = received ?? number }
                    return received == nil
                }
                if !isFirst { _exit(128 + number) }
                handler()
            }
            source.activate()
            return source
        }
    }

    /// Restores the system's signal handling.
    func stop() -> Int32? {
        for source in sources { source.cancel() }
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
        return received.withLock(\.self)
    }
}
