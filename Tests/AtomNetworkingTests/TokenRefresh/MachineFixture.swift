import Foundation

@testable import AtomNetworking

/// A machine, a clock and short names for what can happen, so that a test
/// reads as a script.
///
/// The first credential is `a1` and `r1` and lives for an hour from second 0.
struct MachineFixture {
    typealias Machine = SessionMachine<String>

    static let epoch = Date(timeIntervalSince1970: 1_790_000_000)
    private static let start = MonotonicInstant.now

    var machine: Machine
    /// Seconds on the monotonic clock.
    var now = 0.0
    /// How many seconds the device's clock is ahead.
    var clockIsAheadBy = 0.0
    /// What the store holds.
    var store = MachineFixture.credential(1)
    private(set) var tickets: [String: Int] = [:]
    private(set) var tenures: [String: Tenure] = [:]

    /// How the requests' service gets another credential.
    var means = RefreshMeans.refreshToken

    init(policy: RefreshPolicy = RefreshPolicy(), needsLoading: Bool = false) {
        machine = Machine(policy: policy, needsLoading: needsLoading)
    }

    static func credential(_ number: Int, life: Double = 3_600, refresh: String? = nil) -> TokenCredential {
        TokenCredential(
            accessToken: "a\(number)", expiresAt: epoch.addingTimeInterval(life), refreshToken: refresh ?? "r\(number)")
    }

    static let empty = TokenCredential(accessToken: "", expiresAt: .distantFuture, refreshToken: "")

    static func instant(_ seconds: Double) -> MonotonicInstant { start.advanced(by: .seconds(seconds)) }

    var moment: Moment {
        Moment(instant: Self.instant(now), date: Self.epoch.addingTimeInterval(now + clockIsAheadBy))
    }

    /// A request asks to be sent, and has read the store unless the session does
    /// that.
    ///
    /// - Returns: The answer to the request, and what has to be done.
    mutating func ask(
        _ who: String, deadline: Double = 1e6, isRetry: Bool = false, by means: RefreshMeans? = nil
    ) -> String {
        let usual = self.means
        self.means = means ?? usual
        defer { self.means = usual }
        return ask(
            who, reading: machine.needsLoading ? nil : (store, machine.version), deadline: deadline, isRetry: isRetry)
    }

    mutating func ask(
        _ who: String, reading read: (TokenCredential, Int)?, deadline: Double = 1e6, isRetry: Bool = false
    ) -> String {
        let read = read.map { (credential: $0.0, version: $0.1) }
        let ticket = isRetry ? nil : tickets[who]
        if let (ticket, _) = machine.admitAtOnce(
            by: means, of: tenures[who], ticket: ticket, read: read?.credential, at: moment.instant)
        {
            (tickets[who], tenures[who]) = (ticket, machine.tenure)
            return "go"
        }
        let (admission, actions) = machine.asked(
            who, by: means, of: tenures[who], ticket: ticket, read: read, deadline: Self.instant(deadline),
            now: moment)
        let words: [String]
        switch admission {
        case .go(let ticket):
            words = ["go"]
            (tickets[who], tenures[who]) = (ticket, machine.tenure)
        case .wait(let ticket):
            words = ["wait"]
            (tickets[who], tenures[who]) = (ticket, machine.tenure)
        case .refuse(let error): words = ["refuse: \(Self.name(error))"]
        case .readAgain: words = ["read again"]
        }
        return (words + actions.map(Self.name)).joined(separator: ", ")
    }

    /// What a request is signed with that has asked.
    func signature(_ who: String) -> String {
        let pass = machine.pass(of: tenures[who], ticket: tickets[who], at: moment.instant)
        if let tenure = tenures[who], !pass.tenure.isSameSignIn(as: tenure) {
            return pass.authorization == nil ? "outdated" : "somebody else"
        }
        return pass.authorization.map { String($0.dropFirst("Bearer ".count)) } ?? "none"
    }

    /// Releases waiters until there are none.
    mutating func release() -> String {
        var released: [String] = []
        while true {
            let (who, actions) = machine.nextReleased(now: moment)
            guard let who else { return (released + actions.map(Self.name)).joined(separator: ", ") }
            released.append(who)
        }
    }

