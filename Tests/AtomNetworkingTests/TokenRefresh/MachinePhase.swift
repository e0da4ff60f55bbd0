import Foundation

@testable import AtomNetworking

enum MachinePhase: String, CaseIterable, Sendable {
    case loadingNotStarted = "loading, nobody has asked"
    case loading = "loading, w waits"
    case good
    case releasing = "good, w is being released"
    case inLeeway = "in leeway"
    case earlyFailed = "in leeway, a refresh has failed"
    case expired
    case rejected
    case refreshingEarly = "refreshing in leeway, w waits"
    case refreshing = "refreshing when rejected, w waits"
    case refreshingOutdated = "refreshing outdated, w waits"
    case storing = "storing, w waits"
    case backingOff = "backing off until 10"
    case backingOffWithWaiter = "backing off until 10, w waits"
    case backedOff = "back-off is over, w waits"
    case ended
    case signedOut = "signed out"

    var fixture: MachineFixture {
        var fixture = MachineFixture(needsLoading: self == .loading || self == .loadingNotStarted)
        switch self {
        case .loadingNotStarted: break
        case .loading: _ = fixture.ask("w", reading: nil)
        case .good: _ = fixture.observe(fixture.store)
        case .releasing:
            fixture = Self.storing.fixture
            fixture.store = MachineFixture.credential(2)
            _ = fixture.stored()
        case .inLeeway:
            _ = fixture.observe(fixture.store)
            fixture.now = 3_580
        case .earlyFailed:
            fixture = Self.refreshingEarly.fixture
            fixture.leave("w")
            _ = fixture.fail()
        case .expired:
            _ = fixture.observe(fixture.store)
            fixture.now = 3_600
        case .rejected:
            _ = fixture.observe(fixture.store)
            fixture.condemn()
        case .refreshingEarly:
            fixture = Self.inLeeway.fixture
            _ = fixture.ask("w")
        case .refreshing:
            fixture = Self.rejected.fixture
            _ = fixture.ask("w")
        case .refreshingOutdated:
            fixture = Self.refreshing.fixture
            fixture.store = MachineFixture.credential(1, refresh: "r7")
            _ = fixture.observe(fixture.store)
        case .storing:
            fixture = Self.refreshing.fixture
            _ = fixture.succeed(2)
        case .backingOff:
            fixture = Self.refreshing.fixture
            _ = fixture.fail(retryAfter: 10)
        case .backingOffWithWaiter:
            fixture = Self.backingOff.fixture
            _ = fixture.ask("w")
        case .backedOff:
            fixture = Self.backingOffWithWaiter.fixture
            fixture.now = 10
        case .ended:
            fixture = Self.refreshing.fixture
            _ = fixture.reject()
        case .signedOut:
            fixture = Self.good.fixture
            _ = fixture.signOut()
        }
        return fixture
    }
}

enum MachineEvent: String, CaseIterable, Sendable {
    case asked
    case askedInHaste = "asked with little time"
    case askedWithStaleRead = "asked with a stale read"
    case askedOfOlderGeneration = "asked by an older generation"
    case signature
    case signatureOfOlderGeneration = "signature of an older generation"
    case accepted
    case rejected
    case rejectedOlder = "rejected an older version"
    case left = "w left"
    case nextReleased = "next released"
    case succeeded = "refresh succeeded"
    case failed = "refresh failed"
    case refused = "refresh rejected"
    case succeededOther = "another refresh succeeded"
    case failedOther = "another refresh failed"
    case refusedOther = "another refresh rejected"
    case stored
    case storedOther = "stored another"
    case wokeUp = "woke up"
    case observedSame = "observed the same"
    case observedNew = "observed a new one"
    case observedReplaced = "observed a replaced one"
    case observedEmpty = "observed an empty one"
    case observedExpiry = "observed a later expiry"
    case observedRefreshToken = "observed another refresh token"
    case signedIn = "signed in"
    case signedInAgain = "signed in with the same"
    case signedOut = "signed out"
    case loaded
    case loadedNothing = "loaded nothing"
    case loadingFailed = "loading failed"

