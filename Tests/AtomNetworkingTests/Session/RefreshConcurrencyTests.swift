import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Mistakes that other libraries make when requests refresh concurrently, each by name.
@Suite(.limited) struct RefreshConcurrencyTests {
    @Test func aGoodTokenLetsARequestPassBeforeResumeReturns() throws {
        let session = try SessionFixture()
        session.call("/now")
        #expect(session.sentPaths == ["/now"])
        #expect(session.sent.first?.token == "A0")
        #expect(session.time.armings == 1)
    }

    @Test func anExpiredTokenIsRefreshedOnceForAllWhoCome() async throws {
        let session = try SessionFixture(lifetime: 0)
        let calls = (0..<500).map { session.call("/\($0)") }
        await session.refresh().grant(1)
        _ = await session.transport.exchange(500)
        for exchange in session.sent { exchange.answer() }
        for call in calls { #expect(await call.status() == 200) }
        #expect(session.refreshes.count == 1)
        #expect(session.tokens.writes.count == 1)
        #expect(Set(session.sent.map(\.token)) == ["A1"])
    }

    @Test func aLaterCallTakesNoSlotBeforeItIsAdmitted() async throws {
        let hasGoneOn = DispatchSemaphore(value: 0)
        let observer = RecordingObserver { event in
            guard event.request?.url.hasSuffix("/first") == true else { return }
            switch event.kind {
            case .queued(.slot), .sent: hasGoneOn.signal()
            default: break
            }
        }
        let session = try SessionFixture(
            lifetime: 0, exchangesPerOrigin: 1, change: { $0.observers = [observer] })
        let first = session.call("/first")
        let refresh = await session.refresh()
        // While the later call reads the variable, the earlier one is released.
        session.tokens.onNextRead {
            refresh.grant(1)
            _ = hasGoneOn.wait(timeout: .now() + 240)
        }
        let second = await onAThreadOfItsOwn { session.call("/second") }
        await session.transport.exchange(1).answer()
        await session.transport.exchange(2).answer()
        #expect(session.sentPaths == ["/first", "/second"])
        #expect(await first.status() == 200)
        #expect(await second.status() == 200)
    }

    @Test func waitersStartInTheOrderInWhichTheyCame() async throws {
        let session = try SessionFixture(lifetime: 0)
        let paths = (0..<1_000).map { "/\($0)" }
        for path in paths { session.call(path) }
        let refresh = await session.refresh()
        #expect(session.sent.isEmpty)
        refresh.grant(1)
        _ = await session.transport.exchange(1_000)
        #expect(session.sentPaths == paths)
    }

    @Test func aNewcomerDoesNotOvertakeThoseWhoAreBeingReleased() async throws {
        let newcomers = Newcomers()
        let session = try SessionFixture(lifetime: 0) { exchange in
            if exchange.request.target.absoluteString.hasSuffix("/0") { newcomers.arrive() }
        }
        newcomers.onArrival { session.call("/late") }
        for number in 0..<20 { session.call("/\(number)") }
        await session.refresh().grant(1)
        _ = await session.transport.exchange(21)
        #expect(session.sentPaths == (0..<20).map { "/\($0)" } + ["/late"])
    }

    @Test func theTokenIsStoredBeforeAnyWaiterIsReleased() async throws {
        let session = try SessionFixture(lifetime: 0)
        let sentAtWrite = Locked(-1)
        session.tokens.onWrite { _ in sentAtWrite.set(session.sent.count) }
        for _ in 0..<10 { session.call() }
        await session.refresh().grant(1)
        _ = await session.transport.exchange(10)
        #expect(sentAtWrite.value == 0)
        #expect(session.tokens.writes.map(\.accessToken) == ["A1"])
        #expect(session.tokens.writes.map(\.refreshToken) == ["R1"])
    }

    @Test func aLateUnauthorizedForTheOldTokenIsRetriedWithoutASecondRefresh() async throws {
        let session = try SessionFixture()
        let early = session.call("/early")
        let late = session.call("/late")
        session.sent[0].answer(status: 401)
        await session.refresh().grant(1)
        await session.transport.exchange(3).answer()
        #expect(await early.status() == 200)

        session.sent[1].answer(status: 401)
        _ = await session.transport.exchange(4)
        #expect(session.sentPaths == ["/early", "/late", "/early", "/late"])
        #expect(session.sent[3].token == "A1")
        session.sent[3].answer()
        #expect(await late.status() == 200)
        #expect(session.refreshes.count == 1)
    }

    @Test func requestsMadeDuringARefreshThatAnUnauthorizedSetOffWait() async throws {
        let session = try SessionFixture()
        session.call("/first")
        session.sent[0].answer(status: 401)
        let refresh = await session.refresh()
        session.call("/second")
        #expect(session.sentPaths == ["/first"])
        refresh.grant(1)
        _ = await session.transport.exchange(3)
        #expect(session.sentPaths == ["/first", "/first", "/second"])
        #expect(session.sent.dropFirst().map(\.token) == ["A1", "A1"])
    }

    @Test func theRefreshNeedsNoSlotAndCarriesNoExpiredToken() async throws {
        let session = try SessionFixture(lifetime: 100, exchangesPerOrigin: 1)
        session.call("/hanging")
        session.call("/waiting")
        #expect(session.sentPaths == ["/hanging"])
        session.time.advance(by: .seconds(100))
        session.call("/needsRefresh")
        let refresh = await session.refresh()
        #expect(refresh.request.headerFields["Authorization"] == nil)
        #expect(
            refresh.form == [
                "grant_type": "refresh_token", "refresh_token": "R0", "client_id": "client",
                "client_secret": "secret",
            ])
    }

