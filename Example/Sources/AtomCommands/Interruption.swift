import AirlineServer
import AtomNetworking
import Foundation

extension Atom {
    /// Waits until the tokens of a running refresh are stored.
    ///
    /// The last call of a command: if the process ended before, the session could be lost. It is shorter than the ten
    /// seconds that many supervisors wait between SIGTERM and SIGKILL.
    ///
    /// - Parameter events: Those of the session since before the command's request.
    /// - Returns: Why new tokens aren't stored, if they aren't: the next command can't use the session.
    func finishBeforeExit(_ events: AsyncStream<SessionEvent>) async -> AtomError? {
        // In a task of its own: a cancelled one would not wait.
        await Task { await finishRefresh(within: .seconds(8)) }.value
        let heard = Task {
            var failure: AtomError?
            for await event in events {
                switch event {
                case .credentialNotStored(let error): failure = .authentication(error)
                case .credentialStored, .credentialChanged, .signedOut: failure = nil
                default: break
                }
            }
            return failure
        }
        // It hears what has been said until now.
        heard.cancel()
        return await heard.value
    }
}

/// Runs a body as a task that SIGINT and SIGTERM cancel.
///
/// The body ends normally; a second signal ends the process at once.
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
