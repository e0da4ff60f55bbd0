import Foundation

/// Keeps responses for ``ServiceConfiguration/cache``: in memory, and if you wish on a disk.
///
/// An endpoint says in ``Requestable/caching`` how it uses the cache; by default it doesn't. The cache is private
/// (RFC 9111): what was asked for with a credential, or with cookies, is found by the same person only, and goes with a
/// sign-out or another sign-in. Several services may have the same cache. <doc:Caching> has the rules.
///
/// <!-- given the airline -->
/// ```swift
/// let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
/// configuration.cache = ResponseCache(disk: .init(folder: caches.appendingPathComponent("airline")))
/// ```
public final class ResponseCache: Sendable {
    /// Where responses are kept that outlive the process.
    public struct Disk: Sendable {
        /// The folder, which the cache creates; nobody else may write there.
        public var folder: URL
        /// The size in bytes to which the cache may grow; 64 MiB by default.
        public var capacity: Int64
        /// Whether responses are kept there, too, that were asked for with a bearer token; `false` by default.
        ///
        /// They lie under a name that only their person's session finds. A sign-out removes all of them, also those of
        /// other sessions and processes. What was asked for without a token, but with another credential or with
        /// cookies, is in memory only.
        public var keepsSignedResponses: Bool

        /// Creates a place on a disk.
        public init(folder: URL, capacity: Int64 = 64 << 20, keepsSignedResponses: Bool = false) {
            self.folder = folder
            self.capacity = capacity
            self.keepsSignedResponses = keepsSignedResponses
        }
    }

    /// Where responses lie in a storage that were asked for without a credential.
    static let open = "open"

    private let memory: Guarded<KeptResponses>
    private let storage: (any ResponseStorage)?
    /// Whether what a bearer token has signed is stored, too.
    let storesSigned: Bool
    /// The bytes that wait for a slow disk.
    private let waiting = Guarded<Int>(0)
    /// Reads and writes: nobody else waits for a disk.
    private let queue = DispatchQueue(label: "AtomNetworking.cache", qos: .userInitiated)

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - memory: The size in bytes to which it may grow in memory.
    ///   - disk: A place on a disk; `nil` for none.
    public init(memory: Int = 16 << 20, disk: Disk? = nil) {
        self.memory = Guarded(KeptResponses(capacity: memory))
        storage = disk.map { FolderResponseStorage($0) }
        storesSigned = disk?.keepsSignedResponses ?? false
    }

    /// Creates a cache with a storage of the app's.
    ///
    /// - Parameters:
    ///   - memory: The size in bytes to which it may grow in memory.
    ///   - storage: Keeps what outlives the process.
    ///   - keepsSignedResponses: Whether it keeps responses, too, that were asked for with a bearer token.
    public init(memory: Int = 16 << 20, storage: any ResponseStorage, keepsSignedResponses: Bool = false) {
        self.memory = Guarded(KeptResponses(capacity: memory))
        self.storage = storage
        storesSigned = keepsSignedResponses
    }

    /// Removes everything, and returns when it is gone.
    ///
    /// A response that is on its way isn't kept.
    public func removeAll() async {
        change { $0.removeAll() }
        if let storage { queue.async { try? storage.removeAll(except: nil) } }
        await settle()
    }

    /// Returns when everything that was kept or removed until now is so on the disk.
    ///
    /// No request waits for that. A process that ends before doesn't harm the cache, but keeps nothing of its last
    /// responses: a command-line tool calls this at its end.
    public func settle() async {
        guard storage != nil else { return }
        await end.value()
    }

    /// The same, but not for ever: a disk may hang.
    func settle(within duration: Duration, of time: any TimeSource) async {
        guard storage != nil else { return }
        await time.sleep(for: duration, until: end)
    }

    /// Settles when the queue has done all until now.
    private var end: FirstValue<Void> {
        let end = FirstValue<Void>()
        queue.async { end.settle(()) }
        return end
    }
}

// MARK: - In memory

extension ResponseCache {
    var counts: (epoch: Int, changes: Int) { memory.withLock { ($0.epoch, $0.changes) } }