    @Test func aTokenThatExpiresWhileARequestWaitsForASlotIsNotSent() async throws {
        let session = try SessionFixture(lifetime: 100, exchangesPerOrigin: 1)
        session.call("/hanging")
        session.call("/waiting")
        session.time.advance(by: .seconds(100))
        session.sent[0].answer()
        await session.refresh().grant(1)
        _ = await session.transport.exchange(2)
        #expect(session.sentPaths == ["/hanging", "/waiting"])
        #expect(session.sent[1].token == "A1")
    }

    @Test func whoWaitedForASlotWhenTheTokenDiedKeepsItsPlace() async throws {
        let session = try SessionFixture(lifetime: 100, exchangesPerOrigin: 1)
        for path in ["/1", "/2", "/3"] { session.call(path) }
        #expect(session.sentPaths == ["/1"])
        session.time.advance(by: .seconds(100))
        session.call("/4")
        let refresh = await session.refresh()
        session.sent[0].answer()
        refresh.grant(1)
        for (index, path) in ["/2", "/3", "/4"].enumerated() {
            let exchange = await session.transport.exchange(index + 2)
            #expect(exchange.request.target.url?.path == path)
            #expect(exchange.token == "A1")
            exchange.answer()
        }
    }

    @Test func aRejectedRequestJoinsWhenItsAnswerArrives() async throws {
        let session = try SessionFixture()
        for path in ["/1", "/2", "/3"] { session.call(path) }
        session.sent[2].answer(status: 401)
        let refresh = await session.refresh()
        session.call("/4")
        session.sent[0].answer(status: 401)
        refresh.grant(1)
        _ = await session.transport.exchange(6)
        #expect(session.sentPaths.dropFirst(3) == ["/3", "/4", "/1"])
    }

    @Test func aRedirectedRequestJoinsWhenItsRedirectArrives() async throws {
        let session = try SessionFixture()
        session.call("/moved")
        session.call("/refused")
        session.sent[1].answer(status: 401)
        let refresh = await session.refresh()
        session.call("/newcomer")
        session.sent[0].redirect(307, to: "https://api.example.com/here")
        refresh.grant(1)
        _ = await session.transport.exchange(5)
        #expect(session.sentPaths.dropFirst(2) == ["/refused", "/newcomer", "/here"])
    }

    @Test func aTokenThatArrivesWithinItsLeewayIsUsed() async throws {
        let session = try SessionFixture(lifetime: 0)
        session.call()
        let refresh = await session.refresh()
        session.time.advance(by: .seconds(7))
        refresh.grant(1, lifetime: 8)
        _ = await session.transport.exchange(1)
        #expect(session.sent.map(\.token) == ["A1"])
        #expect(session.refreshes.count == 1)

        session.time.advance(by: .seconds(1))
        session.call()
        await session.refresh(1).grant(2)
        _ = await session.transport.exchange(3)
        #expect(session.sent.last?.token == "A2")
    }

