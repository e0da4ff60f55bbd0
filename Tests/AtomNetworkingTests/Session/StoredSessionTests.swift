import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Sessions whose tokens are in a store.
@Suite(.limited) struct StoredSessionTests {
    @Test func theStoreIsReadOnceAndThenRequestsRunDirectly() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk)
        let waiting = (0..<5).map { session.call("/\($0)") }
        _ = await session.transport.exchange(4)
        #expect(session.sentPaths == (0..<5).map { "/\($0)" })
        for exchange in session.sent { exchange.answer() }
        for call in waiting { #expect(await call.status() == 200) }
        await session.queueIsOver()
        let direct = session.call("/direct")
        #expect(session.sentPaths.last == "/direct")
        session.sent[5].answer()
        #expect(await direct.status() == 200)
        #expect(disk.operations.count == 1)
        #expect(session.refreshes.isEmpty)
    }

    @Test func aRefreshIsStoredBeforeAnybodyIsReleased() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.holdWrites()
        let session = try SessionFixture(store: disk)
        let call = session.call()
        await session.refresh().grant(1)
        #expect(session.sent.isEmpty)
        disk.releaseWrites()
        _ = await session.transport.exchange(1)
        #expect(disk.writes.map(\.?.accessToken) == ["A1"])
        #expect(session.sent[0].token == "A1")
        session.sent[0].answer()
        #expect(await call.status() == 200)
        #expect(disk.refreshIntent == nil)
    }

    @Test func anUnreadableStoreIsNotASignedOutUser() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        disk.loadError = DiskFailure()
        let session = try SessionFixture(store: disk)
        let error = await session.call().error()
        guard case .authentication(.credentialNotReadable(let cause, .notSent)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is DiskFailure)
        await #expect(throws: AtomError.self) { try await session.atom.loadSession() }
        disk.loadError = nil
        let call = session.call()
        await session.transport.exchange(0).answer()
        #expect(await call.status() == 200)
    }

    @Test func anEmptyStoreIsReadAgainByEveryRequest() async throws {
        let disk = RecordingTokenCredentialStore()
        let session = try SessionFixture(store: disk)
        guard case .authentication(.missingCredential(.notSent)) = await session.call().error() else {
            Issue.record("not missing")
            return
        }
        disk.stored = .issued(4)
        let call = session.call()
        let exchange = await session.transport.exchange(0)
        #expect(exchange.token == "A4")
        exchange.answer()
        #expect(await call.status() == 200)
    }

    @Test func whatAnotherProcessStoredIsAdoptedWithoutARequest() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk)
        var events = session.atom.events.makeAsyncIterator()
        let call = session.call()
        let first = await session.transport.exchange(0)
        disk.stored = .issued(1)
        first.answer(status: 401)
        let second = await session.transport.exchange(1)
        #expect(second.token == "A1")
        second.answer()
        #expect(await call.status() == 200)
        #expect(session.refreshes.isEmpty)
        #expect(disk.writes.isEmpty)
        guard case .credentialChanged = await events.next() else {
            Issue.record("no event")
            return
        }
    }

    @Test func twoProcessesRefreshOnce() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let time = ManualClock()
        let one = try SessionFixture(store: disk, time: time)
        let other = try SessionFixture(store: disk, time: time)
        let first = one.call()
        let refresh = await one.refresh()
        let second = other.call()
        refresh.grant(1)
        _ = await one.transport.exchange(1)
        let adopted = await other.transport.exchange(0)
        #expect(adopted.token == "A1")
        one.sent[0].answer()
        adopted.answer()
        #expect(await first.status() == 200)
        #expect(await second.status() == 200)
        #expect(other.refreshes.isEmpty)
        #expect(disk.writes.count == 1)
    }

    @Test func aTokenThatIsNotStoredAnyMoreMayBeRefusedWithoutEndingTheSession() async throws {
        // A store without a lock: somebody else refreshes while this refresh is running.
        let store = InMemoryTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: store)
        let call = session.call()
        let refresh = await session.refresh()
        try await store.save(.issued(7))
        refresh.deny("invalid_grant")
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A7")
        exchange.answer()
        #expect(await call.status() == 200)
    }

    @Test func anEndedSessionReadsTheStoreBeforeItAnswers() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk)
        var events = session.atom.events.makeAsyncIterator()
        let call = session.call()
        await session.refresh().deny("invalid_grant")
        guard case .authentication(.refreshRejected) = await call.error() else {
            Issue.record("not rejected")
            return
        }
        guard case .refreshFailed = await events.next(), case .ended(.refreshRejected) = await events.next() else {
            Issue.record("no events")
            return
        }
        guard case .ended = session.atom.sessionState else {
            Issue.record("\(session.atom.sessionState)")
            return
        }
        #expect(disk.stored == .issued(0, life: 0), "the end of a session writes nothing")
        let reads = disk.operations.count
        guard case .authentication(.refreshRejected) = await session.call().error() else {
            Issue.record("not rejected")
            return
        }
        #expect(disk.operations.count == reads + 1)
        disk.stored = .issued(3)
        let later = session.call()
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A3")
        exchange.answer()
        #expect(await later.status() == 200)
        #expect(session.refreshes.count == 1)
    }

    @Test func anInterruptedRefreshIsToldApart() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.refreshIntent = "R0"
        let session = try SessionFixture(store: disk)
        let call = session.call()
        await session.refresh().deny("invalid_grant")
        guard case .authentication(.refreshInterrupted(let error, .notSent)) = await call.error() else {
            Issue.record("\(String(describing: await call.error()))")
            return
        }
        #expect(error.code == "invalid_grant")
        #expect(disk.refreshIntent != nil, "the next process says the same")
        #expect(await call.error()?.isAccessTokenRefreshFailure == true)
    }

    @Test(arguments: [
        IntentCase(status: 400, code: "invalid_grant", isKept: false),
        IntentCase(status: 503, code: "invalid_grant", isKept: false),
        IntentCase(status: 503, isKept: false), IntentCase(status: 429, isKept: false),
        IntentCase(status: 500, isKept: true), IntentCase(status: 502, isKept: true),
        IntentCase(status: 504, isKept: true), IntentCase(status: 200, isKept: true),
        IntentCase(failure: .notSent, isKept: false), IntentCase(failure: .maybeSent, isKept: true),
        IntentCase(failure: .answered, isKept: true),
    ])
    func theNoteStaysOnlyIfTheTokenMayBeSpent(_ expected: IntentCase) async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk)
        let call = session.call()
        let refresh = await session.refresh()
        #expect(disk.refreshIntent != nil, "written before it is sent")
        if let code = expected.code, let status = expected.status {
            refresh.deny(code, status: status)
        } else if let status = expected.status {
            refresh.answer("<html>", status: status)
        } else {
            refresh.fail(.networkConnectionLost, delivery: expected.failure ?? .maybeSent)
        }
        #expect(await call.error()?.isAccessTokenRefreshFailure == true)
        #expect((disk.refreshIntent != nil) == expected.isKept)
    }

    @Test func anAnswerThatChangesNothingTakesTheNoteAwayToo() async throws {
        let unchanging = TokenCredential(accessToken: "A0", expiresAt: .distantFuture, refreshToken: "R0")
        let disk = RecordingTokenCredentialStore(unchanging)
        let session = try SessionFixture(store: disk)
        let first = session.call()
        await session.transport.exchange(0).answer(status: 401)
        let refresh = await session.refresh()
        #expect(disk.refreshIntent != nil)
        refresh.answer(#"{"access_token":"A0"}"#)
        await session.transport.exchange(2).answer()
        #expect(await first.status() == 200)
        #expect(disk.writes.isEmpty, "nothing to write")
        #expect(disk.refreshIntent == nil, "the server has answered, and R0 is not spent")

        let second = session.call()
        await session.transport.exchange(3).answer(status: 401)
        await session.refresh(1).deny("invalid_grant")
        let error = await second.error()
        guard case .authentication(.refreshRejected) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    struct IntentCase: Sendable {
        var status: Int?
        var code: String?
        var failure: AtomError.Delivery?
        let isKept: Bool
    }

    @Test func aFailedWriteKeepsTheSessionInMemoryAndIsTriedAgain() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.saveError = DiskFailure()
        let session = try SessionFixture(store: disk)
        var events = session.atom.events.makeAsyncIterator()
        let call = session.call()
        await session.refresh().grant(1)
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A1")
        exchange.answer()
        #expect(await call.status() == 200)
        guard case .credentialNotStored(.credentialNotStored(let cause, _)) = await events.next() else {
            Issue.record("not told")
            return
        }
        #expect(cause is DiskFailure)
        guard case .refreshed = await events.next() else {
            Issue.record("not told of the refresh")
            return
        }
        // The write is still refused, so it is tried again.
        await untilArmed(session.time, in: .seconds(1))
        session.time.advance(by: .seconds(1))
        await untilArmed(session.time, in: .seconds(2))
        disk.saveError = nil
        session.time.advance(by: .seconds(2))
        guard case .credentialStored = await events.next() else {
            Issue.record("not told that it is stored")
            return
        }
        #expect(disk.stored?.accessToken == "A1")
        #expect(session.refreshes.count == 1)
    }

    @Test func whatCouldNotBeWrittenIsNotWrittenOverSomethingNewer() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.saveError = DiskFailure()
        let session = try SessionFixture(store: disk)
        var events = session.atom.events.makeAsyncIterator()
        let call = session.call()
        await session.refresh().grant(1)
        await session.transport.exchange(1).answer()
        #expect(await call.status() == 200)
        guard case .credentialNotStored = await events.next() else { throw Unexpected("not told") }
        disk.saveError = nil
        disk.stored = .issued(9)
        await untilArmed(session.time, in: .seconds(1))
        session.time.advance(by: .seconds(1))
        guard case .refreshed = await events.next(), case .credentialChanged = await events.next() else {
            throw Unexpected("not told of the change")
        }
        #expect(disk.stored == .issued(9))
        let later = session.call()
        let sent = await session.transport.exchange(2)
        #expect(sent.token == "A9")
        sent.answer()
        #expect(await later.status() == 200)
    }

    @Test func aRefreshWithAnUnwrittenCredentialUsesWhatIsInMemory() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.saveError = DiskFailure()
        let session = try SessionFixture(store: disk)
        let first = session.call()
        await session.refresh().grant(1, lifetime: 10)
        await session.transport.exchange(1).answer()
        #expect(await first.status() == 200)
        session.time.advance(by: .seconds(11))
        let second = session.call()
        let refresh = await session.refresh(1)
        #expect(refresh.form["refresh_token"] == "R1")
        disk.saveError = nil
        refresh.grant(2)
        await session.transport.exchange(3).answer()
        #expect(await second.status() == 200)
        #expect(disk.stored?.accessToken == "A2")
    }

    @Test func aStoreThatCannotBeLockedFailsTheRefreshForNow() async throws {
        let session = try SessionFixture(store: FailingStore(.issued(0, life: 0)))
        let error = await session.call().error()
        guard case .authentication(.refreshFailed(let cause, _, .notSent)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause as? TokenStoreError == .lockTimedOut(.seconds(10)))
        #expect(error?.description.contains("locked") == true)
        #expect(session.refreshes.isEmpty)
    }

    @Test func anExchangeThatNeverCallsItsBodyIsAFailure() async throws {
        let session = try SessionFixture(store: IdleStore(.issued(0, life: 0)))
        #expect(await session.call().error()?.isAccessTokenRefreshFailure == true)
    }

    /// Waits until an alarm is set that goes off after this time; other alarms
    /// don't count.
    private func untilArmed(
        _ time: ManualClock, in duration: Duration, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let instant = time.now.advanced(by: duration)
        #expect(await eventually { time.hasAlarm(at: instant) }, sourceLocation: sourceLocation)
    }
}

/// A store whose lock somebody else holds.
private final class FailingStore: TokenCredentialStore {
    let credential: TokenCredential?

    init(_ credential: TokenCredential?) { self.credential = credential }

    func load() async throws -> TokenCredential? { credential }
    func save(_ credential: TokenCredential?) async throws {}
    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        throw TokenStoreError.lockTimedOut(.seconds(10))
    }
}

/// A store that does not do what it has promised.
private final class IdleStore: TokenCredentialStore {
    let credential: TokenCredential?

    init(_ credential: TokenCredential?) { self.credential = credential }

    func load() async throws -> TokenCredential? { credential }
    func save(_ credential: TokenCredential?) async throws {}
    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? { credential }
}
