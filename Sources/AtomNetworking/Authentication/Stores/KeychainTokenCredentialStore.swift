#if canImport(Security)
    import Foundation
    import Security

    /// Keeps tokens in the Keychain.
    ///
    /// The item is a generic password that can be read once the device has been
    /// unlocked after its start, also while it is locked again, as a refresh in
    /// the background needs. It stays on the device: restored from a backup to
    /// a second one, a refresh token would be spent twice, and the server would
    /// end the session on both. It outlives the app's deletion, as all items
    /// do.
    ///
    /// <!-- not compiled: there is a Keychain on Apple's systems only -->
    /// ```swift
    /// let store = KeychainTokenCredentialStore(service: "com.example.airline", account: "tokens")
    /// ```
    ///
    /// Before the first unlock, ``TokenStoreError/locked`` is thrown: there may
    /// be tokens, and nobody is signed out. What can't be read is
    /// ``TokenStoreError/corrupt(_:keptAt:)`` until other tokens are stored.
    ///
    /// **Extensions.** Name the access group that the app shares with them, and
    /// a lock file in the container of the app group. Without a lock file a
    /// refresh keeps others in this process out, and nobody else. With it, know
    /// that the system ends an app that is suspended while it holds a lock in a
    /// shared container (0xdead10cc): send requests within a background task,
    /// or `ProcessInfo.performExpiringActivity(withReason:using:)` in an
    /// extension.
    ///
    /// **On macOS** this is the data protection Keychain, which an app has to
    /// be signed with an entitlement for; a tool without one uses a
    /// ``FileTokenCredentialStore``.
    public final class KeychainTokenCredentialStore: RefreshIntentRecording {
        private let keeper: CredentialKeeper<KeychainMedium<SystemKeychain>>

        /// Makes a store; the Keychain isn't asked until it is used.
        ///
        /// - Parameters:
        ///   - service: The item's service, such as the app's identifier.
        ///   - account: The item's account; one for each set of tokens.
        ///   - accessGroup: Whose apps share it; without, tokens are written
        ///     to the app's first group and read from any.
        ///   - lockFileURL: The lock that those who share it take, for example
        ///     in an app group's container.
        ///   - lockTimeout: How long to wait for others. A refresh runs while
        ///     the lock is held, and has 30 seconds by default: whoever waits
        ///     for less gives up while all is well.
        public init(
            service: String, account: String, accessGroup: String? = nil, lockFileURL: URL? = nil,
            lockTimeout: Duration = .seconds(45)
        ) {
            let item = KeychainItem(service: service, account: account, accessGroup: accessGroup)
            keeper = CredentialKeeper(
                KeychainMedium(SystemKeychain(), item: item, lockFileURL: lockFileURL), lockTimeout: lockTimeout,
                time: SystemTimeSource())
        }

        /// The tokens in the Keychain; `nil` when there are none.
        ///
        /// Doesn't wait for a refresh that runs elsewhere: it returns the
        /// tokens that are still stored then.
        ///
        /// - Throws: ``TokenStoreError``.
        public func load() async throws -> TokenCredential? {
            try await keeper.load()
        }

        /// Stores the tokens in place of the old ones; `nil` removes the item.
        ///
        /// - Throws: ``TokenStoreError``, or `CancellationError` when the task
        ///   is cancelled while it waits for others.
        public func save(_ credential: TokenCredential?) async throws {
            try await keeper.save(credential)
        }

        /// Reads the tokens, computes new ones and stores them, with everybody
        /// else kept out: in this process, and in others where a lock file is
        /// given.
        ///
        /// Once it is its turn, cancelling the task doesn't keep what `body`
        /// returned from being stored. In `body` the store's other methods
        /// would wait for its end, but for ``load()`` and the notes about a
        /// refresh.
        ///
        /// - Throws: What `body` throws, ``TokenStoreError``, or
        ///   `CancellationError` when the task is cancelled while it waits for
        ///   others.
        public func exchange(
            _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
        ) async throws -> TokenCredential? {
            try await keeper.exchange(body)
        }

        /// Notes in the item, before it is sent, that a refresh token is about
        /// to be spent.
        ///
        /// The note is a short hash with a salt; the next credential that is
        /// stored takes its place.
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

    /// The Keychain of the system.
    private struct SystemKeychain: KeychainStorage {
        func add(_ item: KeychainItem, data: Data) -> KeychainStatus {
            KeychainStatus(rawValue: SecItemAdd(dictionary(query(item).merging(content(data)) { $1 }), nil))
        }

        func copyMatching(_ item: KeychainItem) -> (status: KeychainStatus, data: Data?) {
            var query = query(item)
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var result: CFTypeRef?
            let status = SecItemCopyMatching(dictionary(query), &result)
            return (KeychainStatus(rawValue: status), result as? Data)
        }

        func update(_ item: KeychainItem, data: Data) -> KeychainStatus {
            KeychainStatus(rawValue: SecItemUpdate(dictionary(query(item)), dictionary(content(data))))
        }

        func delete(_ item: KeychainItem) -> KeychainStatus {
            KeychainStatus(rawValue: SecItemDelete(dictionary(query(item))))
        }

        private func query(_ item: KeychainItem) -> [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: item.service,
                kSecAttrAccount as String: item.account,
                kSecAttrSynchronizable as String: false,
                kSecUseDataProtectionKeychain as String: true,
            ]
            query[kSecAttrAccessGroup as String] = item.accessGroup
            return query
        }

        private func content(_ data: Data) -> [String: Any] {
            [
                kSecValueData as String: data,
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
        }

        private func dictionary(_ members: [String: Any]) -> CFDictionary {
            NSDictionary(dictionary: members) as CFDictionary
        }
    }
#endif
