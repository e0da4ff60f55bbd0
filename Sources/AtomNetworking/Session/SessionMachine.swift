import Foundation

/// A session of bearer tokens as a pure value: what is known, which requests wait, and what has to be done next.
///
/// Every method is an event, a fact that something outside has found. It returns the actions that follow from it. The
/// machine doesn't wait, lock, read a clock or draw random numbers: time and randomness are arguments. Every event may
/// come in every phase; an event that no longer matters changes nothing.
///
/// Three numbers and a tenure make late events harmless. The *token number* counts access tokens, so that a 401 for an
/// older one is recognised. The *version* counts changes of the credential, so that what was read before a change is
/// read again. The *refresh number* counts refreshes, so that only the running one can end. The *tenure* tells whose the
/// session is; what comes of an older sign-in is dropped.
struct SessionMachine<Waiter> {
    typealias Phase = SessionPhase
    typealias Admission = SessionAdmission
    typealias Waiting = SessionWaiting<Waiter>

    /// What has to be done after an event.
    enum Action {
        /// Read the stored credential; ends with `loaded` or `loadingFailed`.
        case load(number: Int)
        /// Get another credential as the waiter's service does, in place of this one if there is one. Begins with
        /// `refreshFound` where the credential is loaded, and ends with `refreshSucceeded`, `refreshFailed`,
        /// `refreshRejected` or `refreshAbandoned`.
        case refresh(number: Int, TokenCredential?, for: Waiter)
        /// Set the app's variable, unless `mayStore` is false by then; ends with `stored`.
        case set(TokenCredential, tokenNumber: Int)
        /// Write what a store should hold over what is out of date there; ends with `wroteAgain`.
        case writeAgain
        /// Call `nextReleased` until it returns no waiter.
        case release
        /// Tell these requests that they will not be sent.
        case refuse([Waiter], AuthenticationError)
        /// Call `wokeUp` at the instant.
        case wake(MonotonicInstant)
        /// Tell the app that a refresh failed.
        case announceFailure(AuthenticationError)
        /// Log that the store holds a credential that is useless: it was overwritten, or its refresh token is spent.
        case announceStaleStore
        /// Revoke a credential that was issued for a session that has been signed out.
        case revoke(TokenCredential)
        case announce(SessionEvent)
    }

    /// What the session is doing, and the credential that it uses.
    var phase: Phase
    /// The refresh of a credential that the session no longer uses: the next one starts when it has come home.
    var leftBehind: SessionRefresh?
    /// The refreshes whose time is over, and whose answers may still come.
    var overdue: [SessionRefresh] = []
    /// When a request may have waited long enough for a refresh whose token is still valid; `nil` if none waits for one.
    var patienceEnd: MonotonicInstant?
    /// Counts all changes of the credential and of what is known about it.
    var version = 0
    var lastTokenNumber = 0
    /// Whose session it is, as far as the machine knows.
    var tenure: Tenure
    var waiters = TicketQueue<Waiting>()
    /// Whether somebody is calling `nextReleased`; newcomers wait until all others have been released.
    var isReleasing = false
    /// The ticket of the waiter that was released last; it may not have been sent yet.
    var releasedTicket: Int?

    let policy: RefreshPolicy
    /// Whether the credential is read by `load`, and not handed over with every request.
    let needsLoading: Bool
    var lastLoadNumber = 0
    var lastRefreshNumber = 0
    /// `nil` if the last refresh has succeeded.
    var setback: SessionSetback?
    /// When refreshes turned out fruitless, within the window.
    var fruitless: [MonotonicInstant] = []
    var store = StoreMemory()
    var spent = SpentTokens()
    /// The refresh token that the authorization server has refused last.
    var refusedRefreshToken: String?
    var known = KnownTokens()
    var hasAnnouncedStaleStore = false