    func happen(to fixture: inout MachineFixture) -> String {
        let held = fixture.machine.held?.credential ?? MachineFixture.credential(1)
        switch self {
        case .asked: return fixture.ask("n")
        case .askedInHaste: return fixture.ask("n", deadline: fixture.now + 5)
        case .askedWithStaleRead: return fixture.ask("n", reading: (held, fixture.machine.version - 1))
        case .askedOfOlderGeneration:
            let (admission, actions) = fixture.machine.asked(
                "n", of: fixture.machine.generation - 1, deadline: MachineFixture.instant(1e6), now: fixture.moment)
            guard case .refuse(let error) = admission, actions.isEmpty else { return "\(admission)" }
            return "refuse: \(MachineFixture.name(error))"
        case .signature: return fixture.signature("n")
        case .signatureOfOlderGeneration:
            let signature = fixture.machine.signature(
                of: fixture.machine.generation - 1, at: fixture.moment.instant)
            return signature == .outdated ? "outdated" : "\(signature)"
        case .accepted: fixture.machine.accepted(version: fixture.machine.version)
        case .rejected: fixture.condemn()
        case .rejectedOlder: fixture.condemn(version: fixture.machine.firstVersion - 1)
        case .left: fixture.leave("w")
        case .nextReleased:
            let (waiter, actions) = fixture.machine.nextReleased(now: fixture.moment)
            return ([waiter ?? "nobody"] + actions.map(MachineFixture.name)).joined(separator: ", ")
        case .succeeded: return fixture.succeed(3, refresh: fixture.machine.lastRefreshNumber)
        case .failed: return fixture.fail(refresh: fixture.machine.lastRefreshNumber)
        case .refused: return fixture.reject(refresh: fixture.machine.lastRefreshNumber)
        case .succeededOther: return fixture.succeed(3, refresh: 9)
        case .failedOther: return fixture.fail(refresh: 9)
        case .refusedOther: return fixture.reject(refresh: 9)
        case .stored: return fixture.stored()
        case .storedOther:
            let actions = fixture.machine.stored(version: fixture.machine.firstVersion - 1, now: fixture.moment)
            return actions.isEmpty ? "nothing" : "\(actions)"
        case .wokeUp: return fixture.wakeUp()
        case .observedSame: return fixture.observe(held)
        case .observedNew: return fixture.observe(MachineFixture.credential(5, life: fixture.now + 3_600))
        case .observedReplaced:
            fixture.machine.replaced.insert(MachineFixture.credential(6))
            return fixture.observe(MachineFixture.credential(6))
        case .observedEmpty: return fixture.observe(MachineFixture.empty)
        case .observedExpiry:
            return fixture.observe(
                TokenCredential(
                    accessToken: held.accessToken, expiresAt: held.expiresAt.addingTimeInterval(600),
                    refreshToken: held.refreshToken))
        case .observedRefreshToken:
            return fixture.observe(
                TokenCredential(accessToken: held.accessToken, expiresAt: held.expiresAt, refreshToken: "r8"))
        case .signedIn: return fixture.signIn(MachineFixture.credential(5, life: fixture.now + 3_600))
        case .signedInAgain: return fixture.signIn(held)
        case .signedOut: return fixture.signOut()
        case .loaded: return fixture.load(MachineFixture.credential(1))
        case .loadedNothing: return fixture.load(nil)
        case .loadingFailed: return fixture.failLoading()
        }
        return "nothing"
    }
}

extension MachineFixture {
    /// The phase, and for an active one what the token is good for.
    var phase: String {
        var text: String
        switch machine.phase {
        case .loading(let reason):
            text = machine.runningLoad == nil ? "loading not started" : "loading"
            if let reason { text += " unless \(Self.name(reason))" }
        case .active: text = quality
        case .refreshing: text = machine.running?.isOutdated == true ? "refreshing outdated" : "refreshing"
        case .storing: text = "storing"
        case .backingOff(let until): text = "backing off until \(Self.seconds(until))"
        case .ended(let error): text = "ended: \(Self.name(error))"
        case .signedOut: text = "signed out"
        }
        if machine.isReleasing { text += ", releasing" }
        if !machine.waiters.isEmpty { text += ", waiting: \(machine.waiters.members.joined(separator: " "))" }
        return text
    }

    private var quality: String {
        guard let held = machine.held else { return "nothing held" }
        let token = held.credential.accessToken
        if machine.isGood(at: moment.instant) { return "\(token) good" }
        if held.isRejected { return "\(token) rejected" }
        return held.isUsable(at: moment.instant) ? "\(token) due" : "\(token) expired"
    }

    mutating func load(_ credential: TokenCredential?) -> String {
        let actions = machine.loaded(number: machine.lastLoadNumber, credential, now: moment)
        return actions.isEmpty ? "nothing" : actions.map(Self.name).joined(separator: ", ")
    }

    mutating func failLoading() -> String {
        let actions = machine.loadingFailed(number: machine.lastLoadNumber, OAuthError(code: "disk"))
        return actions.isEmpty ? "nothing" : actions.map(Self.name).joined(separator: ", ")
    }
}
