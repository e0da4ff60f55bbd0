import Foundation

/// Marks the tasks in which an operation on a session's store runs, so that a
/// call of the SDK by the store itself is recognised.
final class StoreOperation: Sendable {
    @TaskLocal static var current: StoreOperation?

    private let session: ObjectIdentifier
    private let isOver = Guarded(false)

    init(of session: SessionActor) {
        self.session = ObjectIdentifier(session)
    }

    func end() { isOver.withLock { $0 = true } }

    func isRunning(for session: SessionActor) -> Bool {
        self.session == ObjectIdentifier(session) && !isOver.withLock { $0 }
    }
}
