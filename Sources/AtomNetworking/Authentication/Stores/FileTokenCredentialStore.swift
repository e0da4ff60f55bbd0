import Foundation

/// Keeps tokens in a file that several processes can share.
///
/// For command-line tools, servers and agents, and for apps whose extensions
/// share a container. A refresh runs in ``exchange(_:)``, which keeps all other
/// processes and all other stores of the same file out, so that a refresh token
/// that can be spent once is spent once.
///
/// ```swift
/// let folder = try FileManager.default.url(
///     for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
/// let store = FileTokenCredentialStore(fileURL: folder.appending(path: "com.example.airline/tokens.json"))
/// ```
///
/// **What is on the disk.** The file, for its owner only (mode 0600), in plain
/// text: whoever can read the user's files can read the tokens. Beside it
/// `tokens.json.lock`, an empty file that has to stay while anybody uses the
/// store. A folder that doesn't exist is made, for its owner only (0700). A
/// write makes a new file and puts it in the old one's place when it is on the
/// disk; a process that is killed at any moment leaves the old tokens or the
/// new ones, and what else it leaves the next writer removes.
///
/// **What is refused**, with ``TokenStoreError/refused(_:)``: a file that is a
/// symbolic link, isn't plain, is somebody else's, or may be written by others;
/// a folder that is a symbolic link, that belongs to neither this user nor the
/// system, or in which others can replace files (they may write it, and it has
/// no sticky bit as `tmp` has). Links further up in the path are followed.
///
/// **A file that can't be read** is moved aside under a name that says
/// `corrupt`, and ``TokenStoreError/corrupt(_:keptAt:)`` is thrown once; from
/// then on there are no tokens. One that a newer version of the SDK has written
/// is left alone: ``TokenStoreError/newerFormat(version:)``.
///
/// **The lock** is the advisory lock of `flock(2)`. The system frees it when
/// its process ends, however that comes about, and child processes don't
/// inherit it. Waiting blocks no thread, is in the order of arrival within a
/// process, ends when the task is cancelled, and is limited: a process may be
/// stopped while it holds the lock. On a network file system it excludes other
/// machines only where `flock` does.
///
/// **On iOS**, an app that is suspended while it holds a lock in a container
/// that it shares is ended by the system (0xdead10cc). Where a store is shared
/// with extensions, send requests within a background task or
/// `ProcessInfo.performExpiringActivity(withReason:using:)`. For an app alone
/// `KeychainTokenCredentialStore` is the better place.
public final class FileTokenCredentialStore: RefreshIntentRecording {
    private let keeper: CredentialKeeper<CredentialFile>

    /// Makes a store; nothing is read, written or checked until it is used.
    ///
    /// - Parameters:
    ///   - fileURL: The file, which need not exist.
    ///   - lockTimeout: How long to wait for others who use the file. A
    ///     refresh runs while the lock is held, and has 30 seconds by default:
    ///     whoever waits for less gives up while all is well.
    public convenience init(fileURL: URL, lockTimeout: Duration = .seconds(45)) {
        self.init(fileURL: fileURL, lockTimeout: lockTimeout, time: SystemTimeSource())
    }

    init(fileURL: URL, lockTimeout: Duration, time: any TimeSource) {
        keeper = CredentialKeeper(CredentialFile(fileURL), lockTimeout: lockTimeout, time: time)
    }

    /// The tokens in the file; `nil` when there are none.
    ///
    /// Doesn't wait for a refresh that runs elsewhere: it returns the tokens
    /// that are still stored then.
    ///
    /// - Throws: ``TokenStoreError``.
    public func load() async throws -> TokenCredential? {
        try await keeper.load()
    }

    /// Writes the tokens to the file; `nil` removes it.
    ///
    /// They are on the disk when it returns, and the old ones are still there
    /// when it throws, unless the disk itself failed.
    ///
    /// - Throws: ``TokenStoreError``, or `CancellationError` when the task is
    ///   cancelled while it waits for others.
    public func save(_ credential: TokenCredential?) async throws {
        try await keeper.save(credential)
    }

    /// Reads the tokens, computes new ones and writes them, with everybody else
    /// who uses the file kept out.
    ///
    /// Once it is its turn, cancelling the task doesn't keep what `body`
    /// returned from being written. In `body` the store's other methods would
    /// wait for its end, but for ``load()`` and the notes about a refresh.
    ///
    /// - Throws: What `body` throws, ``TokenStoreError``, or
    ///   `CancellationError` when the task is cancelled while it waits for
    ///   others.
    public func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        try await keeper.exchange(body)
    }

    /// Notes in the file, before it is sent, that a refresh token is about to
    /// be spent.
    ///
    /// The note is a short hash with a salt. It is on the disk when this
    /// returns, and the next credential that is stored takes its place.
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

/// A file that holds one credential.
struct CredentialFile: CredentialMedium {
    // A URL that names no such file is reported when the store is used: making one doesn't throw.
    private let place: Result<FilePlace, TokenStoreError>

    init(_ url: URL) {
        place = Result { () throws(TokenStoreError) in try FilePlace(url) }
    }

    func read() throws(TokenStoreError) -> StoredCredential? {
        let place = try place.get()
        let folder = try StoreFolder(place.folder, creating: false)
        guard let data = try folder?.contents(of: place.name, upTo: StoredCredential.sizeLimit) else { return nil }
        return try StoredCredential(data)
    }

    func write(_ stored: StoredCredential?) throws(TokenStoreError) {
        let place = try place.get()
        if let stored {
            let data = try stored.encoded()
            // Opened anew: the folder may have been removed since the lock was taken, and a new token must not be lost.
            try StoreFolder(place.folder, creating: true)?.replace(place.name, with: data)
        } else {
            try StoreFolder(place.folder, creating: false)?.remove(place.name)
        }
    }

    func setAside() throws(TokenStoreError) -> URL? {
        let place = try place.get()
        return try StoreFolder(place.folder, creating: false)?.setAside(place.name)
    }

    func lockKey() throws(TokenStoreError) -> StoreLock.Key {
        try place.get().lock.lockKey()
    }

    func tryLock() throws(TokenStoreError) -> StoreLock.Attempt {
        try place.get().lock.tryLock()
    }
}
