import Foundation

/// Keeps tokens in a file that several processes can share.
///
/// It is for command-line tools, servers and agents, and for apps whose extensions share a container. A refresh runs in
/// `exchange`, which locks out all other processes and stores for the same file: a refresh token is used once.
///
/// ```swift
/// import AtomNetworking
/// import Foundation
///
/// let folder = try FileManager.default.url(
///     for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
/// let store = FileTokenCredentialStore(fileURL: folder.appending(path: "com.example.airline/tokens.json"))
/// ```
///
/// **Files on disk.** The tokens are in plain text in a file of mode 0600: anyone who can read the user's files can
/// read them. Next to it is `tokens.json.lock`, an empty file that must not be removed while the store is in use. A
/// missing folder is created with mode 0700. A new file replaces the old one when it is on the disk: a process that is
/// killed at any moment leaves the old tokens or the new ones, and the next write removes other files that it left.
///
/// **Rejected files**, with ``TokenStoreError/refused(_:)``: a file that is a symbolic link, is not a regular file,
/// belongs to another user, or is writable by others; a folder that is a symbolic link, belongs to neither this user
/// nor the system, or in which others can replace files (it is writable by others and has no sticky bit, unlike `tmp`).
/// Symbolic links in the rest of the path are followed.
///
/// **An unreadable file** is renamed, with `corrupt` in its name, and ``TokenStoreError/corrupt(_:keptAt:)`` is thrown
/// once. After that there are no tokens. A file from a newer version of the SDK is not changed:
/// ``TokenStoreError/newerFormat(version:)``.
///
/// **One authorization server.** A session binds the file to its authorization server: the scheme, host and port of the
/// token endpoint. A session of another one sends none of the tokens. Its requests fail with
/// ``TokenStoreError/refused(_:)``, which names both, until ``Atom/signIn(with:)`` or ``Atom/signOut()`` has replaced
/// what is there. A file of an earlier version of the SDK is bound by the next write. A service that has only a provider
/// sends no refresh token: alone it reads every file, and binds none, and beside another service with the same store it
/// shares that one's session. Calls by your own code read every file, too: if the server itself has moved, sign in with
/// what `load` returns.
///
/// **The lock** is the advisory lock of `flock(2)`. The system releases it when its process ends for any reason, and
/// child processes don't inherit it. Waiting for it doesn't block a thread, is first in, first out within a process,
/// and ends when the task is cancelled, with a `CancellationError`. The wait is limited, because a process may be
/// paused while it holds the lock. On a network file system the lock works between machines only if `flock` does.
///
/// **Calls.** `load` doesn't wait for a refresh in another process. `save`, `exchange` and the ones for the refresh
/// note return when what they write is on the disk; when they throw, the old tokens are still there, unless the disk
/// itself failed. Once it has the lock, `exchange` writes what its body returns even if the task is cancelled. The body
/// must not call the store's other methods, except `load` and the ones for the refresh note: they would wait for the
/// end of the exchange. All errors of the store itself are ``TokenStoreError``.
///
/// **On Apple platforms** the file is left out of backups, because a restored one would clone the refresh token. Before
/// the device is unlocked for the first time a protected file can't be read: ``TokenStoreError/locked``. The system
/// ends an app that is suspended while it holds a lock in a shared container (0xdead10cc), so the store asks for time,
/// and gives the lock back when that is over. For an app without extensions use `KeychainTokenCredentialStore` instead.
public final class FileTokenCredentialStore: KeptCredentialStore, ServerBoundStore {
    let keeper: CredentialKeeper<CredentialFile>
    /// The app's own store, by which sessions are found.
    private let original: FileTokenCredentialStore?

    /// Creates a store; nothing is read, written or checked until it is used.
    ///
    /// - Parameters:
    ///   - fileURL: The file, which need not exist.
    ///   - lockTimeout: How long to wait for other users of the file; longer than a
    ///     refresh, which holds the lock for up to 30 seconds by default.
    public convenience init(fileURL: URL, lockTimeout: Duration = .seconds(45)) {
        self.init(fileURL: fileURL, lockTimeout: lockTimeout, time: SystemTimeSource())
    }

    init(fileURL: URL, lockTimeout: Duration, time: any TimeSource) {
        keeper = CredentialKeeper(CredentialFile(fileURL), lockTimeout: lockTimeout, time: time)
        original = nil
    }

    private init(forSessionOf original: FileTokenCredentialStore) {
        keeper = original.keeper.another()
        self.original = original
    }

    func forSession() -> any ServerBoundStore { FileTokenCredentialStore(forSessionOf: self) }

    func bind(to origin: Origin) -> Bool { keeper.bind(to: origin) }
}

struct CredentialFile: CredentialMedium {
    // An invalid URL is reported when the store is used: the initializer doesn't throw.
    private let place: Result<FilePlace, TokenStoreError>

    init(_ url: URL) {
        place = Result { () throws(FolderError) in try FilePlace(url) }.mapError { TokenStoreError($0) }
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
            // Opened again: it may have been removed, and a new token must not be lost.
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