    @Test func whatTheStoreHeldBeforeItChangedIsNotGoneBackToWhenARefreshEnds() async throws {
        let session = try SessionFixture(lifetime: 20, exchangesPerOrigin: 1)
        session.call("/seen")
        session.sent[0].answer()
        session.time.advance(by: .seconds(16))
        session.call("/first")
        let refresh = await session.refresh()
        let signedIn = TokenCredential(accessToken: "B0", expiresAt: .distantFuture, refreshToken: "S0")
        session.tokens.onNextRead {
            // The app signs somebody else in while the session handles the end of the refresh.
            session.tokens.put(signedIn)
            session.call("/second")
        }
        refresh.grant(1)
        let first = await session.transport.exchange(2)
        let actor = try #require(session.atom.manager.session)
        await actor.gate.refreshTask?.value
        first.answer()
        _ = await session.transport.exchange(3)
        #expect(session.sentPaths == ["/seen", "/first", "/second"])
        #expect(session.sent.map(\.token) == ["A0", "B0", "B0"])
        #expect(session.tokens.writes.isEmpty)
    }

    @Test(arguments: [nil, "B0"])
    func whatIsWrittenAfterTheSessionWasLeftIsNotTakenUp(next: String?) async throws {
        let session = try SessionFixture(lifetime: 0)
        let left = TokenCredential(
            accessToken: next ?? "", expiresAt: .distantFuture, refreshToken: next == nil ? "" : "S0")
        let duringWrite = Locked<Call?>(nil)
        session.tokens.onWrite { written in
            // The app sets the variable first, a request notices, and then the refresh's write arrives.
            guard duringWrite.value == nil else { return }
            session.tokens.put(left)
            duringWrite.set(session.call("/during"))
            session.tokens.put(written)
        }
        let call = session.call("/before")
        await session.refresh().grant(1)
        if next == nil {
            guard case .authentication(.signedOut) = await call.error() else {
                Issue.record("not signed out")
                return
            }
            session.call("/after")
            #expect(session.sent.isEmpty)
        } else {
            _ = await session.transport.exchange(2)
            session.call("/after")
            _ = await session.transport.exchange(3)
            #expect(session.sent.allSatisfy { $0.token == "B0" })
            #expect(session.sent.count == 3)
        }
        let actor = try #require(session.atom.manager.session)
        await actor.gate.refreshTask?.value
        #expect(duringWrite.value != nil, "the setter was called")
        #expect(await eventually { session.tokens.tokenCredential == left }, "what was left is put back")
    }

    @Test func signingOutByTheStoreDuringARefreshIsNotUndone() async throws {
        let session = try SessionFixture(lifetime: 0)
        let call = session.call()
        let refresh = await session.refresh()
        session.tokens.put(TokenCredential(accessToken: "", expiresAt: .distantPast, refreshToken: ""))
        refresh.grant(1)
        guard case .authentication(.signedOut) = await call.error() else {
            Issue.record("sent for somebody who has signed out")
            return
        }
        #expect(session.tokens.writes.isEmpty)
        #expect(session.sent.isEmpty)
    }

    @Test func whatAStoreHandsOverIsNotSentUnseen() async throws {
        let session = try SessionFixture()
        session.tokens.put(
            TokenCredential(accessToken: "a\r\nX-Evil: 1", expiresAt: .distantFuture, refreshToken: "R0"))
        session.call()
        #expect(session.sent.isEmpty)
        await session.refresh().grant(1)
        _ = await session.transport.exchange(1)
        #expect(session.sent.map(\.token) == ["A1"])
    }

    @Test func endpointsWithoutAuthorizationNeverWaitAndNeverCarryTheToken() async throws {
        let session = try SessionFixture(lifetime: 0)
        session.call("/signed")
        _ = await session.refresh()
        session.call("/public", signed: false)
        #expect(session.sentPaths == ["/public"])
        #expect(session.sent[0].request.headerFields["Authorization"] == nil)
    }

    @Test func anEndpointsOwnAuthorizationIsNeitherSignedNorRefreshedFor() async throws {
        let session = try SessionFixture(lifetime: 0)
        let endpoint = PathEndpoint(headerItems: ["Authorization": "Custom abc"])
        let call = Call()
        session.atom.enqueue(endpoint).resume { call.heard($0) }
        #expect(session.sent.first?.request.headerFields.values(for: "Authorization") == ["Custom abc"])
        session.sent[0].answer(status: 401)
        #expect(await call.error()?.isAuthorizationFailure == true)
        #expect(session.refreshes.isEmpty)
    }