    init(policy: RefreshPolicy = RefreshPolicy(), needsLoading: Bool = false, tenure: Tenure = .nobody) {
        self.policy = policy
        self.needsLoading = needsLoading
        self.tenure = tenure
        phase = needsLoading ? .loading(number: nil, end: nil) : .signedOut
    }

    var held: HeldCredential? {
        get { phase.held }
        set { phase.held = newValue }
    }

    /// The number of the access token that is held; -1, which no request is signed with, if there is none.
    var tokenNumber: Int { held?.number ?? -1 }

    var isStoring: Bool { if case .storing = phase { true } else { false } }

    func isGood(at instant: MonotonicInstant, by means: RefreshMeans) -> Bool {
        held?.isGood(at: instant, by: means) ?? false
    }

    /// Whether this refresh is running, and its result still matters.
    func isRunning(_ number: Int) -> Bool { running(number)?.isOutdated == false }

    /// How this refresh gets a credential; `nil` if it isn't running any more.
    func means(of number: Int) -> RefreshMeans? { running(number)?.refresh.means }

    /// What an app is told of the session.
    ///
    /// - Parameters:
    ///   - current: What the app's variable holds, if it is known.
    ///   - now: If it matters whether the token is good.
    func state(reading current: TokenCredential? = nil, at now: MonotonicInstant? = nil) -> SessionState {
        // A request would find the credential there.
        let isSignedIn = current.map(isNews) ?? false
        return switch phase {
        case .loading(_, let end):
            // It is read again before a request is told that nobody is signed in.
            end.map { .ended($0.error) } ?? (store.last?.isEmpty == true ? .signedOut : .unknown)
        case .signedOut, .backingOff(nil, _): isSignedIn ? .signedIn : .signedOut
        case .ended(let end): isSignedIn ? .signedIn : .ended(end.error)
        case .refreshing, .waiting, .storing:
            now.map { isGood(at: $0, by: .refreshToken) } == true ? .signedIn : .refreshing
        case .signedIn, .backingOff: .signedIn
        }
    }

    /// The refresh that may still bring home a credential to be stored, or whose credential is being stored.
    ///
    /// A provider that has returned nothing yet isn't one: it may wait for a person.
    ///
    /// - Parameter isOverdueOne: Whether one counts whose time is over.
    func unfinishedRefresh(orOverdue isOverdueOne: Bool) -> Int? {
        func isOnItsWay(_ refresh: SessionRefresh) -> Bool { refresh.means != .provider || refresh.isProvided }
        if isStoring { return lastRefreshNumber }
        if case .refreshing(_, let refresh) = phase { return isOnItsWay(refresh) ? refresh.number : nil }
        // Somebody may have put back the refresh token that it spends.
        let left = [leftBehind].compactMap { $0 } + (isOverdueOne ? overdue.reversed() : [])
        return left.first { isOnItsWay($0) && isSuccessorExpected(from: $0) }?.number
    }

    /// What a process that ends now loses: the result of a refresh, or a change that is not stored.
    var loss: AuthenticationError? {
        func running(_ text: String, _ delivery: AtomError.Delivery) -> AtomError {
            .session(URLError(.timedOut, text, delivery: delivery))
        }
        if store.outstanding != nil, let failure = store.failure { return failure }
        if isStoring || store.hasToWrite(again: false) {
            return .credentialNotStored(cause: running("The write is still running", .notSent), delivery: .notSent)
        }
        guard unfinishedRefresh(orOverdue: true) != nil else { return nil }
        let cause = running("The refresh is still running", .maybeSent)
        return .refreshFailed(cause: cause, retryAt: nil, delivery: .notSent)
    }

    /// When `wokeUp` is to be called.
    var wakeTime: MonotonicInstant? {
        switch phase {
        case .backingOff(_, let until): until
        case .refreshing, .waiting: waiters.isEmpty ? nil : patienceEnd
        case .loading, .signedOut, .signedIn, .storing, .ended: nil
        }
    }

