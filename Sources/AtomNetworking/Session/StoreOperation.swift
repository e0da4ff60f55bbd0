import Foundation

/// An operation on a session's store, so that a call of the SDK's made by the
/// store itself is recognised.
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
