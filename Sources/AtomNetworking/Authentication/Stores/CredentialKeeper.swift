import Foundation

/// Where a credential is written down.
///
/// The methods block.
protocol CredentialMedium: Sendable {
    /// What is written there; `nil` when nothing is.
    ///
    /// - Throws: `TokenStoreError.corrupt` when it can't be read and never
    ///   will be.
    func read() throws(TokenStoreError) -> StoredCredential?

    /// Replaces what is written there; `nil` removes it.
    func write(_ stored: StoredCredential?) throws(TokenStoreError)

    /// Moves what can't be read out of the way, if that can be done without
    /// destroying it.
    ///
    /// - Returns: Where it is now.
    func setAside() throws(TokenStoreError) -> URL?

    /// What to lock, by which all who use the same know each other.
    func lockKey() throws(TokenStoreError) -> StoreLock.Key

    /// Tries to keep other processes out.
    func tryLock() throws(TokenStoreError) -> StoreLock.Attempt
}

/// Does for a medium what a shared token store has to do.
///
/// What blocks runs on a queue of its own, one thing at a time, since a disk
/// can take seconds and Swift's threads are few.
final class CredentialKeeper<Medium: CredentialMedium>: Sendable {
    private let isHolding = Guarded(false)
    private let medium: Medium
    private let lockTimeout: Duration
    private let time: any TimeSource
    private let queue = DispatchQueue(label: "AtomNetworking.tokenStore", qos: .userInitiated)

    init(_ medium: Medium, lockTimeout: Duration, time: any TimeSource) {
        self.medium = medium
        self.lockTimeout = lockTimeout
        self.time = time
    }

    func load() async throws -> TokenCredential? {
        do {
            // Without the lock: what is written is replaced as a whole, and a refresh that runs elsewhere must not
            // keep a valid token from being used.
            return try await run { [medium] in try medium.read()?.credential }
        } catch TokenStoreError.corrupt(let reason, _) {
            do {
                // Only under the lock is what is moved aside certain to be what was read.
                return try await withLock { try $0.current()?.credential }
            } catch let error as TokenStoreError {
                switch error {
                case .corrupt, .newerFormat: throw error
                default: throw TokenStoreError.corrupt(reason, keptAt: nil)
                }
            }
        }
    }

    func save(_ credential: TokenCredential?) async throws {
        try await withLock { keeper in
            // What can't be read is not lost, and what a newer version wrote stays.
            do throws(TokenStoreError) {
                _ = try keeper.current()
            } catch {
                guard case .corrupt = error else { throw error }
            }
            try keeper.medium.write(credential.map { StoredCredential(credential: $0) })
        }
    }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        let hold = try await acquire()
        do {
            let old = try await run { [self] in try current()?.credential }
            let new = try await body(old)
            if new != old {
                try await run { [medium] in try medium.write(new.map { StoredCredential(credential: $0) }) }
            }
            await release(hold)
            return new
        } catch {
            await release(hold)
            throw error
        }
    }

    func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool {
        try await withLock(alsoInExchange: true) { keeper in
            let stored = try keeper.current()
            if let intent = stored?.intent, intent.concerns(credential.refreshToken) { return true }
            let intent = RefreshIntent(refreshToken: credential.refreshToken)
            try keeper.medium.write(StoredCredential(credential: stored?.credential, intent: intent))
            return false
        }
    }

    func removeRefreshIntent(for credential: TokenCredential) async {
        // A note that stays says no more than that an answer may have been lost.
        try? await withLock(alsoInExchange: true) { keeper in
            guard var stored = try keeper.current(), let intent = stored.intent,
                intent.concerns(credential.refreshToken)
            else { return }
            stored.intent = nil
            try keeper.medium.write(stored.credential == nil ? nil : stored)
        }
    }

    /// What is written down, under the lock; what can't be read is moved aside.
    private func current() throws(TokenStoreError) -> StoredCredential? {
        do throws(TokenStoreError) {
            return try medium.read()
        } catch {
            guard case .corrupt(let reason, _) = error else { throw error }
            throw .corrupt(reason, keptAt: try medium.setAside())
        }
    }

    // MARK: Taking turns

    private func acquire() async throws -> StoreLock.Hold {
        let key = try await run { [medium] in try medium.lockKey() }
        let lock = StoreLock.shared(for: key, time: time)
        let hold = try await lock.acquire(timeout: lockTimeout) { [medium] in try medium.tryLock() }
        isHolding.withLock { $0 = true }
        return hold
    }

    /// On the queue, so that nothing that found the lock taken there runs after it is given back.
    private func release(_ hold: StoreLock.Hold) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                isHolding.withLock { $0 = false }
                hold.release()
                continuation.resume()
            }
        }
    }

    /// Runs something that blocks, with everybody else kept out.
    ///
    /// - Parameter alsoInExchange: Whether it is enough that this object
    ///   keeps the others out already.
    private func withLock<T: Sendable>(
        alsoInExchange: Bool = false, _ body: @escaping @Sendable (CredentialKeeper) throws -> T
    ) async throws -> T {
        if alsoInExchange {
            let result: T? = try await run { [self] in
                guard isHolding.withLock({ $0 }) else { return nil }
                return try body(self)
            }
            if let result { return result }
        }
        let hold = try await acquire()
        do {
            let result = try await run { [self] in try body(self) }
            await release(hold)
            return result
        } catch {
            await release(hold)
            throw error
        }
    }

    private func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }
}
