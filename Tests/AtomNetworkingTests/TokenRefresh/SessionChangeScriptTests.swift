import Foundation
import Testing

@testable import AtomNetworking

@Suite("A session and changes around it, as scripts", .limited)
struct SessionChangeScriptTests {
    // MARK: The end of a process

    @Test("A refresh is unfinished until its credential is stored, and the next one is another")
    func unfinished() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        #expect(session.machine.unfinishedRefresh == nil)
        session.condemn()
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with r1 for a")
        #expect(session.machine.unfinishedRefresh == 1)
        #expect(session.succeed(2) == "set a2")
        #expect(session.machine.unfinishedRefresh == 1)
        session.store = MachineFixture.credential(2)
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.machine.unfinishedRefresh == nil)
        #expect(session.release() == "a")
        session.condemn()
        #expect(session.ask("b") == "wait, refresh 2 with r2 for b")
        #expect(session.machine.unfinishedRefresh == 2)
        #expect(session.fail(refresh: 2) == "refuse b: failed, announce: failed")
        #expect(session.machine.unfinishedRefresh == nil)
    }

    @Test("A refresh of a session that is over is unfinished only if its refresh token is used again")
    func unfinishedForNobody() {
        var session = MachineFixture()
        session.now = 3_600
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        #expect(session.signOut() == "refuse a: signed out, announce signed out")
        #expect(session.machine.unfinishedRefresh == nil)
        #expect(session.signIn(MachineFixture.credential(3)) == "announce signed in")
        #expect(session.machine.unfinishedRefresh == nil)
        #expect(session.signIn(MachineFixture.credential(1)) == "announce signed in")
        #expect(session.machine.unfinishedRefresh == 1)
    }

    @Test("A provider's call is unfinished from when it has returned a credential")
    func unfinishedProvider() {
        var session = MachineFixture()
        session.means = .provider
        session.now = 3_600
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        #expect(session.machine.unfinishedRefresh == nil)
        session.machine.refreshProvided(number: 1)
        #expect(session.machine.unfinishedRefresh == 1)
        #expect(session.succeed(2) == "set a2")
        #expect(session.machine.unfinishedRefresh == 1)
    }

    // MARK: The window

    @Test("After three tokens in 30 s that were refused before any request was accepted, no more are asked for")
    func window() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        for number in 1...2 {
            session.condemn()
            #expect(session.ask("a", isRetry: true) == "wait, refresh \(number) with r\(number) for a")
            session.now += 5
            session.refreshed(number + 1, refresh: number)
        }
        session.condemn()
        #expect(session.ask("x", deadline: 10.4) == "refuse: too many", "it can't wait for the next one")
        #expect(session.ask("a", isRetry: true) == "wait, wake at 10.5", "the server gets some time")
        session.now = 10.5
        #expect(session.wakeUp() == "refresh 3 with r3 for a")
        session.now = 15
        session.refreshed(4, refresh: 3)
        session.condemn()
        #expect(session.ask("a", isRetry: true) == "refuse: too many", "refused at 5, 10 and 15 s")
        #expect(session.ask("b") == "refuse: too many")
        #expect(session.phase == "a4 rejected", "the session goes on")
        session.now = 34.9
        #expect(session.ask("c") == "refuse: too many")
        session.now = 35
        #expect(session.ask("d") == "wait, refresh 4 with r4 for d")
    }

    @Test("A token that was accepted once doesn't count as fruitless when it is refused later")
    func acceptedTokens() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        for number in 1...20 {
            session.condemn()
            #expect(session.ask("a", isRetry: true) == "wait, refresh \(number) with r\(number) for a")
            session.refreshed(number + 1, refresh: number)
            session.machine.accepted(tokenNumber: session.machine.tokenNumber)
        }
    }

    @Test(
        "A token that was just issued is sent until the server rejects it, even if its life is over by what it says",
        arguments: [0.0, -1])
    func expiredOnArrival(life: Double) {
        var session = MachineFixture()
        session.now = 3_600
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        #expect(session.ask("b") == "wait")
        session.now += 3
        _ = session.succeed(2, life: life, sentAt: 3_600)
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.release() == "a, b")
        #expect(session.signature("a") == "a2" && session.signature("b") == "a2")
        session.store = session.machine.held?.credential ?? session.store
        session.now += 1_000
        #expect(session.ask("c") == "go", "nobody knows how long it lasts")
        session.condemn()
        #expect(session.ask("c", isRetry: true) == "wait, refresh 2 with r2 for c")
    }

    @Test("A token whose life was over when it came is tried for ten seconds")
    func expiredOnTheWay() {
        var session = MachineFixture()
        session.now = 3_600
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        session.now += 3
        _ = session.succeed(2, life: 2, sentAt: 3_600)
        session.store = session.machine.held?.credential ?? session.store
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.release() == "a")
        session.now += 9
        #expect(session.ask("b") == "go")
        session.now += 1
        #expect(session.ask("c") == "wait, refresh 2 with r2 for c")
    }

    @Test("A credential that is found expired is refreshed, and one that somebody signs in with is tried")
    func expiredBySignIn() {
        var session = MachineFixture()
        session.store = MachineFixture.credential(1, life: -5)
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        _ = session.signIn(MachineFixture.credential(5, life: -5))
        session.store = MachineFixture.credential(5, life: -5)
        #expect(session.ask("b") == "go")
        session.condemn()
        #expect(session.ask("b", isRetry: true) == "wait")
        #expect(session.fail() == "refresh 2 with r5 for b")
    }

    @Test("When no refresh may start, requests go on with a token that is still valid")
    func windowInLeeway() {
        var session = MachineFixture()
        _ = session.ask("a")
        for number in 1...3 {
            session.condemn()
            _ = session.ask("a", isRetry: true)
            session.now += 1
            _ = session.wakeUp()
            session.refreshed(number + 1, life: 20, refresh: number)
        }
        session.machine.fruitless = [0, 1, 2].map { MachineFixture.instant(session.now + 12 + $0) }
        session.now += 16
        #expect(session.ask("b") == "wait, release", "it is in its leeway")
        #expect(session.release() == "b")
        session.now += 5
        #expect(session.ask("c") == "refuse: too many")
    }

    @Test("A new session begins with an empty window")
    func windowAndSignIn() {
        var session = MachineFixture()
        _ = session.ask("a")
        Self.makeUseless(&session)
        #expect(session.ask("b") == "refuse: too many")
        session.store = MachineFixture.credential(9)
        #expect(session.signIn(session.store) == "announce signed in")
        #expect(session.ask("c") == "go")
        session.condemn()
        #expect(session.ask("c", isRetry: true) == "wait, refresh 4 with r9 for c")
    }

    @Test("Whoever comes by the app's variable begins with an empty window, too")
    func windowAndVariable() {
        var session = MachineFixture()
        _ = session.ask("a")
        Self.makeUseless(&session)
        session.store = MachineFixture.credential(9)
        #expect(session.ask("c") == "go, announce changed")
        session.condemn()
        #expect(session.ask("c", isRetry: true) == "wait, refresh 4 with r9 for c")
    }

    /// The server rejects all tokens that three refreshes bring.
    private static func makeUseless(_ session: inout MachineFixture) {
        for number in 1...3 {
            session.condemn()
            _ = session.ask("a", isRetry: true)
            session.now += 1
            _ = session.wakeUp()
            session.refreshed(number + 1, refresh: number)
        }
        session.condemn()
    }

    // MARK: 401

    @Test("A late 401 for an older token is retried with the current one, without a refresh")
    func late401() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        #expect(session.ask("b") == "go")
        let old = session.machine.tokenNumber
        session.condemn(tokenNumber: old)
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with r1 for a")
        session.refreshed(2, refresh: 1)
        session.condemn(tokenNumber: old)
        #expect(session.ask("b", isRetry: true) == "go")
        #expect(session.signature("b") == "a2")
        #expect(session.machine.refreshCount == 1)
    }

    @Test("A 401 is not late if only the expiry or the refresh token has changed since")
    func notLate() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        let signed = session.machine.tokenNumber
        session.store = MachineFixture.credential(1, life: 7_200, refresh: "r8")
        #expect(session.ask("b") == "go")
        session.condemn(tokenNumber: signed)
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with r8 for a")
    }

    // MARK: The store

    @Test("A store that goes on returning a replaced credential is reported once, and ignored")
    func replaced() {
        var session = MachineFixture()
        _ = session.ask("a")
        session.condemn()
        _ = session.ask("a", isRetry: true)
        _ = session.succeed(2)
        #expect(session.ask("b") == "wait", "the write isn't done: no news")
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.release() == "a, b")
        #expect(session.ask("c") == "go, announce stale store")
        #expect(session.ask("d") == "go")
        #expect(session.signature("d") == "a2")
    }

    @Test("A spent refresh token is never used again, whatever access token it comes with")
    func spentRefreshToken() {
        var session = MachineFixture()
        _ = session.ask("a")
        session.condemn()
        _ = session.ask("a", isRetry: true)
        session.refreshed(2, refresh: 1)
        session.store = MachineFixture.credential(7, refresh: "r1")
        #expect(session.ask("b") == "go, announce stale store")
        #expect(session.signature("b") == "a2")
        session.store = MachineFixture.credential(2, refresh: "r1")
        #expect(session.ask("c") == "go")
        session.condemn()
        #expect(session.ask("d") == "wait, refresh 2 with r2 for d")
    }

    @Test("A spent refresh token that is found as a refresh succeeds is told of, and is replaced")
    func spentRefreshTokenAtTheEnd() {
        var session = MachineFixture()
        _ = session.ask("a")
        session.condemn()
        _ = session.ask("a", isRetry: true)
        session.refreshed(2, refresh: 1)
        session.condemn()
        _ = session.ask("b", isRetry: true)
        let spent = MachineFixture.credential(7, refresh: "r1")
        #expect(session.succeed(3, refresh: 2, reading: spent) == "announce stale store, set a3")
    }

    @Test("When a server extends the same token, the store's old expiry is not news")
    func prolongedByServer() {
        var session = MachineFixture()
        _ = session.observe(session.store)
        session.now = 3_580
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a, wake at 3590")
        let prolonged = MachineFixture.credential(1, life: 7_180)
        let (_, actions) = session.machine.refreshSucceeded(
            number: 1, prolonged, lifetime: 3_600, sentAt: session.moment.instant, read: session.store,
            now: session.moment)
        #expect(actions.count == 1)
        #expect(session.ask("b") == "wait")
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.release() == "a, b")
        session.store = prolonged
        #expect(session.ask("c") == "go")
        #expect(session.machine.refreshCount == 1)
    }

    @Test("A refused token stays refused when somebody puts it back, and is refreshed")
    func deadStaysDead() {
        var session = MachineFixture()
        _ = session.ask("a")
        session.condemn()
        let old = session.store
        session.store = MachineFixture.credential(2)
        #expect(session.ask("b") == "go, announce changed")
        session.store = old
        #expect(session.ask("c") == "wait, announce changed, refresh 1 with r1 for c")
    }

    @Test("A token that was put back has its old number: a 401 for it is not late")
    func putBackIsTheSame() {
        var session = MachineFixture()
        _ = session.ask("a")
        let number = session.machine.tokenNumber
        let old = session.store
        session.store = MachineFixture.credential(2)
        _ = session.ask("b")
        session.store = old
        #expect(session.ask("c") == "go, announce changed")
        session.condemn(tokenNumber: number)
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with r1 for a")
    }

    @Test("A credential that was read before a change is read again")
    func staleRead() {
        var session = MachineFixture()
        let read = (session.store, session.machine.version)
        _ = session.observe(MachineFixture.credential(2))
        #expect(session.ask("a", reading: read) == "read again")
        let second = (session.store, session.machine.version)
        _ = session.observe(MachineFixture.credential(2, refresh: "r9"))
        #expect(session.ask("a", reading: second) == "read again")
    }

    @Test("A store that keeps whole seconds does not change the expiry")
    func wholeSeconds() {
        var session = MachineFixture()
        session.now = 3_600
        _ = session.ask("a")
        session.now = 3_600.7
        session.refreshed(2, life: 100, refresh: 1)
        let exact = session.store
        session.store = TokenCredential(
            accessToken: "a2",
            expiresAt: Date(timeIntervalSince1970: exact.expiresAt.timeIntervalSince1970.rounded(.down)),
            refreshToken: "r2")
        session.clockIsAheadBy = 86_400 * 365
        #expect(session.ask("b") == "go")
    }

    @Test("A credential that was read before the new one was stored is read again, and not reported as stale")
    func readBeforeStored() {
        var session = MachineFixture()
        session.now = 3_600
        _ = session.ask("a")
        _ = session.succeed(2)
        let read = (session.store, session.machine.version)
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.ask("b", reading: read) == "read again")
    }

    @Test("When somebody puts a spent refresh token back, its successor replaces it, even one that came too late")
    func spentByDroppedRefresh() {
        var session = MachineFixture()
        let old = session.store
        _ = session.ask("a")
        session.now = 3_580
        #expect(session.ask("b") == "wait, refresh 1 with r1 for b, wake at 3590")
        session.store = MachineFixture.credential(5, life: 9_999)
        #expect(session.succeed(2) == "release, announce changed")
        #expect(session.release() == "b")
        session.store = old
        #expect(session.ask("c") == "wait, announce stale store, announce changed, set a2")
        #expect(session.signature("c") == "none", "it is not stored yet")
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.release() == "c")
        #expect(session.signature("c") == "a2")
    }

    @Test("A spent refresh token without a successor is not sent; its access token is used until it expires")
    func spentAndSignedOut() {
        var session = MachineFixture()
        let old = session.store
        _ = session.ask("a")
        session.now = 3_580
        _ = session.ask("b")
        session.refreshed(2, refresh: 1)
        _ = session.ask("c")
        _ = session.signOut()
        session.store = MachineFixture.empty
        #expect(session.ask("d") == "refuse: missing")
        session.store = old
        #expect(session.ask("e") == "go, announce stale store")
        session.now = 3_600
        #expect(session.ask("f") == "refuse: missing, announce ended: missing")
        #expect(session.machine.refreshCount == 1)
    }

    // MARK: Two people

    @Test("The variable holds X, then Y, then X again: the session follows, although X's access token had expired")
    func backAndForth() {
        var session = MachineFixture()
        let first = session.store
        _ = session.ask("a")
        session.now = 3_600
        session.store = MachineFixture.credential(5, life: 9_999)
        #expect(session.ask("b") == "go, announce changed")
        session.store = first
        #expect(session.ask("c") == "wait, announce changed, refresh 1 with r1 for c")
    }

    @Test("After a sign-out here, another process may sign in with the same refresh token")
    func sameRefreshTokenAfterSignOut() {
        var session = MachineFixture()
        _ = session.ask("a")
        _ = session.signOut()
        session.store = MachineFixture.credential(5, refresh: "r1")
        #expect(session.ask("b") == "go")
        #expect(session.signature("b") == "a5")
    }

    @Test("A sign-in with a credential that was just refreshed uses its successor")
    func signInWhileItsSuccessorIsStored() {
        var session = MachineFixture()
        let old = session.store
        session.now = 3_600
        _ = session.ask("a")
        #expect(session.succeed(2) == "set a2")
        let (written, _) = session.machine.signedIn(old, read: old, now: session.moment)
        #expect(written.refreshToken == "r2", "r1 is spent")
        #expect(session.stored() == "announce refreshed")
        session.store = written
        #expect(session.ask("b") == "go")
        #expect(session.signature("b") == "a2")
    }

    @Test("An overwritten credential is old only until the variable has returned the new one")
    func seen() {
        var session = MachineFixture()
        let first = session.store
        _ = session.ask("a")
        _ = session.signIn(MachineFixture.credential(5))
        #expect(session.ask("b") == "go, announce stale store", "the variable has not been set yet")
        #expect(session.signature("b") == "a5")
        session.store = MachineFixture.credential(5)
        #expect(session.ask("c") == "go")
        session.store = first
        #expect(session.ask("d") == "go, announce changed", "somebody has put it back")
        #expect(session.signature("d") == "a1")
    }

    @Test("A new refresh token beside an access token of another type is sent next")
    func replacedRefreshToken() {
        var session = MachineFixture()
        session.now = 3_600
        _ = session.ask("a")
        #expect(session.replaceRefreshToken(refresh: 1) == "write r9")
        session.store = session.machine.held?.credential ?? session.store
        #expect(session.fail() == "refuse a: failed, announce: failed")
        #expect(session.ask("b") == "wait, refresh 2 with r9 for b")
    }

    // MARK: Clocks

    @Test("A clock that is set years off either way changes nothing", arguments: [-3e8, -1e5, 1e5, 3e8])
    func clock(shift: Double) {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        session.clockIsAheadBy = shift
        session.now = 3_569
        #expect(session.ask("b") == "go")
        session.now = 3_570
        #expect(session.ask("c") == "wait, refresh 1 with r1 for c, wake at 3585")
        #expect(session.succeed(2, life: 100) == "set a2")
        _ = session.stored()
        _ = session.release()
        session.store = session.machine.held?.credential ?? session.store
        session.clockIsAheadBy = -shift
        session.now += 74
        #expect(session.ask("d") == "go")
        session.now += 1
        #expect(session.ask("e") == "wait, refresh 2 with r2 for e, wake at 3657.5")
    }

    @Test("A changed expiry replaces the old one")
    func changedExpiry() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        session.store = MachineFixture.credential(1, life: 100)
        #expect(session.ask("b") == "go")
        session.now = 75
        #expect(session.ask("c") == "wait, refresh 1 with r1 for c, wake at 87.5")
    }

    // MARK: Generations

    @Test("The result of a refresh that ends after a sign-out is dropped, and its waiters have been told")
    func lateRefresh() {
        var session = MachineFixture()
        session.now = 3_600
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        #expect(session.signOut() == "refuse a: signed out, announce signed out")
        session.store = MachineFixture.empty
        #expect(session.succeed(2) == "revoke r2")
        #expect(session.phase == "signed out")
        #expect(session.ask("b") == "refuse: missing")
    }

    @Test("A service with a provider asks it, although another one's look into the store finds the session still over")
    func providerAfterAnothersLook() {
        var session = MachineFixture(needsLoading: true)
        session.now = 3_600
        #expect(session.ask("a") == "wait, load 1")
        #expect(session.load(session.store) == "refresh 1 with r1 for a")
        #expect(session.find(session.store) == "go on with r1")
        _ = session.reject()
        #expect(session.phase == "ended: rejected")
        #expect(session.ask("b") == "wait, load 2")
        #expect(session.ask("c", by: .provider) == "wait")
        #expect(session.ask("d") == "wait")
        // Nobody signs in for the reconnection of a stream.
        _ = session.machine.asked(
            "e", by: .provider, of: session.machine.tenure, isBound: true, deadline: MachineFixture.instant(1e6),
            now: session.moment)
        #expect(session.load(session.store) == "refuse b d e: rejected, refresh 2 with r1 for c")
        #expect(session.machine.running?.means == .provider)
    }

    @Test("The result of a refresh that a sign-in had made its person's again is revoked after another sign-out")
    func signedOutAgain() {
        for isSomebodyBetween in [false, true] {
            var session = MachineFixture()
            session.now = 3_600
            #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
            _ = isSomebodyBetween ? session.signIn(MachineFixture.credential(5)) : session.signOut()
            #expect(session.signIn(MachineFixture.credential(1)) == "announce signed in")
            #expect(session.signOut() == "announce signed out")
            session.store = MachineFixture.empty
            #expect(session.succeed(2) == "revoke r2")
            #expect(session.phase == "signed out")
            #expect(session.machine.spent.successor(of: MachineFixture.credential(1)) == nil)
        }
    }

    @Test("The result of a refresh is not stored if its session was signed out in the store")
    func signedOutByStore() {
        var session = MachineFixture()
        session.now = 3_600
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        session.store = MachineFixture.empty
        #expect(session.succeed(2) == "refuse a: signed out, announce signed out, revoke r2")
        #expect(session.phase == "signed out")
    }

    @Test("After a sign-in while a refresh is being stored, the store belongs to the new session")
    func signInWhileStoring() {
        var session = MachineFixture()
        session.now = 3_600
        _ = session.ask("a")
        #expect(session.succeed(2) == "set a2")
        let version = session.machine.tokenNumber
        #expect(session.signIn(MachineFixture.credential(5, life: 9_999)) == "refuse a: signed out, announce signed in")
        #expect(session.machine.mayStore(tokenNumber: version) == false)
        #expect(session.stored() == "nothing")
        #expect(session.phase == "a5 good")
    }

    @Test("A request of an older sign-in is never signed with the new one's token")
    func olderGeneration() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        session.store = MachineFixture.credential(5)
        #expect(session.signIn(session.store) == "announce signed in")
        #expect(session.signature("a") == "outdated")
        #expect(session.ask("a") == "refuse: signed out")
        #expect(session.ask("b") == "go")
        #expect(session.signature("b") == "a5")
    }

    @Test("A request that was admitted before the store was emptied is not signed for the next user")
    func nextUser() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        session.store = MachineFixture.empty
        #expect(session.ask("b") == "refuse: missing, announce signed out")
        session.store = MachineFixture.credential(5)
        #expect(session.ask("c") == "go")
        #expect(session.signature("a") == "outdated")
        #expect(session.ask("a") == "refuse: signed out")
    }

    @Test("A credential that was signed out does not come back from a store that lags")
    func laggingStore() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        #expect(session.signOut() == "announce signed out")
        #expect(session.ask("b") == "refuse: missing, announce stale store")
        #expect(session.signIn(MachineFixture.credential(5)) == "announce signed in")
        #expect(session.ask("c") == "go, announce stale store")
        #expect(session.signature("c") == "a5")
        #expect(session.signIn(session.store) == "announce signed in", "signing in with it again is meant")
        #expect(session.ask("d") == "go")
    }

    @Test("A sign-in with the credential that is being refreshed keeps the running refresh")
    func signInWithTheSame() {
        var session = MachineFixture()
        session.now = 3_600
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        #expect(session.signIn(session.store) == "refuse a: signed out, announce signed in")
        #expect(session.ask("b", deadline: 3_604) == "wait, wake at 3602")
        #expect(session.succeed(2) == "set a2", "or its refresh token would be spent twice")
    }

    @Test("A sign-in says that a token is good again that the server has rejected")
    func signInWithDeadToken() {
        var session = MachineFixture()
        session.store = MachineFixture.credential(1, refresh: "")
        #expect(session.ask("a") == "go")
        let old = session.machine.tokenNumber
        session.condemn()
        #expect(session.ask("b") == "refuse: missing, announce ended: missing")
        #expect(session.signIn(session.store) == "announce signed in")
        #expect(session.ask("c") == "go")
        session.condemn(tokenNumber: old)
        #expect(session.ask("d") == "go", "a 401 for a request that was signed before says nothing about it")
        session.condemn()
        #expect(session.ask("e") == "refuse: missing, announce ended: missing")
        session.store = MachineFixture.empty
        #expect(session.ask("f") == "refuse: missing, announce signed out")
        session.store = MachineFixture.credential(1, refresh: "")
        #expect(session.ask("g") == "go", "as whoever signs in by the variable does")
    }

    @Test("Whoever empties the variable and fills it again gets what a refresh brings that ran meanwhile")
    func emptiedAndFilled() {
        var session = MachineFixture()
        session.now = 3_600
        let credential = session.store
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        #expect(session.observe(MachineFixture.empty) == "refuse a: signed out, announce signed out")
        #expect(session.observe(credential) == "nothing")
        #expect(session.ask("b") == "wait")
        #expect(session.succeed(2) == "set a2", "it is not revoked")
        #expect(session.stored() == "release, announce refreshed")
    }

    @Test("The next refresh waits until an outdated one has ended")
    func outdatedRefresh() {
        var session = MachineFixture()
        session.now = 3_600
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        session.store = MachineFixture.credential(5, life: 0)
        #expect(session.observe(session.store) == "announce changed")
        #expect(session.phase == "refreshing outdated, waiting: a")
        #expect(session.ask("b") == "wait")
        #expect(session.fail() == "refresh 2 with r5 for a", "its failure isn't the new session's")
        #expect(session.succeed(2, refresh: 1) == "nothing", "it has ended")
        #expect(session.succeed(6, refresh: 2) == "set a6")
    }

    // MARK: Order

    @Test("Newcomers join the end until the last waiter has been released")
    func newcomers() {
        var session = MachineFixture()
        session.now = 3_600
        for name in ["a", "b", "c"] { _ = session.ask(name) }
        session.leave("b")
        _ = session.succeed(2)
        session.store = session.machine.held?.credential ?? session.store
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.machine.nextReleased(now: session.moment).0 == "a")
        #expect(session.ask("d") == "wait")
        #expect(session.machine.nextReleased(now: session.moment).0 == "c")
        #expect(session.machine.nextReleased(now: session.moment).0 == "d")
        #expect(session.ask("e") == "wait", "who was released last may not have started yet")
        #expect(session.release() == "e")
        #expect(session.ask("f") == "go")
    }

    @Test("When the token expires while waiters are released, the others wait for the next token")
    func diesWhileReleasing() {
        var session = MachineFixture()
        session.now = 3_600
        for name in ["a", "b"] { _ = session.ask(name) }
        _ = session.succeed(2)
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.machine.nextReleased(now: session.moment).0 == "a")
        session.condemn()
        #expect(session.release() == "refresh 2 with r2 for b")
    }

    // MARK: What is counted, and what is forgotten

    private static let failure = AuthenticationError.refreshRejected(
        OAuthError(code: "invalid_grant"), delivery: .notSent)

    @Test("A person has gone at a sign-in if somebody may have been there")
    func departures() {
        func hasGone(_ session: MachineFixture, read: TokenCredential? = nil) -> Bool {
            var session = session
            let before = session.machine.tenure
            _ = session.machine.signedIn(MachineFixture.credential(9), read: read, now: session.moment)
            return session.machine.tenure.isAfterDeparture(since: before)
        }
        var signedIn = MachineFixture()
        _ = signedIn.ask("a")
        #expect(hasGone(signedIn))
        #expect(!hasGone(MachineFixture()))
        #expect(!hasGone(MachineFixture(), read: MachineFixture.empty))
        #expect(hasGone(MachineFixture(), read: MachineFixture.credential(1)))
        #expect(hasGone(MachineFixture(needsLoading: true)), "nobody knows what the store holds")
        #expect(hasGone(signedIn, read: MachineFixture.empty))
    }

    @Test("Somebody else's credential takes over, and the person before has gone")
    func takeovers() {
        var session = MachineFixture()
        _ = session.ask("a")
        let first = session.machine.tenure
        _ = session.observe(MachineFixture.credential(5))
        let second = session.machine.tenure
        #expect(second.isSameSignIn(as: first) && !second.isUnbroken(since: first))
        #expect(second.isAfterDeparture(since: first) && !second.isSamePerson(as: first))
        let version = session.machine.version
        _ = session.signOut()
        #expect(session.machine.tenure.isAfterDeparture(since: second))
        #expect(!session.machine.tenure.isSameSignIn(as: second))
        #expect(session.machine.version != version)
    }

    @Test("What was written and has arrived makes what was read before out of date")
    func arrived() {
        var session = MachineFixture()
        _ = session.ask("a")
        _ = session.signIn(MachineFixture.credential(2))
        let version = session.machine.version
        _ = session.observe(MachineFixture.credential(2))
        #expect(session.machine.version != version)
    }

    @Test("An empty variable signs nobody in")
    func emptyVariable() {
        guard case .signedOut = MachineFixture().machine.state(reading: .empty) else {
            Issue.record("somebody is signed in")
            return
        }
    }

    @Test("A refused refresh token is tried again after a sign-in, and after the provider has returned a credential")
    func refusedAgain() {
        var session = MachineFixture()
        session.means = .refreshTokenOrProvider
        _ = session.ask("a")
        session.now = 3_600
        _ = session.ask("b")
        _ = session.machine.refreshTokenRefused(number: 1, Self.failure, now: session.moment)
        #expect(session.machine.refusedRefreshToken == "r1")
        #expect(session.machine.means(of: 1) == .provider)
        var signedIn = session
        _ = signedIn.signIn(MachineFixture.credential(5))
        #expect(signedIn.machine.refusedRefreshToken == nil)
        _ = session.succeed(2)
        #expect(session.machine.refusedRefreshToken == nil)

        var refreshed = MachineFixture()
        _ = refreshed.ask("a")
        refreshed.now = 3_600
        _ = refreshed.ask("b")
        refreshed.machine.refusedRefreshToken = "r7"
        _ = refreshed.succeed(2)
        #expect(refreshed.machine.refusedRefreshToken == "r7")
    }

    @Test("A sign-in with the tokens that are being refreshed takes over their expiry")
    func signInWithTheSameTokens() {
        var session = MachineFixture()
        _ = session.ask("a")
        session.now = 3_580
        _ = session.ask("b")
        _ = session.signIn(MachineFixture.credential(1, life: 9_000))
        #expect(session.machine.held?.credential == MachineFixture.credential(1, life: 9_000))
        #expect(session.machine.isRunning(1))
    }

    @Test("What a write goes over is what was read, and otherwise what the outstanding one would go over")
    func whatIsWrittenOver() {
        for (outstanding, hasRead, expected) in [
            (StoreMemory.Outstanding.overAnything, true, StoreMemory.Outstanding.overOld),
            (.overAnything, false, .overAnything), (.overOld, false, .overOld),
        ] {
            var machine = MachineFixture(needsLoading: true).machine
            machine.store.outstanding = outstanding
            machine.willWrite(MachineFixture.credential(1), hasRead: hasRead)
            #expect(machine.store.outstanding == expected)
        }
        var machine = MachineFixture(needsLoading: true).machine
        machine.store.outstanding = .overAnything
        machine.willWrite(MachineFixture.credential(1))
        #expect(machine.store.outstanding == .overOld, "the store was read")
        machine.store.outstanding = nil
        machine.willWrite(MachineFixture.credential(2), hasRead: false)
        #expect(machine.store.outstanding == .overOld)
    }

    @Test("Only a variable may still return what it is being set to", arguments: [true, false])
    func pendingOfAVariable(needsLoading: Bool) {
        func judge(_ write: (inout SessionMachine<String>, TokenCredential) -> Void) -> StoreMemory.Reading {
            var machine = MachineFixture(needsLoading: needsLoading).machine
            for number in 1...2 { write(&machine, MachineFixture.credential(number)) }
            machine.store.outstanding = nil
            _ = machine.store.note(MachineFixture.credential(2))
            return machine.store.judge(MachineFixture.credential(1))
        }
        let now = MachineFixture().moment
        #expect(judge { $0.willWrite($1) } == (needsLoading ? .news : .old))
        #expect(judge { _ = $0.signedIn($1, now: now) } == (needsLoading ? .news : .old))
    }

    @Test("A variable that is set again may return that at any moment")
    func setAgain() {
        var session = MachineFixture()
        _ = session.signIn(MachineFixture.credential(1))
        _ = session.signIn(MachineFixture.credential(2))
        #expect(session.machine.nextToSet(after: MachineFixture.credential(1)) == MachineFixture.credential(2))
        _ = session.machine.store.note(MachineFixture.credential(3))
        #expect(session.machine.store.judge(MachineFixture.credential(2)) == .old)
    }

    @Test("Nobody is signed in while the store is read again, and the state says so")
    func stateOfASecondLook() {
        var session = MachineFixture(needsLoading: true)
        func state() -> String { "\(session.machine.state())" }
        #expect(state() == "unknown")
        #expect(session.ask("a") == "wait, load 1")
        #expect(state() == "unknown")
        #expect(session.load(nil) == "refuse a: missing")
        #expect(state() == "signedOut")
        #expect(session.ask("b") == "wait, load 2")
        #expect(state() == "signedOut")
    }

    @Test("A refresh that gives its place to a sign-in or sign-out leaves what that has still to write")
    func wantedByTheApp() {
        var session = MachineFixture(needsLoading: true)
        let stored = MachineFixture.credential(1)
        #expect(session.machine.wanted(over: stored) == stored)
        _ = session.signIn(MachineFixture.credential(2))
        let new = MachineFixture.credential(2)
        #expect(session.machine.wanted(over: stored) == new)
        #expect(session.machine.mayWrite(signedIn: new, in: session.machine.tenure))
        // It is there already, and somebody may have replaced it since.
        #expect(session.machine.left(new, now: session.moment).isEmpty)
        #expect(!session.machine.mayWrite(signedIn: new, in: session.machine.tenure))
        #expect(session.machine.wanted(over: stored) == stored)
        _ = session.signOut()
        #expect(session.machine.left(nil, now: session.moment).isEmpty)
        #expect(session.machine.wanted(over: stored) == nil)
        session.machine.notReplaced(in: session.machine.tenure)
        #expect(session.machine.wanted(over: stored) == stored)
    }

    @Test("A sign-in that isn't wanted any more is told, and touches no later one")
    func unwantedSignIn() {
        var session = MachineFixture(needsLoading: true)
        _ = session.signIn(MachineFixture.credential(1))
        let first = session.machine.tenure
        _ = session.signOut()
        let second = session.machine.tenure
        let actions = session.machine.replaced(
            by: MachineFixture.credential(1), in: first, found: .success(nil), failure: Self.failure,
            now: session.moment)
        #expect(actions.map(MachineFixture.name) == ["announce not stored"])
        #expect(session.machine.store.outstanding == .first(second))
        session.machine.notReplaced(in: second)
        #expect(session.machine.store.outstanding == nil)
    }

    @Test("A sign-in that couldn't be written over a store that couldn't be read goes over anything")
    func overAnything() {
        var session = MachineFixture(needsLoading: true)
        _ = session.signIn(MachineFixture.credential(1))
        _ = session.machine.replaced(
            by: MachineFixture.credential(1), in: session.machine.tenure,
            found: .failure(OAuthError(code: "disk")), failure: Self.failure, now: session.moment)
        #expect(session.machine.store.outstanding == .overAnything)
    }

    @Test("A refresh token that comes with the same access token can be refreshed with again")
    func failureOfTheSame() {
        var session = MachineFixture()
        _ = session.ask("a")
        session.machine.held?.finalFailure = FinalFailure(Self.failure, of: .refreshToken)
        _ = session.observe(MachineFixture.credential(1, refresh: "r9"))
        #expect(session.machine.held?.finalFailure == nil)
    }

    @Test("A dead access token stays dead, whoever puts it back, until nobody is signed in")
    func deadAgain() {
        var session = MachineFixture()
        _ = session.ask("a")
        _ = session.observe(MachineFixture.credential(2))
        session.condemn()
        for number in [1, 2] { _ = session.observe(MachineFixture.credential(number)) }
        #expect(session.machine.held?.isRejected == true)
        _ = session.signOut()
        _ = session.observe(MachineFixture.empty)
        _ = session.observe(MachineFixture.credential(2))
        #expect(
            session.machine.held?.isRejected == false, "whoever comes when nobody is signed in says that it is good")
    }

    @Test("A sign-out forgets how refreshes have failed")
    func setbackAfterSignOut() {
        var session = MachineFixture()
        _ = session.ask("a")
        session.now = 3_600
        _ = session.ask("b")
        _ = session.fail()
        #expect(session.machine.setback != nil)
        _ = session.signOut()
        #expect(session.machine.setback == nil)
    }

    // MARK: Refreshes that were left behind

    /// A session that refreshes for `b` with `r1`.
    private static func refreshing(needsLoading: Bool = false, by means: RefreshMeans = .refreshToken) -> MachineFixture
    {
        var session = MachineFixture(needsLoading: needsLoading)
        session.means = means
        if needsLoading { _ = session.lookUp(session.store) }
        _ = session.ask("a")
        session.now = 3_600
        _ = session.ask("b")
        return session
    }

    @Test("What a refresh for somebody else brings home is known if somebody puts it back")
    func broughtForOthers() {
        var session = Self.refreshing()
        _ = session.observe(MachineFixture.credential(5, life: 9_000))
        let number = session.machine.tokenNumber
        _ = session.succeed(2, life: 9_000, reading: MachineFixture.credential(5, life: 9_000))
        #expect(session.machine.known.find("a2")?.number == number + 1)
        #expect(session.machine.lastTokenNumber == number + 1)
    }

    @Test("The next session's refresh starts when the one before has come home")
    func waitsForRevoked() {
        var session = Self.refreshing()
        _ = session.signOut()
        _ = session.signIn(MachineFixture.credential(5))
        session.store = MachineFixture.credential(5)
        session.condemn()
        #expect(session.ask("c") == "wait")
        #expect(session.succeed(2) == "revoke r2, refresh 2 with r5 for c")
    }

    @Test("A provider that returns a credential after the sign-out is still on its way")
    func providedAfterwards() {
        var session = Self.refreshing(by: .provider)
        _ = session.signOut()
        session.machine.refreshProvided(number: 1)
        #expect(session.machine.leftBehind?.isProvided == true)
    }

    @Test("A replaced refresh token stays beside the access token that somebody has put beside the old one")
    func replacedBesideAnother() throws {
        var session = Self.refreshing()
        let other = MachineFixture.credential(2, life: 7_200, refresh: "r1")
        _ = session.observe(other)
        let kept = session.machine.refreshTokenReplaced(number: 1, by: "r9", now: session.moment)
        #expect(kept == MachineFixture.credential(2, life: 7_200, refresh: "r9"))
        #expect(session.machine.held?.credential == kept)
        #expect(session.machine.spent.successor(of: other) == kept)
    }

    @Test("A replaced refresh token takes the old one's place in the refresh, and the old one is spent")
    func replacedInRefresh() throws {
        var session = Self.refreshing(needsLoading: true)
        let version = session.machine.version
        let replaced = session.machine.refreshTokenReplaced(number: 1, by: "r9", now: session.moment)
        let kept = try #require(replaced)
        #expect(session.machine.running?.credential == kept)
        #expect(session.machine.spent.successor(of: MachineFixture.credential(1)) == kept)
        #expect(session.machine.version != version)
        #expect(session.machine.store.outstanding == .overOld)

        var failed = session
        let failure = AuthenticationError.credentialNotStored(cause: TokenStoreError.diskFull, delivery: .notSent)
        let told = failed.machine.keptRefreshToken(kept, failure, now: session.moment)
        guard case .announce(.credentialNotStored)? = told.first, told.count == 1 else { throw Unexpected("\(told)") }
        #expect(failed.machine.store.outstanding == .overOld)
        #expect(failed.machine.store.retryAt != nil)
        var other = session
        _ = other.machine.keptRefreshToken(MachineFixture.credential(7), nil, now: session.moment)
        #expect(other.machine.store.outstanding == .overOld, "something newer is to be written")
        _ = other.machine.keptRefreshToken(MachineFixture.credential(7), failure, now: session.moment)
        #expect(other.machine.store.retryAt == nil)
        _ = session.machine.keptRefreshToken(kept, nil, now: session.moment)
        #expect(session.machine.store.outstanding == nil)
    }

    @Test("A replaced refresh token is nobody's after a sign-out, and the session's whose old one was put back")
    func replacedAfterwards() {
        var signedOut = Self.refreshing()
        _ = signedOut.signOut()
        #expect(signedOut.replaceRefreshToken(refresh: 1) == "nothing")
        #expect(signedOut.machine.spent.contains(MachineFixture.credential(1)))
        #expect(signedOut.machine.spent.successor(of: MachineFixture.credential(1)) == nil)

        var putBack = Self.refreshing()
        _ = putBack.observe(MachineFixture.credential(5, life: 9_000))
        _ = putBack.observe(MachineFixture.credential(1))
        #expect(putBack.replaceRefreshToken(refresh: 1) == "write r9")
        #expect(putBack.machine.held?.credential.refreshToken == "r9")
    }

    @Test("A store that was emptied is no news again")
    func emptyForAClient() {
        var session = Self.refreshing(needsLoading: true, by: .clientCredentials)
        #expect(session.find(nil).hasPrefix("go on"))
        #expect(session.machine.store.last?.isEmpty == true)
    }

    @Test("A dead credential ends the session if it was just read, and otherwise the store is asked")
    func deadWhileRefreshing() {
        let dead = MachineFixture.credential(5, life: 0, refresh: "")
        var found = Self.refreshing(needsLoading: true)
        #expect(found.find(dead).hasSuffix("announce ended: missing"))
        var observed = Self.refreshing(needsLoading: true)
        #expect(observed.observe(dead).contains("load"))
    }

    @Test("An unknown expiry is told as none", arguments: [Double?.none, 100])
    func announcedExpiry(life: Double?) {
        var session = Self.refreshing()
        let expiresAt = life.map { MachineFixture.epoch.addingTimeInterval($0 + 3_600) } ?? .distantFuture
        let credential = TokenCredential(accessToken: "a2", expiresAt: expiresAt, refreshToken: "r2")
        _ = session.machine.refreshSucceeded(
            number: 1, credential, lifetime: life, sentAt: session.moment.instant, now: session.moment)
        let told = session.machine.stored(tokenNumber: session.machine.tokenNumber, now: session.moment)
            .compactMap { action in if case .announce(.refreshed(let date)) = action { [date] } else { nil } }
        #expect(told == [[life == nil ? nil : expiresAt]])
    }

    /// A session whose new credential is to be stored over the first one.
    private static func storing() -> MachineFixture {
        var session = refreshing(needsLoading: true)
        _ = session.find(session.store)
        _ = session.succeed(2)
        return session
    }

    @Test("The waiters go on when a write that was tried again has failed, or finds something else")
    func wroteAgain() {
        for result in [
            Result<TokenCredential?, any Error>.failure(OAuthError(code: "disk")),
            .success(MachineFixture.credential(1)),
        ] {
            var session = Self.storing()
            let actions = session.machine.wroteAgain(
                result, in: session.machine.tenure, now: session.moment)
            #expect(actions.map(MachineFixture.name).contains("release"), "\(result)")
            if case .success = result { #expect(session.machine.store.outstanding == nil) }
        }
    }

    @Test("A store that was emptied after the end of the session is known to be empty")
    func emptiedAfterTheEnd() {
        var session = Self.refreshing(needsLoading: true)
        _ = session.reject()
        #expect(session.phase == "ended: rejected")
        #expect(session.lookUp(nil).contains("announce signed out"))
        #expect(session.machine.store.last?.isEmpty == true)
    }
}
