import Foundation

/// What a session knows about the place where its credential is kept: the app's variable, or a store.
///
/// A credential that is read there and differs from what this process last read or wrote was put there by somebody
/// else: it is news, and the session uses it. The one exception is a credential that this process has overwritten. It
/// may still be read for a while, until the new one has been read once.
///
/// A write that a store has not taken is outstanding: what it should replace counts as overwritten, and it is tried
/// again until it succeeds, until somebody else has stored something newer, or until it has failed for some ten
/// minutes. Then the next refresh, sign-in or sign-out writes.
struct StoreMemory: Sendable {
    /// What it means that a credential was read.
    enum Reading {
        /// It is what was read or written last.
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

    /// What the app's variable is being set to; it may arrive at any moment, even after somebody else has set it.
    private var pending: [TokenCredential] = []

    /// A write of ``last`` that the store has not taken yet.
    enum Outstanding: Equatable {
        /// The sign-in or sign-out that has begun this tenure has still to write, over whatever is there.
        case first(Tenure)
        /// It has failed, and what was there could not be read either.
        case overAnything
        /// It replaces what was overwritten, and nothing else.
        case overOld
    }

    var outstanding: Outstanding?
    /// When the write is due again that has failed; `nil` if none is, or it was given up.
    private(set) var retryAt: MonotonicInstant?
    /// Why the outstanding write has failed last.
    private(set) var failure: AuthenticationError?
    /// In a row.
    private var failedWrites = 0

    func judge(_ read: TokenCredential) -> Reading {
        let read = read.isEmpty ? .empty : read
        if read == last { return .same }
        if let outstanding, outstanding != .overOld { return .old }
        return (overwritten + pending).contains { $0.isSame(as: read) } ? .old : .news
    }

    /// What the store holds, or would hold if every write had succeeded.
    ///
    /// - Parameter isSpent: Whether its refresh token was exchanged.
    func intended(over stored: TokenCredential?, isSpent: Bool = false) -> TokenCredential? {
        guard outstanding != nil, let last, isSpent || judge(stored ?? .empty) == .old else { return stored }
        return last.isEmpty ? nil : last
    }

    /// Whether reading this credential changes nothing: it was read or written last, and no write is still to arrive.
    func isUnchanged(_ read: TokenCredential) -> Bool {
        overwritten.isEmpty && last?.isExactly(read) == true
    }

    /// A credential was read.
    mutating func note(_ read: TokenCredential) -> Reading {
        // The usual case, before every request: compared without a copy.
        if last?.isExactly(read) == true { return arrived() }
        // Two empty credentials are the same, whatever their expiry.
        let read = read.isEmpty ? .empty : read
        if read == last { return arrived() }
        let reading = judge(read)
        switch reading {
        case .news:
            last = read
            overwritten = []
            forgetOutstanding()
        // It stays so when something else is outstanding.
        case .old where outstanding != nil: overwrites(read)
        case .old, .same, .arrived: break
        }
        return reading
    }

    /// What was read or written last has been read.
    private mutating func arrived() -> Reading {
        guard !overwritten.isEmpty else { return .same }
        overwritten = []
        return .arrived
    }

    /// A credential is about to be written.
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

    /// The app's variable is about to be set to ``last`` again.
    mutating func willSetAgain() {
        if let last { pending.append(last) }
    }

    /// The app's variable was set, or was not set after all.
    mutating func didSet(_ credential: TokenCredential) {
        guard let index = pending.firstIndex(of: credential) else { return }
        pending.remove(at: index)
        // It may have arrived after somebody else has set the variable.
        if credential != last { overwritten.append(credential) }
    }

    /// The store has taken a credential.
    ///
    /// - Parameter tenure: That of the write; a later sign-in or sign-out has still to write.
    /// - Returns: Whether a write had failed before.
    mutating func wrote(_ credential: TokenCredential, in tenure: Tenure) -> Bool {
        // Something newer may have been committed meanwhile, and has still to be written.
        guard last.map({ $0.hasTokens(of: credential) }) ?? true else { return false }
        if credential == last { overwritten = [] }
        if case .first = outstanding, !isFirst(in: tenure) {} else { outstanding = nil }
        (retryAt, failure) = (nil, nil)
        defer { failedWrites = 0 }
        return failedWrites > 0
    }

    /// What a write replaces may not have been read before.
    mutating func overwrites(_ found: TokenCredential) {
        if found != last, !overwritten.contains(found) { overwritten.append(found) }
    }

    /// Whether a sign-in or sign-out is still to be written.
    ///
    /// - Parameter again: Whether a write counts too that has failed, and may succeed when it is tried again soon.
    func hasToWrite(again: Bool) -> Bool {
        if case .first = outstanding { return true }
        // It has not been tried.
        if outstanding != nil, failure == nil { return true }
        guard again, retryAt != nil else { return false }
        if case .credentialNotStored(let cause as TokenStoreError, _)? = failure { return cause.mayPass }
        return true
    }

    /// The store has not taken ``last``.
    ///
    /// - Returns: Whether it is tried again; not after too many failures in a row.
    mutating func writeFailed(
        _ outstanding: Outstanding, _ failure: AuthenticationError, at now: MonotonicInstant
    ) -> Bool {
        (self.outstanding, self.failure) = (outstanding, failure)
        failedWrites += 1
        guard failedWrites < Self.maximumWrites else {
            // What comes next has as many tries again.
            (failedWrites, retryAt) = (1, nil)
            return false
        }
        retryAt = now.advanced(by: min(Duration.seconds(1) * (1 << min(failedWrites - 1, 6)), .seconds(60)))
        return true
    }

    /// Somebody else has stored something newer.
    mutating func forgetOutstanding() { (outstanding, retryAt, failure) = (nil, nil, nil) }

    /// The write of a sign-in or sign-out is not wanted any more.
    mutating func forgetFirst(in tenure: Tenure) { if isFirst(in: tenure) { outstanding = nil } }

    /// Whether the sign-in or sign-out of this tenure has still to write.
    func isFirst(in tenure: Tenure) -> Bool {
        if case .first(let first) = outstanding { first.isSameSignIn(as: tenure) } else { false }
    }

    /// After 1, 2, 4, 8, 16 and 32 s, and then each minute for ten minutes.
    private static let maximumWrites = 17

    private static let limit = 16
}

extension TokenCredential {
    /// Compares without a copy, as `==` with an optional would make one.
    fileprivate func isExactly(_ other: TokenCredential) -> Bool { self == other }

    fileprivate func isSame(as other: TokenCredential) -> Bool {
        hasTokens(of: other) && expires(at: other.expiresAt)
    }
}