    /// The tokens that tell whose the access token with this number is; `nil` if the session has another one.
    func tokens(of number: Int) -> [String]? {
        guard number == tokenNumber, let credential = held?.credential else { return nil }
        guard !credential.refreshToken.isEmpty else { return [credential.accessToken] }
        return [credential.refreshToken] + spent.predecessors(of: credential)
    }
}

// MARK: - Requests

extension SessionMachine {
    /// A request asks to be sent, for the first time or again.
    ///
    /// - Parameters:
    ///   - tenure: Whose it is, if that is known: it is sent for no other sign-in.
    ///   - isBound: Whether it is sent only if that tenure is unbroken; then nobody signs in for it.
    ///   - ticket: The ticket that it got before, unless it has been sent since:
    ///     it keeps its place before later requests.
    ///   - read: What the app's variable holds, and the version before it was read; `nil` for a store.
    mutating func asked(
        _ waiter: Waiter, by means: RefreshMeans, of tenure: Tenure? = nil, isBound: Bool = false,
        isNew: Bool? = nil, ticket: Int? = nil, read: (credential: TokenCredential, version: Int)? = nil,
        deadline: MonotonicInstant, now: Moment
    ) -> (Admission, [Action]) {
        var actions: [Action] = []
        if let read {
            guard read.version == version else { return (.readAgain, []) }
            actions = observed(read.credential, now: now)
        }
        guard isCurrent(tenure, isBound: isBound) else {
            return (.refuse(.signedOut(delivery: .notSent)), actions)
        }
        if let (ticket, _) = admitAtOnce(by: means, of: tenure, ticket: ticket, at: now.instant) {
            return (.go(ticket: ticket), actions)
        }
        let request = Waiting(
            waiter: waiter, means: means, joinedAt: now.instant, deadline: deadline,
            isNew: isNew ?? (tenure == nil), isBound: isBound)
        switch phase {
        case .loading(nil, let end):
            return (enqueue(request, ticket: ticket), actions + startLoading(end))
        case .refreshing(let held?, let refresh)
        where refresh.isSilent && held.isGood(at: now.instant, by: means) && isNext(ticket):
            return (.go(ticket: ticket ?? waiters.issueTicket()), actions)
        case .signedIn where !waiters.isEmpty || isReleasing, .loading, .refreshing, .waiting, .storing:
            return (enqueue(request, ticket: ticket), actions + limitWait(of: [request]))
        case .signedIn, .backingOff: break
        case .ended(let end):
            if isBound { return (.refuse(end.error), actions) }
            // Or only renewal with the refresh token has ended.
            guard !means.acquires || end.means.acquires else { break }
            guard needsLoading else { return (.refuse(end.error), actions) }
            // Another process may have signed in.
            return (enqueue(request, ticket: ticket), actions + startLoading(end))
        case .signedOut where needsLoading:
            return (enqueue(request, ticket: ticket), actions + startLoading(nil))
        case .signedOut:
            guard means.acquires else { return (.refuse(.missingCredential(delivery: .notSent)), actions) }
        }
        return refreshWanted(by: request, ticket: ticket, deadline: deadline, now: now, after: actions)
    }

    /// Admits a request that finds a good token, no earlier request that waits,
    /// and the same credential as the one before: nearly every request.
    ///
    /// It costs a fraction of `asked`, and needs no date. Inlined, because a call would copy the machine.
    ///
    /// - Parameter read: What the app's variable holds; `nil` for a store.
    /// - Returns: `nil` when nothing has been changed and `asked` has to decide.
    @inline(__always)
    mutating func admitAtOnce(
        by means: RefreshMeans, of tenure: Tenure? = nil, isBound: Bool = false, ticket: Int?,
        read: TokenCredential? = nil, at instant: MonotonicInstant
    ) -> (ticket: Int, Pass)? {
        guard case .signedIn(let held) = phase, held.isGood(at: instant, by: means), isNext(ticket) else { return nil }
        guard isCurrent(tenure, isBound: isBound) else { return nil }
        if let read { guard store.isUnchanged(read) else { return nil } }
        return (ticket ?? waiters.issueTicket(), held.pass(of: self.tenure))
    }

