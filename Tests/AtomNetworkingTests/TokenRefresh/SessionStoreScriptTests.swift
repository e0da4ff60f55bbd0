import Foundation
import Testing

@testable import AtomNetworking

@Suite("A session and a shared store, as scripts", .limited)
struct SessionStoreScriptTests {
    // MARK: Reading

    @Test("A load for a session that is over is dropped")
    func lateLoad() {
        var session = MachineFixture(needsLoading: true)
        #expect(session.ask("a") == "wait, load 1")
        #expect(session.signOut() == "refuse a: signed out, announce signed out")
        #expect(session.ask("b") == "wait, load 2")
        #expect(session.load(MachineFixture.credential(1), number: 1) == "nothing")
        #expect(session.lookUp(MachineFixture.credential(1), in: .nobody) == "nothing")
        #expect(session.phase == "loading, waiting: b")
        #expect(session.load(nil) == "refuse b: missing")
    }

    @Test("When the store can't be read the waiters are refused, and the next request reads it again")
    func notReadable() {
        var session = MachineFixture(needsLoading: true)
        #expect(session.ask("a") == "wait, load 1")
        #expect(session.failLoading() == "refuse a: not readable")
        #expect(session.ask("b") == "wait, load 2")
        #expect(session.load(session.store) == "release")
        #expect(session.release() == "b")
    }

    // MARK: What comes late

    /// Signed in as the person whose refresh, with `r1`, was left behind at a sign-in as another one.
    private static func back() -> MachineFixture {
        var session = rejected()
        _ = session.ask("a", isRetry: true)
        _ = session.find(MachineFixture.credential(1))
        _ = session.signIn(MachineFixture.credential(5))
        session.wrote(MachineFixture.credential(5))
        _ = session.signIn(MachineFixture.credential(1))
        return session
    }

    @Test("What a refresh brings while a sign-in is written is written afterwards, and the requests go on")
    func grantDuringTheWriteOfASignIn() {
        var session = Self.back()
        #expect(session.succeed(2).contains("store a2"))
        #expect(session.ask("b") == "wait")
        session.wrote(MachineFixture.credential(1))
        #expect(session.machine.hasToWriteAgain)
        #expect(session.machine.intended(over: MachineFixture.credential(1)) == session.machine.held?.credential)
        let written = session.machine.held?.credential
        let actions = session.machine.wroteAgain(
            .success(written), of: written, in: session.machine.tenure, now: session.moment)
        #expect(actions.contains { if case .release = $0 { true } else { false } })
        #expect(session.release() == "b" && session.signature("b") == "a2")
    }

    @Test(
        "A sign-in while such a credential is still to be written writes it, and the requests go on",
        arguments: [true, false])
    func signInDuringTheWriteOfAGrant(isWritten: Bool) {
        var session = Self.back()
        session.wrote(MachineFixture.credential(1))
        #expect(session.succeed(2).contains("store a2"))
        _ = session.signIn(MachineFixture.credential(1))
        #expect(session.ask("b") == "wait")
        let actions = session.machine.replaced(
            by: session.machine.held?.credential, in: session.machine.tenure,
            found: .success(MachineFixture.credential(1)),
            failure: isWritten
                ? nil : .credentialNotStored(cause: OAuthError(code: "disk"), delivery: .notSent),
            now: session.moment)
        #expect(actions.contains { if case .release = $0 { true } else { false } })
        #expect(session.release() == "b" && session.signature("b") == "a2")
        #expect(session.machine.hasToWriteAgain != isWritten)
    }

    @Test("What a refresh brings before a sign-in is written replaces what that would have replaced")
    func grantBeforeTheWriteOfASignIn() {
        var session = Self.back()
        #expect(session.succeed(2).contains("store a2"))
        let written = session.machine.held?.credential
        #expect(!session.machine.mayWrite(signedIn: MachineFixture.credential(1), in: session.machine.tenure))
        // Another process has stored it before the sign-in.
        #expect(session.machine.intended(over: MachineFixture.credential(7)) == written)
    }

    @Test("What a refresh brings while a failed write is tried again is written afterwards")
    func grantDuringARetry() {
        var session = Self.back()
        _ = session.machine.replaced(
            by: MachineFixture.credential(1), in: session.machine.tenure,
            found: .success(MachineFixture.credential(5)),
            failure: .credentialNotStored(cause: OAuthError(code: "disk"), delivery: .notSent), now: session.moment)
        let intended = session.machine.intended(over: MachineFixture.credential(5))
        #expect(intended == MachineFixture.credential(1))
        #expect(session.succeed(2).contains("store a2"))
        _ = session.machine.wroteAgain(
            .success(intended), of: intended, in: session.machine.tenure, now: session.moment)
        #expect(session.machine.hasToWriteAgain)
        #expect(session.machine.intended(over: intended) == session.machine.held?.credential)
    }

