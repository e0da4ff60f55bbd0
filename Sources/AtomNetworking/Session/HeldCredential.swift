import Foundation

/// The credential that a session uses, and what is known about it.
struct HeldCredential: Sendable {
    /// What every request reads, behind one reference: to copy the strings costs more than the rest of an admission.
    private final class Tokens: Sendable {
        let credential: TokenCredential
        let authorization: String
        /// A token from a store is checked before it is sent: a line break in it would start another field.
        let canBeSent: Bool

        init(_ credential: TokenCredential) {
            self.credential = credential
            // Any other type is sent as a bearer token (RFC 6750 §2.1).
            authorization = (credential.isBound ? TokenCredential.boundType : "Bearer") + " " + credential.accessToken
            canBeSent = HeldCredential.canBeSent(credential.accessToken)
        }
    }

    private var tokens: Tokens

    /// The tokens; the refresh token can change while the access token stays.
    var credential: TokenCredential { tokens.credential }

    /// What a request is signed with.
    var authorization: String { tokens.authorization }

    @inline(__always)
    func pass(of tenure: Tenure) -> Pass {
        Pass(authorization: tokens.authorization, tokenNumber: number, isUnproven: isUnproven, tenure: tenure)
    }

    /// When the access token really expires; `nil` if that is not known.
    ///
    /// Computed on the monotonic clock when the pair of access token and `expiresAt` is first seen: a later change of
    /// the device's clock has no effect.
    private(set) var expiry: MonotonicInstant?

    /// When it has to be refreshed, some time before ``expiry``.
    private(set) var refreshTime: MonotonicInstant?

    /// The `expiresAt` that ``expiry`` was computed from.
    private(set) var expiresAtAsRead: Date

    /// Whether it comes from a refresh of this session, and no request has been accepted with it yet, nor has it
    /// been counted as fruitless.
    var isUnproven: Bool

    /// The number of the access token among those that the session has held;
    /// a request that is signed with it remembers this number.
    var number = 0

    /// Whether the server has refused it in a first attempt.
    var isRejected = false

    /// Whether an early refresh has failed or would not help, so that only the real expiry counts.
    var ignoresLeeway = false

    /// Why these means can't renew it any more, if that was found out while the access token was still good.
    var finalFailure: FinalFailure?

    /// A credential read from where the app keeps it.
    init(read credential: TokenCredential, now: Moment, policy: RefreshPolicy) {
        tokens = Tokens(credential)
        isUnproven = false
        expiresAtAsRead = credential.expiresAt
        setLifetime(Self.lifetime(of: credential, now: now), from: now.instant, policy)
    }

    /// A credential from a refresh.
    ///
    /// - Parameter lifetime: How long the access token is valid from `sentAt` on, which is when the refresh was sent;
    ///   `nil` if the server didn't say, or zero or less, by which servers mean that it lasts for ever, or a moment.
    init(
        refreshed credential: TokenCredential, lifetime: Double?, sentAt: MonotonicInstant, now: MonotonicInstant,
        policy: RefreshPolicy
    ) {
        tokens = Tokens(credential)
        isUnproven = true
        expiresAtAsRead = credential.expiresAt
        setLifetime(lifetime.flatMap { $0 > 0 ? $0 : nil }, from: sentAt, policy)
        trust(at: now)
    }

    /// A credential that somebody signs in with, who says by it that the access token is good.
    init(signedIn credential: TokenCredential, now: Moment, policy: RefreshPolicy) {
        self.init(read: credential, now: now, policy: policy)
        trust(at: now.instant)
    }

    /// A token that has just been issued is tried although its lifetime says that it is over: for some seconds, or
    /// until a server rejects it if it can't be renewed.
    private mutating func trust(at instant: MonotonicInstant) {
        guard let end = expiry, end <= instant else { return }
        expiry = credential.refreshToken.isEmpty ? nil : instant.advanced(by: .seconds(10))
        refreshTime = expiry
    }

    /// Takes over another `expiresAt` or refresh token of the same access token.
    mutating func readAgain(_ read: TokenCredential, now: Moment, policy: RefreshPolicy) {
        tokens = Tokens(read)
        guard !read.expires(at: expiresAtAsRead) else { return }
        expiresAtAsRead = read.expiresAt
        setLifetime(Self.lifetime(of: read, now: now), from: now.instant, policy)
    }

    /// The same access token in a new session, or put back by somebody else: what is known about the token stays.
    func heldAgain(_ read: TokenCredential, now: Moment, policy: RefreshPolicy) -> HeldCredential {
        var held = self
        held.readAgain(read, now: now, policy: policy)
        held.ignoresLeeway = false
        held.finalFailure = nil
        return held
    }

    /// Whether a request may be sent with it at all.
    func isUsable(at instant: MonotonicInstant) -> Bool {
        !isRejected && tokens.canBeSent && expiry.map { instant < $0 } ?? true
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

    /// Whether an access token can stand in a header field (RFC 6750 §2.1).
    static func canBeSent(_ accessToken: String) -> Bool {
        1...(HTTPGrammar.longestFieldValue - "Bearer ".utf8.count) ~= accessToken.utf8.count
            && accessToken.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func lifetime(of credential: TokenCredential, now: Moment) -> Double? {
        credential.expiresAt == .distantFuture ? nil : credential.expiresAt.timeIntervalSince(now.date)
    }

    private mutating func setLifetime(_ seconds: Double?, from instant: MonotonicInstant, _ policy: RefreshPolicy) {
        (expiry, refreshTime) = (nil, nil)
        guard let seconds, !seconds.isNaN else { return }
        let life = Duration.seconds(min(max(seconds, 0), Duration.century.seconds))
        let end = instant.advanced(by: life)
        (expiry, refreshTime) = (end, end - min(policy.leeway, life / 4))
    }
}

/// Why means can't renew a credential any more; an object, since every admission copies what holds it.
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