    /// Whether a request of this tenure may be sent; `nil` for any.
    @inline(__always)
    private func isCurrent(_ tenure: Tenure?, isBound: Bool) -> Bool {
        guard let tenure else { return true }
        return isBound ? self.tenure.isUnbroken(since: tenure) : self.tenure.isSameSignIn(as: tenure)
    }

    /// Whether no request with an earlier ticket waits or is being released.
    @inline(__always)
    private func isNext(_ ticket: Int?) -> Bool {
        if waiters.isEmpty, !isReleasing { return true }
        guard let ticket, waiters.firstTicket.map({ ticket < $0 }) ?? true else { return false }
        return !isReleasing || releasedTicket.map { ticket <= $0 } ?? true
    }

    /// Has the store read before the session ends, or is found to be signed out.
    mutating func startLoading(_ end: SessionEnd?) -> [Action] {
        lastLoadNumber += 1
        phase = .loading(number: lastLoadNumber, end: end)
        return [.load(number: lastLoadNumber)]
    }

    /// A request is about to be sent, with this pass; without authorization it has to ask again.
    ///
    /// The leeway doesn't matter here: a token that is still valid is sent, unless an earlier request waits. Inlined,
    /// because a call would copy the machine.
    @inline(__always)
    func pass(
        of tenure: Tenure?, isBound: Bool = false, ticket: Int? = nil, at instant: MonotonicInstant
    ) -> Pass {
        let none = Pass(tenure: self.tenure)
        guard isCurrent(tenure, isBound: isBound) else { return none }
        if let ticket, !waiters.isEmpty || isReleasing, !isNext(ticket) { return none }
        switch phase {
        case .signedIn(let held), .refreshing(let held?, _), .waiting(let held?):
            return held.isUsable(at: instant) ? held.pass(of: self.tenure) : none
        case .refreshing, .waiting, .loading, .storing, .backingOff, .ended, .signedOut:
            return none
        }
    }

    /// The server's answer to a request signed with this access token is not a 401.
    mutating func accepted(tokenNumber signed: Int) {
        if signed == tokenNumber { held?.isUnproven = false }
    }

    /// The server answered 401 to a first attempt signed with this access token; the request will ask again at once.
    mutating func rejected(tokenNumber signed: Int, now: Moment) {
        guard signed == tokenNumber, held?.isRejected == false else { return }
        held?.isRejected = true
        countIfFruitless(at: now.instant)
    }

    /// A waiter was cancelled, or its time is up.
    mutating func left(ticket: Int) { _ = waiters.remove(ticket) }

    /// The next waiter is to be released; called until it returns none.
    mutating func nextReleased(now: Moment) -> (Waiter?, [Action]) {
        guard isReleasing else { return (nil, []) }
        guard let next = waiters.first, isSendable(next, at: now.instant) else {
            isReleasing = false
            releasedTicket = nil
            return (nil, proceed(now: now))
        }
        releasedTicket = waiters.firstTicket
        _ = waiters.dequeue()
        return (next.waiter, [])
    }

    mutating func enqueue(_ request: Waiting, ticket: Int?) -> Admission {
        let ticket = ticket ?? waiters.issueTicket()
        waiters.enqueue(request, ticket: ticket)
        return .wait(ticket: ticket)
    }

    /// Whether a waiter may be sent: its token is good, and no refresh holds it up.
    private func isSendable(_ request: Waiting, at instant: MonotonicInstant) -> Bool {
        switch phase {
        case .signedIn(let held): held.isGood(at: instant, by: request.means)
        case .refreshing(let held?, let refresh): refresh.isSilent && held.isGood(at: instant, by: request.means)
        default: false
        }
    }

