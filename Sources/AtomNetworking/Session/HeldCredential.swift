import Foundation

/// The credential that a session uses, and what is known about it.
struct HeldCredential: Sendable {
    /// What every request reads, behind one reference: to copy the strings
    /// would cost more than the rest of an admission.
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

    /// The tokens; the refresh token can change while the access token stays.
    var credential: TokenCredential { tokens.credential }

    /// What a request is signed with (RFC 6750 §2.1).
    var authorization: String { tokens.authorization }

    var signature: SessionSignature { .authorization(tokens.authorization, version: number) }

    /// Whether the access token can stand in a header field (RFC 6750 §2.1).
    ///
    /// A token from a store is checked before it is sent: a line break in it
    /// would start another field.
    private var canBeSent: Bool { tokens.canBeSent }

    /// When the access token really expires; `nil` if that is not known.
    ///
    /// Computed on the monotonic clock when the pair of access token and
    /// `expiresAt` is first seen: a later change of the device's clock has no
    /// effect.
    private(set) var expiry: MonotonicInstant?

    /// When it has to be refreshed, some time before ``expiry``.
    private(set) var refreshTime: MonotonicInstant?

    /// The `expiresAt` that ``expiry`` was computed from.
    private(set) var expiresAtAsRead: Date

    /// Whether it comes from a refresh of this session.
    let isFromRefresh: Bool

    /// The number of the access token among those that the session has held;
    /// a request that is signed with it remembers this number.
    var number = 0

    /// Whether the server has refused it in a first attempt.
    var isRejected = false

    /// Whether the server has accepted a request with it.
    var isProven = false

    /// Whether its loss has been counted as a fruitless refresh.
    var isCountedAsFruitless = false

    /// Whether an early refresh has failed or would not help, so that only the
    /// real expiry counts.
    var ignoresLeeway = false

    /// Why these means can't renew it any more, if that was found out while the
    /// access token was still good.
    var finalFailure: FinalFailure?

    /// A credential read from where the app keeps it.
    init(read credential: TokenCredential, now: Moment, policy: RefreshPolicy) {
        tokens = Tokens(credential)
        isFromRefresh = false
        expiresAtAsRead = credential.expiresAt
        (expiry, refreshTime) = Self.lifetime(
            from: now.instant, seconds: Self.seconds(until: credential.expiresAt, now: now), policy: policy)
    }

    /// A credential from a refresh.
    ///
    /// - Parameters:
    ///   - lifetime: How long the access token is valid from `sentAt` on; `nil`
    ///     if the server didn't say.
    ///   - sentAt: When the refresh was sent.
    init(
        refreshed credential: TokenCredential, lifetime: Double?, sentAt: MonotonicInstant, policy: RefreshPolicy
    ) {
        tokens = Tokens(credential)
        isFromRefresh = true
        expiresAtAsRead = credential.expiresAt
        (expiry, refreshTime) = Self.lifetime(from: sentAt, seconds: lifetime, policy: policy)
    }

    /// Takes over another `expiresAt` or refresh token of the same access token.
    mutating func readAgain(_ read: TokenCredential, now: Moment, policy: RefreshPolicy) {
        tokens = Tokens(read)
        guard isAnotherExpiry(read.expiresAt) else { return }
        expiresAtAsRead = read.expiresAt
        (expiry, refreshTime) = Self.lifetime(
            from: now.instant, seconds: Self.seconds(until: read.expiresAt, now: now), policy: policy)
    }

    /// The same access token in a new session, or put back by somebody else:
    /// what is known about the token stays.
    func heldAgain(_ read: TokenCredential, now: Moment, policy: RefreshPolicy) -> HeldCredential {
        var held = self
        held.readAgain(read, now: now, policy: policy)
        held.ignoresLeeway = false
        held.finalFailure = nil
        return held
    }

    /// Whether a date differs from ``expiresAtAsRead`` by more than rounding:
    /// some stores keep whole seconds only.
    private func isAnotherExpiry(_ date: Date) -> Bool {
        abs(date.timeIntervalSince(expiresAtAsRead)) >= 1
    }

    /// Whether a request may be sent with it at all.
    func isUsable(at instant: MonotonicInstant) -> Bool {
        !isRejected && canBeSent && expiry.map { instant < $0 } ?? true
    }

    /// Whether a request may be sent with it and no refresh is due.
    ///
    /// - Parameter means: How the request would get another credential.
    func isGood(at instant: MonotonicInstant, by means: RefreshMeans) -> Bool {
        guard isUsable(at: instant) else { return false }
        // A credential that can't be renewed is used until it expires.
        guard let refreshTime, !ignoresLeeway, means.acquiresEarly || !credential.refreshToken.isEmpty else {
            return true
        }
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

/// Why means can't renew a credential any more; an object, since every admission
/// copies what holds it.
final class FinalFailure: Sendable {
    let error: AuthenticationError
    let means: RefreshMeans

    init(_ error: AuthenticationError, of means: RefreshMeans) {
        self.error = error
        self.means = means
    }
}

/// What a session knows about access tokens that it held before.
///
/// An access token that was refused or has expired stays dead when somebody
/// puts it back; the refresh token beside it may still be good.
struct KnownTokens: Sendable {
    private var tokens: [HeldCredential] = []

    /// What is known about this access token.
    func find(_ accessToken: String) -> HeldCredential? {
        tokens.last { $0.credential.accessToken == accessToken }
    }

    /// Keeps what is known about a credential that is about to be replaced.
    mutating func insert(_ held: HeldCredential) {
        guard !held.credential.accessToken.isEmpty else { return }
        tokens.removeAll { $0.credential.accessToken == held.credential.accessToken }
        tokens.append(held)
        if tokens.count > Self.limit { tokens.removeFirst() }
    }

    private static let limit = 16
}
