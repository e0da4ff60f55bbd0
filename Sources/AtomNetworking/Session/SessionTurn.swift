/// A turn at a session's store: its operations run one after the other.
struct SessionTurn: Sendable {
    /// The end of the turn before; `nil` if there was none.
    private let earlier: FirstValue<Void>?
    let end = FirstValue<Void>()
    /// `nil` where nobody waits for a turn.
    private let mark: SessionOperation?

    init(of session: SessionActor?, after earlier: FirstValue<Void>?) {
        self.earlier = earlier
        mark = session.map { SessionOperation(of: $0) }
    }

    /// Runs an operation when the turns before have ended; called once.
    func run<T: Sendable>(_ operation: @Sendable () async -> T) async -> T {
        await earlier?.value()
        defer {
            mark?.end()
            end.settle(())
        }
        guard let mark else { return await operation() }
        return await SessionOperation.$onStore.withValue(mark) { await operation() }
    }
}

/// Marks the tasks in which a session calls the app's store or provider: their call of the SDK would wait for itself.
final class SessionOperation: Sendable {
    @TaskLocal static var onStore: SessionOperation?
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