    @Test("What was there when a sign-in could neither read nor write the store is never somebody else's news")
    func unreadableAtTheSignIn() {
        var session = MachineFixture(needsLoading: true)
        let disk = OAuthError(code: "disk")
        _ = session.signIn(MachineFixture.credential(5))
        session.condemn()
        _ = session.machine.replaced(
            by: MachineFixture.credential(5), in: session.machine.tenure, found: .failure(disk),
            failure: .credentialNotStored(cause: disk, delivery: .notSent), now: session.moment)
        let older = MachineFixture.credential(9)
        #expect(session.ask("a") == "wait, refresh 1 with r5 for a")
        #expect(session.find(older) == "go on with r5")
        #expect(session.succeed(6).contains("store a6"))
        #expect(session.failToStore().contains("release"))
        #expect(session.machine.intended(over: older)?.accessToken == "a6")
        #expect(session.observe(older) == "nothing" && session.machine.held?.credential.accessToken == "a6")
    }

    // MARK: Others

    @Test("A credential that another process has stored is used without a token request")
    func adoption() {
        var session = Self.rejected()
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with r1 for a")
        #expect(session.find(MachineFixture.credential(5)) == "stop, release, announce changed")
        #expect(session.abandon() == "nothing")
        #expect(session.release() == "a")
        #expect(session.signature("a") == "a5")
    }

    @Test("A credential that another process has stored is refreshed if it is due, too")
    func adoptionOfExpired() {
        var session = Self.rejected()
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with r1 for a")
        let stored = MachineFixture.credential(5, life: 0)
        #expect(session.find(stored) == "stop, announce changed, refresh 2 with r5 for a")
        #expect(session.find(stored, refresh: 2) == "go on with r5")
    }

    @Test("A change is announced after the waiters are told, and before the end that it leads to")
    func orderOfAnnouncements() {
        var session = Self.rejected()
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with r1 for a")
        let found = session.find(MachineFixture.credential(5, life: 0, refresh: ""))
        #expect(found == "stop, refuse a: missing, announce changed, announce ended: missing")
    }

    @Test("Another process signs somebody in, and the first person again: the session is the first person's")
    func twoPeople() {
        var session = Self.rejected()
        let first = session.store
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with r1 for a")
        #expect(session.find(MachineFixture.credential(5)) == "stop, release, announce changed")
        _ = session.abandon()
        #expect(session.release() == "a")
        session.condemn()
        #expect(session.ask("b") == "wait, refresh 2 with r5 for b")
        #expect(session.find(first, refresh: 2) == "stop, announce changed, refresh 3 with r1 for b")
        #expect(session.find(first, refresh: 3) == "go on with r1", "nobody else's refresh token")
    }

    @Test("Another process may replace a sign-in of this process with the credential that was there before")
    func signedInHereAndPutBack() {
        var session = MachineFixture(needsLoading: true)
        let first = session.store
        _ = session.lookUp(first)
        _ = session.signIn(MachineFixture.credential(5))
        session.wrote(MachineFixture.credential(5))
        session.condemn()
        #expect(session.ask("a") == "wait, refresh 1 with r5 for a")
        #expect(session.find(first) == "stop, release, announce changed")
        #expect(session.release() == "a")
        #expect(session.machine.held?.credential == first)
    }

    @Test("If the store of an ended session was emptied, a new request is told that nobody is signed in")
    func emptiedAfterTheEnd() {
        var session = Self.rejected()
        _ = session.ask("a", isRetry: true)
        _ = session.reject()
        #expect(session.ask("b") == "wait, load 1")
        #expect(session.load(nil) == "announce signed out, refuse b: missing")
    }

    @Test("If the store of an ended session was emptied, a request with a provider has it asked at once")
    func emptiedAfterTheEndOfAProvider() {
        var session = Self.rejected(by: .provider)
        _ = session.ask("a", isRetry: true)
        _ = session.reject()
        #expect(session.ask("b") == "wait, load 1")
        #expect(session.load(nil) == "announce signed out, refresh 2 with nothing for b")
    }

