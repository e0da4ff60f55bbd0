import Foundation

/// What a session knows of the place where its credential is kept: the app's
/// variable, or a store.
///
/// A credential that is read there and isn't what this process read or wrote
/// there last was put there by somebody else, who knows better: it is news.
/// The one exception is what this process has written over. It may still be
/// read for a while, until the place has been seen to hold what was written.
struct StoreMemory: Sendable {
    /// What reading a credential says.
    enum Reading {
        /// Nothing: it is what was read or written last.
        case same
        /// That what was written has arrived.
        case arrived
        /// That a write has not arrived yet.
        case old
        /// That somebody else has put it there.
        case news
    }

    /// What was read or written last; `nil` before either.
    private(set) var last: TokenCredential?

    /// What lay there before the writes that have not been seen yet.
    private var beneath: [TokenCredential] = []

    /// What the app's variable is being set to: it may arrive at any moment,
    /// also after what somebody else has put there.
    private var pending: [TokenCredential] = []

    /// What a credential that is read says.
    func judge(_ read: TokenCredential) -> Reading {
        let read = read.isEmpty ? .empty : read
        if read == last { return .same }
        return (beneath + pending).contains { $0.isSame(as: read) } ? .old : .news
    }

    /// Whether a credential is what was read or written last, and nothing is
    /// left to be learned from it.
    @inline(__always)
    func isUnchanged(_ read: TokenCredential) -> Bool {
        beneath.isEmpty && last?.isExactly(read) == true
    }

    /// Notes that a credential was read, and tells what that says.
    mutating func note(_ read: TokenCredential) -> Reading {
        // What is read before every request, most of the time: compared in place.
        if last?.isExactly(read) == true { return arrived() }
        // Nothing is nothing, whatever its expiry.
        let read = read.isEmpty ? .empty : read
        if read == last { return arrived() }
        let reading = judge(read)
        if case .news = reading {
            last = read
            beneath = []
        }
        return reading
    }

    /// What was read or written last is read.
    private mutating func arrived() -> Reading {
        guard !beneath.isEmpty else { return .same }
        beneath = []
        return .arrived
    }

    /// Notes that a credential is about to be written.
    ///
    /// - Parameter isPending: Whether `didSet` says when that is over.
    mutating func willWrite(_ credential: TokenCredential, isPending: Bool) {
        if isPending { pending.append(credential) }
        if let last { beneath.append(last) }
        beneath.removeAll { $0.isSame(as: credential) }
        // The first stays: a place that takes nothing goes on handing it out.
        if beneath.count > Self.limit { beneath.remove(at: 1) }
        last = credential
    }

    /// Notes that what counts is put into the app's variable once more.
    mutating func willSetAgain() {
        if let last { pending.append(last) }
    }

    /// Notes that the app's variable was set, or was not set after all.
    mutating func didSet(_ credential: TokenCredential) {
        guard let index = pending.firstIndex(of: credential) else { return }
        pending.remove(at: index)
        // It may have arrived after what somebody else has put there.
        if credential != last { beneath.append(credential) }
    }

    /// Notes that the place has taken a credential.
    mutating func wrote(_ credential: TokenCredential) {
        if credential == last { beneath = [] }
    }

    private static let limit = 16
}

extension TokenCredential {
    /// Whether it is the same to the last field.
    fileprivate func isExactly(_ other: TokenCredential) -> Bool { self == other }

    /// Whether it is the same, though a store may keep whole seconds only.
    fileprivate func isSame(as other: TokenCredential) -> Bool {
        hasTokens(of: other)
            && (expiresAt == other.expiresAt || abs(expiresAt.timeIntervalSince(other.expiresAt)) < 1)
    }
}
