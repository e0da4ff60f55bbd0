import Foundation

struct KeychainItem: Hashable, Sendable {
    let service: String
    let account: String
    let accessGroup: String?
}

/// The four operations of the Keychain on one item; they block.
protocol KeychainStorage: Sendable {
    /// `SecItemAdd`: for this device, readable after the first unlock.
    func add(_ item: KeychainItem, data: Data) -> KeychainStatus

    /// `SecItemCopyMatching`, for the data of the item.
    func copyMatching(_ item: KeychainItem) -> (status: KeychainStatus, data: Data?)

    /// `SecItemUpdate`, for the data and its accessibility.
    func update(_ item: KeychainItem, data: Data) -> KeychainStatus

    /// `SecItemDelete`.
    func delete(_ item: KeychainItem) -> KeychainStatus
}

/// The result of a Keychain call (`OSStatus`, Security/SecBase.h).
struct KeychainStatus: RawRepresentable, Hashable, Sendable {
    let rawValue: Int32

    static let success = KeychainStatus(rawValue: 0)
    static let diskFull = KeychainStatus(rawValue: -34)
    static let readOnly = KeychainStatus(rawValue: -25_292)
    static let duplicateItem = KeychainStatus(rawValue: -25_299)
    static let itemNotFound = KeychainStatus(rawValue: -25_300)
    static let interactionNotAllowed = KeychainStatus(rawValue: -25_308)
    static let missingEntitlement = KeychainStatus(rawValue: -34_018)

    func error(during operation: String) -> TokenStoreError {
        switch self {
        case .interactionNotAllowed: .locked
        case .diskFull: .diskFull
        case .readOnly: .readOnly
        case .missingEntitlement: TokenStoreError.missingEntitlement
        default: .system(operation: operation, code: Int(rawValue))
        }
    }
}

struct KeychainMedium<Storage: KeychainStorage>: CredentialMedium {
    let storage: Storage
    let item: KeychainItem
    // An invalid URL is reported when the store is used: the initializer doesn't throw.
    private let lock: Result<FilePlace, TokenStoreError>?

    init(_ storage: Storage, item: KeychainItem, lockFileURL: URL?) {
        self.storage = storage
        self.item = item
        lock = lockFileURL.map { url in
            Result { () throws(FolderError) in try FilePlace(url) }.mapError { TokenStoreError($0) }
        }
    }

    func read() throws(TokenStoreError) -> StoredCredential? {
        let (status, data) = storage.copyMatching(item)
        switch status {
        case .success: return try StoredCredential(data ?? Data())
        case .itemNotFound: return nil
        default: throw status.error(during: "SecItemCopyMatching")
        }
    }

    func write(_ stored: StoredCredential?) throws(TokenStoreError) {
        guard let data = try stored?.encoded() else { return try delete() }
        // A process without the lock may add or delete it meanwhile, but not every time.
        for _ in 0..<3 {
            let updating = storage.update(item, data: data)
            guard updating == .itemNotFound else { return try expectSuccess(updating, "SecItemUpdate") }
            let adding = storage.add(item, data: data)
            guard adding == .duplicateItem else { return try expectSuccess(adding, "SecItemAdd") }
        }
        throw KeychainStatus.duplicateItem.error(during: "SecItemAdd")
    }

    private func delete() throws(TokenStoreError) {
        let status = storage.delete(item)
        if status != .itemNotFound { try expectSuccess(status, "SecItemDelete") }
    }

    private func expectSuccess(_ status: KeychainStatus, _ operation: String) throws(TokenStoreError) {
        guard status == .success else { throw status.error(during: operation) }
    }

    /// Leaves the item unchanged: only the next write replaces it.
    func setAside() throws(TokenStoreError) -> URL? { nil }

    func lockKey() throws(TokenStoreError) -> StoreLock.Key {
        try lock?.get().lockKey() ?? .item(item)
    }

    func tryLock() throws(TokenStoreError) -> StoreLock.Attempt {
        try lock?.get().tryLock() ?? .taken(nil)
    }
}
