import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A policy that waits for a network, where somebody tells of it.
@Suite(.limited) struct ConnectivityWaitTests {
    private let network = NetworkWaiters()
    private let observer = RecordingObserver()
    private let time = ManualClock()
    private let transport = ScriptedTransport.held()

    private func atom(
        _ policy: RetryPolicy = RetryPolicy(maximumAttempts: 1, connectivityWait: .seconds(60)), resource: Double = 300
    ) -> Atom {
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "completions"), timeout: ServiceTimeout(request: 10, resource: resource)
        )
        configuration.transport = transport
        configuration.retryPolicy = policy
        configuration.observers = [observer]
        return Atom(configuration, time: time, random: { 0.5 }, connectivity: network)
    }

    private func call(_ atom: Atom, method: HTTPMethod = .get) -> Call {
        let call = Call()
        call.keep(atom.enqueue(RecordingEndpoint(method: method)).resume { call.heard($0) })
        return call
    }

    @Test func itIsSentAsSoonAsThereIsANetwork() async throws {
        network.changed(isOffline: true)
        let call = call(atom())
        transport.exchanges[0].fail(.notConnectedToInternet, delivery: .notSent)
        time.advance(by: .seconds(59))
        #expect(transport.exchanges.count == 1)
        network.changed(isOffline: false)
        try #require(transport.exchanges.count == 2)
        transport.exchanges[1].answer()
        #expect(await call.status() == 200)
        for step in ["waits for a network: ", "goes on: "] {
            #expect(observer.story().contains { $0.hasPrefix(step) })
        }
    }

    @Test func itWaitsNoLongerThanThePolicySaysInAll() async throws {
        network.changed(isOffline: true)
        let call = call(atom())
        transport.exchanges[0].fail(.notConnectedToInternet, delivery: .notSent)
        time.advance(by: .seconds(40))
        network.changed(isOffline: false)
        network.changed(isOffline: true)
        try #require(transport.exchanges.count == 2)
        transport.exchanges[1].fail(.notConnectedToInternet, delivery: .notSent)
        time.advance(by: .milliseconds(19_999))
        #expect(transport.exchanges.count == 2)
        time.advance(by: .milliseconds(1))
        try #require(transport.exchanges.count == 3)
        transport.exchanges[2].fail(.notConnectedToInternet, delivery: .notSent)
        let error = try #require(await call.error())
        #expect(error.isConnectivityFailure && error.attempts.count == 3 && error.delivery == .notSent)
    }

    @Test func tenThousandThatAreCancelledLeaveNothing() async throws {
        network.changed(isOffline: true)
        let atom = atom()
        let calls = (0..<10_000).map { _ in call(atom) }
        // With the slots of those that wait, the next ones are sent.
        for place in 0..<10_000 {
            try #require(transport.exchanges.count > place)
            transport.exchanges[place].fail(.notConnectedToInternet, delivery: .notSent)
        }
        #expect(network.count == 10_000)
        for call in calls { call.cancel() }
        for call in calls { #expect(await call.error()?.isCancelled == true) }
        #expect(network.count == 0)
        #expect(atom.manager.slots.counts == (0, 0))
        #expect(atom.manager.deadlines.count == 0)
    }

    @Test func theDeadlineOfTheRequestCounts() async throws {
        network.changed(isOffline: true)
        let call = call(atom(resource: 5))
        transport.exchanges[0].fail(.notConnectedToInternet, delivery: .notSent)
        time.advance(by: .seconds(5))
        let error = try #require(await call.error())
        #expect(error.delivery == .notSent && error.isConnectivityFailure)
        network.changed(isOffline: false)
        #expect(transport.exchanges.count == 1)
    }

    @Test func aCancellationEndsIt() async throws {
        network.changed(isOffline: true)
        let atom = atom()
        let call = call(atom)
        transport.exchanges[0].fail(.notConnectedToInternet, delivery: .notSent)
        call.cancel()
        #expect(await call.error()?.isCancelled == true)
        network.changed(isOffline: false)
        #expect(transport.exchanges.count == 1)
        #expect(atom.manager.deadlines.count == 0)
    }

    @Test(arguments: [true, false])
    func withoutAWaitOrWithANetworkThePolicyDecides(isOffline: Bool) async throws {
        network.changed(isOffline: isOffline)
        let policy =
            isOffline
            ? RetryPolicy(maximumAttempts: 1) : RetryPolicy(maximumAttempts: 1, connectivityWait: .seconds(60))
        let call = call(atom(policy))
        transport.exchanges[0].fail(.notConnectedToInternet, delivery: .notSent)
        try #require(transport.exchanges.count == 2, "once, at once")
        transport.exchanges[1].fail(.notConnectedToInternet, delivery: .notSent)
        #expect(await call.error()?.isConnectivityFailure == true)
    }

    @Test(arguments: [true, false], [URLError.Code.cannotFindHost, .cannotConnectToHost])
    func whoHasNoNetworkPaysForNoRetry(isOffline: Bool, code: URLError.Code) async throws {
        network.changed(isOffline: isOffline)
        let atom = atom(RetryPolicy(maximumAttempts: 2))
        let call = call(atom)
        transport.exchanges[0].fail(code, delivery: .notSent)
        time.advance(by: .seconds(1))
        try #require(transport.exchanges.count == 2)
        let origin = transport.requests[1].target.origin
        #expect(atom.manager.quotas.spent(at: origin) == (isOffline ? 0 : 14))
        transport.exchanges[1].answer()
        #expect(await call.status() == 200)
    }

    @Test func whatMayHaveArrivedIsNotSentTwice() async throws {
        network.changed(isOffline: true)
        let call = call(atom(), method: .post)
        transport.exchanges[0].fail(.networkConnectionLost, delivery: .maybeSent)
        #expect(await call.error()?.delivery == .maybeSent)
        #expect(transport.exchanges.count == 1)
    }

    @Test func anErrorOfTheServerIsNoReasonToWait() async throws {
        network.changed(isOffline: true)
        let call = call(atom())
        transport.exchanges[0].answer(status: 503)
        #expect(await call.error()?.attempts == [.status(503)])
    }

    @Test func beforeAnythingIsKnownThePolicyDecides() async throws {
        let call = call(atom())
        transport.exchanges[0].fail(.cannotFindHost, delivery: .notSent)
        try #require(transport.exchanges.count == 2, "once, at once")
        transport.exchanges[1].answer()
        #expect(await call.status() == 200)
    }

    @Test func allWhoWaitHearOnceInTheirOrder() {
        let heard = Locked<[Int]>([])
        network.changed(isOffline: true)
        let waiters = (0..<5).map { _ in Signal() }
        for (number, waiter) in waiters.enumerated().dropLast() {
            network.whenOnline(ObjectIdentifier(waiter)) { heard.with { $0.append(number) } }
        }
        network.forget(ObjectIdentifier(waiters[1]))
        #expect(heard.value.isEmpty && network.count == 3)
        network.changed(isOffline: false)
        network.changed(isOffline: false)
        #expect(heard.value == [0, 2, 3] && network.count == 0)
        network.whenOnline(ObjectIdentifier(waiters[4])) { heard.with { $0.append(4) } }
        #expect(heard.value == [0, 2, 3, 4])
    }

    @Test(arguments: ["cancelled", "its own deadline", "the policy's", "signed out"])
    func whoeverIsGoneIsForgotten(by end: String) async throws {
        network.changed(isOffline: true)
        let session = try signedSession()
        let call = session.call(timeout: ServiceTimeout(request: 10, resource: end == "its own deadline" ? 30 : 300))
        session.transport.exchanges[0].fail(.notConnectedToInternet, delivery: .notSent)
        #expect(network.count == 1)
        switch end {
        case "cancelled": call.cancel()
        case "signed out": try await session.atom.signOut()
        default: session.time.advance(by: .seconds(60))
        }
        if end == "the policy's" {
            await session.transport.exchange(1).fail(.notConnectedToInternet, delivery: .notSent)
        }
        #expect(await call.error() != nil)
        #expect(network.count == 0)
    }

    @Test(arguments: [0, 1])
    func aRequestWhoseTokenHasExpiredWaitsToo(rejections: Int) async throws {
        network.changed(isOffline: true)
        let session = try signedSession(lifetime: rejections == 0 ? 0 : 3_600)
        let calls = (0..<3).map { session.call("/\($0)") }
        if rejections == 1 { for exchange in session.sent { exchange.answer(status: 401) } }
        await session.refresh().fail(.notConnectedToInternet, delivery: .notSent)
        #expect(await eventually { network.count == 3 })
        #expect(calls.allSatisfy { $0.count == 0 })
        session.time.advance(by: .seconds(59))
        network.changed(isOffline: false)
        await session.refresh(1).grant(1)
        _ = await session.transport.exchange(rejections * 3 + 4)
        let last = session.sent.suffix(3)
        #expect(last.map { $0.request.target.url?.path } == ["/0", "/1", "/2"])
        for exchange in last {
            #expect(exchange.token == "A1")
            exchange.answer()
        }
        for call in calls { #expect(await call.status() == 200) }
        #expect(session.refreshes.count == 2)
    }

    @Test func aRefreshThatFailsForLackOfANetworkFailsItsRequestsWhenTheWaitIsOver() async throws {
        network.changed(isOffline: true)
        let session = try signedSession(lifetime: 0)
        let call = session.call()
        await session.refresh().fail(.notConnectedToInternet, delivery: .notSent)
        #expect(await eventually { network.count == 1 })
        session.time.advance(by: .seconds(60))
        await session.refresh(1).fail(.notConnectedToInternet, delivery: .notSent)
        let error = try #require(await call.error())
        #expect(error.isAccessTokenRefreshFailure && error.isConnectivityFailure && error.delivery == .notSent)
        #expect(network.count == 0)
    }

    @Test(arguments: [true, false])
    func whoComesWhileTheSessionBacksOffWaitsToo(somebodySignsOut: Bool) async throws {
        network.changed(isOffline: true)
        let login = ScriptedLogin()
        let session = try SessionFixture(
            store: InMemoryTokenCredentialStore(), provider: login, time: time, connectivity: network
        ) { _ in
        } change: {
            $0.retryPolicy = RetryPolicy(connectivityWait: .seconds(60))
        }
        let first = session.call()
        let failure = TokenCredentialProviderError.retryAfter(.seconds(600), URLError(.notConnectedToInternet))
        await login.form(0).finish(.failure(failure))
        #expect(await eventually { network.count == 1 })
        // The session would not ask again before its deadline.
        let second = session.call(timeout: ServiceTimeout(request: 100, resource: 100))
        #expect(network.count == 2 && second.count == 0)
        if somebodySignsOut {
            try await session.atom.signOut()
            for call in [first, second] {
                guard case .authentication(.signedOut) = await call.error() else { throw Unexpected("not told") }
            }
        } else {
            network.changed(isOffline: false)
            guard case .authentication(.credentialNotProvided) = await second.error() else {
                throw Unexpected("\(String(describing: await second.error()))")
            }
            first.cancel()
        }
        #expect(network.count == 0)
    }

    @Test func aRetryThatTurnsIntoAWaitIsGivenBack() async throws {
        network.changed(isOffline: true)
        let session = try SessionFixture(time: time, connectivity: network) { _ in
        } change: {
            $0.retryPolicy = RetryPolicy(connectivityWait: .seconds(60))
        }
        let call = session.call()
        session.sent[0].answer(status: 503)
        session.tokens.put(.issued(0, life: 0))
        session.time.advance(by: .seconds(1))
        await session.refresh().fail(.notConnectedToInternet, delivery: .notSent)
        #expect(await eventually { network.count == 1 })
        call.cancel()
        #expect(await call.error()?.isCancelled == true)
        #expect(session.atom.manager.quotas.spent(at: Origin(scheme: .https, host: "api.example.com", port: 443)) == 0)
    }

    @Test func aRefreshThatTheServerRefusesIsNoReasonToWait() async throws {
        network.changed(isOffline: true)
        let session = try signedSession(lifetime: 0)
        let call = session.call()
        await session.refresh().answer(status: 503)
        #expect(await call.error()?.isAccessTokenRefreshFailure == true)
        #expect(network.count == 0)
    }

    private func signedSession(lifetime: Double = 3_600) throws -> SessionFixture {
        try SessionFixture(lifetime: lifetime, time: time, connectivity: network) { _ in
        } change: {
            $0.retryPolicy = RetryPolicy(maximumAttempts: 1, connectivityWait: .seconds(60))
        }
    }
}
