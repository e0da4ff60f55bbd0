import AtomNetworking

/// A store in memory that records what happens to it, and fails to order.
///
/// An exchange is exclusive: another exchange, and a save, wait for its end.
///
/// ```swift
/// import AtomNetworkingTesting
///
/// struct DiskError: Error {}
///
/// let store = RecordingTokenCredentialStore()
/// store.failSaves(with: DiskError())
/// ```
public final class RecordingTokenCredentialStore: TokenCredentialStore {
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
        var isHeld = false
        var loadFailures: [any Error] = []
        var saveFailures: [any Error] = []

        mutating func failure(of failures: WritableKeyPath<State, [any Error]>) -> (any Error)? {
            guard !self[keyPath: failures].isEmpty else { return nil }
            operations.append(.failure)
            return self[keyPath: failures].removeFirst()
        }
    }

    private let state: Watched<State>

    /// Creates a store that contains the credential.
    public init(_ credential: TokenCredential? = nil) {
        state = Watched(State(stored: credential))
    }

    /// The stored tokens; setting them is what another process does, and isn't
    /// recorded.
    public var stored: TokenCredential? {
        get { state.withLock { $0.stored } }
        set { state.withLock { $0.stored = newValue } }
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

    /// Lets the next loads fail, those of exchanges too.
    public func failLoads(_ count: Int = 1, with error: any Error) {
        state.withLock { $0.loadFailures += Array(repeating: error, count: max(count, 0)) }
    }

    /// Lets the next writes fail, those of exchanges too.
    public func failSaves(_ count: Int = 1, with error: any Error) {
        state.withLock { $0.saveFailures += Array(repeating: error, count: max(count, 0)) }
    }

    /// The tokens; `nil` when there are none.
    public func load() async throws -> TokenCredential? {
        try state.withLock { state in
            if let error = state.failure(of: \.loadFailures) { throw error }
            state.operations.append(.load)
            return state.stored
        }
    }

    /// Keeps the tokens; `nil` drops them.
    public func save(_ credential: TokenCredential?) async throws {
        try await acquire()
        defer { release() }
        try state.withLock { state in
            if let error = state.failure(of: \.saveFailures) { throw error }
            state.stored = credential
            state.operations.append(.save(credential))
        }
    }

    /// Reads the tokens, computes new ones, and stores them, while no other
    /// caller exchanges or saves.
    ///
    /// Tokens that the test sets in the meantime stay.
    ///
    /// - Returns: The tokens that are stored then.
    public func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        try await acquire()
        defer { release() }
        let old = try state.withLock { state in
            if let error = state.failure(of: \.loadFailures) { throw error }
            return state.stored
        }
        let new: TokenCredential?
        do {
            new = try await body(old)
        } catch {
            state.withLock { $0.operations.append(.failure) }
            throw error
        }
        return try state.withLock { state in
            guard state.stored == old else {
                state.operations.append(.exchange(old: old, new: old))
                return state.stored
            }
            if new != old {
                if let error = state.failure(of: \.saveFailures) { throw error }
                state.stored = new
            }
            state.operations.append(.exchange(old: old, new: new))
            return new
        }
    }

    private func acquire() async throws {
        while true {
            guard await state.wait(until: { !$0.isHeld }) else { throw CancellationError() }
            let isMine = state.withLock { state in
                defer { state.isHeld = true }
                return !state.isHeld
            }
            if isMine { return }
        }
    }

    private func release() { state.withLock { $0.isHeld = false } }
}