    @Test func twoServicesWithOneStoreShareOneRefresh() async throws {
        let first = try SessionFixture(lifetime: 0)
        let second = try SessionFixture(lifetime: 0, tokens: first.tokens)
        first.call("/first")
        second.call("/second")
        await first.refresh().grant(1)
        _ = await first.transport.exchange(1)
        _ = await second.transport.exchange(0)
        #expect(second.refreshes.isEmpty)
        #expect(first.sent[0].token == "A1")
        #expect(second.sent[0].token == "A1")
        #expect(first.tokens.writes.count == 1)
    }

    @Test func aSetterThatSendsARequestIsNotCalledInsideALock() async throws {
        let session = try SessionFixture(lifetime: 0)
        session.tokens.onWrite { _ in session.call("/fromSetter") }
        session.call("/waiter")
        await session.refresh().grant(1)
        _ = await session.transport.exchange(2)
        #expect(session.sentPaths == ["/waiter", "/fromSetter"])
    }

    @Test func aStoreThatDoesNotTakeTheTokenIsNotGoneBackTo() async throws {
        let session = try SessionFixture(lifetime: 0)
        session.tokens.stopTaking()
        session.call("/first")
        await session.refresh().grant(1)
        _ = await session.transport.exchange(1)
        session.call("/second")
        _ = await session.transport.exchange(2)
        #expect(session.sent.map(\.token) == ["A1", "A1"])
        #expect(session.tokens.writes.count == 1)
        #expect(session.refreshes.count == 1)
    }

    @Test func theCallerWhoSetTheRefreshOffMayLeave() async throws {
        let session = try SessionFixture(lifetime: 0)
        let leaving = session.call("/leaving")
        let staying = session.call("/staying")
        let refresh = await session.refresh()
        leaving.cancel()
        #expect(await leaving.error()?.isCancelled == true)
        #expect(await leaving.error()?.delivery == .notSent)
        refresh.grant(1)
        _ = await session.transport.exchange(1)
        #expect(!refresh.isCancelled)
        #expect(session.sentPaths == ["/staying"])
        session.sent[0].answer()
        #expect(await staying.status() == 200)
        #expect(session.tokens.writes.count == 1)
    }

    @Test func aRefreshOutlivesTheLastService() async throws {
        let tokens: RecordingTokens
        let refresh: ScriptedExchange
        let written = Signal()
        do {
            let session = try SessionFixture(lifetime: 0)
            tokens = session.tokens
            tokens.onWrite { _ in written.raise() }
            let call = session.call()
            refresh = await session.refresh()
            call.cancel()
        }
        refresh.grant(1)
        await written.wait()
        #expect(tokens.tokenCredential.accessToken == "A1")
    }

    @Test @MainActor func tasksOfOneActorAreAdmittedInTheOrderOfTheirCalls() async throws {
        let session = try SessionFixture(lifetime: 0)
        let tasks = (0..<500).map { number in
            Task { @MainActor in
                _ = try? await session.atom.enqueue(PathEndpoint(pathText: "/\(number)")).resume()
            }
        }
        let refresh = await session.refresh()
        try #require(await eventually { !session.atomIsStillAdmitting(500) })
        refresh.grant(1)
        _ = await session.transport.exchange(500)
        #expect(session.sentPaths == (0..<500).map { "/\($0)" })
        for exchange in session.sent { exchange.answer() }
        for task in tasks { await task.value }
    }
}

extension SessionFixture {
    /// Whether fewer than so many deadlines are set: waiters that have not
    /// been admitted yet have none.
    fileprivate func atomIsStillAdmitting(_ count: Int) -> Bool {
        atom.manager.deadlines.count < count
    }
}

/// Calls a closure when a request arrives.
private final class Newcomers: @unchecked Sendable {
    private let lock = NSLock()
    private var callback: (@Sendable () -> Void)?

    func onArrival(_ callback: @escaping @Sendable () -> Void) {
        lock.withLock { self.callback = callback }
    }

    func arrive() {
        lock.withLock { callback }?()
    }
}
