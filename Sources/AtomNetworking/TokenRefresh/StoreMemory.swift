import Foundation

/// What a session knows about the place where its credential is kept: the
/// app's variable, or a store.
///
/// A credential that is read there and differs from what this process last read
/// or wrote was put there by somebody else: it is news, and the session uses
/// it. The one exception is a credential that this process has overwritten. It
/// may still be read for a while, until the new one has been read once.
struct StoreMemory: Sendable {
    /// What it means that a credential was read.
    enum Reading {
        /// Nothing is new: it is what was read or written last.
        case same
        /// What was written has arrived.
        case arrived
        /// A write has not arrived yet.
        case old
        /// Somebody else has put it there.
        case news
    }

    /// What was read or written last; `nil` before either.
    private(set) var last: TokenCredential?

    /// What was there before the writes that have not been read back yet.
    private var overwritten: [TokenCredential] = []

    /// What the app's variable is being set to; it may arrive at any moment,
    /// even after somebody else has set the variable.
    private var pending: [TokenCredential] = []

    /// What it means if this credential is read.
    func judge(_ read: TokenCredential) -> Reading {
        let read = read.isEmpty ? .empty : read
        if read == last { return .same }
        return (overwritten + pending).contains { $0.isSame(as: read) } ? .old : .news
    }

    /// Whether reading this credential changes nothing: it is what was read or
    /// written last, and no write is still to arrive.
    @inline(__always)
    func isUnchanged(_ read: TokenCredential) -> Bool {
        overwritten.isEmpty && last?.isExactly(read) == true
    }

    /// Records that a credential was read.
    ///
    /// - Returns: What that means.
    mutating func note(_ read: TokenCredential) -> Reading {
        // The usual case, before every request: compared without a copy.
        if last?.isExactly(read) == true { return arrived() }
        // Two empty credentials are the same, whatever their expiry.
        let read = read.isEmpty ? .empty : read
        if read == last { return arrived() }
        let reading = judge(read)
        if case .news = reading {
            last = read
            overwritten = []
        }
        return reading
    }

    /// What was read or written last has been read.
    private mutating func arrived() -> Reading {
        guard !overwritten.isEmpty else { return .same }
        overwritten = []
        return .arrived
    }

    /// Records that a credential is about to be written.
    ///
    /// - Parameter isPending: Whether `didSet` will say when it was.
    mutating func willWrite(_ credential: TokenCredential, isPending: Bool) {
        if isPending { pending.append(credential) }
        if let last { overwritten.append(last) }
        overwritten.removeAll { $0.isSame(as: credential) }
        // The first one stays: a variable that ignores its setter returns it for ever.
        if overwritten.count > Self.limit { overwritten.remove(at: 1) }
        last = credential
    }

    /// Records that the app's variable is about to be set to ``last`` again.
    mutating func willSetAgain() {
        if let last { pending.append(last) }
    }

    /// Records that the app's variable was set, or was not set after all.
    mutating func didSet(_ credential: TokenCredential) {
        guard let index = pending.firstIndex(of: credential) else { return }
        pending.remove(at: index)
        // It may have arrived after somebody else has set the variable.
        if credential != last { overwritten.append(credential) }
    }

    /// Records that the store has taken a credential.
    mutating func wrote(_ credential: TokenCredential) {
        if credential == last { overwritten = [] }
    }

    private static let limit = 16
}

extension TokenCredential {
    /// Whether all fields are equal.
    fileprivate func isExactly(_ other: TokenCredential) -> Bool { self == other }

    /// Whether it is the same, for a store that keeps whole seconds only.
    fileprivate func isSame(as other: TokenCredential) -> Bool {
        hasTokens(of: other)
            && (expiresAt == other.expiresAt || abs(expiresAt.timeIntervalSince(other.expiresAt)) < 1)
    }
}
