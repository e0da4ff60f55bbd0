import Foundation

/// Keeps responses for ``ServiceConfiguration/cache``: in memory, and if you wish on a disk.
///
/// An endpoint says in ``Requestable/caching`` how it uses the cache; by default it doesn't. The cache is private
/// (RFC 9111): what was asked for with a credential, or with cookies, is found by the same person only, and goes with a
/// sign-out or another sign-in. Several services may have the same cache. <doc:Caching> has the rules.
///
/// <!-- given the airline -->
/// ```swift
/// configuration.cache = ResponseCache(disk: .init(folder: folder))
/// ```
public final class ResponseCache: Sendable {
    /// Where responses are kept that outlive the process.
    public struct Disk: Sendable {
        /// The folder, which the cache creates; nobody else may write there.
        public var folder: URL
        /// The size in bytes to which the cache may grow; 64 MiB by default.
        public var capacity: Int64
        /// Whether responses are kept there, too, that were asked for with a credential; `false` by default.
        ///
        /// They lie under a name that only their person's session finds, and a sign-out removes those of everybody.
        public var keepsSignedResponses: Bool

        /// Creates a place on a disk.
        public init(folder: URL, capacity: Int64 = 64 << 20, keepsSignedResponses: Bool = false) {
            self.folder = folder
            self.capacity = capacity
            self.keepsSignedResponses = keepsSignedResponses
        }
    }

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - memory: The size in bytes to which it may grow in memory.
    ///   - disk: A place on a disk; `nil` for none.
    public init(memory: Int = 16 << 20, disk: Disk? = nil) {}
}
