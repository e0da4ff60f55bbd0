import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// What signs a request that the app sends by other means.
@Suite(.limited) struct AuthorizationTests {
    private static var url: URL {
        get throws { try #require(URL(string: "https://api.example.com/socket")) }
    }

    /// Asks in a task, and returns when the call waits in the session's queue.
    private static func waiting(
        _ session: SessionFixture, after rejected: RequestAuthorization? = nil
    ) async -> Task<RequestAuthorization?, any Error> {
        let atom = session.atom
        let before = atom.manager.session?.gate.with { $0.waiters.members.count } ?? 0
        let task = Task<RequestAuthorization?, any Error> {
            guard let rejected else { return try await atom.authorization(for: url) }
            return try await atom.authorization(for: url, after: rejected)
        }
        #expect(await eventually { atom.manager.session?.gate.with { $0.waiters.members.count } == before + 1 })
        return task
    }

    private static func error(_ task: Task<RequestAuthorization?, any Error>) async -> AtomError? {
        if case .failure(let error) = await task.result { error as? AtomError } else { nil }
    }

    @Test func aGoodTokenIsReturnedWithoutARequest() async throws {
        let session = try SessionFixture()
        let authorization = try await session.atom.authorization(for: Self.url)
        #expect(authorization.accessToken == "A0")
        #expect(authorization.headerItem == HeaderItem(name: "Authorization", value: "Bearer A0"))
        #expect(session.transport.exchanges.isEmpty)
    }

    @Test func anExpiredTokenIsRefreshedAndThoseWhoWaitGoInTheirOrder() async throws {
        let session = try SessionFixture(lifetime: 0)
        let first = session.call("/first")
        let waiting = await Self.waiting(session)
        let last = session.call("/last")
        await session.refresh().grant(1)
        #expect(try await waiting.value?.accessToken == "A1")
        for number in 1...2 { await session.transport.exchange(number).answer() }
        #expect(await first.status() == 200)
        #expect(await last.status() == 200)
        #expect(session.refreshes.count == 1)
        #expect(session.sentPaths == ["/first", "/last"])
    }

    @Test func aStoreIsReadFirst() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(3)))
        #expect(try await session.atom.authorization(for: Self.url).accessToken == "A3")
    }

    @Test("After a 401 there is one refresh and one more try, and another 401 stands")
    func rejected() async throws {
        let session = try SessionFixture()
        let authorization = try await session.atom.authorization(for: Self.url)
        let waiting = await Self.waiting(session, after: authorization)
        let call = session.call()
        await session.refresh().grant(1)
        let next = try #require(try await waiting.value)
        #expect(next.accessToken == "A1")
        await session.transport.exchange(1).answer()
        #expect(await call.status() == 200)
        // The older token's 401 is late by now.
        #expect(try await session.atom.authorization(for: Self.url, after: authorization)?.accessToken == "A1")
        #expect(try await session.atom.authorization(for: Self.url, after: next) == nil)
        #expect(try await session.atom.authorization(for: Self.url).accessToken == "A1")
        #expect(session.refreshes.count == 1)
    }

    @Test func afterASignOutOrASignInNobodyGetsTheNextPersonsToken() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0)))
        let authorization = try await session.atom.authorization(for: Self.url)
        try await session.atom.signIn(with: .issued(5))
        await #expect {
            try await session.atom.authorization(for: Self.url, after: authorization)
        } throws: {
            if case .authentication(.signedOut(.notSent))? = $0 as? AtomError { true } else { false }
        }
        #expect(try await session.atom.authorization(for: Self.url).accessToken == "A5")
        #expect(session.refreshes.isEmpty)
    }

    @Test func afterTheAppHasSetItsVariableNobodyGetsTheNextPersonsToken() async throws {
        let session = try SessionFixture()
        let authorization = try await session.atom.authorization(for: Self.url)
        session.tokens.put(.issued(5))
        await #expect {
            try await session.atom.authorization(for: Self.url, after: authorization)
        } throws: {
            if case .authentication(.signedOut(.notSent))? = $0 as? AtomError { true } else { false }
        }
        #expect(try await session.atom.authorization(for: Self.url).accessToken == "A5")
    }

    @Test func a401OfAnOriginThatIsNotAllowedSaysNothingOfTheToken() async throws {
        let session = try SessionFixture(bearer: {
            if let base = try? BaseURL(host: "api.example.com") { $0.allowedOrigins = .only([base]) }
        })
        let authorization = try await session.atom.authorization(for: Self.url)
        let elsewhere = try #require(URL(string: "https://files.example.com/"))
        await #expect(throws: AtomError.self) {
            try await session.atom.authorization(for: elsewhere, after: authorization)
        }
        #expect(try await session.atom.authorization(for: Self.url).accessToken == "A0")
        #expect(session.refreshes.isEmpty)
    }

    @Test func anErrorNamesTheURL() async throws {
        let session = try SessionFixture(lifetime: 0)
        let waiting = await Self.waiting(session)
        await session.refresh().deny("invalid_grant")
        #expect(await Self.error(waiting)?.request?.url.contains("api.example.com/socket") == true)
    }

    @Test func anotherSessionsTokenIsRefused() async throws {
        let authorization = try await SessionFixture().atom.authorization(for: Self.url)
        let other = try SessionFixture()
        await #expect {
            try await other.atom.authorization(for: Self.url, after: authorization)
        } throws: {
            if case .authentication(.signedOut)? = $0 as? AtomError { true } else { false }
        }
        #expect(try await other.atom.authorization(for: Self.url).accessToken == "A0")
    }

    @Test func whoeverWaitsHearsOfASignOut() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0, life: 0)))
        let waiting = await Self.waiting(session)
        try await session.atom.signOut()
        guard case .authentication(.signedOut(.notSent)) = await Self.error(waiting) else {
            throw Unexpected("\(String(describing: await Self.error(waiting)))")
        }
    }

    @Test func aFailedRefreshIsToldToAll() async throws {
        let session = try SessionFixture(lifetime: 0)
        let waiting = await Self.waiting(session)
        let call = session.call()
        await session.refresh().deny("invalid_grant")
        guard case .authentication(.refreshRejected) = await Self.error(waiting) else {
            throw Unexpected("\(String(describing: await Self.error(waiting)))")
        }
        guard case .authentication(.refreshRejected) = await call.error() else { throw Unexpected("not told") }
    }

    @Test func aCancelledCallLeavesTheQueueAndTheRefreshGoesOn() async throws {
        let session = try SessionFixture(lifetime: 0)
        let waiting = await Self.waiting(session)
        let refresh = await session.refresh()
        waiting.cancel()
        #expect(await Self.error(waiting)?.isCancelled == true)
        #expect(session.atom.manager.session?.gate.with { $0.waiters.isEmpty } == true)
        #expect(!refresh.isCancelled)
        refresh.grant(1)
        #expect(await eventually { session.tokens.writes.map(\.accessToken) == ["A1"] })
        #expect(try await session.atom.authorization(for: Self.url).accessToken == "A1")
    }

    @Test func aCallOfACancelledTaskAsksNobody() async throws {
        let session = try SessionFixture(lifetime: 0)
        let atom = session.atom
        let isCancelled = Signal()
        let task = Task {
            await isCancelled.wait()
            return try await atom.authorization(for: Self.url)
        }
        task.cancel()
        isCancelled.raise()
        guard case .failure(let error) = await task.result else { throw Unexpected("a token") }
        #expect((error as? AtomError)?.isCancelled == true)
        #expect(session.transport.exchanges.isEmpty)
    }

    @Test func aCallWaitsNoLongerThanARequest() async throws {
        let session = try SessionFixture(lifetime: 0, timeout: ServiceTimeout(request: 10, resource: 20))
        let waiting = await Self.waiting(session)
        _ = await session.refresh()
        let end = session.time.now.advanced(by: .seconds(20))
        #expect(await eventually { session.time.hasAlarm(at: end) })
        session.time.advance(by: .seconds(20))
        guard case .authentication(let error) = await Self.error(waiting) else { throw Unexpected("another error") }
        switch error {
        // The refresh has the same time.
        case .waitedTooLong, .refreshFailed: break
        default: throw Unexpected("\(error)")
        }
        #expect(await eventually { session.atom.manager.deadlines.count == 0 })
    }

    @Test(
        "The credential goes only where a request of the service may take it",
        arguments: [
            "http://api.example.com", "ws://api.example.com/a", "https://other.example.com", "wss://other.example.com",
            "https://api.example.com@other.example.com/",
        ])
    func refusedOrigins(address: String) async throws {
        let session = try SessionFixture(bearer: {
            if let base = try? BaseURL(host: "api.example.com") { $0.allowedOrigins = .only([base]) }
        })
        let url = try #require(URL(string: address))
        await #expect {
            try await session.atom.authorization(for: url)
        } throws: {
            if case .requestable(.originNotAllowed)? = $0 as? AtomError { true } else { false }
        }
    }

    @Test(arguments: ["wss://api.example.com/a?b=c", "WSS://api.example.com", "https://API.example.com:443/"])
    func allowedOriginsAreServed(address: String) async throws {
        let session = try SessionFixture(bearer: {
            if let base = try? BaseURL(host: "api.example.com") { $0.allowedOrigins = .only([base]) }
        })
        let url = try #require(URL(string: address))
        #expect(try await session.atom.authorization(for: url).accessToken == "A0")
    }

    @Test(arguments: ["ftp://api.example.com", "file:///etc/passwd", "api.example.com", "https:///x", "data:,x"])
    func whatIsNoURLOfAServerIsRefused(address: String) async throws {
        let session = try SessionFixture()
        let url = try #require(URL(string: address))
        await #expect {
            try await session.atom.authorization(for: url)
        } throws: {
            if case .requestable(.invalidURL)? = $0 as? AtomError { true } else { false }
        }
    }

    @Test func aServiceWithBasicCredentialsReturnsThemAndHasNothingElseToTry() async throws {
        let credential = BasicCredential(password: "secret", username: "ada")
        let atom = Atom(serviceConfiguration: ServiceConfiguration(authenticationMethod: .basic(credential)))
        let authorization = try await atom.authorization(for: Self.url)
        #expect(authorization.headerItem.value == "Basic YWRhOnNlY3JldA==")
        #expect(authorization.accessToken == nil)
        #expect(try await atom.authorization(for: Self.url, after: authorization) == nil)
    }

    @Test func aServiceThatSignsNothingSaysSo() async throws {
        await #expect {
            try await Atom().authorization(for: Self.url)
        } throws: {
            if case .authentication(.noSession)? = $0 as? AtomError { true } else { false }
        }
    }

    @Test func noDescriptionShowsTheCredential() async throws {
        let authorization = try await SessionFixture().atom.authorization(for: Self.url)
        var dumped = ""
        dump(authorization, to: &dumped)
        for text in ["\(authorization)", String(reflecting: authorization), dumped] {
            #expect(!text.contains("A0"), "\(text)")
        }
    }
}
