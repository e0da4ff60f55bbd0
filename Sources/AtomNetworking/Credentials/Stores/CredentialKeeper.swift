import Foundation

/// The place where a store writes its credential; the methods block.
protocol CredentialMedium: Sendable {
    /// The stored credential; `nil` when there is none.
    ///
    /// - Throws: `TokenStoreError.corrupt` when the data can never be read.
    func read() throws(TokenStoreError) -> StoredCredential?

    /// Replaces the stored credential; `nil` removes it.
    func write(_ stored: StoredCredential?) throws(TokenStoreError)

    /// Moves unreadable data aside, if that doesn't destroy it, and returns where.
    func setAside() throws(TokenStoreError) -> URL?

    /// Identifies the lock; all stores with the same medium get the same key.
    func lockKey() throws(TokenStoreError) -> StoreLock.Key

    /// Tries to lock out other processes.
    func tryLock() throws(TokenStoreError) -> StoreLock.Attempt
}

/// A store of the SDK's, which is the same for every medium but for its description.
protocol KeptCredentialStore: RefreshIntentRecording {
    associatedtype Medium: CredentialMedium
    var keeper: CredentialKeeper<Medium> { get }
}

extension KeptCredentialStore {
    /// The stored tokens, also during a refresh; `nil` when there are none.
    public func load() async throws -> TokenCredential? { try await keeper.load() }

    /// Stores the tokens in place of the old ones; `nil` removes them.
    public func save(_ credential: TokenCredential?) async throws { try await keeper.save(credential) }

    /// Reads the tokens, computes new ones and stores them, with exclusive access.
    public func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        try await keeper.exchange(body)
    }

    /// Records that a refresh token is about to be sent, and so finds out whether the store can be written.
    ///
    /// The note is a short salted hash, and the next stored credential replaces it.
    ///
    /// - Returns: Whether there was a note about the same refresh token.
    /// - Throws: ``TokenStoreError``.
    public func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool {
        try await keeper.recordRefreshIntent(for: credential)
    }

    /// Removes the note about this refresh token, if there is one.
    public func removeRefreshIntent(for credential: TokenCredential) async {
        await keeper.removeRefreshIntent(for: credential)
    }
}

/// Implements a shared token store on top of a medium.
///
/// Blocking calls run on a queue: a disk can take seconds, and Swift has few threads.
final class CredentialKeeper<Medium: CredentialMedium>: Sendable {
    private let holder = Guarded<StoreLock.Hold?>(nil)
    /// The authorization server whose tokens it keeps, and the one whose tokens it has read before it was bound; `nil` for
    /// any.
    private let server = Guarded<(own: Origin?, found: String?)>((nil, nil))
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

    /// A keeper of the same medium, for any authorization server.
    func another() -> CredentialKeeper {
        CredentialKeeper(medium, lockTimeout: lockTimeout, time: time, activity: activity)
    }

    /// Keeps only tokens of this authorization server from now on; returns whether it is the first one.
    func bind(to origin: Origin) -> Bool {
        server.withLock { server in
            // Whoever has read another one's tokens must not send them there.
            if server.own == nil, server.found.map({ $0 == origin.string }) ?? true { server.own = origin }
            return server.own == origin
        }
    }

    func load() async throws -> TokenCredential? {
        do {
            // No lock is needed: a write replaces the whole file, and a refresh
            // in another process must not block the use of a valid token.
            return try await run { [self] in try bound(medium.read())?.credential }
        } catch TokenStoreError.corrupt(let reason, _) {
            do {
                // Only under the lock it is certainly what was read that is moved aside.
                return try await withLock { keeper, _ in try keeper.current()?.credential }
            } catch let error as TokenStoreError {
                switch error {
                case .corrupt, .newerFormat: throw error
                default: throw TokenStoreError.corrupt(reason, keptAt: nil)
                }
            }
        }
    }

