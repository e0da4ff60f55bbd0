import Foundation

/// A session of bearer tokens as a pure value: what is known, which requests
/// wait, and what has to be done next.
///
/// Every method is an event, a fact that something outside has found. It
/// returns the actions that follow from it. The machine doesn't wait, lock,
/// read a clock or draw random numbers: time and randomness are arguments.
/// Every event may come in every phase; an event that no longer matters changes
/// nothing.
///
/// Four numbers make late events harmless. The *token number* counts access
/// tokens, so that a 401 for an older one is recognised. The *version* counts
/// changes of the credential, so that what was read before a change is read
/// again. The *refresh number* counts refreshes, so that only the running one
/// can end. The *generation* counts sign-ins and sign-outs; the results of an
/// older one are dropped.
struct SessionMachine<Waiter> {
    typealias Phase = SessionPhase
    typealias Admission = SessionAdmission
    typealias Signature = SessionSignature
    typealias Waiting = SessionWaiting<Waiter>

    /// What has to be done after an event.
    enum Action {
        /// Read the stored credential; ends with `loaded` or `loadingFailed`.
        case load(number: Int)
        /// Get another credential as the waiter's service does, in place of
        /// this one if there is one. Begins with `refreshFound` where the
        /// credential is loaded, and ends with `refreshSucceeded`,
        /// `refreshFailed`, `refreshRejected` or `refreshAbandoned`.
        case refresh(number: Int, TokenCredential?, for: Waiter)
        /// Write the credential, unless `mayStore` is false by then; ends with
        /// `stored` or `notStored`.
        case store(TokenCredential, version: Int)
        /// Write the credential over what is out of date; ends with `stored`, or
        /// `wroteAgain` in a store.
        case rewrite(TokenCredential, version: Int)
        /// Call `nextReleased` until it returns no waiter.
        case release
        /// Tell these requests that they will not be sent.
        case refuse([Waiter], AuthenticationError)
        /// Call `wokeUp` at the instant.
        case wake(MonotonicInstant)
        /// Tell the app that a refresh failed, after the requests that waited
        /// for it.
        case announceFailure(AuthenticationError)
        /// Log that the store holds a credential that is useless: it was
        /// overwritten, or its refresh token is spent.
        case announceStaleStore
        /// Revoke a credential that was issued for a session that has been
        /// signed out.
        case revoke(TokenCredential)
        /// Tell the app what happened to the session.
        case announce(SessionEvent)
    }

    struct RunningRefresh {
        let number: Int
        /// How the request that started it would get another credential.
        let asked: RefreshMeans
        /// How the refresh does.
        var means: RefreshMeans
        /// The credential that it replaces; `nil` if there is none.
        var credential: TokenCredential?
        /// Whether the session no longer uses the credential that it replaces.
        var isOutdated = false
        /// Whether the session that it was started for has been signed out.
        var isSignedOut = false
        /// Whether the app's provider has returned a credential.
        var isProvided = false
    }

    var phase: Phase
    var held: HeldCredential?
    /// Counts all changes of the credential and of what is known about it, so
    /// that what was read before a change is recognised.
    var version = 0
    /// The number of the newest access token: a 401 for an older one comes late.
    var lastTokenNumber = 0
    /// Counts sign-ins and sign-outs.
    var generation = 0
    /// Counts the access tokens that somebody else than a sign-in or a refresh
    /// of this process has put in place of another one, or of none.
    var takeoverCount = 0
    /// Counts the people who have gone.
    ///
    /// By a sign-out, or because somebody else's credential took the place. What
    /// is kept for a person goes by it.
    var departures = 0
    var waiters = TicketQueue<Waiting>()
    /// Whether somebody is calling `nextReleased`; newcomers wait until all
    /// others have been released.
    var isReleasing = false
    /// The ticket of the waiter that was released last; it may not have been
    /// sent yet.
    var releasedTicket: Int?

    let policy: RefreshPolicy
    /// Whether the credential is read by `load`, and not handed over with every
    /// request.
    let needsLoading: Bool
    /// The load whose result is awaited; the result of an older one is dropped.
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
    /// What is known about the place where the credential is kept.
    var store = StoreMemory()
    /// The refresh tokens that must not be sent again.
    var spent = SpentTokens()
    /// The refresh token that the authorization server has refused last.
    var refusedRefreshToken: String?
    /// What is known about access tokens that were held before.
    var known = KnownTokens()
    /// The means of the refresh that ended the session.
    var endedMeans = RefreshMeans.refreshToken
    var hasAnnouncedStaleStore = false

    /// Makes a session about which nothing is known.
    ///
    /// - Parameter needsLoading: Whether the credential is read by `load`, and
    ///   not handed over with every request.
    init(policy: RefreshPolicy = RefreshPolicy(), needsLoading: Bool = false) {
        self.policy = policy
        self.needsLoading = needsLoading
        phase = needsLoading ? .loading(end: nil) : .signedOut
    }

    /// Whether this refresh is running, and its result still matters.
    func isRunning(_ number: Int) -> Bool { running.map { $0.number == number && !$0.isOutdated } ?? false }

    /// What an app is told of the session.
    ///
    /// - Parameters:
    ///   - current: What the app's variable holds, if it is known.
    ///   - now: The time, if it matters whether the token is good.
    func state(reading current: TokenCredential? = nil, at now: MonotonicInstant? = nil) -> SessionState {
        // A request would find the credential there.
        let isSignedIn = current.map(isNews) ?? false
        return switch phase {
        case .loading(let end): end.map { .ended($0.error) } ?? .unknown
        case .signedOut: isSignedIn ? .signedIn : .signedOut
        case .ended(let error): isSignedIn ? .signedIn : .ended(error)
        case .refreshing, .storing: now.map { isGood(at: $0, by: .refreshToken) } == true ? .signedIn : .refreshing
        case .active, .backingOff: held == nil ? .signedOut : .signedIn
        }
    }

    /// The refresh that may still bring home a credential to be stored, or
    /// whose credential is being stored; `nil` if there is none.
    ///
    /// A provider that has returned nothing yet isn't one: it may wait for a
    /// person.
    var unfinishedRefresh: Int? {
        if case .storing = phase { return lastRefreshNumber }
        guard let running, running.means != .provider || running.isProvided else { return nil }
        guard running.isOutdated else { return running.number }
        // Somebody has put back the refresh token that it spends.
        guard !running.isSignedOut, let held, !held.credential.refreshToken.isEmpty else { return nil }
        return held.credential.refreshToken == running.credential?.refreshToken ? running.number : nil
    }

    /// How this refresh gets a credential; `nil` if it isn't running any more.
    func means(of number: Int) -> RefreshMeans? { running.flatMap { $0.number == number ? $0.means : nil } }

    /// When the next refresh may start, if refreshes back off now.
    var pauseEnd: MonotonicInstant? { if case .backingOff(let until) = phase { until } else { nil } }
}

extension SessionMachine: Sendable where Waiter: Sendable {}
extension SessionMachine.Action: Sendable where Waiter: Sendable {}
