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
        guard let mark else {
            defer { end.settle(()) }
            return await operation()
        }
        let result = await SessionOperation.$onStore.withValue(mark) { await operation() }
        let deferred = mark.end()
        end.settle(())
        for perform in deferred { perform() }
        return result
    }
}

/// Marks the tasks in which a session calls the app's store or provider: their call of the SDK would wait for itself.
final class SessionOperation: Sendable {
    @TaskLocal static var onStore: SessionOperation?
    @TaskLocal static var ofProvider: SessionOperation?

    private struct State {
        var isOver = false
        var deferred: [@Sendable () -> Void] = []
    }

    private let session: ObjectIdentifier
    private let state = Guarded(State())

    init(of session: SessionActor) {
        self.session = ObjectIdentifier(session)
    }

    /// Ends it, and returns what was deferred until then.
    @discardableResult
    func end() -> [@Sendable () -> Void] {
        state.withLock { state in
            state.isOver = true
            defer { state.deferred = [] }
            return state.deferred
        }
    }

    func isRunning(for session: SessionActor) -> Bool {
        self.session == ObjectIdentifier(session) && !state.withLock { $0.isOver }
    }

    /// Keeps something to be done for the end, if the operation is running.
    func defers(_ action: @escaping @Sendable () -> Void, of session: SessionActor) -> Bool {
        guard self.session == ObjectIdentifier(session) else { return false }
        return state.withLock { state in
            if !state.isOver { state.deferred.append(action) }
            return !state.isOver
        }
    }
}
