import Foundation

/// The credential that a session goes by, and what it has learned about it.
struct HeldCredential: Sendable {
    /// What every request looks at, in one place: copied as a whole, it would
    /// cost a request more than all the rest of its admission.
    private final class Tokens: Sendable {
        let credential: TokenCredential
        let authorization: String
        let canBeSent: Bool

        init(_ credential: TokenCredential) {
            self.credential = credential
            authorization = "Bearer " + credential.accessToken
            canBeSent = HeldCredential.canBeSent(credential.accessToken)
        }
    }

    private var tokens: Tokens

    /// The tokens; a refresh token can be replaced beside the access token.
    var credential: TokenCredential { tokens.credential }

    /// What a request is signed with (RFC 6750 §2.1).
    var authorization: String { tokens.authorization }

    /// Whether the access token can stand in a header field (RFC 6750 §2.1).
    ///
    /// What a store hands over is not sent unseen: a line break in it would
    /// start another field.
    private var canBeSent: Bool { tokens.canBeSent }

    /// When the access token really expires; `nil` for not known.
    ///
    /// Fixed on the monotonic clock when the pair of access token and
    /// `expiresAt` is first seen, so that setting the device's clock later
    /// changes nothing.
    private(set) var expiry: MonotonicInstant?

    /// When it is to be refreshed, which is some time before ``expiry``.
    private(set) var refreshTime: MonotonicInstant?

    /// The `expiresAt` that ``expiry`` was fixed from.
    private(set) var expiresAtAsRead: Date

    /// Whether a refresh of this session brought it.
    let isFromRefresh: Bool

    /// Tells its access token from others that the session has held: the
    /// number of a request that was signed with it.
    var number = 0

    /// Whether the server refused it in a first attempt.
    var isRejected = false

    /// Whether the server accepted a request with it.
    var isProven = false

    /// Whether its loss has been counted as that of a fruitless refresh.
    var isCountedAsFruitless = false

    /// Whether an early refresh has failed or would be of no use, so that only
    /// real expiry counts.
    var ignoresLeeway = false

    /// Why it can't be renewed by these means any more, if that was learned
    /// while the access token was still good.
    var finalFailure: (error: AuthenticationError, means: RenewalMeans)?

    /// A credential read from where the app keeps it.
    init(read credential: TokenCredential, now: Moment, policy: RefreshPolicy) {
        tokens = Tokens(credential)
        isFromRefresh = false
        expiresAtAsRead = credential.expiresAt
        (expiry, refreshTime) = Self.lifetime(
            from: now.instant, seconds: Self.seconds(until: credential.expiresAt, now: now), policy: policy)
    }

    /// A credential that a refresh brought.
    ///
    /// - Parameters:
    ///   - lifetime: How long the access token lives from `sentAt` on; `nil`
    ///     when the server didn't say.
    ///   - sentAt: When the refresh was sent.
    init(
        refreshed credential: TokenCredential, lifetime: Double?, sentAt: MonotonicInstant, policy: RefreshPolicy
    ) {
        tokens = Tokens(credential)
        isFromRefresh = true
        expiresAtAsRead = credential.expiresAt
        (expiry, refreshTime) = Self.lifetime(from: sentAt, seconds: lifetime, policy: policy)
    }

    /// Goes by another `expiresAt` of the same access token.
    mutating func readAgain(_ read: TokenCredential, now: Moment, policy: RefreshPolicy) {
        tokens = Tokens(read)
        guard isAnotherExpiry(read.expiresAt) else { return }
        expiresAtAsRead = read.expiresAt
        (expiry, refreshTime) = Self.lifetime(
            from: now.instant, seconds: Self.seconds(until: read.expiresAt, now: now), policy: policy)
    }

    /// The same access token once more, in a new session or because somebody
    /// has put it back: what is known of the token stays known.
    func heldAgain(_ read: TokenCredential, now: Moment, policy: RefreshPolicy) -> HeldCredential {
        var held = self
        held.readAgain(read, now: now, policy: policy)
        held.ignoresLeeway = false
        held.finalFailure = nil
        return held
    }

    /// Whether a date differs from what the expiry was fixed from by more than
    /// a store loses that keeps whole seconds.
    private func isAnotherExpiry(_ date: Date) -> Bool {
        abs(date.timeIntervalSince(expiresAtAsRead)) >= 1
    }

    /// Whether a request may be started with it at all.
    @inline(__always)
    func isUsable(at instant: MonotonicInstant) -> Bool {
        !isRejected && canBeSent && expiry.map { instant < $0 } ?? true
    }

    /// Whether a request may be started with it and no refresh is due.
    ///
    /// - Parameter means: How another one would be got.
    @inline(__always)
    func isGood(at instant: MonotonicInstant, by means: RenewalMeans) -> Bool {
        guard isUsable(at: instant) else { return false }
        // What can't be renewed is used to its end.
        guard let refreshTime, !ignoresLeeway, means.acquires || !credential.refreshToken.isEmpty else { return true }
        return instant < refreshTime
    }

    static func canBeSent(_ accessToken: String) -> Bool {
        !accessToken.isEmpty && accessToken.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func seconds(until date: Date, now: Moment) -> Double? {
        date == .distantFuture ? nil : date.timeIntervalSince(now.date)
    }

    private static func lifetime(
        from instant: MonotonicInstant, seconds: Double?, policy: RefreshPolicy
    ) -> (expiry: MonotonicInstant?, refreshTime: MonotonicInstant?) {
        guard let seconds, !seconds.isNaN else { return (nil, nil) }
        let life = Duration.seconds(min(max(seconds, 0), 3_153_600_000))
        let expiry = instant.advanced(by: life)
        return (expiry, expiry - min(policy.leeway, life / 4))
    }
}
