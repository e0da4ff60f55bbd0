import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The two notifications that Atom's apps listen to.
@Suite(.serialized, .limited) struct SessionNotificationTests {
    @Test func aFailedRefreshIsAnnouncedOnceAfterItsWaitersWereTold() async throws {
        let session = try SessionFixture(lifetime: 0)
        let calls = (0..<10).map { session.call("/\($0)") }
        let told = Locked<[Int]>([])
        let observation = Observation(of: Atom.didFailToRefreshAccessToken) { error in
            guard case .authentication(.refreshRejected(let oauth, _)) = error, oauth.code == "invalid_grant",
                oauth.explanation == "for the notification test"
            else { return }
            told.with { $0.append(calls.count { $0.count == 1 }) }
        }
        defer { observation.end() }
        let events = session.atom.events
        await session.refresh().answer(
            #"{"error":"invalid_grant","error_description":"for the notification test"}"#, status: 400)
        for call in calls { _ = await call.outcome() }
        await events.firstEnd()
        await session.drainCompletions()
        #expect(told.value == [10])
    }

    @Test(arguments: [
        Ending.answer(status: 503, body: ""), .answer(status: 200, body: "<html>"), .answer(status: 200, body: "{}"),
        .answer(status: 401, body: #"{"error":"invalid_client"}"#), .answer(status: 429, body: ""),
        .answer(status: 500, body: #"{"error":"invalid_grant"}"#), .answer(status: 302, body: ""),
        .failure(.cannotConnectToHost), .failure(.cannotFindHost), .failure(.timedOut),
        .failure(.notConnectedToInternet),
    ])
    func whatPassesIsAnEventOnly(_ ending: Ending) async throws {
        let session = try SessionFixture(lifetime: 0)
        let posted = session.announcements(of: Atom.didFailToRefreshAccessToken)
        defer { posted.end() }
        let call = session.call()
        let events = session.atom.events
        switch ending {
        case .answer(let status, let body): await session.refresh().answer(body, status: status)
        case .failure(let code): await session.refresh().fail(code)
        }
        #expect(await call.error()?.isAccessTokenRefreshFailure == true)
        await events.firstFailure()
        await session.drainCompletions()
        #expect(posted.errors.isEmpty)
    }

    enum Ending: Sendable {
        case answer(status: Int, body: String)
        case failure(URLError.Code)
    }

    @Test(arguments: [#"{"error":"invalid_client"}"#, #"{"error":"invalid_request"}"#, "", "<html>"])
    func aTokenEndpointThatAnswersBadRequestIsAnnouncedOncePerRefresh(_ body: String) async throws {
        let session = try SessionFixture(lifetime: 0)
        let posted = session.announcements(of: Atom.didFailToRefreshAccessToken)
        defer { posted.end() }
        for round in 0..<2 {
            let calls = (0..<3).map { session.call("/\($0)") }
            let events = session.atom.events
            await session.refresh(round).answer(body, status: 400)
            for call in calls { #expect(await call.error()?.isBadRequest == true) }
            await events.firstFailure()
            await session.drainCompletions()
            #expect(posted.errors.count == round + 1)
            session.time.advance(by: .seconds(60))
        }
    }

    @Test func anEarlyRefreshThatIsABadRequestIsAnEventOnly() async throws {
        let session = try SessionFixture(lifetime: 100)
        let posted = session.announcements(of: Atom.didFailToRefreshAccessToken)
        defer { posted.end() }
        session.call("/firstSeen")
        session.time.advance(by: .seconds(80))
        session.call("/waiter")
        let events = session.atom.events
        await session.refresh().deny("invalid_client")
        await events.firstFailure()
        await session.drainCompletions()
        #expect(posted.errors.isEmpty, "the access token is still good")
    }

    @Test func anEarlyRefusalIsAnnouncedWhenTheSessionReallyEnds() async throws {
        let session = try SessionFixture(lifetime: 100)
        let posted = session.announcements(of: Atom.didFailToRefreshAccessToken)
        defer { posted.end() }
        session.call("/firstSeen")
        session.time.advance(by: .seconds(80))
        session.call("/waiter")
        let early = session.atom.events
        await session.refresh().deny("invalid_grant")
        await early.firstFailure()
        await session.drainCompletions()
        #expect(posted.errors.isEmpty, "the access token is still good")

        session.time.advance(by: .seconds(20))
        let late = session.atom.events
        let call = session.call("/after")
        guard case .authentication(.refreshRejected) = await call.error() else {
            throw Unexpected("\(String(describing: await call.error()))")
        }
        await late.firstEnd()
        await session.drainCompletions()
        #expect(posted.errors.count == 1)
        _ = await session.call("/again").outcome()
        await session.drainCompletions()
        #expect(posted.errors.count == 1)
    }

    @Test(arguments: [false, true])
    func theEndOfASessionWithoutARefreshTokenIsAnnouncedOnceAfterItsCaller(isInStore: Bool) async throws {
        let fixed = TokenCredential(accessToken: "static", expiresAt: .distantFuture, refreshToken: "")
        let session = try SessionFixture(
            tokens: RecordingTokens(fixed), store: isInStore ? InMemoryTokenCredentialStore(fixed) : nil)
        let told = Locked<[Int]>([])
        let call = Locked<Call?>(nil)
        let posted = session.announcements(of: Atom.didFailToRefreshAccessToken) { error in
            guard case .authentication(.missingCredential) = error else { return }
            told.with { $0.append(call.value?.count ?? 0) }
        }
        defer { posted.end() }
        let events = session.atom.events
        call.set(session.call())
        await session.transport.exchange(0).answer(status: 401)
        _ = await call.value?.outcome()
        await events.firstEnd()
        await session.drainCompletions()
        #expect(told.value == [1])
        _ = await session.call().outcome()
        await session.drainCompletions()
        #expect(told.value == [1])
    }

    @Test func theEndOfASessionIsAnnouncedAfterACallerWhoseResponseIsStillArriving() async throws {
        let fixed = TokenCredential(accessToken: "arriving", expiresAt: .distantFuture, refreshToken: "")
        let session = try SessionFixture(tokens: RecordingTokens(fixed))
        let told = Locked<[Int]>([])
        let call = Locked<Call?>(nil)
        let posted = session.announcements(of: Atom.didFailToRefreshAccessToken) { error in
            guard case .authentication(.missingCredential) = error else { return }
            told.with { $0.append(call.value?.count ?? 0) }
        }
        defer { posted.end() }
        let events = session.atom.events
        call.set(session.call())
        let exchange = await session.transport.exchange(0)
        exchange.send(.response(TransportResponse(statusCode: 401)))
        await events.firstEnd()
        await session.drainCompletions()
        #expect(told.value.isEmpty)
        exchange.send(.data(Data("no".utf8)))
        exchange.send(.finished)
        guard case .response(let response) = await call.value?.error() else {
            throw Unexpected("no response")
        }
        #expect(response.data == Data("no".utf8))
        await session.drainCompletions()
        #expect(told.value == [1])
    }

    @Test func nobodySignedInIsNotTheEndOfASession() async throws {
        for isInStore in [false, true] {
            let session = try SessionFixture(
                tokens: RecordingTokens(.empty), store: isInStore ? InMemoryTokenCredentialStore() : nil)
            let posted = session.announcements(of: Atom.didFailToRefreshAccessToken)
            defer { posted.end() }
            _ = await session.call().outcome()
            await session.drainCompletions()
            await session.drainCompletions()
            #expect(posted.errors.isEmpty)
        }
    }

    @Test func aProviderEndsTheSessionOnlyIfItSaysSo() async throws {
        struct Offline: Error {}
        let plain = try SessionFixture(store: InMemoryTokenCredentialStore(), provider: FailingProvider { Offline() })
        let refused = try SessionFixture(
            store: InMemoryTokenCredentialStore(),
            provider: FailingProvider { TokenCredentialProviderError.retryAfterSignIn(Offline()) })
        for (session, count) in [(plain, 0), (refused, 1)] {
            let posted = session.announcements(of: Atom.didFailToRefreshAccessToken)
            defer { posted.end() }
            let events = session.atom.events
            _ = await session.call().outcome()
            if count == 0 { await events.firstFailure() } else { await events.firstEnd() }
            await session.drainCompletions()
            #expect(posted.errors.count == count)
        }
    }

    @Test(arguments: [#"{"error":"invalid_client"}"#, "", "<html>"])
    func aTokenEndpointThatAnswersUnauthorizedIsAnnouncedOncePerRefresh(_ body: String) async throws {
        let session = try SessionFixture(lifetime: 0)
        let calls = Locked<[Call]>([])
        let told = Locked<[Int]>([])
        let posted = session.announcements(of: Atom.didFailToAuthorizeRequest) { _ in
            let count = calls.value.count { $0.count == 1 }
            told.with { $0.append(count) }
        }
        let ends = session.announcements(of: Atom.didFailToRefreshAccessToken)
        defer {
            posted.end()
            ends.end()
        }
        for round in 0..<2 {
            let task = Task { try await session.atom.enqueue(PathEndpoint()).resume() }
            let refresh = await session.refresh(round)
            calls.set((0..<3).map { session.call("/\($0)") })
            let events = session.atom.events
            refresh.answer(body, status: 401)
            for call in calls.value { #expect(await call.error()?.isAuthorizationFailure == true) }
            _ = await task.result
            await events.firstFailure()
            await session.drainCompletions()
            #expect(told.value == Array(repeating: 3, count: round + 1))
            #expect(posted.errors.allSatisfy { $0.isAuthorizationFailure && $0.isAccessTokenRefreshFailure })
            session.time.advance(by: .seconds(60))
        }
        #expect(ends.errors.isEmpty, "the refresh token may be good")
    }

    @Test func aRefreshTokenThatIsUnauthorizedIsAnnouncedAsBoth() async throws {
        let session = try SessionFixture(lifetime: 0)
        let posted = session.announcements(of: Atom.didFailToAuthorizeRequest)
        let ends = session.announcements(of: Atom.didFailToRefreshAccessToken)
        defer {
            posted.end()
            ends.end()
        }
        let calls = (0..<3).map { session.call("/\($0)") }
        let events = session.atom.events
        await session.refresh().deny("invalid_grant", status: 401)
        for call in calls { _ = await call.outcome() }
        await events.firstEnd()
        _ = await session.call("/after").outcome()
        await session.drainCompletions()
        #expect(posted.errors.count == 1)
        #expect(ends.errors.count == 1)
    }

    @Test func aRequestThatIsUnauthorizedAndThenItsRefreshIsAnnouncedOnce() async throws {
        let session = try SessionFixture()
        let posted = session.announcements(of: Atom.didFailToAuthorizeRequest)
        defer { posted.end() }
        let events = session.atom.events
        let call = session.call()
        session.sent[0].answer(status: 401)
        await session.refresh().deny("invalid_client", status: 401)
        #expect(await call.error()?.isAuthorizationFailure == true)
        await events.firstFailure()
        await session.drainCompletions()
        #expect(posted.errors.count == 1)
    }

    @Test(arguments: ["invalid_client", "invalid_grant"])
    func anEarlyRefreshThatIsUnauthorizedIsAnnouncedWhenTheTokenHasExpired(_ code: String) async throws {
        let session = try SessionFixture(lifetime: 100)
        let posted = session.announcements(of: Atom.didFailToAuthorizeRequest)
        defer { posted.end() }
        session.call("/firstSeen")
        session.time.advance(by: .seconds(80))
        session.call("/waiter")
        let early = session.atom.events
        await session.refresh().deny(code, status: 401)
        await early.firstFailure()
        await session.drainCompletions()
        #expect(posted.errors.isEmpty, "the access token is still good")

        session.time.advance(by: .seconds(20))
        let late = session.atom.events
        let call = session.call("/after")
        if code == "invalid_client" { await session.refresh(1).deny(code, status: 401) }
        #expect(await call.error()?.isAuthorizationFailure == true)
        if code == "invalid_client" { await late.firstFailure() } else { await late.firstEnd() }
        await session.drainCompletions()
        #expect(posted.errors.count == 1)
    }

    @Test(arguments: [401, 503], [false, true])
    func aProvidersOwnRequestIsNoRefresh(status: Int, isLast: Bool) async throws {
        let cause = AtomError.response(AtomResponse(statusCode: status))
        let session = try SessionFixture(
            store: InMemoryTokenCredentialStore(),
            provider: FailingProvider {
                isLast ? TokenCredentialProviderError.retryAfterSignIn(cause) as any Error : cause
            })
        let posted = session.announcements(of: Atom.didFailToAuthorizeRequest)
        defer { posted.end() }
        let events = session.atom.events
        _ = await session.call().outcome()
        if isLast { await events.firstEnd() } else { await events.firstFailure() }
        await session.drainCompletions()
        #expect(posted.errors.isEmpty)
    }

    #if os(Linux)
        @Test("An observer on the main queue holds up nobody, also in a program with an asynchronous main")
        func observerOnTheMainQueue() async {
            await #expect(processExitsWith: .success) {
                let heard = Signal()
                let observer = NotificationCenter.default.addObserver(
                    forName: Atom.didFailToAuthorizeRequest, object: nil, queue: .main
                ) { _ in heard.raise() }
                let server = try LoopbackServer { _ in .empty(401) }
                let outcome = await Atom().enqueue(server.endpoint()).outcome()
                #expect(outcome.response?.statusCode == 401)
                await heard.wait()
                NotificationCenter.default.removeObserver(observer)
            }
        }
    #endif

    @Test func theEndOfAStreamIsAnnouncedLikeItsBeginning() async throws {
        let session = try SessionFixture()
        let posted = session.announcements(of: Atom.didFailToAuthorizeRequest)
        defer { posted.end() }
        let events = HeaderFields([.init(name: "Content-Type", value: "text/event-stream")])
        func read() -> Task<Void, any Error> {
            let service = session.atom.enqueue(PathEndpoint(requiresAuthorization: false))
            return Task { for try await _ in try await service.serverSentEvents(reconnection: .automatic()) {} }
        }
        let first = read()
        let opening = await session.transport.exchange(0)
        opening.send(.response(TransportResponse(statusCode: 200, headerFields: events)), .finished)
        await session.time.waitForAlarm(within: .seconds(60))
        session.time.advance(by: .seconds(60))
        await session.transport.exchange(1).answer(status: 401)
        _ = await first.result
        await session.drainCompletions()
        #expect(posted.errors.count == 1)

        let second = read()
        await session.transport.exchange(2).answer(status: 401)
        _ = await second.result
        await session.drainCompletions()
        #expect(posted.errors.count == 2)
    }

    @Test(arguments: [400, 403, 404, 407, 429, 500, 503])
    func onlyUnauthorizedIsAnnouncedAsThat(_ status: Int) async throws {
        let session = try SessionFixture(lifetime: 0)
        let posted = session.announcements(of: Atom.didFailToAuthorizeRequest)
        defer { posted.end() }
        let events = session.atom.events
        let call = session.call()
        await session.refresh().answer(status: status)
        _ = await call.outcome()
        await events.firstFailure()
        await session.drainCompletions()
        #expect(posted.errors.isEmpty)
    }

    @Test func theReasonToSignInIsToldByTheEvent() {
        let oauth = OAuthError(code: "invalid_grant")
        let badRequest = OAuthError(
            code: "invalid_client", explanation: nil, uri: nil, response: AtomResponse(statusCode: 400))
        func failed(_ cause: any Error) -> SessionEvent {
            .refreshFailed(.refreshFailed(cause: cause, retryAt: nil, delivery: .notSent))
        }
        let reasons: [SessionEvent] = [
            .ended(.missingCredential(delivery: .notSent)), .ended(.refreshRejected(oauth, delivery: .notSent)),
            .ended(.refreshInterrupted(oauth, delivery: .notSent)),
            .ended(.credentialNotProvided(cause: oauth, retryAt: nil, delivery: .notSent)),
            failed(AtomError.response(AtomResponse(statusCode: 400))), failed(badRequest),
        ]
        let others: [SessionEvent] = [
            .signedIn, .signedOut, .refreshed(expiresAt: nil), .credentialChanged, .credentialStored,
            .credentialNotStored(.credentialNotStored(cause: oauth, delivery: .notSent)),
            // An early refresh: the session goes on with its token.
            .refreshFailed(.refreshRejected(oauth, delivery: .notSent)),
            .refreshFailed(.credentialNotProvided(cause: badRequest, retryAt: nil, delivery: .notSent)),
            .refreshFailed(.tooManyRefreshes(retryAt: .distantFuture, delivery: .notSent)),
            failed(oauth), failed(URLError(.timedOut)), failed(AtomError.session(URLError(.cannotFindHost))),
            failed(AtomError.response(AtomResponse(statusCode: 401))),
            failed(AtomError.response(AtomResponse(statusCode: 503))), failed(CancellationError()),
        ]
        for event in reasons { #expect(event.reasonToSignIn != nil, "\(event)") }
        for event in others { #expect(event.reasonToSignIn == nil, "\(event)") }
    }

    /// The caller's next line runs before anything that is dispatched to the queue of its actor.
    @MainActor @Test func anAsyncCallerOnTheMainActorHearsBeforeTheObserver() async throws {
        for round in 0..<50 {
            let transport = ScriptedTransport.held()
            var configuration = ServiceConfiguration(dispatchQueue: .main)
            configuration.transport = transport
            configuration.timeSource = transport.clock
            let atom = Atom(serviceConfiguration: configuration)
            let order = Locked<[String]>([])
            let body = "round \(round)"
            let observation = Observation(of: Atom.didFailToAuthorizeRequest) { error in
                guard case .response(let response) = error, response.data == Data(body.utf8) else { return }
                order.with { $0.append("observer") }
            }
            defer { observation.end() }
            DispatchQueue.global().async {
                Task { await transport.exchange(0).answer(body, status: 401) }
            }
            do {
                if round.isMultiple(of: 2) {
                    try await atom.enqueue(PathEndpoint()).resume()
                } else {
                    _ = try await atom.enqueue(PathEndpoint()).resume(expecting: Data.self)
                }
            } catch {
                order.with { $0.append("caller") }
            }
            await withCheckedContinuation { continuation in
                DispatchQueue.main.async { continuation.resume() }
            }
            #expect(order.value == ["caller", "observer"])
        }
    }

    @Test func eachRequestWhoseFinalAnswerIsUnauthorizedIsAnnouncedOnce() async throws {
        let session = try SessionFixture()
        let heard = Locked(0)
        let observation = Observation(of: Atom.didFailToAuthorizeRequest) { error in
            if case .response(let response) = error, response.data == Data("notify".utf8) { heard.with { $0 += 1 } }
        }
        defer { observation.end() }
        let call = session.call("/a", signed: false)
        session.sent[0].answer("notify", status: 401)
        _ = await call.outcome()
        await session.drainCompletions()
        await session.drainCompletions()
        #expect(heard.value == 1)

        let task = Task { try await session.atom.enqueue(PathEndpoint(requiresAuthorization: false)).resume() }
        await session.transport.exchange(1).answer("notify", status: 401)
        _ = await task.result
        await session.drainCompletions()
        #expect(heard.value == 2)
    }
}

extension SessionFixture {
    /// Returns when all that was announced so far, and then all that the completions' queue has, has run.
    fileprivate func drainCompletions() async {
        let queues = [atom.manager.session?.announcements, configuration.dispatchQueue]
        for queue in queues.compactMap({ $0 }) {
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume() }
            }
        }
    }
}

private struct FailingProvider: TokenCredentialProvider {
    let error: @Sendable () -> any Error

    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential { throw error() }
}

extension AsyncStream<SessionEvent> {
    /// Returns when a refresh has failed: its notification has been dispatched by then.
    fileprivate func firstFailure() async {
        for await event in self { if case .refreshFailed = event { return } }
    }

    /// Returns when the session has ended.
    fileprivate func firstEnd() async {
        for await event in self { if case .ended = event { return } }
    }
}

extension SessionFixture {
    private static let queueKey = DispatchSpecificKey<ObjectIdentifier>()

    /// Marks the queue that this session's notifications are posted on.
    fileprivate func markQueue() {
        configuration.dispatchQueue.setSpecific(key: Self.queueKey, value: ObjectIdentifier(transport))
    }

    /// The notifications for this session only.
    fileprivate func announcements(
        of name: Notification.Name, _ body: @escaping @Sendable (AtomError) -> Void = { _ in }
    ) -> Announcements {
        markQueue()
        let heard = Locked<[AtomError]>([])
        let own = ObjectIdentifier(transport)
        let observation = Observation(of: name) { error in
            guard DispatchQueue.getSpecific(key: Self.queueKey) == own else { return }
            heard.with { $0.append(error) }
            body(error)
        }
        return Announcements(heard: heard, observation: observation)
    }
}

private struct Announcements {
    let heard: Locked<[AtomError]>
    let observation: Observation

    var errors: [AtomError] { heard.value }
    func end() { observation.end() }
}

private final class Observation: @unchecked Sendable {
    // Written once, before it is shared.
    private var token: (any NSObjectProtocol)?

    init(of name: Notification.Name, _ body: @escaping @Sendable (AtomError) -> Void) {
        token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
            if let error = notification.userInfo?["error"] as? AtomError { body(error) }
        }
    }

    func end() {
        if let token { NotificationCenter.default.removeObserver(token) }
    }
}
