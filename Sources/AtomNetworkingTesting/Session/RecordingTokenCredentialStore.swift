import AtomNetworking

/// A store in memory that records what happens to it, and fails to order.
///
/// An exchange is exclusive: another exchange, and a save, wait for its end. A
/// store that was made with ``init(sharing:)`` is another process's access to
/// the same tokens.
///
/// ```swift
/// import AtomNetworkingTesting
///
/// struct DiskError: Error {}
///
/// let store = RecordingTokenCredentialStore()
/// store.failSaves(with: DiskError())
/// ```
public final class RecordingTokenCredentialStore: RefreshIntentRecording {
    /// What has happened to the store.
    public enum Operation: Sendable, Hashable {
        /// It was read.
        case load
        /// It was written by a save.
        case save(TokenCredential?)
        /// An exchange is over.
        ///
        /// - Parameters:
        ///   - old: What it got.
        ///   - new: What it returned.
        case exchange(old: TokenCredential?, new: TokenCredential?)
        /// A load, a save or an exchange has thrown.
        case failure
    }

    private struct State {
        var stored: TokenCredential?
        var operations: [Operation] = []
        var isInUse = false
        var holdsWrites = false
        /// How many wait for the exclusive access.
        var waiting = 0
        /// How many wait to store their tokens.
        var heldWrites = 0
        var intent: String?
        var loadError: (any Error)?
        var saveError: (any Error)?
        var loadFailures = Ordered<any Error>()
        var saveFailures = Ordered<any Error>()

        mutating func read() throws -> TokenCredential? {
            try failIfOrdered(loadError, \.loadFailures)
            return stored
        }

        mutating func write(_ credential: TokenCredential?) throws {
            try failIfOrdered(saveError, \.saveFailures)
            stored = credential
            intent = nil
        }

        private mutating func failIfOrdered(
            _ lasting: (any Error)?, _ failures: WritableKeyPath<State, Ordered<any Error>>
        ) throws {
            guard let error = self[keyPath: failures].next() ?? lasting else { return }
            operations.append(.failure)
            throw error
        }
    }

    private let state: Watched<State>

    /// Creates a store that contains the credential.
    public init(_ credential: TokenCredential? = nil) {
        state = Watched(State(stored: credential))
    }

    /// Creates the store of another process: with the tokens, the exclusive
    /// access, the orders and the records of the given one.
    ///
    /// Services with the same store share one session. Services with two stores
    /// that share have a session each, and one of them refreshes at a time.
    public init(sharing other: RecordingTokenCredentialStore) {
        state = other.state
    }

    /// The stored tokens; setting them is what another process does, and isn't recorded.
    public var stored: TokenCredential? {
        get { state.withLock { $0.stored } }
        set { state.withLock { $0.stored = newValue } }
    }

    /// Whether somebody exchanges or saves now.
    public var isInUse: Bool { state.withLock { $0.isInUse } }

    /// Whether an exchange or a save waits for somebody else's, or for ``releaseWrites()``.
    var isHeldUp: Bool {
        state.withLock { $0.isInUse && $0.waiting > 0 || $0.holdsWrites && $0.heldWrites > 0 }
    }

    /// Everything that has happened, in order.
    public var operations: [Operation] { state.withLock { $0.operations } }

    /// How often it was read, exchanges aside.
    public var loads: Int { operations.count { $0 == .load } }

    /// What was written, in order, by saves and by exchanges.
    public var writes: [TokenCredential?] {
        operations.compactMap { operation in
            switch operation {
            case .save(let new): .some(new)
            case .exchange(let old, let new): new == old ? nil : .some(new)
            case .load, .failure: nil
            }
        }
    }
}

// MARK: - What goes wrong

extension RecordingTokenCredentialStore {
    /// Lets the next loads fail, those of exchanges too.
    public func failLoads(_ count: Int = 1, with error: any Error) {
        state.withLock { $0.loadFailures.add(error, count) }
    }

    /// Lets the next writes fail, those of exchanges too.
    public func failSaves(_ count: Int = 1, with error: any Error) {
        state.withLock { $0.saveFailures.add(error, count) }
    }

    /// With which error every load fails, those of exchanges too; `nil`, the default, if it doesn't.
    public var loadError: (any Error)? {
        get { state.withLock { $0.loadError } }
        set { state.withLock { $0.loadError = newValue } }
    }

    /// With which error every write fails, those of exchanges too; `nil`, the default, if it doesn't.
    public var saveError: (any Error)? {
        get { state.withLock { $0.saveError } }
        set { state.withLock { $0.saveError = newValue } }
    }

    /// Lets exchanges that have their new tokens wait, until ``releaseWrites()``, before they store them.
    ///
    /// Nobody else exchanges or saves in the meantime. A cancelled exchange waits too.
    public func holdWrites() { state.withLock { $0.holdsWrites = true } }

    /// Lets the exchanges that wait store their tokens; later ones don't wait.
    public func releaseWrites() { state.withLock { $0.holdsWrites = false } }

    /// The refresh token of which somebody has noted that it is about to be sent; `nil` when there is no note.
    ///
    /// Setting it is what a process does that is killed in its refresh.
    public var refreshIntent: String? {
        get { state.withLock { $0.intent } }
        set { state.withLock { $0.intent = newValue } }
    }
}

// MARK: - The store

extension RecordingTokenCredentialStore {
    /// The tokens; `nil` when there are none.
    public func load() async throws -> TokenCredential? {
        try state.withLock { state in
            let credential = try state.read()
            state.operations.append(.load)
            return credential
        }
    }

    /// Keeps the tokens; `nil` drops them.
    public func save(_ credential: TokenCredential?) async throws {
        try await acquire()
        defer { release() }
        try state.withLock { state in
            try state.write(credential)
            state.operations.append(.save(credential))
        }
    }

    /// Reads the tokens, computes new ones, and stores them, while no other caller exchanges or saves.
    ///
    /// Tokens that the test sets in the meantime stay.
    ///
    /// - Returns: The tokens that are stored then.
    public func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        try await acquire()
        defer { release() }
        let old = try state.withLock { try $0.read() }
        let new: TokenCredential?
        do {
            new = try await body(old)
        } catch {
            state.withLock { $0.operations.append(.failure) }
            throw error
        }
        if state.withLock({ $0.holdsWrites }) {
            state.withLock { $0.heldWrites += 1 }
            // In a task of its own, which isn't cancelled.
            _ = await Task { [state] in await state.wait { !$0.holdsWrites } }.value
            state.withLock { $0.heldWrites -= 1 }
        }
        return try state.withLock { state in
            guard state.stored == old else {
                state.operations.append(.exchange(old: old, new: old))
                return state.stored
            }
            if new != old { try state.write(new) }
            state.operations.append(.exchange(old: old, new: new))
            return new
        }
    }

    /// Notes that the refresh token is about to be sent.
    ///
    /// - Returns: Whether there was already such a note.
    public func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool {
        state.withLock { state in
            defer { state.intent = credential.refreshToken }
            return state.intent == credential.refreshToken
        }
    }

    /// Removes the note.
    public func removeRefreshIntent(for credential: TokenCredential) async {
        state.withLock { $0.intent = nil }
    }

    private func acquire() async throws {
        while true {
            let isMine = state.withLock { state in
                defer { state.isInUse = true }
                if state.isInUse { state.waiting += 1 }
                return !state.isInUse
            }
            if isMine { return }
            defer { state.withLock { $0.waiting -= 1 } }
            guard await state.wait(until: { !$0.isInUse }) else { throw CancellationError() }
        }
    }

    private func release() { state.withLock { $0.isInUse = false } }
}
