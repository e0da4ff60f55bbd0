import Foundation

/// What a store holds, and what it should hold if a write has failed.
struct StoreLook: Sendable {
    let stored: TokenCredential?
    let intended: TokenCredential?
}

/// An operation on a session's store, for what is called while it runs.
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
