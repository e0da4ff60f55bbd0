import Foundation

/// The place where a store writes its credential.
///
/// The methods block.
protocol CredentialMedium: Sendable {
    /// The stored credential; `nil` when there is none.
    ///
    /// - Throws: `TokenStoreError.corrupt` when the data can never be read.
    func read() throws(TokenStoreError) -> StoredCredential?

    /// Replaces the stored credential; `nil` removes it.
    func write(_ stored: StoredCredential?) throws(TokenStoreError)

    /// Moves unreadable data aside, if that is possible without destroying it.
    ///
    /// - Returns: The new location.
    func setAside() throws(TokenStoreError) -> URL?

    /// Identifies the lock; all stores with the same medium get the same key.
    func lockKey() throws(TokenStoreError) -> StoreLock.Key

    /// Tries to lock out other processes.
    func tryLock() throws(TokenStoreError) -> StoreLock.Attempt
}

/// Implements a shared token store on top of a medium.
///
/// Blocking calls run on a separate serial queue, because a disk can take
/// seconds and Swift has few threads.
final class CredentialKeeper<Medium: CredentialMedium>: Sendable {
    private let isHolding = Guarded(false)
    private let medium: Medium
    private let lockTimeout: Duration
    private let time: any TimeSource
    private let queue = DispatchQueue(label: "AtomNetworking.tokenStore", qos: .userInitiated)

    private let activity: ExpiringActivity

    init(_ medium: Medium, lockTimeout: Duration, time: any TimeSource, activity: ExpiringActivity = .system) {
        self.medium = medium
        self.lockTimeout = lockTimeout
        self.time = time
        self.activity = activity
    }

    func load() async throws -> TokenCredential? {
        do {
            // No lock is needed: a write replaces the whole file, and a refresh
            // in another process must not block the use of a valid token.
            return try await run { [medium] in try medium.read()?.credential }
        } catch TokenStoreError.corrupt(let reason, _) {
            do {
                // Only under the lock the data that is moved aside is certainly
                // the data that was read.
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
            // Unreadable data is kept, and data from a newer version isn't
            // overwritten.
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
            let stored = try await store(new, inPlaceOf: old, under: hold)
            await release(hold)
            return stored
        } catch {
            await release(hold)
            throw error
        }
    }

    /// Writes the result of an exchange, unless another process has written
    /// since the lock was given back.
    ///
    /// - Returns: What is stored.
    private func store(
        _ new: TokenCredential?, inPlaceOf old: TokenCredential?, under hold: StoreLock.Hold
    ) async throws -> TokenCredential? {
        guard new != old else { return new }
        if hold.wasGivenBack {
            // The process was suspended, and now it runs again.
            try await lockAgain(hold)
            let stored = try await run { [self] in try current()?.credential }
            guard stored == old else { return stored }
        }
        try await run { [medium] in try medium.write(new.map { StoredCredential(credential: $0) }) }
        return new
    }

    /// Waits until other processes are locked out again.
    private func lockAgain(_ hold: StoreLock.Hold) async throws {
        let deadline = time.now + min(max(lockTimeout, .zero), .day)
        while true {
            if case .taken(let file) = try await run({ [medium] in try medium.tryLock() }) {
                return hold.takeBack(file)
            }
            guard time.now < deadline else { throw TokenStoreError.lockTimedOut(lockTimeout) }
            await time.sleep(for: .milliseconds(50))
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
        // If the note stays, it only says that a response may have been lost.
        try? await withLock(alsoInExchange: true) { keeper in
            guard var stored = try keeper.current(), let intent = stored.intent,
                intent.concerns(credential.refreshToken)
            else { return }
            stored.intent = nil
            try keeper.medium.write(stored.credential == nil ? nil : stored)
        }
    }

    /// The stored credential, read under the lock; unreadable data is moved
    /// aside.
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
        let lock = StoreLock.shared(for: key, time: time, activity: activity)
        let hold = try await lock.acquire(timeout: lockTimeout) { [medium] in try medium.tryLock() }
        isHolding.withLock { $0 = true }
        return hold
    }

    /// This runs on the queue, so that no attempt that found the lock taken
    /// runs after the release.
    private func release(_ hold: StoreLock.Hold) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                isHolding.withLock { $0 = false }
                hold.release()
                continuation.resume()
            }
        }
    }

    /// Runs a blocking operation under the lock.
    ///
    /// - Parameter alsoInExchange: Whether the operation may run inside an
    ///   exchange of this object, which already holds the lock.
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