    mutating func succeed(
        _ number: Int, life: Double? = 3_600, sentAt: Double? = nil, refresh: Int = 1,
        reading read: TokenCredential? = nil
    ) -> String {
        let credential = Self.credential(number, life: now + (life ?? 0))
        let (tokenNumber, actions) = machine.refreshSucceeded(
            number: refresh, credential, lifetime: life, sentAt: Self.instant(sentAt ?? now),
            read: machine.needsLoading ? read : read ?? store, now: moment)
        guard machine.needsLoading, tokenNumber != nil else { return say(actions) }
        return (actions.map(Self.name) + ["store \(credential.accessToken)"]).joined(separator: ", ")
    }

    mutating func fail(
        retryAfter: Double? = nil, isOverdue: Bool = false, random: Double = 0.5, refresh: Int = 1
    ) -> String {
        say(
            machine.refreshFailed(
                number: refresh, cause: OAuthError(code: "server_error"), isOverdue: isOverdue,
                retryAfter: retryAfter.map { .seconds($0) }, random: random, now: moment))
    }

    mutating func reject(refresh: Int = 1) -> String {
        say(
            machine.refreshRejected(
                number: refresh, .refreshRejected(OAuthError(code: "invalid_grant"), delivery: .notSent), read: store,
                now: moment))
    }

    /// The refresh has read the store.
    ///
    /// - Returns: What the refresh does, and what has to be done.
    mutating func find(_ stored: TokenCredential?, refresh: Int = 1) -> String {
        let (step, actions) = machine.refreshFound(number: refresh, stored, now: moment)
        let word =
            switch step {
            case .goOn(let credential): "go on with \(credential.map { $0.refreshToken } ?? "nothing")"
            case .stop: "stop"
            }
        return ([word] + actions.map(Self.name)).joined(separator: ", ")
    }

    mutating func abandon(refresh: Int = 1) -> String {
        say(machine.refreshAbandoned(number: refresh, now: moment))
    }

    /// The write has failed.
    mutating func failToStore() -> String {
        say(
            machine.notStored(
                tokenNumber: machine.tokenNumber,
                .credentialNotStored(cause: OAuthError(code: "disk"), delivery: .notSent), now: moment))
    }

    mutating func load(_ credential: TokenCredential?, number: Int? = nil) -> String {
        say(machine.loaded(number: number ?? machine.lastLoadNumber, credential, now: moment))
    }

    mutating func failLoading() -> String {
        say(machine.loadingFailed(number: machine.lastLoadNumber, OAuthError(code: "disk")))
    }

    /// The app asked for the session's state, and the store was read.
    mutating func lookUp(_ credential: TokenCredential?, in tenure: Tenure? = nil) -> String {
        say(machine.lookedUp(credential, in: tenure ?? machine.tenure, now: moment))
    }

    /// The write has ended.
    ///
    /// - Parameter read: What is read back.
    mutating func stored(reading read: TokenCredential? = nil) -> String {
        if let held = machine.held { machine.wasSet(held.credential) }
        return say(machine.stored(tokenNumber: machine.tokenNumber, read: read, now: moment))
    }

    mutating func observe(_ credential: TokenCredential) -> String { say(machine.observed(credential, now: moment)) }

    mutating func wakeUp() -> String { say(machine.wokeUp(now: moment)) }

    mutating func signIn(_ credential: TokenCredential) -> String {
        let (written, actions) = machine.signedIn(credential, now: moment)
        machine.wasSet(written)
        return say(actions)
    }

    mutating func signInForMore(_ credential: TokenCredential, of tenure: Tenure? = nil) -> String {
        let (number, actions) = machine.continued(
            with: credential, of: tenure ?? machine.tenure, read: nil, now: moment)
        return number == nil ? "signed out" : say(actions)
    }

    mutating func signOut() -> String {
        let (_, actions) = machine.signedOut()
        machine.wasSet(.empty)
        return say(actions)
    }

    /// The store has taken what a sign-in, or a sign-out, writes.
    mutating func wrote(_ credential: TokenCredential?) {
        _ = machine.replaced(
            by: credential, in: machine.tenure, found: .success(nil), failure: nil, now: moment)
    }