    func save(_ credential: TokenCredential?) async throws {
        try await withLock { keeper, _ in
            // Unreadable data is kept, and a newer version's isn't overwritten; another server's tokens are.
            do throws(TokenStoreError) {
                _ = try keeper.anybodys()
            } catch {
                guard case .corrupt = error else { throw error }
            }
            try keeper.write(credential)
        }
    }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        try await holding { hold in
            let old = try await step(of: hold) { keeper, _ in try keeper.current()?.credential } ?? nil
            let new = try await body(old)
            guard new != old else { return new }
            let stored: TokenCredential?? = try await step(of: hold) { keeper, wasGivenBack in
                // While the process was suspended, another one may have written.
                if wasGivenBack {
                    let stored = try keeper.current()?.credential
                    if stored != old { return stored }
                }
                try keeper.write(new)
                return new
            }
            return stored ?? nil
        }
    }

    func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool {
        do {
            return try await withLock(alsoInExchange: true) { keeper, wasGivenBack in
                let stored = try keeper.current()
                guard !wasGivenBack || stored?.credential?.refreshToken == credential.refreshToken else {
                    throw TokenStoreError.overtaken
                }
                let found = stored?.intent.flatMap { $0.concerns(credential.refreshToken) ? $0 : nil }
                let intent = found ?? RefreshIntent(refreshToken: credential.refreshToken)
                // Also one that was there: what can't be written now won't take the new tokens either.
                try keeper.medium.write(
                    StoredCredential(
                        credential: stored?.credential, intent: intent, server: keeper.serverName ?? stored?.server))
                return found != nil
            }
        } catch {
            // Nobody knows what others have stored meanwhile.
            throw holder.withLock { $0?.wasGivenBack } == true ? TokenStoreError.overtaken : error
        }
    }

    func removeRefreshIntent(for credential: TokenCredential) async {
        // If the note stays, it only says that a response may have been lost.
        try? await withLock(alsoInExchange: true) { keeper, _ in
            guard var stored = try keeper.current(), let intent = stored.intent,
                intent.concerns(credential.refreshToken)
            else { return }
            stored.intent = nil
            try keeper.medium.write(stored.credential == nil ? nil : stored)
        }
    }

    private var serverName: String? { server.withLock { $0.own?.string } }

    private func write(_ credential: TokenCredential?) throws(TokenStoreError) {
        try medium.write(credential.map { StoredCredential(credential: $0, server: serverName) })
        server.withLock { $0.found = nil }
    }

    /// Refuses the tokens of another authorization server.
    private func bound(_ stored: StoredCredential?) throws(TokenStoreError) -> StoredCredential? {
        let found = stored?.credential == nil ? nil : stored?.server
        let name = server.withLock { server in
            if server.own == nil { server.found = found }
            return server.own?.string
        }
        guard let found, let name, found != name else { return stored }
        throw .refused(
            "its tokens come from \(found), and are not sent to \(name); \(TokenStoreError.signInAgain)")
    }

    /// Reads the stored credential under the lock, or moves unreadable data aside.
    private func current() throws(TokenStoreError) -> StoredCredential? { try bound(anybodys()) }

    /// The same, whichever authorization server it came from.
    private func anybodys() throws(TokenStoreError) -> StoredCredential? {
        do throws(TokenStoreError) {
            return try medium.read()
        } catch {
            guard case .corrupt(let reason, _) = error else { throw error }
            throw .corrupt(reason, keptAt: try medium.setAside())
        }
    }

    // MARK: Taking turns

    private var trial: StoreLock.Trial { { [self] in try await run { [medium] in try medium.tryLock() } } }

    private func holding<T: Sendable>(_ body: (StoreLock.Hold) async throws -> T) async throws -> T {
        let key = try await run { [medium] in try medium.lockKey() }
        let hold = try await StoreLock.shared(for: key, time: time, activity: activity)
            .acquire(timeout: lockTimeout, trial)
        holder.withLock { $0 = hold }
        let result = await Result { try await body(hold) }
        // On the queue, so that no attempt runs after that.
        try await run { [self] in
            holder.withLock { $0 = nil }
            hold.release()
        }
        return try result.get()
    }

    /// Runs a blocking operation under the lock.
    ///
    /// - Parameter alsoInExchange: Or inside an exchange, which already holds it.
    private func withLock<T: Sendable>(
        alsoInExchange: Bool = false, _ body: @escaping @Sendable (CredentialKeeper, Bool) throws -> T
    ) async throws -> T {
        if alsoInExchange, let hold = holder.withLock({ $0 }), let result = try await step(of: hold, body) {
            return result
        }
        return try await holding { hold in
            guard let result = try await step(of: hold, body) else { throw TokenStoreError.overtaken }
            return result
        }
    }

    /// Runs a blocking operation under a lock, which is taken back if the system was about to suspend the process.
    ///
    /// It goes on also in a task that has been cancelled.
    ///
    /// - Parameter body: Gets whether others may have written since the lock was taken first.
    /// - Returns: `nil` if the lock has been released.
    private func step<T: Sendable>(
        of hold: StoreLock.Hold, _ body: @escaping @Sendable (CredentialKeeper, _ wasGivenBack: Bool) throws -> T
    ) async throws -> T? {
        let deadline = time.now + lockTimeout.bounded
        while !hold.isReleased {
            if let result = try await run({ [self] in try hold.whileHeld { try body(self, $0) } }) { return result }
            try await Task { [self] in try await hold.take(timeout: lockTimeout, until: deadline, trial) }.value
        }
        return nil
    }

    private func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }
}
