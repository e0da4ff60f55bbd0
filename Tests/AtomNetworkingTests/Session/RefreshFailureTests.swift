import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What happens to the waiters when a refresh fails.
@Suite(.limited) struct RefreshFailureTests {
    @Test func allWhoWaitedGetTheSameFailureAndNothingIsSent() async throws {
        let session = try SessionFixture(lifetime: 0)
        let calls = (0..<20).map { session.call("/\($0)") }
        await session.refresh().answer("<html>", status: 503)
        var descriptions: Set<String> = []
        for call in calls {
            let error = await call.error()
            #expect(error?.isAccessTokenRefreshFailure == true)
            #expect(error?.delivery == .notSent)
            descriptions.insert(error?.explanation ?? "")
        }
        #expect(descriptions.count == 1)
        #expect(
            descriptions.first?.contains("POST https://auth.example.com/token: the server answered HTTP 503")
                == true, "\(descriptions)")
        #expect(session.sent.isEmpty)
        #expect(calls.allSatisfy { $0.count == 1 })
    }

    @Test(
        "Whatever the token endpoint answers, the text names it",
        arguments: [
            (200, "<html>", "the token endpoint's answer is not a JSON object."),
            (400, #"{"error":"invalid_client"}"#, "invalid_client."),
            (400, #"{"error":"invalid_grant"}"#, "invalid_grant). Sign in again."),
        ])
    func named(status: Int, body: String, words: String) async throws {
        let session = try SessionFixture(lifetime: 0)
        let calls = [session.call("/1"), session.call("/2")]
        await session.refresh().answer(body, status: status)
        for call in calls {
            let text = await call.error()?.explanation ?? ""
            #expect(text.hasSuffix("POST https://auth.example.com/token: \(words)"), "\(text)")
        }
    }

    @Test(arguments: [
        Ending.answer(status: 503, body: ""), .answer(status: 500, body: #"{"error":"invalid_grant"}"#),
        .answer(status: 400, body: #"{"error":"invalid_client"}"#), .answer(status: 200, body: "<html>"),
        .answer(status: 200, body: ""), .answer(status: 302, body: ""), .answer(status: 429, body: ""),
        .failure(.notConnectedToInternet), .failure(.timedOut), .failure(.networkConnectionLost),
    ])
    func aTransientFailureIsNotTheEndOfTheSession(_ ending: Ending) async throws {
        let session = try SessionFixture(lifetime: 0)
        let first = session.call("/first")
        switch ending {
        case .answer(let status, let body): await session.refresh().answer(body, status: status)
        case .failure(let code): await session.refresh().fail(code)
        }
        guard case .authentication(.refreshFailed) = await first.error() else {
            Issue.record("not a failed refresh: \(String(describing: await first.error()))")
            return
        }
        let second = session.call("/second")
        await session.refresh(1).grant(1)
        _ = await session.transport.exchange(2)
        session.sent[0].answer()
        #expect(await second.status() == 200)
    }

    enum Ending: Sendable {
        case answer(status: Int, body: String)
        case failure(URLError.Code)
    }

    @Test func anUnauthorizedAndThenAFailedRefreshIsAnAuthenticationErrorThatWasAnswered() async throws {
        let session = try SessionFixture()
        let call = session.call()
        session.sent[0].answer(status: 401)
        await session.refresh().fail(.cannotConnectToHost, delivery: .notSent)
        let error = await call.error()
        #expect(error?.isAccessTokenRefreshFailure == true)
        #expect(error?.delivery == .answered)
    }

    @Test(arguments: [400, 401]) func onlyARefusedRefreshTokenEndsTheSession(status: Int) async throws {
        let session = try SessionFixture(lifetime: 0)
        let call = session.call()
        await session.refresh().deny("invalid_grant", status: status)
        guard case .authentication(.refreshRejected(let error, .notSent)) = await call.error() else {
            Issue.record("not rejected")
            return
        }
        #expect(error.code == "invalid_grant")
        #expect(session.tokens.writes.isEmpty)

        let later = session.call()
        #expect(await later.error()?.isAccessTokenRefreshFailure == true)
        #expect(session.transport.exchanges.count == 1)
    }

    @Test func anEndedSessionGoesOnWhenTheStoredCredentialChanges() async throws {
        let session = try SessionFixture(lifetime: 0)
        let call = session.call()
        await session.refresh().deny("invalid_grant")
        _ = await call.error()
        session.tokens.put(TokenCredential(accessToken: "B", expiresAt: .distantFuture, refreshToken: "RB"))
        session.call("/again")
        _ = await session.transport.exchange(1)
        #expect(session.sent.map(\.token) == ["B"])
    }

    @Test func aRefusalOfATokenThatIsNoLongerTheStoredOneEndsNothing() async throws {
        let session = try SessionFixture(lifetime: 0)
        let call = session.call()
        let refresh = await session.refresh()
        session.tokens.put(TokenCredential(accessToken: "B", expiresAt: .distantFuture, refreshToken: "RB"))
        refresh.deny("invalid_grant")
        _ = await session.transport.exchange(1)
        #expect(session.sent.map(\.token) == ["B"])
        session.sent[0].answer()
        #expect(await call.status() == 200)
    }

    @Test func aTokenThatIsStillGoodOutlivesAFailedEarlyRefresh() async throws {
        let session = try SessionFixture(lifetime: 100)
        session.call("/firstSeen")
        session.time.advance(by: .seconds(80))
        let waiter = session.call("/waiter")
        #expect(session.sentPaths == ["/firstSeen"])
        await session.refresh().answer(status: 503)
        _ = await session.transport.exchange(2)
        #expect(session.sent.map(\.token) == ["A0", "A0"])
        session.sent[1].answer()
        #expect(await waiter.status() == 200)

        session.call("/untilItReallyExpires")
        _ = await session.transport.exchange(3)
        #expect(session.sentPaths.last == "/untilItReallyExpires")
        session.time.advance(by: .seconds(20))
        session.call("/after")
        await session.refresh(1).grant(1)
    }

    @Test func aNewcomerWaitsForTheNextAttemptOnlyIfItsOwnTimeAllows() async throws {
        let session = try SessionFixture(lifetime: 0)
        let first = session.call()
        await session.refresh().answer(status: 503, headers: [("Retry-After", "10")])
        _ = await first.error()

        let hurried = session.call("/hurried", timeout: ServiceTimeout(request: 5, resource: 5))
        guard case .authentication(.refreshFailed(_, let retryAt?, _)) = await hurried.error() else {
            Issue.record("not told when to come again")
            return
        }
        #expect(retryAt.timeIntervalSince(session.time.date) == 10)

        let patient = session.call("/patient", timeout: ServiceTimeout(request: 60, resource: 60))
        #expect(session.refreshes.count == 1)
        await session.time.waitForAlarm(within: .seconds(10))
        session.time.advance(by: .seconds(10))
        await session.refresh(1).grant(1)
        _ = await session.transport.exchange(2)
        #expect(session.sentPaths == ["/patient"])
        session.sent[0].answer()
        #expect(await patient.status() == 200)
    }

    @Test func eachWaiterHasItsOwnDeadline() async throws {
        let session = try SessionFixture(lifetime: 0)
        let hurried = session.call("/hurried", timeout: ServiceTimeout(request: 5, resource: 5))
        let patient = session.call("/patient")
        let refresh = await session.refresh()
        session.time.advance(by: .seconds(5))
        let error = await hurried.error()
        guard case .authentication(.waitedTooLong) = error else {
            Issue.record("did not wait too long")
            return
        }
        let text = error?.description ?? ""
        #expect(text.contains("for the session: for a refresh by POST https://auth.example.com/token,"), "\(text)")
        refresh.grant(1)
        _ = await session.transport.exchange(1)
        #expect(session.sentPaths == ["/patient"])
        session.sent[0].answer()
        #expect(await patient.status() == 200)
        #expect(hurried.count == 1)
    }

    @Test func aRefreshThatHangsHasADeadlineAndSaysThatItsAnswerMayBeLost() async throws {
        let session = try SessionFixture(lifetime: 0, bearer: { $0.deadline = .seconds(10) })
        let call = session.call()
        let refresh = await session.refresh()
        refresh.send(.sent(1))
        session.time.advance(by: .seconds(10))
        let error = await call.error()
        guard case .authentication(.refreshFailed(let cause, _, _)) = error else {
            Issue.record("no failed refresh: \(String(describing: error))")
            return
        }
        #expect((cause as? AtomError)?.delivery == .maybeSent)
        #expect(error?.description.contains("lost") == true)
        #expect(!refresh.isCancelled, "the answer holds the successor of a refresh token that may be spent")
    }

    /// How a request for a token ends after its deadline.
    enum LateEnd: CaseIterable { case granted, lost, cancelled }

    @Test("A token answer that comes after its deadline is taken", arguments: LateEnd.allCases)
    func overdue(end: LateEnd) async throws {
        let session = try SessionFixture(bearer: { $0.deadline = .seconds(10) })
        let (manager, time, overdue) = (session.atom.manager, session.time, Locked<[AtomError]>([]))
        let asking = Task {
            await manager.token(replacing: .issued(0), sentAt: Moment(instant: time.now, date: time.date)) { error in
                overdue.with { $0.append(error) }
            }
        }
        let refresh = await session.refresh()
        refresh.send(.sent(1))
        for _ in 0..<3 { time.advance(by: .seconds(10)) }
        #expect(overdue.value.count == 1)
        let error = overdue.value.first
        guard case .session(let cause as URLError) = error else { throw Unexpected("\(String(describing: error))") }
        #expect(cause.code == .timedOut && error?.delivery == .maybeSent && error?.request?.attempts == 1)
        #expect(!refresh.isCancelled)
        switch end {
        case .granted: refresh.grant(1)
        case .lost: refresh.send(.failed(TransportFailure(URLError(.networkConnectionLost))))
        case .cancelled: asking.cancel()
        }
        switch (end, await asking.value) {
        case (.granted, .granted(let credential, _)): #expect(credential.accessToken == "A1")
        case (.lost, .failed(let error, _, _)): #expect((error as? AtomError)?.delivery == .maybeSent)
        case (.cancelled, .failed(let error, _, _)): #expect((error as? AtomError)?.isCancelled == true)
        case (_, let answer): throw Unexpected("\(answer)")
        }
        #expect(refresh.isCancelled == (end == .cancelled))
        #expect(overdue.value.count == 1)
    }

    @Test("A session goes on with a token answer that came after its deadline", arguments: [false, true])
    func lateAnswer(inStore: Bool) async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(
            lifetime: 0, store: inStore ? disk : nil, bearer: { $0.deadline = .seconds(10) })
        let first = session.call("/first")
        let refresh = await session.refresh()
        refresh.send(.sent(1))
        session.time.advance(by: .seconds(10))
        session.time.advance(by: .seconds(1))
        guard case .authentication(.refreshFailed) = await first.error() else { throw Unexpected("not told") }
        let second = session.call("/second")
        refresh.grant(1)
        let sent = await session.transport.exchange(1)
        #expect(sent.token == "A1")
        sent.answer()
        #expect(await second.status() == 200)
        #expect(session.refreshes.count == 1)
        #expect((inStore ? disk.stored : session.tokens.tokenCredential)?.refreshToken == "R1")
    }

    @Test("A client's own session goes on with a token answer that came after its deadline, too")
    func lateAnswerOfAClient() async throws {
        let session = try SessionFixture(
            store: RecordingTokenCredentialStore(), grant: .clientCredentials, bearer: { $0.deadline = .seconds(10) })
        let first = session.call("/first")
        let refresh = await session.refresh()
        refresh.send(.sent(1))
        session.time.advance(by: .seconds(10))
        session.time.advance(by: .seconds(1))
        guard case .authentication(.refreshFailed) = await first.error() else { throw Unexpected("not told") }
        refresh.answer(#"{"access_token":"A1","token_type":"Bearer","expires_in":3600}"#)
        #expect(await eventually { session.atom.manager.session?.gate.with { $0.held != nil } == true })
        let second = session.call("/second")
        let sent = await session.transport.exchange(1)
        #expect(sent.token == "A1")
        sent.answer()
        #expect(await second.status() == 200)
    }

    @Test("A refresh that was not sent by its deadline is not sent after it")
    func notSentInTime() async throws {
        let session = try SessionFixture(lifetime: 0, bearer: { $0.deadline = .seconds(10) })
        let call = session.call()
        let refresh = await session.refresh()
        session.time.advance(by: .seconds(10))
        session.time.advance(by: .seconds(1))
        guard case .authentication(.refreshFailed) = await call.error() else { throw Unexpected("not told") }
        #expect(refresh.isCancelled)
        session.call()
        _ = await session.refresh(1)
    }

    @Test("Whoever waits within a duration for a refresh waits for one whose time is over, too")
    func finishesWhatIsLate() async throws {
        let session = try SessionFixture(lifetime: 0, bearer: { $0.deadline = .seconds(10) })
        let call = session.call()
        let refresh = await session.refresh()
        refresh.send(.sent(1))
        session.time.advance(by: .seconds(10))
        session.time.advance(by: .seconds(1))
        _ = await call.error()
        let atom = session.atom
        await atom.finishRefresh()
        let isOver = Locked(false)
        let finishing = Task {
            await atom.finishRefresh(within: .seconds(20))
            isOver.set(true)
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(!isOver.value)
        refresh.grant(1)
        await finishing.value
        #expect(session.tokens.tokenCredential.refreshToken == "R1")
    }

    @Test("Of many refreshes that are never answered, the oldest are given up")
    func neverAnswered() async throws {
        let session = try SessionFixture(lifetime: 0, bearer: { $0.deadline = .seconds(10) })
        for number in 0..<9 {
            let call = session.call()
            if number > 0 {
                let guarded = try #require(session.atom.manager.session).gate
                #expect(await eventually { guarded.with { $0.wakeTime } != nil })
                session.time.advance(by: .seconds(10))
            }
            await session.refresh(number).send(.sent(1))
            #expect(await eventually { session.refreshes.count(where: { $0.isCancelled }) == max(number - 7, 0) })
            session.time.advance(by: .seconds(10))
            session.time.advance(by: .seconds(1))
            guard case .authentication(.refreshFailed) = await call.error() else { throw Unexpected("not told") }
        }
        #expect(session.refreshes[0].isCancelled)
    }

    @Test("An early refresh that hangs holds up no request whose token is valid")
    func silentEarlyRefresh() async throws {
        let session = try SessionFixture(lifetime: 40)
        let first = session.call()
        session.sent[0].answer()
        #expect(await first.status() == 200)
        session.time.advance(by: .seconds(31))
        let calls = (0..<20).map { session.call("/\($0)", timeout: ServiceTimeout(request: 4, resource: 4)) }
        let refresh = await session.refresh()
        #expect(session.sent.count == 1)
        session.time.advance(by: .seconds(2))
        #expect(await eventually { session.sent.count == 21 })
        #expect(session.sent.allSatisfy { $0.token == "A0" })
        session.call("/next")
        #expect(session.sent.count == 22, "none waits any more")
        refresh.grant(1)
        for exchange in session.sent.dropFirst() { exchange.answer() }
        for call in calls { #expect(await call.status() == 200) }
        #expect(await eventually { session.tokens.tokenCredential.accessToken == "A1" })
    }

    @Test("An early refresh that waits for another process's lock holds up no request whose token is valid")
    func earlyRefreshBehindALock() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 40))
        let session = try SessionFixture(store: disk)
        let first = session.call()
        await session.transport.exchange(0).answer()
        #expect(await first.status() == 200)
        let (isFree, isTaken) = (Signal(), Signal())
        let other = Task {
            try await disk.exchange { stored in
                isTaken.raise()
                await isFree.wait()
                return stored
            }
        }
        await isTaken.wait()
        session.time.advance(by: .seconds(31))
        let call = session.call(timeout: ServiceTimeout(request: 4, resource: 4))
        session.time.advance(by: .seconds(2))
        let sent = await session.transport.exchange(1)
        #expect(sent.token == "A0")
        sent.answer()
        #expect(await call.status() == 200)
        isFree.raise()
        _ = try await other.value
    }

    /// Holds up whoever tells it of a refresh.
    private struct SlowObserver: RequestObserver {
        let gate: Gate
        let isAsked: Signal

        func observe(_ event: RequestEvent) {
            guard case .refreshed = event.kind else { return }
            isAsked.raise()
            gate.wait()
        }
    }

    @Test("One service's observer holds up nobody else's sign-out", arguments: [false, true])
    func slowObserver(fails: Bool) async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let (gate, isAsked) = (Gate(), Signal())
        defer { gate.open() }
        let slow = try SessionFixture(
            store: disk, change: { $0.observers = [SlowObserver(gate: gate, isAsked: isAsked)] })
        let other = try SessionFixture(store: disk)
        let call = slow.call()
        let refresh = await slow.refresh()
        if fails { refresh.answer("no", status: 503) } else { refresh.grant(1) }
        await isAsked.wait()
        try await other.atom.signOut()
        #expect(disk.stored == nil)
        try await other.atom.signIn(with: .issued(5))
        let next = other.call()
        await other.transport.exchange(0).answer()
        #expect(await next.status() == 200)
        gate.open()
        if fails { _ = await call.error() } else { await slow.transport.exchange(1).answer() }
    }

    @Test func aRefreshLoopIsBounded() async throws {
        let session = try SessionFixture()
        for round in 0..<4 {
            let call = session.call("/\(round)")
            await session.answerNext(status: 401)
            guard round < 3 else {
                guard case .authentication(.tooManyRefreshes(let retryAt, .answered)) = await call.error() else {
                    Issue.record("not bounded: \(String(describing: await call.error()))")
                    return
                }
                #expect(retryAt > session.time.date)
                break
            }
            if round == 2 {
                let guarded = try #require(session.atom.manager.session).gate
                #expect(await eventually { guarded.with { $0.wakeTime } != nil })
                #expect(session.refreshes.count == 2, "the server gets some time")
                session.time.advance(by: .milliseconds(500))
            }
            await session.refresh(round).grant(round + 1)
            await session.answerNext(status: 401)
            #expect(await call.error()?.isAuthorizationFailure == true)
        }
        #expect(session.refreshes.count == 3)
        session.time.advance(by: .seconds(31))
        session.call("/later")
        await session.refresh(3).grant(9)
    }

    @Test func theAnswerToTheRetryIsTheCallersAndCondemnsNothing() async throws {
        let session = try SessionFixture()
        let call = session.call("/forbidden")
        session.sent[0].answer(status: 401)
        await session.refresh().grant(1)
        _ = await session.transport.exchange(2)
        session.sent[1].answer("why", status: 401)
        guard case .response(let response) = await call.error() else {
            Issue.record("no response")
            return
        }
        #expect(response.data == Data("why".utf8))
        session.call("/other")
        #expect(await session.transport.exchange(3).token == "A1")
        #expect(session.refreshes.count == 1)
    }

    @Test func anUnauthorizedFromAnotherOriginCondemnsNothing() async throws {
        let session = try SessionFixture()
        let call = session.call("/moved")
        session.sent[0].redirect(307, to: "https://elsewhere.example.com/x")
        #expect(session.sent[1].token == nil)
        session.sent[1].answer(status: 401)
        #expect(await call.error()?.isAuthorizationFailure == true)
        session.call("/next")
        #expect(session.sent.last?.token == "A0")
        #expect(session.refreshes.isEmpty)
    }

    @Test func withoutARefreshTokenTheServersAnswerIsTheCallersAndTheTokenIsNotSentAgain() async throws {
        let session = try SessionFixture()
        session.tokens.put(TokenCredential(accessToken: "static", expiresAt: .distantFuture, refreshToken: ""))
        let call = session.call()
        session.sent[0].answer("no", status: 401)
        #expect(await call.error()?.isAuthorizationFailure == true)
        let later = session.call()
        guard case .authentication(.missingCredential) = await later.error() else {
            Issue.record("sent again")
            return
        }
        #expect(session.sent.count == 1)
    }

    @Test func nobodySignedInIsAMissingCredential() async throws {
        let session = try SessionFixture()
        session.tokens.put(TokenCredential(accessToken: "", expiresAt: .distantPast, refreshToken: ""))
        let call = session.call()
        guard case .authentication(.missingCredential(.notSent)) = await call.error() else {
            Issue.record("something else")
            return
        }
        #expect(session.transport.exchanges.isEmpty)
    }
}

extension SessionFixture {
    /// Answers the service's newest request that is not over yet.
    fileprivate func answerNext(status: Int) async {
        var number = 0
        while true {
            let exchange = await transport.exchange(number)
            if !exchange.isOver, !exchange.request.target.absoluteString.hasSuffix("/token") {
                exchange.answer(status: status)
                return
            }
            number += 1
            // Nothing has come in minutes: the test has failed.
            if transport.exchanges.count < number { return }
        }
    }
}