    /// When the first of these requests has waited for half of its time, or its token's, while the token is still valid.
    func patienceEnd(of requests: [Waiting]) -> MonotonicInstant? {
        let held: HeldCredential
        switch phase {
        case .refreshing(let old?, let refresh) where !refresh.isSilent: held = old
        case .waiting(let old?): held = old
        default: return nil
        }
        return requests.filter { held.isUsable(at: $0.joinedAt) }.map { request in
            let rest = request.joinedAt.duration(to: min(request.deadline, held.expiry ?? request.deadline))
            return request.joinedAt.advanced(by: max(rest / 2, .zero))
        }.min()
    }

    /// Has these requests wait no longer for a refresh than they can afford.
    private mutating func limitWait(of requests: [Waiting]) -> [Action] {
        // What was set for others that have gone is no longer waited for.
        if waiters.count == requests.count { patienceEnd = nil }
        guard let end = patienceEnd(of: requests), patienceEnd.map({ end < $0 }) ?? true else { return [] }
        patienceEnd = end
        return [.wake(end)]
    }

    // MARK: Waiters

    /// Releases the waiters, starts the refresh that they need, or refuses them.
    mutating func proceed(hasJustRead: Bool = false, now: Moment) -> [Action] {
        switch phase {
        case .signedIn, .signedOut, .ended: break
        case .refreshing(_, let refresh) where refresh.isSilent: break
        default: return []
        }
        var actions: [Action] = []
        while let request = waiters.first {
            if isSendable(request, at: now.instant) {
                if !isReleasing {
                    isReleasing = true
                    releasedTicket = nil
                    actions.append(.release)
                }
                return actions
            }
            // The token has died meanwhile: they wait for the silent refresh after all.
            if case .refreshing = phase { return actions }
            switch startRefresh(for: request, hasJustRead: hasJustRead, now: now) {
            case .waits(let next): return actions + next + limitWait(of: waiters.members)
            case .endsSession(_, let next): return actions + next
            case .backsOff(let until, _): return actions + [.wake(until)]
            case .goesOn: continue
            case .refusesRequest(let error):
                _ = waiters.dequeue()
                actions.append(.refuse([request.waiter], error))
            }
        }
        return actions
    }

    private enum RefreshStart {
        /// For a refresh that has been started, one that was left behind, or the store.
        case waits([Action])
        case backsOff(until: MonotonicInstant, AuthenticationError)
        /// The old token is still valid, and no refresh may start now.
        case goesOn
        /// All who wait have been refused.
        case endsSession(AuthenticationError, [Action])
        case refusesRequest(AuthenticationError)
    }

    /// Starts a refresh, or says why it can't, and sets the phase accordingly.
    private mutating func startRefresh(for request: Waiting, hasJustRead: Bool, now: Moment) -> RefreshStart {
        countIfFruitless(at: now.instant)
        if let failure = held?.finalFailure, request.means.ends(with: failure.means) {
            // Another waiter may have other means.
            if waiters.members.contains(where: { !$0.means.ends(with: failure.means) }) {
                return .refusesRequest(failure.error)
            }
            return endSession(failure.error, of: failure.means, hasJustRead: hasJustRead)
        }
        guard request.means.acquires || hasUsefulRefreshToken else {
            let missing = AuthenticationError.missingCredential(delivery: .notSent)
            // Another waiter may not need a refresh token.
            if waiters.members.contains(where: { $0.means.acquires }) { return .refusesRequest(missing) }
            guard held == nil else { return endSession(missing, of: .refreshToken, hasJustRead: hasJustRead) }
            phase = .signedOut
            return .endsSession(missing, refuseAll(missing))
        }
        patienceEnd = nil
        guard leftBehind == nil else {
            phase = .waiting(held)
            return .waits([])
        }
        func tooMany(until instant: MonotonicInstant) -> AuthenticationError {
            let wait = now.instant.duration(to: instant).seconds
            return .tooManyRefreshes(retryAt: now.date.addingTimeInterval(wait), delivery: .notSent)
        }
        let window = policy.fruitlessWindow
        fruitless.removeAll { $0.advanced(by: window) <= now.instant }
        // A server that issues useless tokens gets some time between them.
        let pauseEnd = fruitless.last?.advanced(by: policy.pause(afterFruitless: fruitless.count))
        let limitEnd = fruitless.count >= policy.fruitlessLimit ? fruitless.first?.advanced(by: window) : nil
        let earliest = [limitEnd, pauseEnd, setback?.notBefore].compactMap { $0 }.max()
        if let earliest, now.instant < earliest {
            if var held, held.isUsable(at: now.instant) {
                held.ignoresLeeway = true
                phase = .signedIn(held)
                return .goesOn
            }
            if let limitEnd { return .refusesRequest(tooMany(until: limitEnd)) }
            phase = .backingOff(held, until: earliest)
            return .backsOff(
                until: earliest,
                setback.flatMap { now.instant < $0.notBefore ? $0.failure : nil } ?? tooMany(until: earliest))
        }
        lastRefreshNumber += 1
        let refresh = SessionRefresh(
            number: lastRefreshNumber, asked: request.means, means: usableMeans(of: request.means),
            credential: held?.credential)
        phase = .refreshing(held, refresh)
        return .waits([.refresh(number: lastRefreshNumber, held?.credential, for: request.waiter)])
    }

