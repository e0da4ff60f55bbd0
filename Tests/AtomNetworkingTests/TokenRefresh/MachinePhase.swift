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
    case goodInStore = "good, in a store"
    case refreshingInStore = "refreshing in a store, w waits"
    case storingInStore = "storing in a store, w waits"
    case endingInStore = "loading before the end, w waits"
    case endedInStore = "ended, in a store"
    case endedLoading = "loading after the end, w waits"
    case signedOutInStore = "signed out, in a store"
    case acquirable = "nothing, acquirable"
    case acquiring = "acquiring, w waits"
    case acquiringFailed = "acquiring failed, backing off until 10"
    case acquiringEnded = "acquiring ended"
    case acquiredInLeeway = "acquired, in leeway"
    case renewing = "acquiring instead of a rejected one, w waits"
    case withoutUser = "a client's own session, refreshing when rejected, w waits"
    case silent = "refreshing in leeway, silent"
    case overdue = "backing off for an overdue refresh, w waits"

    private var isInStore: Bool {
        switch self {
        case .loadingNotStarted, .loading, .goodInStore, .refreshingInStore, .storingInStore, .endingInStore,
            .endedInStore, .endedLoading, .signedOutInStore, .acquirable, .acquiring, .acquiringFailed,
            .acquiringEnded, .acquiredInLeeway, .renewing, .withoutUser:
            true
        default: false
        }
    }

    private var means: RefreshMeans {
        switch self {
        case .acquirable, .acquiring, .acquiringFailed, .acquiringEnded, .acquiredInLeeway, .renewing: .provider
        case .withoutUser: .clientCredentials
        default: .refreshToken
        }
    }

    var fixture: MachineFixture {
        var fixture = MachineFixture(needsLoading: isInStore)
        fixture.means = means
        switch self {
        case .loadingNotStarted, .acquirable: break
        case .loading: _ = fixture.ask("w")
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
        case .goodInStore: _ = fixture.lookUp(fixture.store)
        case .refreshingInStore:
            fixture = Self.goodInStore.fixture
            fixture.condemn()
            _ = fixture.ask("w")
        case .storingInStore:
            fixture = Self.refreshingInStore.fixture
            _ = fixture.succeed(2)
        case .endingInStore:
            fixture.store = MachineFixture.credential(1, refresh: "")
            _ = fixture.lookUp(fixture.store)
            fixture.condemn()
            _ = fixture.ask("w")
        case .endedInStore:
            fixture = Self.refreshingInStore.fixture
            _ = fixture.reject()
        case .endedLoading:
            fixture = Self.endedInStore.fixture
            _ = fixture.ask("w")
        case .signedOutInStore:
            fixture = Self.goodInStore.fixture
            fixture.store = MachineFixture.empty
            _ = fixture.signOut()
            fixture.machine.store.forgetOutstanding()
        case .acquiring:
            fixture.store = MachineFixture.empty
            _ = fixture.ask("w")
            _ = fixture.load(nil)
        case .acquiringFailed:
            fixture = Self.acquiring.fixture
            _ = fixture.fail(retryAfter: 10)
        case .acquiringEnded:
            fixture = Self.acquiring.fixture
            _ = fixture.reject()
        case .acquiredInLeeway:
            fixture.store = MachineFixture.credential(1, refresh: "")
            _ = fixture.lookUp(fixture.store)
            fixture.now = 3_580
        case .renewing, .withoutUser:
            fixture.store = MachineFixture.credential(1, refresh: "")
            _ = fixture.lookUp(fixture.store)
            fixture.condemn()
            _ = fixture.ask("w")
        case .silent:
            fixture = Self.refreshingEarly.fixture
            fixture.now = 3_590
            _ = fixture.wakeUp()
            _ = fixture.release()
        case .overdue:
            fixture = Self.refreshing.fixture
            _ = fixture.fail(isOverdue: true)
            _ = fixture.ask("w")
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
    case isOverdue = "refresh overdue"
    case refused = "refresh rejected"
    case succeededOther = "another refresh succeeded"
    case failedOther = "another refresh failed"
    case refusedOther = "another refresh rejected"
    case stored
    case storedOther = "stored another"
    case wokeUp = "woke up"
    case observedSame = "observed the same"
    case observedNew = "observed a new one"
    case observedOverwritten = "observed what was written over"
    case observedSpent = "observed a spent one"
    case observedEmpty = "observed an empty one"
    case observedExpiry = "observed a later expiry"
    case observedRefreshToken = "observed another refresh token"
    case signedIn = "signed in"
    case signedInAgain = "signed in with the same"
    case signedInForMore = "signed in for more"
    case signedOut = "signed out"
    case loaded
    case loadedNothing = "loaded nothing"
    case loadedOlder = "an older load ended"
    case loadingFailed = "loading failed"
    case lookedUp = "looked up"
    case lookedUpNothing = "looked up nothing"
    case lookedUpOlder = "looked up in an older generation"
    case foundSame = "the refresh found the same"
    case foundNewer = "the refresh found a newer one"
    case foundEmpty = "the refresh found nothing"
    case foundWrittenOver = "the refresh found what was written over"
    case refreshTokenReplaced = "the refresh token was replaced"
    case foundProlonged = "the refresh found a later expiry"
    case foundOther = "another refresh found a newer one"
    case abandoned = "refresh abandoned"
    case abandonedOther = "another refresh abandoned"
    case notStored = "not stored"

    /// The text for an event that changes nothing.
    var nothing: String {
        switch self {
        case .nextReleased: "nobody"
        case .signedInForMore: "signed out"
        case .signature: "none"
        case .signatureOfOlderGeneration: "outdated"
        case .askedOfOlderGeneration: "refuse: signed out"
        case .foundSame, .foundNewer, .foundEmpty, .foundWrittenOver, .foundProlonged, .foundOther: "stop"
        default: "nothing"
        }
    }

    func happen(to fixture: inout MachineFixture) -> String {
        let held = fixture.machine.held?.credential ?? MachineFixture.credential(1)
        switch self {
        case .asked: return fixture.ask("n")
        case .askedInHaste: return fixture.ask("n", deadline: fixture.now + 5)
        case .askedWithStaleRead: return fixture.ask("n", reading: (held, fixture.machine.version - 1))
        case .askedOfOlderGeneration:
            let (admission, actions) = fixture.machine.asked(
                "n", by: fixture.means, of: .over, deadline: MachineFixture.instant(1e6),
                now: fixture.moment)
            guard case .refuse(let error) = admission, actions.isEmpty else { return "\(admission)" }
            return "refuse: \(MachineFixture.name(error))"
        case .signature: return fixture.signature("n")
        case .signatureOfOlderGeneration:
            let pass = fixture.machine.pass(of: .over, at: fixture.moment.instant)
            return pass.authorization ?? "outdated"
        case .accepted: fixture.machine.accepted(tokenNumber: fixture.machine.tokenNumber)
        case .rejected: fixture.condemn()
        case .rejectedOlder: fixture.condemn(tokenNumber: fixture.machine.tokenNumber - 1)
        case .left: fixture.leave("w")
        case .nextReleased:
            let (waiter, actions) = fixture.machine.nextReleased(now: fixture.moment)
            return ([waiter ?? "nobody"] + actions.map(MachineFixture.name)).joined(separator: ", ")
        case .succeeded: return fixture.succeed(3, refresh: fixture.machine.lastRefreshNumber)
        case .failed: return fixture.fail(refresh: fixture.machine.lastRefreshNumber)
        case .isOverdue: return fixture.fail(isOverdue: true, refresh: fixture.machine.lastRefreshNumber)
        case .refused: return fixture.reject(refresh: fixture.machine.lastRefreshNumber)
        case .succeededOther: return fixture.succeed(3, refresh: 9)
        case .failedOther: return fixture.fail(refresh: 9)
        case .refusedOther: return fixture.reject(refresh: 9)
        case .stored: return fixture.stored()
        case .storedOther:
            let actions = fixture.machine.stored(tokenNumber: fixture.machine.tokenNumber - 1, now: fixture.moment)
            return actions.isEmpty ? "nothing" : "\(actions)"
        case .wokeUp: return fixture.wakeUp()
        case .observedSame: return fixture.observe(held)
        case .observedNew: return fixture.observe(MachineFixture.credential(5, life: fixture.now + 3_600))
        case .observedOverwritten: return fixture.observe(fixture.overwritten)
        case .observedSpent: return fixture.observe(fixture.spent)
        case .refreshTokenReplaced: return fixture.replaceRefreshToken(refresh: fixture.machine.lastRefreshNumber)
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
        case .signedInForMore: return fixture.signInForMore(MachineFixture.credential(5, life: fixture.now + 3_600))
        case .signedInAgain: return fixture.signIn(held)
        case .signedOut: return fixture.signOut()
        case .loaded: return fixture.load(MachineFixture.credential(1))
        case .loadedNothing: return fixture.load(nil)
        case .loadedOlder: return fixture.load(MachineFixture.credential(5), number: 0)
        case .loadingFailed: return fixture.failLoading()
        case .lookedUp: return fixture.lookUp(MachineFixture.credential(1))
        case .lookedUpNothing: return fixture.lookUp(nil)
        case .lookedUpOlder:
            return fixture.lookUp(MachineFixture.credential(5), in: .over)
        case .foundSame: return fixture.find(held, refresh: fixture.machine.lastRefreshNumber)
        case .foundNewer:
            return fixture.find(
                MachineFixture.credential(5, life: fixture.now + 3_600), refresh: fixture.machine.lastRefreshNumber)
        case .foundEmpty: return fixture.find(nil, refresh: fixture.machine.lastRefreshNumber)
        case .foundWrittenOver:
            return fixture.find(fixture.overwritten, refresh: fixture.machine.lastRefreshNumber)
        case .foundProlonged:
            return fixture.find(
                TokenCredential(
                    accessToken: held.accessToken, expiresAt: held.expiresAt.addingTimeInterval(600),
                    refreshToken: held.refreshToken), refresh: fixture.machine.lastRefreshNumber)
        case .foundOther: return fixture.find(MachineFixture.credential(5), refresh: 9)
        case .abandoned: return fixture.abandon(refresh: fixture.machine.lastRefreshNumber)
        case .abandonedOther: return fixture.abandon(refresh: 9)
        case .notStored: return fixture.failToStore()
        }
        return "nothing"
    }
}

extension MachineFixture {
    /// The phase, and for an active one how good the token is.
    var phase: String {
        var text: String
        switch machine.phase {
        case .loading(let number, let end):
            text = number == nil ? "loading not started" : "loading"
            if let end { text += " unless \(Self.name(end.error))" }
        case .signedIn: text = quality
        case .refreshing(_, let refresh): text = refresh.isSilent ? "refreshing silently" : "refreshing"
        case .waiting: text = "refreshing outdated"
        case .storing: text = "storing"
        case .backingOff(_, let until): text = "backing off until \(Self.seconds(until))"
        case .ended(let end): text = "ended: \(Self.name(end.error))"
        case .signedOut: text = "signed out"
        }
        if machine.isReleasing { text += ", releasing" }
        if !machine.waiters.isEmpty {
            text += ", waiting: \(machine.waiters.members.map { $0.waiter }.joined(separator: " "))"
        }
        return text
    }

    private var quality: String {
        guard let held = machine.held else { return "nothing held" }
        let token = held.credential.accessToken
        if machine.isGood(at: moment.instant, by: means) { return "\(token) good" }
        if held.isRejected { return "\(token) rejected" }
        return held.isUsable(at: moment.instant) ? "\(token) due" : "\(token) expired"
    }
}
