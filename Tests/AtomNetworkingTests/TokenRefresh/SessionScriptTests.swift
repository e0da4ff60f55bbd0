import Foundation
import Testing

@testable import AtomNetworking

@Suite("A session's rules, as scripts of events and results", .limited)
struct SessionScriptTests {
    // MARK: Leeway

    @Test(
        "The leeway is the smaller of 30 s and a quarter of the token's life",
        arguments: [(3_600.0, 3_570.0), (120, 90), (100, 75), (40, 30), (4, 3)])
    func leeway(life: Double, due: Double) {
        var session = MachineFixture()
        session.store = MachineFixture.credential(1, life: life)
        #expect(session.ask("a") == "go")
        session.now = due - 0.001
        #expect(session.ask("b") == "go")
        session.now = due
        #expect(session.ask("c").hasPrefix("wait, refresh 1 with r1 for c, wake at"))
    }

    @Test("A token's lifetime counts from when it was first seen")
    func leewayOfReadToken() {
        var session = MachineFixture()
        session.now = 3_540
        #expect(session.ask("a") == "go")
        session.now = 3_584
        #expect(session.ask("b") == "go", "a quarter of the minute that was left is 15 s")
        session.now = 3_585
        #expect(session.ask("c") == "wait, refresh 1 with r1 for c, wake at 3592.5")
    }

