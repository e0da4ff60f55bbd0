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
        /// Call `nextReleased` until it returns no waiter.
        case release
        /// Tell these that they will not be sent.
        case refuse([Waiter], AuthenticationError)
        /// Call `wokeUp` at the instant.
        case wake(MonotonicInstant)
        /// Tell the app that a refresh failed, after those who waited for it.
        case announceFailure(AuthenticationError)
        /// Tell the app that the store still holds a replaced credential.
        case announceStaleStore
        /// Tell the app what has become of the session.
        case announce(SessionEvent)
    }

    struct RunningRefresh {
        let number: Int
        /// What is to be replaced; `nil` when there is none.
        let credential: TokenCredential?
        /// Whether the credential it replaces isn't the session's any more.
        var isOutdated = false
    }

    var phase: Phase
    var held: HeldCredential?
    /// Counts credentials and every change of what is known of them, so that
    /// what was read before a change is recognised.
    var version = 0
    /// The first version with the access token that is held: a 401 for an
    /// older one is a late one.
    var firstVersion = 0
    /// Counts sign-ins and sign-outs.
    var generation = 0
    var waiters = TicketQueue<Waiter>()
    /// Whether somebody is calling `nextReleased`; newcomers stay behind those
    /// who are being released.
    var isReleasing = false

    let policy: RefreshPolicy
    /// Whether the credential is read by `load` rather than handed over with
    /// every request.
    let isLoaded: Bool
    /// The load whose outcome is waited for; that of an older one is dropped.
    var runningLoad: Int?
    var lastLoadNumber = 0
    /// Whether the end that the load decides on has yet to be announced.
    var isEndNews = false
    /// Whether the event that is being dealt with has just read the store.
    var hasJustRead = false
    var running: RunningRefresh?
    var lastRefreshNumber = 0
    /// Failed refreshes in a row.
    var failures = 0
    /// No refresh is started before this.
    var notBefore: MonotonicInstant?
    var lastFailure: AuthenticationError?
    /// When refreshes turned out fruitless, within the window.
    var fruitless: [MonotonicInstant] = []
    /// What refreshes of this session have replaced: it is never new again.
    var replaced = ReplacedTokens()
    var hasAnnouncedStaleStore = false

    /// Makes a session about which nothing is known.
    ///
    /// - Parameter needsLoading: Whether the credential is read by `load`
    ///   rather than handed over with every request.
    init(policy: RefreshPolicy = RefreshPolicy(), needsLoading: Bool = false) {
        self.policy = policy
        isLoaded = needsLoading
        phase = needsLoading ? .loading(unlessChanged: nil) : .signedOut
    }

    /// Whether a refresh is on its way; never more than one.
    var isRefreshOnItsWay: Bool { running != nil }

    /// Whether this refresh is the one on its way, and its outcome is wanted.
    func isRunning(_ number: Int) -> Bool { running.map { $0.number == number && !$0.isOutdated } ?? false }

    /// When the pause ends in which refreshes back off, if this is one.
    var pauseEnd: MonotonicInstant? { if case .backingOff(let until) = phase { until } else { nil } }

    /// How many refreshes have been started.
    var refreshCount: Int { lastRefreshNumber }
}

extension SessionMachine: Sendable where Waiter: Sendable {}
extension SessionMachine.Action: Sendable where Waiter: Sendable {}
