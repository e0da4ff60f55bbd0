import Foundation
import Testing

@testable import AtomNetworking

@Suite("What a session loses if its process ends", .limited)
struct SessionLossTests {
    /// What is lost, by the case and its cause.
    private func loss(_ session: MachineFixture) -> String {
        switch session.machine.loss {
        case nil: "nothing"
        case .credentialNotStored(AtomError.session, _)?: "a write that runs"
        case .credentialNotStored(let cause, _)?: "not stored: \(cause)"
        case .refreshFailed(AtomError.session(let error as URLError), nil, _)? where error.code == .timedOut:
            "a refresh that runs"
        case let other?: "\(other)"
        }
    }

    private func refuse(_ session: inout MachineFixture, because error: TokenStoreError) {
        _ = session.machine.notStored(
            tokenNumber: session.machine.tokenNumber, .credentialNotStored(cause: error, delivery: .notSent),
            now: session.moment)
    }

    /// A session whose refresh with `r1` runs in the store's exchange.
    private func refreshing() -> MachineFixture {
        var session = SessionStoreScriptTests.rejected()
        _ = session.ask("a", isRetry: true)
        _ = session.find(session.store)
        return session
    }

    @Test("A refresh is lost until it is stored, and then nothing is")
    func refresh() {
        var session = refreshing()
        #expect(loss(session) == "a refresh that runs")
        _ = session.succeed(2)
        #expect(loss(session) == "a write that runs")
        _ = session.stored()
        #expect(loss(session) == "nothing")
    }

    @Test("A refresh that has failed or been signed out loses nothing, one whose time is over may")
    func ended() {
        var failed = refreshing()
        _ = failed.fail()
        #expect(loss(failed) == "nothing")
        var signedOut = refreshing()
        _ = signedOut.signOut()
        signedOut.wrote(nil)
        #expect(loss(signedOut) == "nothing")
        var overdue = refreshing()
        _ = overdue.fail(isOverdue: true)
        #expect(loss(overdue) == "a refresh that runs")
    }

    @Test("A provider loses nothing until it has returned")
    func provider() {
        var session = MachineFixture(needsLoading: true)
        session.means = .provider
        _ = session.ask("a")
        _ = session.load(nil)
        #expect(loss(session) == "nothing")
        session.machine.refreshProvided(number: 1)
        #expect(loss(session) == "a refresh that runs")
    }

    @Test("A sign-in and a sign-out are lost until they are written")
    func signIn() {
        var session = MachineFixture(needsLoading: true)
        _ = session.signIn(MachineFixture.credential(1))
        #expect(loss(session) == "a write that runs")
        session.wrote(MachineFixture.credential(1))
        #expect(loss(session) == "nothing")
        _ = session.signOut()
        #expect(loss(session) == "a write that runs")
        session.wrote(nil)
        #expect(loss(session) == "nothing")
    }

    @Test("Why the last write has failed is known until one succeeds, also when it isn't tried any more")
    func failures() throws {
        var session = refreshing()
        _ = session.succeed(2)
        refuse(&session, because: .readOnly)
        #expect(loss(session) == "not stored: \(TokenStoreError.readOnly)")
        for _ in 1...16 {
            _ = session.machine.wroteAgain(
                .failure(TokenStoreError.diskFull), in: session.machine.tenure, now: session.moment)
        }
        #expect(session.machine.store.retryAt == nil, "it was given up")
        #expect(loss(session) == "not stored: \(TokenStoreError.diskFull)")
        let last = try #require(session.machine.store.last)
        _ = session.machine.wroteAgain(.success(last), of: last, in: session.machine.tenure, now: session.moment)
        #expect(loss(session) == "nothing")
        #expect(session.machine.store.failure == nil)
    }

    @Test("A sign-in that was written with the successor of its refresh token is not waited for")
    func signInWithASuccessor() throws {
        var session = refreshing()
        _ = session.machine.signedIn(
            MachineFixture.credential(9, refresh: "r1"), read: session.store, now: session.moment)
        let replaced = session.machine.refreshTokenReplaced(number: 1, by: "r9", now: session.moment)
        let kept = try #require(replaced)
        #expect(kept.accessToken == "a9" && kept.refreshToken == "r9")
        #expect(session.machine.store.hasToWrite(again: false))
        _ = session.machine.keptRefreshToken(kept, nil, now: session.moment)
        #expect(!session.machine.store.hasToWrite(again: true))
    }

    @Test("What somebody else has stored since is not lost")
    func replacedByAnother() {
        var session = refreshing()
        _ = session.succeed(2)
        refuse(&session, because: .diskFull)
        _ = session.observe(MachineFixture.credential(5))
        #expect(loss(session) == "nothing")
        #expect(session.machine.store.failure == nil)
    }

    @Test("A write is worth a wait only if it may succeed without anybody's help")
    func hopes() {
        for (error, isWaitedFor) in [
            (TokenStoreError.diskFull, false), (.lockTimedOut(.seconds(45)), true), (.overtaken, true),
            (.refused("it is a folder"), false), (.system(operation: "open", code: Int(EACCES)), false),
            (.system(operation: "open", code: Int(EMFILE)), true),
            (.system(operation: "SecItemUpdate", code: -50), true),
        ] {
            var session = refreshing()
            _ = session.succeed(2)
            #expect(session.machine.store.hasToWrite(again: false), "it has not been tried")
            refuse(&session, because: error)
            #expect(session.machine.store.hasToWrite(again: true) == isWaitedFor, "\(error)")
            #expect(!session.machine.store.hasToWrite(again: false))
        }
    }

    @Test("A variable of the app's loses what a refresh may still bring, and nothing when it is set")
    func variable() {
        var session = MachineFixture()
        _ = session.ask("a")
        session.condemn()
        _ = session.ask("a", isRetry: true)
        #expect(loss(session) == "a refresh that runs")
        session.refreshed(2, refresh: 1)
        #expect(loss(session) == "nothing")
    }
}