    /// The server refused a first attempt with the current token.
    mutating func condemn(tokenNumber number: Int? = nil) {
        machine.rejected(tokenNumber: number ?? machine.tokenNumber, now: moment)
    }

    mutating func leave(_ who: String) { machine.left(ticket: tickets[who] ?? -1) }

    /// A credential that this process has overwritten, which the store may
    /// return for a while.
    var overwritten: TokenCredential {
        mutating get {
            let last = machine.store.last ?? Self.empty
            _ = machine.store.note(Self.credential(6))
            machine.store.willWrite(last, isPending: false)
            return Self.credential(6)
        }
    }

    /// A credential whose refresh token a refresh has exchanged.
    var spent: TokenCredential {
        mutating get {
            machine.spent.insert(
                Self.credential(6), replacedBy: Self.credential(7, life: now + 3_600), isWanted: true)
            return Self.credential(6)
        }
    }

    /// The server has replaced the refresh token, and sent nothing else.
    mutating func replaceRefreshToken(refresh: Int) -> String {
        machine.refreshTokenReplaced(number: refresh, by: "r9", now: moment).map { "write \($0.refreshToken)" }
            ?? "nothing"
    }

    /// A complete refresh, until the last waiter is released.
    mutating func refreshed(_ number: Int, life: Double? = 3_600, refresh: Int) {
        _ = succeed(number, life: life, refresh: refresh)
        store = machine.held?.credential ?? store
        _ = stored()
        _ = release()
    }

    private func say(_ actions: [Machine.Action]) -> String {
        actions.isEmpty ? "nothing" : actions.map(Self.name).joined(separator: ", ")
    }

    static func name(_ action: Machine.Action) -> String {
        switch action {
        case .load(let number): "load \(number)"
        case .refresh(let number, let credential, let who):
            "refresh \(number) with \(credential?.refreshToken ?? "nothing") for \(who)"
        case .set(let credential, _): "set \(credential.accessToken)"
        case .release: "release"
        case .refuse(let waiters, let error): "refuse \(waiters.joined(separator: " ")): \(name(error))"
        case .wake(let instant): "wake at \(seconds(instant))"
        case .announceFailure(let error): "announce: \(name(error))"
        case .announceStaleStore: "announce stale store"
        case .writeAgain: "write again"
        case .revoke(let credential): "revoke \(credential.refreshToken)"
        case .announce(let event): "announce \(name(event))"
        }
    }

    static func name(_ event: SessionEvent) -> String {
        switch event {
        case .signedIn: "signed in"
        case .signedOut: "signed out"
        case .refreshed: "refreshed"
        case .credentialChanged: "changed"
        case .refreshFailed(let error): "failed: \(name(error))"
        case .ended(let error): "ended: \(name(error))"
        case .credentialNotStored: "not stored"
        case .credentialStored: "stored"
        }
    }

    static func name(_ error: AuthenticationError) -> String {
        switch error {
        case .missingCredential: "missing"
        case .refreshRejected: "rejected"
        case .refreshFailed: "failed"
        case .tooManyRefreshes: "too many"
        case .signedOut: "signed out"
        case .waitedTooLong: "too late"
        case .refreshInterrupted: "interrupted"
        case .credentialNotProvided: "not provided"
        case .credentialNotReadable: "not readable"
        case .credentialNotStored: "not stored"
        case .credentialNotRevoked: "not revoked"
        case .noSession: "no session"
        case .notSigned: "not signed"
        }
    }

    static func seconds(_ instant: MonotonicInstant) -> String {
        let seconds = start.duration(to: instant).seconds
        return seconds == seconds.rounded() ? String(Int(seconds)) : String((seconds * 100).rounded() / 100)
    }
}

extension SessionMachine {
    var unfinishedRefresh: Int? { unfinishedRefresh(orOverdue: true) }

    /// The refresh that has not come home yet; never more than one.
    var running: SessionRefresh? { if case .refreshing(_, let refresh) = phase { refresh } else { leftBehind } }

    var isRefreshOnItsWay: Bool { running != nil }

    /// The load whose result is awaited.
    var runningLoad: Int? { if case .loading(let number, _) = phase { number } else { nil } }

    /// How many refreshes have been started.
    var refreshCount: Int { lastRefreshNumber }
}
