import Foundation

/// A session of bearer tokens as a pure value: what is known, who waits, and
/// what has to be done next.
///
/// Every method is an event, a fact that something outside has found; it
/// returns the actions that follow from it. Nothing in here waits, locks,
/// reads a clock or rolls dice: time and chance are arguments. Every event may
/// come in every phase; one that no longer matters changes nothing.
///
/// Three numbers keep late news from doing harm. The *version* counts
/// credentials, so that a 401 for an older one is recognised. The *refresh
/// number* counts refreshes, so that only the running one can end. The
/// *generation* counts sign-ins and sign-outs; what an older one brings home
/// is dropped.
struct SessionMachine<Waiter> {
    typealias Phase = SessionPhase
    typealias Admission = SessionAdmission
    typealias Signature = SessionSignature
    typealias Waiting = SessionWaiting<Waiter>

    /// What to do after an event.
    enum Action {
        /// Read the stored credential; ends with `loaded` or `loadingFailed`.
        case load(number: Int)
        /// Get another credential as the waiter is configured, in place of
        /// this one if there is one; begins with `refreshFound` where the
        /// store is shared, and ends with `refreshSucceeded`,
        /// `refreshFailed`, `refreshRejected` or `refreshAbandoned`.
        case refresh(number: Int, TokenCredential?, for: Waiter)
        /// Write the credential unless `mayStore` says no; ends with `stored`
        /// or `notStored`.
        case store(TokenCredential, version: Int)
        /// Write what a spent credential has come to over it, unless
        /// `mayStore` says no or it is there no more; ends with `stored` or
        /// `notStored`.
        case rewrite(TokenCredential, version: Int)
        /// Call `nextReleased` until it returns no waiter.
        case release
        /// Tell these that they will not be sent.
        case refuse([Waiter], AuthenticationError)
        /// Call `wokeUp` at the instant.
        case wake(MonotonicInstant)
        /// Tell the app that a refresh failed, after those who waited for it.
        case announceFailure(AuthenticationError)
        /// Tell the app that the store holds a credential that is of no use
        /// any more: it was written over, or its refresh token is spent.
        case announceStaleStore
        /// Revoke what was issued for a session that has been signed out.
        case revoke(TokenCredential)
        /// Tell the app what has become of the session.
        case announce(SessionEvent)
    }

    struct RunningRefresh {
        let number: Int
        /// How it gets another credential.
        let means: RenewalMeans
        /// What is to be replaced; `nil` when there is none.
        var credential: TokenCredential?
        /// Whether the credential it replaces isn't the session's any more.
        var isOutdated = false
        /// Whether the session that it was begun for has been signed out.
        var isSignedOut = false
    }

    var phase: Phase
    var held: HeldCredential?
    /// Counts credentials and every change of what is known of them, so that
    /// what was read before a change is recognised.
    var version = 0
    /// The number of the access token that was held last: a 401 for another
    /// one is a late one.
    var lastTokenNumber = 0
    /// Counts sign-ins and sign-outs.
    var generation = 0
    var waiters = TicketQueue<Waiting>()
    /// Whether somebody is calling `nextReleased`; newcomers stay behind those
    /// who are being released.
    var isReleasing = false
    /// The ticket of the waiter that was released last, which may not have
    /// gone on yet.
    var releasedTicket: Int?

    let policy: RefreshPolicy
    /// Whether the credential is read by `load` rather than handed over with
    /// every request.
    let needsLoading: Bool
    /// The load whose outcome is waited for; that of an older one is dropped.
    var runningLoad: Int?
    var lastLoadNumber = 0
    var running: RunningRefresh?
    var lastRefreshNumber = 0
    /// Failed refreshes in a row.
    var failures = 0
    /// No refresh is started before this.
    var notBefore: MonotonicInstant?
    var lastFailure: AuthenticationError?
    /// When refreshes turned out fruitless, within the window.
    var fruitless: [MonotonicInstant] = []
    /// What is known of the place where the credential is kept.
    var store = StoreMemory()
    /// The refresh tokens that are never sent again.
    var spent = SpentTokens()
    /// What was learned of access tokens that were held before.
    var known = KnownTokens()
    /// How the refresh went about it that the end of the session came from.
    var endedMeans = RenewalMeans.refreshToken
    var hasAnnouncedStaleStore = false

    /// Makes a session about which nothing is known.
    ///
    /// - Parameter needsLoading: Whether the credential is read by `load`
    ///   rather than handed over with every request.
    init(policy: RefreshPolicy = RefreshPolicy(), needsLoading: Bool = false) {
        self.policy = policy
        self.needsLoading = needsLoading
        phase = needsLoading ? .loading(end: nil) : .signedOut
    }

    /// Whether this refresh is the one on its way, and its outcome is wanted.
    func isRunning(_ number: Int) -> Bool { running.map { $0.number == number && !$0.isOutdated } ?? false }

    /// When the pause ends in which refreshes back off, if this is one.
    var pauseEnd: MonotonicInstant? { if case .backingOff(let until) = phase { until } else { nil } }
}

extension SessionMachine: Sendable where Waiter: Sendable {}
extension SessionMachine.Action: Sendable where Waiter: Sendable {}