    @Test("The lifetime of a token from a refresh counts from when the refresh was sent")
    func lifeFromRefresh() {
        var session = MachineFixture()
        session.now = 3_600
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        session.now = 3_620
        #expect(session.succeed(2, life: 100, sentAt: 3_600) == "set a2")
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.release() == "a")
        session.store = session.machine.held?.credential ?? session.store
        session.now = 3_674
        #expect(session.ask("b") == "go")
        session.now = 3_675
        #expect(session.ask("c") == "wait, refresh 2 with r2 for c, wake at 3687.5")
    }

    @Test("A token that can't be refreshed is used until it expires, and then the session ends")
    func noRefreshToken() {
        var session = MachineFixture()
        session.store = MachineFixture.credential(1, refresh: "")
        #expect(session.ask("a") == "go")
        session.now = 3_599
        #expect(session.ask("b") == "go")
        session.now = 3_600
        #expect(session.ask("c") == "refuse: missing, announce ended: missing")
        #expect(session.phase == "ended: missing")
        #expect(session.machine.refreshCount == 0)
    }

    @Test(
        "An unknown expiry, or one that is no number, never makes a refresh due",
        arguments: [Date.distantFuture.timeIntervalSince1970, .nan, .infinity])
    func unknownExpiry(seconds: Double) {
        var session = MachineFixture()
        session.store = TokenCredential(
            accessToken: "a1", expiresAt: Date(timeIntervalSince1970: seconds), refreshToken: "r1")
        #expect(session.ask("a") == "go")
        session.now = 1e9
        #expect(session.ask("b") == "go")
    }

    // MARK: Early failure

    @Test("A failed early refresh releases the waiters, and only the real expiry counts until a refresh succeeds")
    func earlyFailure() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        session.now = 3_580
        #expect(session.ask("b") == "wait, refresh 1 with r1 for b, wake at 3590")
        #expect(session.fail() == "release, announce: failed")
        #expect(session.release() == "b")
        #expect(session.ask("c") == "go")
        session.now = 3_599.9
        #expect(session.ask("d") == "go")
        #expect(session.signature("d") == "a1")
        session.now = 3_600
        #expect(session.signature("d") == "none")
        #expect(session.ask("e") == "wait, refresh 2 with r1 for e")
        #expect(session.succeed(2, life: 100, refresh: 2) == "set a2")
        session.store = session.machine.held?.credential ?? session.store
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.release() == "e")
        session.now += 75
        #expect(session.ask("f") == "wait, refresh 3 with r2 for f, wake at 3687.5", "the leeway counts again")
    }

    @Test("Whoever has waited for an early refresh for half of its time is sent with the token that is still valid")
    func silence() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        session.now = 3_570
        #expect(session.ask("b") == "wait, refresh 1 with r1 for b, wake at 3585", "half of the token's time")
        #expect(session.ask("c", deadline: 3_574) == "wait, wake at 3572", "half of its own")
        #expect(session.ask("d", deadline: 3_590) == "wait")
        session.now = 3_571
        #expect(session.wakeUp() == "wake at 3572")
        session.now = 3_572
        #expect(session.wakeUp() == "release")
        #expect(session.ask("e") == "wait", "behind those who are being released")
        #expect(session.release() == "b, c, d, e")
        #expect(session.signature("c") == "a1")
        #expect(session.ask("f") == "go")
        #expect(session.wakeUp() == "nothing")
        session.now = 3_600
        #expect(session.ask("g", deadline: 3_604) == "wait", "the token has expired, and the refresh still runs")
        #expect(session.wakeUp() == "nothing")
        #expect(session.succeed(2) == "set a2")
        session.store = session.machine.held?.credential ?? session.store
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.release() == "g")
    }

    @Test("A token that the server rejects while its early refresh is silent is waited for again")
    func rejectedDuringSilence() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        session.now = 3_570
        #expect(session.ask("b") == "wait, refresh 1 with r1 for b, wake at 3585")
        #expect(session.ask("c") == "wait")
        session.now = 3_585
        #expect(session.wakeUp() == "release")
        session.condemn()
        #expect(session.release() == "")
        #expect(session.phase == "refreshing silently, waiting: b c")
        #expect(session.ask("a", isRetry: true) == "wait")
        #expect(session.fail() == "refuse b c a: failed, announce: failed")
    }

    @Test("Whoever waits for a refresh that was left behind is sent with a token that is still valid, too")
    func silenceOfAnother() {
        var session = MachineFixture()
        session.now = 3_600
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        session.store = MachineFixture.credential(5, life: 3_640)
        #expect(session.observe(session.store) == "release, announce changed")
        #expect(session.release() == "a")
        session.now = 3_632
        #expect(session.ask("b") == "wait, wake at 3636")
        session.now = 3_636
        #expect(session.wakeUp() == "release")
        #expect(session.release() == "b")
        #expect(session.fail() == "nothing")
    }

    // MARK: Answers that come late

    @Test("The answer to a refresh whose time was over is taken, and the next refresh waits for it for ten seconds")
    func overdue() {
        var session = MachineFixture()
        session.now = 3_600
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        #expect(session.fail(isOverdue: true) == "refuse a: failed, announce: failed")
        #expect(session.ask("b") == "wait, wake at 3610")
        #expect(session.ask("c", deadline: 3_609) == "refuse: failed")
        session.now = 3_609
        #expect(session.succeed(2) == "set a2")
        session.store = session.machine.held?.credential ?? session.store
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.release() == "b")
    }

    @Test("A refresh that has waited for an overdue one in vain gives its place to the answer that comes first")
    func overdueTwice() {
        var session = MachineFixture()
        session.now = 3_600
        _ = session.ask("a")
        _ = session.fail(isOverdue: true)
        _ = session.ask("b")
        session.now = 3_610
        #expect(session.wakeUp() == "refresh 2 with r1 for b")
        #expect(session.succeed(2, refresh: 1) == "set a2", "the server has taken the first one")
        session.store = session.machine.held?.credential ?? session.store
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.reject(refresh: 2) == "nothing", "and so refuses the second")
        #expect(session.release() == "b")
        #expect(session.ask("c") == "go")
    }

    @Test("A refresh that succeeds ends the wait for an overdue one with the same refresh token")
    func overdueBesideAnother() {
        var session = MachineFixture()
        session.now = 3_600
        _ = session.ask("a")
        _ = session.fail(isOverdue: true)
        session.now = 3_610
        _ = session.ask("b")
        _ = session.fail(isOverdue: true, refresh: 2)
        let granted = MachineFixture.credential(2, life: 9_000, refresh: "r1")
        _ = session.machine.refreshSucceeded(
            number: 1, granted, lifetime: 5_000, sentAt: session.moment.instant, read: session.store,
            now: session.moment)
        #expect(session.machine.held?.credential == granted)
        #expect(session.machine.setback == nil)
    }

    @Test("An overdue refresh whose connection has ended is not waited for, and one of somebody else's is not used")
    func overdueOfAnother() {
        var session = MachineFixture()
        session.now = 3_600
        _ = session.ask("a")
        _ = session.fail(isOverdue: true)
        _ = session.ask("b")
        #expect(session.abandon() == "refresh 2 with r1 for b")
        _ = session.fail(isOverdue: true, refresh: 2)
        #expect(session.signOut() == "announce signed out")
        #expect(session.succeed(2, refresh: 2, reading: MachineFixture.empty) == "revoke r2")
        session.store = MachineFixture.credential(5, life: 3_600)
        _ = session.signIn(session.store)
        session.condemn()
        #expect(session.ask("c") == "wait, refresh 3 with r5 for c")
        #expect(session.fail(isOverdue: true, refresh: 3) == "refuse c: failed, announce: failed")
        session.store = MachineFixture.credential(6, life: 9_000)
        #expect(session.observe(session.store) == "announce changed")
        #expect(session.succeed(7, refresh: 3) == "nothing")
        #expect(session.machine.held?.credential.accessToken == "a6")
    }

    @Test("A refresh that ended the session while an overdue one held its successor doesn't end it for good")
    func overdueAfterTheEnd() {
        var session = MachineFixture()
        session.now = 3_600
        _ = session.ask("a")
        _ = session.fail(isOverdue: true)
        _ = session.ask("b")
        session.now = 3_610
        _ = session.wakeUp()
        #expect(session.reject(refresh: 2).hasSuffix("announce ended: rejected"))
        #expect(session.succeed(2) == "set a2")
        session.store = session.machine.held?.credential ?? session.store
        #expect(session.stored() == "announce refreshed")
        #expect(session.ask("c") == "go")
    }

    @Test("A 401 during an early refresh that then fails refuses all waiters")
    func rejectedDuringEarlyRefresh() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        session.now = 3_580
        #expect(session.ask("b") == "wait, refresh 1 with r1 for b, wake at 3590")
        session.condemn()
        #expect(session.ask("a", isRetry: true) == "wait")
        #expect(session.fail() == "refuse b a: failed, announce: failed")
    }

    @Test("A final failure of an early refresh ends the session only when the token really expires")
    func earlyDoom() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        session.now = 3_580
        #expect(session.ask("b") == "wait, refresh 1 with r1 for b, wake at 3590")
        #expect(session.reject() == "release, announce: rejected")
        #expect(session.release() == "b")
        session.now = 3_599
        #expect(session.ask("c") == "go")
        session.now = 3_600
        #expect(session.ask("d") == "refuse: rejected, announce ended: rejected")
        #expect(session.phase == "ended: rejected")
        #expect(session.machine.refreshCount == 1)
    }

    // MARK: Back-off

    @Test("After a first failure the next attempt is allowed at once")
    func firstFailure() {
        var session = Self.expired()
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        #expect(session.ask("b") == "wait")
        #expect(session.fail() == "refuse a b: failed, announce: failed")
        #expect(session.ask("c") == "wait, refresh 2 with r1 for c")
    }

    @Test("From the second failure on it backs off with full jitter under a ceiling that doubles up to the cap")
    func backOff() {
        let policy = RefreshPolicy()
        #expect(policy.backOff(afterFailures: 0, random: 0.9) == .zero)
        #expect(policy.backOff(afterFailures: 1, random: 0.9) == .zero)
        let ceilings: [Double] = [0.5, 1, 2, 4, 8, 16, 30, 30]
        for (index, ceiling) in ceilings.enumerated() {
            #expect(policy.backOff(afterFailures: index + 2, random: 0) == .zero)
            #expect(policy.backOff(afterFailures: index + 2, random: 0.5) == .seconds(ceiling / 2))
        }
        #expect(policy.backOff(afterFailures: .max, random: 0.5) == .seconds(15))
    }

    @Test("During back-off a new request waits if the next attempt is before its deadline, and fails at once otherwise")
    func newcomersInBackOff() {
        var session = Self.expired()
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        #expect(session.fail(retryAfter: 10) == "refuse a: failed, announce: failed")
        let until = session.now + 10
        #expect(session.ask("b", deadline: until) == "refuse: failed")
        #expect(session.ask("c", deadline: until + 0.1) == "wait, wake at 3610")
        #expect(session.ask("d", deadline: until - 5) == "refuse: failed")
        #expect(session.ask("e", deadline: until + 50) == "wait, wake at 3610")
        session.now = until - 1
        #expect(session.wakeUp() == "wake at 3610")
        session.now = until
        #expect(session.wakeUp() == "refresh 2 with r1 for c")
        #expect(session.wakeUp() == "nothing")
        #expect(session.succeed(2, refresh: 2) == "set a2")
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.release() == "c, e")
    }

    @Test("A request that fails during back-off is told when a retry makes sense")
    func retryAt() throws {
        var session = Self.expired()
        _ = session.ask("a")
        _ = session.fail(retryAfter: 10)
        let (admission, _) = session.machine.asked(
            "b", by: .refreshToken, deadline: MachineFixture.instant(0), now: session.moment)
        guard case .refuse(.refreshFailed(_, let retryAt, let delivery)) = admission else {
            Issue.record("\(admission)")
            return
        }
        #expect(retryAt == MachineFixture.epoch.addingTimeInterval(3_610))
        #expect(delivery == .notSent)
    }

    @Test("Retry-After is honoured even after the first failure, and a success resets the count of failures")
    func retryAfter() {
        var session = Self.expired()
        _ = session.ask("a")
        #expect(session.fail(retryAfter: 60) == "refuse a: failed, announce: failed")
        #expect(session.phase == "backing off until 3660")
        session.now = 3_660
        #expect(session.ask("b") == "wait, refresh 2 with r1 for b")
        #expect(session.fail(random: 0.5, refresh: 2) == "refuse b: failed, announce: failed")
        #expect(session.phase == "backing off until 3660.25")
        session.now = 3_661
        #expect(session.ask("c") == "wait, refresh 3 with r1 for c")
        session.refreshed(2, refresh: 3)
        session.condemn()
        #expect(session.ask("d") == "wait, refresh 4 with r2 for d")
        #expect(session.fail(refresh: 4) == "refuse d: failed, announce: failed")
        #expect(session.ask("e") == "wait, refresh 5 with r2 for e", "a first failure again")
    }

    @Test("Back-off ends when somebody else extends the token")
    func prolongedInBackOff() {
        var session = Self.expired()
        _ = session.ask("a")
        _ = session.fail(retryAfter: 10)
        #expect(session.ask("b") == "wait, wake at 3610")
        session.store = MachineFixture.credential(1, life: 7_200)
        #expect(session.ask("c") == "wait, release")
        #expect(session.release() == "b, c")
    }

    // MARK: The end

    @Test("An ended session answers at once until the stored credential changes")
    func ended() {
        var session = Self.expired()
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        #expect(session.ask("b") == "wait")
        #expect(session.reject() == "refuse a b: rejected, announce: rejected, announce ended: rejected")
        for name in ["c", "d"] { #expect(session.ask(name) == "refuse: rejected") }
        session.store = MachineFixture.credential(1, refresh: "r9")
        #expect(session.ask("e") == "wait, refresh 2 with r9 for e")
        session.store = MachineFixture.credential(5, life: 9_999)
        #expect(session.ask("f") == "wait, release, announce changed")
        #expect(session.release() == "e, f")
    }

    @Test("A refused refresh doesn't end the session if somebody else has renewed it meanwhile")
    func renewedMeanwhile() {
        var session = Self.expired()
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        session.store = MachineFixture.credential(5, life: 9_999)
        #expect(session.reject() == "release, announce changed")
        #expect(session.release() == "a")
        #expect(session.signature("a") == "a5")
    }

    @Test("A dead access token without a refresh token ends the session without a refresh")
    func nothingToRefreshWith() {
        var session = MachineFixture()
        session.store = MachineFixture.credential(1, life: 0, refresh: "")
        #expect(session.ask("a") == "refuse: missing, announce ended: missing")
        session.store = TokenCredential(accessToken: "", expiresAt: .distantFuture, refreshToken: "r2")
        let asked = session.ask("b")
        #expect(asked == "wait, announce changed, refresh 1 with r2 for b", "a refresh token alone is enough")
    }

    static func expired() -> MachineFixture {
        var session = MachineFixture()
        _ = session.observe(session.store)
        session.now = 3_600
        return session
    }
}
