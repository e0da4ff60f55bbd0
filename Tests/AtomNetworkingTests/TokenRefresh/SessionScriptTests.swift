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
        #expect(session.ask("c") == "wait, refresh 1 with r1 for c")
    }

    @Test("A token's lifetime counts from when it was first seen")
    func leewayOfReadToken() {
        var session = MachineFixture()
        session.now = 3_540
        #expect(session.ask("a") == "go")
        session.now = 3_584
        #expect(session.ask("b") == "go", "a quarter of the minute that was left is 15 s")
        session.now = 3_585
        #expect(session.ask("c") == "wait, refresh 1 with r1 for c")
    }

    @Test("The lifetime of a token from a refresh counts from when the refresh was sent")
    func lifeFromRefresh() {
        var session = MachineFixture()
        session.now = 3_600
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a")
        session.now = 3_620
        #expect(session.succeed(2, life: 100, sentAt: 3_600) == "store a2")
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.release() == "a")
        session.store = session.machine.held?.credential ?? session.store
        session.now = 3_674
        #expect(session.ask("b") == "go")
        session.now = 3_675
        #expect(session.ask("c") == "wait, refresh 2 with r2 for c")
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
        #expect(session.ask("b") == "wait, refresh 1 with r1 for b")
        #expect(session.fail() == "release, announce: failed")
        #expect(session.release() == "b")
        #expect(session.ask("c") == "go")
        session.now = 3_599.9
        #expect(session.ask("d") == "go")
        #expect(session.signature("d") == "a1")
        session.now = 3_600
        #expect(session.signature("d") == "none")
        #expect(session.ask("e") == "wait, refresh 2 with r1 for e")
        #expect(session.succeed(2, life: 100, refresh: 2) == "store a2")
        session.store = session.machine.held?.credential ?? session.store
        #expect(session.stored() == "release, announce refreshed")
        #expect(session.release() == "e")
        session.now += 75
        #expect(session.ask("f") == "wait, refresh 3 with r2 for f", "the leeway counts again")
    }

    @Test("A 401 during an early refresh that then fails refuses all waiters")
    func rejectedDuringEarlyRefresh() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        session.now = 3_580
        #expect(session.ask("b") == "wait, refresh 1 with r1 for b")
        session.condemn()
        #expect(session.ask("a", isRetry: true) == "wait")
        #expect(session.fail() == "refuse b a: failed, announce: failed")
    }

    @Test("A final failure of an early refresh ends the session only when the token really expires")
    func earlyDoom() {
        var session = MachineFixture()
        #expect(session.ask("a") == "go")
        session.now = 3_580
        #expect(session.ask("b") == "wait, refresh 1 with r1 for b")
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
        #expect(session.succeed(2, refresh: 2) == "store a2")
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