    /// Which of the means a refresh uses now.
    func usableMeans(of means: RefreshMeans) -> RefreshMeans {
        guard means == .refreshTokenOrProvider else { return means }
        let isRefused = held.map { $0.credential.refreshToken == refusedRefreshToken } ?? false
        return hasUsefulRefreshToken && !isRefused ? .refreshToken : .provider
    }

    /// Whether there is a refresh token that may be sent.
    private var hasUsefulRefreshToken: Bool {
        guard let credential = held?.credential else { return false }
        return !credential.refreshToken.isEmpty && !spent.contains(credential)
    }

    /// The credential can't be renewed: the session ends, unless the store holds something else by now.
    private mutating func endSession(
        _ error: AuthenticationError, of means: RefreshMeans, hasJustRead: Bool
    ) -> RefreshStart {
        var end = SessionEnd(held: held, error: error, means: means)
        guard needsLoading, !hasJustRead else {
            phase = .ended(end)
            return .endsSession(error, refuseAll(error) + [.announce(.ended(error))])
        }
        end.isAnnounced = false
        return .waits(startLoading(end))
    }

    /// A request needs a refresh.
    mutating func refreshWanted(
        by request: Waiting, ticket: Int?, deadline: MonotonicInstant, now: Moment, after actions: [Action]
    ) -> (Admission, [Action]) {
        switch startRefresh(for: request, hasJustRead: false, now: now) {
        case .waits(let next):
            return (enqueue(request, ticket: ticket), actions + next + limitWait(of: waiters.members))
        case .goesOn:
            let admission = enqueue(request, ticket: ticket)
            return (admission, actions + proceed(now: now))
        case .backsOff(let until, let failure):
            guard until < deadline else { return (.refuse(failure), actions) }
            return (enqueue(request, ticket: ticket), actions + [.wake(until)])
        case .endsSession(let error, let next): return (.refuse(error), actions + next)
        case .refusesRequest(let error): return (.refuse(error), actions)
        }
    }

    /// A refresh was fruitless if no request was accepted with its token.
    mutating func countIfFruitless(at instant: MonotonicInstant) {
        guard let held, held.isUnproven, !held.isUsable(at: instant) else { return }
        self.held?.isUnproven = false
        fruitless.append(instant)
    }

    mutating func refuseAll(_ error: AuthenticationError) -> [Action] {
        let all = waiters.members.map { $0.waiter }
        guard !all.isEmpty else { return [] }
        waiters.removeAll()
        return [.refuse(all, error)]
    }
}

extension SessionMachine: Sendable where Waiter: Sendable {}
extension SessionMachine.Action: Sendable where Waiter: Sendable {}