    @Test("The session's state follows what another process has stored, even after a provider has failed")
    func lookedUpAfterAFailure() {
        var session = MachineFixture(needsLoading: true)
        session.means = .provider
        _ = session.ask("a")
        _ = session.load(nil)
        #expect(session.fail(retryAfter: 10) == "refuse a: failed, announce: failed")
        #expect(session.lookUp(nil) == "nothing")
        #expect(session.lookUp(MachineFixture.credential(5)) == "nothing")
        #expect(session.phase == "a5 good")
    }

    // MARK: Two ways to renew

    @Test("If the token dies after its refresh token was refused, the provider is asked, and nobody is told of an end")
    func refusedAndThenDead() {
        var session = MachineFixture(needsLoading: true)
        session.means = .refreshTokenOrProvider
        _ = session.lookUp(session.store)
        session.now = 3_580
        _ = session.ask("a")
        #expect(session.machine.means(of: 1) == .refreshToken)
        let failure = AuthenticationError.refreshRejected(OAuthError(code: "invalid_grant"), delivery: .notSent)
        #expect(
            session.machine.refreshTokenRefused(number: 1, failure, now: session.moment) == .waitsForExpiry,
            "the access token is still good")
        session.condemn()
        #expect(session.fail(retryAfter: 0) == "refresh 2 with r1 for a")
        #expect(session.machine.means(of: 2) == .provider)
    }

    @Test("The request that starts a refresh decides how another credential is got")
    func twoMeans() {
        var session = Self.rejected(MachineFixture.credential(1, refresh: ""))
        #expect(session.ask("a", by: .provider) == "wait, refresh 1 with  for a")
        #expect(session.ask("b") == "wait")
        #expect(session.fail(retryAfter: 0) == "refuse a b: failed, announce: failed")
        #expect(session.ask("c") == "wait, load 1", "there is no refresh token")
        #expect(session.load(session.store) == "refuse c: missing, announce ended: missing")
        #expect(session.ask("d", by: .provider) == "wait, refresh 2 with  for d", "the provider can still be asked")
    }

    @Test("When nobody is signed in, requests with a provider have it asked, and the others are refused")
    func twoMeansAndNobody() {
        var session = MachineFixture(needsLoading: true)
        #expect(session.ask("a") == "wait, load 1")
        #expect(session.ask("b", by: .provider) == "wait")
        #expect(session.load(nil) == "refuse a: missing, refresh 1 with nothing for b")
    }

    // MARK: Refusals

    @Test("Another access token beside the refused refresh token is used until it expires")
    func refusedBesideAnotherAccessToken() {
        var session = MachineFixture()
        _ = session.ask("a")
        session.condemn()
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with r1 for a")
        session.store = MachineFixture.credential(5, refresh: "r1")
        #expect(session.reject() == "release, announce changed")
        #expect(session.release() == "a")
        session.now = 3_599
        #expect(session.ask("b") == "go")
        session.now = 3_600
        #expect(session.ask("c") == "refuse: rejected, announce ended: rejected")
        #expect(session.machine.refreshCount == 1)
    }

    @Test("When that access token has expired as well, the session ends")
    func refusedBesideExpiredAccessToken() {
        var session = MachineFixture()
        _ = session.ask("a")
        session.condemn()
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with r1 for a")
        session.store = MachineFixture.credential(5, life: 0, refresh: "r1")
        #expect(session.reject() == "refuse a: rejected, announce changed, announce ended: rejected")
    }

    @Test("A provider that has failed for good doesn't end a session that another process has stored")
    func refusedProvider() {
        var session = Self.rejected(MachineFixture.credential(1, refresh: ""), by: .provider)
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with  for a")
        session.store = MachineFixture.credential(5, refresh: "")
        #expect(session.reject() == "release, announce changed")
        #expect(session.release() == "a")
        session.now = 3_600
        #expect(session.ask("b") == "wait, refresh 2 with  for b", "it is asked again")
    }

    @Test("A client's own session that is refused says so even if its store is empty")
    func refusedClient() {
        var session = Self.rejected(MachineFixture.credential(1, refresh: ""), by: .clientCredentials)
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with  for a")
        session.store = MachineFixture.empty
        #expect(session.find(nil) == "go on with ")
        #expect(session.reject() == "refuse a: rejected, announce: rejected, announce ended: rejected")
    }

    @Test("A refresh goes by what the store should hold, if that could not be written")
    func refusedWithUnwritten() {
        var session = Self.rejected()
        _ = session.ask("a", isRetry: true)
        _ = session.succeed(2)
        #expect(session.failToStore() == "release, announce not stored, announce refreshed")
        _ = session.release()
        session.condemn()
        #expect(session.ask("b") == "wait, refresh 2 with r2 for b")
        let step = session.find(MachineFixture.credential(1), refresh: 2)
        #expect(step == "go on with r2", "r1 is spent, and r2 will be written")
        #expect(session.reject(refresh: 2) == "refuse b: rejected, announce: rejected, announce ended: rejected")
    }

    // MARK: The end

    @Test("Before a session without a refresh token ends, the store is read")
    func readBeforeTheEnd() {
        var session = Self.rejected(MachineFixture.credential(1, refresh: ""))
        #expect(session.ask("a", isRetry: true) == "wait, load 1")
        #expect(session.ask("b") == "wait")
        #expect(session.load(MachineFixture.credential(5)) == "release, announce changed")
        #expect(session.release() == "a, b")
    }

    @Test("If the store holds nothing new, the session ends, and that is announced once")
    func endAfterReading() {
        var session = Self.rejected(MachineFixture.credential(1, refresh: ""))
        let held = session.store
        #expect(session.ask("a", isRetry: true) == "wait, load 1")
        #expect(session.load(held) == "refuse a: missing, announce ended: missing")
        #expect(session.ask("b") == "wait, load 2")
        #expect(session.load(held) == "refuse b: missing")
    }

    @Test("An end that a sign-in has prevented is not announced with the next one")
    func preventedEnd() {
        var session = Self.rejected(MachineFixture.credential(1, refresh: ""))
        #expect(session.ask("a", isRetry: true) == "wait, load 1")
        #expect(session.signIn(MachineFixture.credential(2)) == "refuse a: signed out, announce signed in")
        _ = session.ask("b")
        session.condemn()
        #expect(session.ask("b", isRetry: true) == "wait, refresh 1 with r2 for b")
        session.store = MachineFixture.credential(2)
        #expect(session.reject() == "refuse b: rejected, announce: rejected, announce ended: rejected")
        #expect(session.lookUp(session.store) == "nothing", "whoever asks who is signed in changes nothing")
    }

    @Test("An early final failure ends the session only if the store holds nothing new at expiry")
    func earlyDoom() {
        var session = MachineFixture(needsLoading: true)
        _ = session.lookUp(session.store)
        session.now = 3_580
        #expect(session.ask("a") == "wait, refresh 1 with r1 for a, wake at 3590")
        #expect(session.reject() == "release, announce: rejected")
        _ = session.release()
        session.now = 3_600
        #expect(session.ask("b") == "wait, load 1")
        #expect(session.load(MachineFixture.credential(5, life: 9_999)) == "release, announce changed")
        #expect(session.release() == "b")
    }

    @Test("The store is not read again for a dead credential that was just read")
    func deadInStore() {
        var session = MachineFixture(needsLoading: true)
        #expect(session.ask("a") == "wait, load 1")
        let ended = "refuse a: missing, announce ended: missing"
        #expect(session.load(MachineFixture.credential(1, life: 0, refresh: "")) == ended)
    }

    // MARK: Writing

    @Test("A sign-in does not overwrite the successor of its own credential")
    func signInWithTheSame() {
        var session = Self.rejected()
        #expect(session.ask("a", isRetry: true) == "wait, refresh 1 with r1 for a")
        #expect(session.find(session.store) == "go on with r1")
        let credential = session.store
        #expect(session.signIn(credential) == "refuse a: signed out, announce signed in")
        let tenure = session.machine.tenure
        #expect(session.machine.mayWrite(signedIn: credential, in: tenure))
        #expect(session.succeed(2) == "store a2")
        #expect(!session.machine.mayWrite(signedIn: credential, in: tenure))
    }

    @Test("A sign-in or sign-out is not written after the app has signed in or out again")
    func outdatedWrites() {
        var session = MachineFixture(needsLoading: true)
        _ = session.signIn(MachineFixture.credential(1))
        let first = session.machine.tenure
        #expect(session.machine.mayWrite(signedIn: MachineFixture.credential(1), in: first))
        _ = session.signOut()
        #expect(!session.machine.mayWrite(signedIn: MachineFixture.credential(1), in: first))
        #expect(session.machine.mayWrite(signedIn: nil, in: session.machine.tenure))
    }

    /// A session whose credential the server has refused in a first attempt.
    static func rejected(
        _ credential: TokenCredential = MachineFixture.credential(1), by means: RefreshMeans = .refreshToken
    ) -> MachineFixture {
        var session = MachineFixture(needsLoading: true)
        session.means = means
        session.store = credential
        _ = session.lookUp(credential)
        _ = session.ask("a")
        session.condemn()
        return session
    }
}
