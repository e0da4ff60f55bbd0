#if canImport(Security)
    import Foundation
    import Security

    /// Keeps tokens in the Keychain.
    ///
    /// The item is a generic password that can be read after the first unlock, also while the device is locked again,
    /// as a refresh in the background needs it. It isn't transferred to other devices, where a refresh token would be
    /// used a second time, and isn't deleted with the app.
    ///
    /// <!-- not compiled: there is a Keychain on Apple platforms only -->
    /// ```swift
    /// let store = KeychainTokenCredentialStore(service: "com.example.airline", account: "tokens")
    /// ```
    ///
    /// Before the first unlock the store throws ``TokenStoreError/locked``: there may be tokens, so the user isn't
    /// signed out. Unreadable data throws ``TokenStoreError/corrupt(_:keptAt:)`` until other tokens are stored.
    ///
    /// **Extensions.** Specify the access group that the app shares with them, and a lock file in the container of the
    /// app group; without one a refresh locks out only other callers in this process. Lock and calls are those of a
    /// ``FileTokenCredentialStore``.
    ///
    /// **On macOS** this is the data protection Keychain. It requires an app that is signed with an entitlement; a tool
    /// without one uses a ``FileTokenCredentialStore``.
    public final class KeychainTokenCredentialStore: KeptCredentialStore {
        let keeper: CredentialKeeper<KeychainMedium<SystemKeychain>>

        /// Creates a store; it doesn't access the Keychain until it is used.
        ///
        /// - Parameters:
        ///   - service: The item's service, such as the app's identifier.
        ///   - account: The item's account; one for each set of tokens.
        ///   - accessGroup: The access group. Without one, tokens are written
        ///     to the app's first group and read from any of its groups.
        ///   - lockFileURL: The lock file of all processes that share the item,
        ///     for example in an app group's container.
        ///   - lockTimeout: How long to wait for the lock; longer than a refresh, which
        ///     holds it for up to 30 seconds by default.
        public init(
            service: String, account: String, accessGroup: String? = nil, lockFileURL: URL? = nil,
            lockTimeout: Duration = .seconds(45)
        ) {
            let item = KeychainItem(service: service, account: account, accessGroup: accessGroup)
            keeper = CredentialKeeper(
                KeychainMedium(SystemKeychain(), item: item, lockFileURL: lockFileURL), lockTimeout: lockTimeout,
                time: SystemTimeSource())
        }
    }

    struct SystemKeychain: KeychainStorage {
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