    /// Whether what a request brings may be kept.
    func isWanted(_ key: CacheKey) -> Bool { memory.withLock { $0.isWanted(key) } }

    /// How many responses are in memory, and their size in bytes.
    var extent: (count: Int, size: Int) { memory.withLock { ($0.count, $0.size) } }

    private func change<T: Sendable>(_ body: (inout KeptResponses) -> T) -> T {
        let (result, removed) = memory.withLock { memory in
            let result = body(&memory)
            return (result, memory.takeRemoved())
        }
        return withExtendedLifetime(removed) { result }
    }

    /// What memory has for a request.
    func response(for key: CacheKey) -> StoredResponse? { memory.withLock { $0.response(for: key) } }
}

// MARK: - With the storage

extension ResponseCache {
    var hasStorage: Bool { storage != nil }

    private static func name(of address: String) -> String { SHA256.hex(address) }

    /// Reads what the storage has for a request, and calls back on the cache's queue.
    func load(
        _ key: CacheKey, in group: String, note: @escaping @Sendable (String) -> Void,
        completion: @escaping @Sendable (StoredResponse?) -> Void
    ) {
        queue.async { [self] in
            var found: StoredResponse?
            do {
                found = try storage?.data(named: Self.name(of: key.address), in: group).flatMap {
                    StoredResponse(encoded: $0)
                }
            } catch {
                note("A kept response can't be read: \(Redaction.error(error).localizedDescription)")
            }
            if let response = found, key.matches(response) {
                // Another call may have asked the server meanwhile.
                found = change { memory in
                    memory.response(for: key) ?? (memory.put(response, for: key) ? response : nil)
                }
            } else {
                found = nil
            }
            completion(found)
        }
    }

    /// Keeps a response, unless its person has gone, or its URL may have changed, since the request began.
    ///
    /// - Parameter group: Where it is stored; `nil` for memory only.
    func keep(
        _ response: StoredResponse, for key: CacheKey, in group: String?, note: @escaping @Sendable (String) -> Void
    ) {
        guard change({ $0.put(response, for: key) }), let storage, let group else { return }
        let size = response.body.count
        // Memory is bounded, and a disk may hang.
        let isLate = waiting.withLock { waiting in
            guard waiting < 8 << 20 else { return true }
            waiting += size
            return false
        }
        if isLate { return note("A response isn't stored: the disk takes too long") }
        queue.async { [self] in
            defer { waiting.withLock { $0 -= size } }
            // It may have been removed meanwhile.
            guard isWanted(key) else { return }
            do {
                try storage.store(response.encoded, named: Self.name(of: key.address), in: group)
            } catch {
                note("A response can't be kept: \(Redaction.error(error).localizedDescription)")
            }
        }
    }

    /// Removes what is kept of URLs, there and in memory.
    func remove(_ addresses: [String], in groups: Set<String>) {
        change { memory in
            for address in addresses { memory.remove(address) }
        }
        guard let storage else { return }
        queue.async {
            for address in addresses {
                for group in groups { try? storage.remove(named: Self.name(of: address), in: group) }
            }
        }
    }

    /// A person's responses have another place: the tokens have changed.
    func move(_ groups: [String], to group: String) {
        guard let storage else { return }
        queue.async { for old in groups where old != group { try? storage.move(group: old, to: group) } }
    }

    /// Forgets what was asked for with a credential.
    ///
    /// - Parameters:
    ///   - tenure: What signs: in memory the others stay.
    ///   - group: Where they are stored, if that is known.
    func forgetSigned(by tenure: Tenure, in group: String?, note: @escaping @Sendable (String) -> Void) {
        change { $0.forgetSigned(by: tenure) }
        guard let storage else { return }
        queue.async {
            do {
                try storage.removeAll(except: Self.open)
                if let group { try storage.end(group: group) }
            } catch {
                note("Kept responses can't be removed: \(Redaction.error(error).localizedDescription)")
            }
        }
    }
}

// It holds what people have read.
extension ResponseCache: Redacted {}
