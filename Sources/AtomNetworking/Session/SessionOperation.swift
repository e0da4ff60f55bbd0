import Foundation

/// Marks the tasks in which a session calls the app's store or provider, so that
/// a call of the SDK by these is recognised: it would wait for itself.
final class SessionOperation: Sendable {
    /// An operation on the store.
    @TaskLocal static var onStore: SessionOperation?
    /// A call of the provider.
    @TaskLocal static var ofProvider: SessionOperation?

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
