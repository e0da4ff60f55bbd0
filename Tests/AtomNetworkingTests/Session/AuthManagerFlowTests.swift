import Foundation
import Testing

@testable import AtomNetworking

/// What an app's `AuthManager` does by hand in `validToken()`, request by
/// request.
@Suite(.limited) struct AuthManagerFlowTests {
    @Test func validTokenAwaitsTheRefreshThatIsUnderWay() async throws {
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(.issued(0, life: 0)))
        let first = session.call("/first")
        let refresh = await session.refresh()
        let second = session.call("/second")
        #expect(session.sent.isEmpty)
        refresh.grant(1)
        _ = await session.transport.exchange(2)
        #expect(session.sentPaths == ["/first", "/second"])
        #expect(session.sent.allSatisfy { $0.token == "A1" })
        #expect(session.refreshes.count == 1)
        for exchange in session.sent { exchange.answer() }
        #expect(await first.status() == 200)
        #expect(await second.status() == 200)
    }

    @Test func validTokenThrowsWhenThereIsNoToken() async throws {
        let session = try SessionFixture(store: InMemoryTokenCredentialStore())
        guard case .authentication(.missingCredential(.notSent)) = await session.call().error() else {
            throw Unexpected("not missing")
        }
        #expect(session.transport.exchanges.isEmpty)
    }

    @Test func validTokenReturnsTheTokenThatIsValid() async throws {
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(.issued(0)))
        let call = session.call()
        let exchange = await session.transport.exchange(0)
        #expect(exchange.token == "A0")
        exchange.answer()
        #expect(await call.status() == 200)
        #expect(session.refreshes.isEmpty)
    }

    @Test func validTokenRefreshesTheTokenThatIsNotValid() async throws {
        let store = InMemoryTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: store)
        let call = session.call()
        let refresh = await session.refresh()
        #expect(refresh.form["refresh_token"] == "R0")
        refresh.grant(1)
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A1")
        exchange.answer()
        #expect(await call.status() == 200)
        #expect(try await store.load()?.refreshToken == "R1")
    }

    @Test func anAuthManagerThatIsKeptIsAskedThroughAProvider() async throws {
        let manager = AuthManager()
        let session = try SessionFixture(
            store: InMemoryTokenCredentialStore(), provider: ManagedTokens(manager: manager))
        let calls = (0..<10).map { session.call("/\($0)") }
        _ = await session.transport.exchange(9)
        for exchange in session.sent {
            #expect(exchange.token == "M1")
            exchange.answer(status: exchange === session.sent[0] ? 401 : 200)
        }
        let retry = await session.transport.exchange(10)
        #expect(retry.token == "M2")
        retry.answer()
        for call in calls { #expect(await call.status() == 200) }
        #expect(await manager.refreshes == 2)
    }

    /// The actor that an app uses without this SDK.
    private actor AuthManager {
        private(set) var refreshes = 0

        func refreshToken() throws -> TokenCredential {
            refreshes += 1
            return TokenCredential(accessToken: "M\(refreshes)", expiresAt: .distantFuture, refreshToken: "")
        }
    }

    private struct ManagedTokens: TokenCredentialProvider {
        let manager: AuthManager

        func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
            try await manager.refreshToken()
        }
    }
}

/// A token acquisition service that all unauthorized requests subscribe to.
@Suite(.limited) struct TokenAcquisitionFlowTests {
    @Test func manySubscribersShareOneAcquisition() async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(.issued(0)), provider: login)
        let calls = (0..<100).map { session.call("/\($0)") }
        _ = await session.transport.exchange(99)
        for exchange in session.sent { exchange.answer(status: 401) }
        await login.form(0).finish(.success(.issued(1)))
        _ = await session.transport.exchange(199)
        for exchange in session.sent[100...] {
            #expect(exchange.token == "A1")
            exchange.answer()
        }
        for call in calls { #expect(await call.status() == 200) }
        #expect(login.count == 1)
    }

    @Test func aLateSubscriberGetsTheNewestTokenAtOnce() async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(.issued(0)), provider: login)
        let early = session.call("/early")
        let late = session.call("/late")
        _ = await session.transport.exchange(1)
        session.sent[0].answer(status: 401)
        await login.form(0).finish(.success(.issued(1)))
        await session.transport.exchange(2).answer()
        #expect(await early.status() == 200)
        // Its 401 is for the old token: it is sent again with the newest one, without another acquisition.
        session.sent[1].answer(status: 401)
        let retry = await session.transport.exchange(3)
        #expect(retry.token == "A1")
        retry.answer()
        #expect(await late.status() == 200)
        #expect(login.count == 1)
    }

    @Test func aRefusedTokenIsAcquiredAnewAndNotReplayed() async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), provider: login)
        let first = session.call("/first")
        await login.form(0).finish(.success(.issued(1)))
        await session.transport.exchange(0).answer(status: 401)
        let form = await login.form(1)
        #expect(form.rejected == .issued(1))
        let second = session.call("/second")
        form.finish(.success(.issued(2)))
        _ = await session.transport.exchange(2)
        for exchange in session.sent[1...] {
            #expect(exchange.token == "A2")
            exchange.answer()
        }
        #expect(await first.status() == 200)
        #expect(await second.status() == 200)
    }

    @Test func aLoginScreenMayTakeMinutes() async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(
            timeout: ServiceTimeout(request: 30, resource: 86_400), store: InMemoryTokenCredentialStore(),
            provider: login, bearer: { $0.deadline = nil })
        let patient = session.call("/patient")
        let hasty = session.call("/hasty", timeout: ServiceTimeout(request: 30, resource: 60))
        let form = await login.form(0)
        for _ in 0..<60 { session.time.advance(by: .seconds(60)) }
        guard case .authentication(.waitedTooLong(.notSent)) = await hasty.error() else {
            throw Unexpected("its own deadline passed")
        }
        form.finish(.success(.issued(1, life: 7_200)))
        await session.transport.exchange(0).answer()
        #expect(await patient.status() == 200)
        #expect(login.count == 1)
    }

    @Test func aLoginScreenThatThePersonClosesFailsAllWhoWaitAndNobodyLater() async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), provider: login)
        let calls = (0..<5).map { session.call("/\($0)") }
        await login.form(0).finish(.failure(CancellationError()))
        var descriptions: Set<String> = []
        for call in calls {
            let error = await call.error()
            guard case .authentication(.credentialNotProvided(let cause, nil, .notSent)) = error else {
                throw Unexpected("\(String(describing: error))")
            }
            #expect(cause is CancellationError)
            descriptions.insert(error?.explanation ?? "")
        }
        #expect(descriptions.count == 1)
        #expect(session.transport.exchanges.isEmpty)
        let later = session.call()
        await login.form(1).finish(.success(.issued(1)))
        await session.transport.exchange(0).answer()
        #expect(await later.status() == 200)
    }
}

/// A refresh at Auth0 whose answer leaves out what has not changed.
@Suite(.limited) struct Auth0RenewalFlowTests {
    private static let old = TokenCredential(
        accessToken: "A0", expiresAt: Date(timeIntervalSince1970: 1_790_000_000), refreshToken: "R0",
        scope: "openid offline_access", tokenType: "Bearer", idToken: "I0")

    @Test func anAnswerWithoutRefreshTokenKeepsItWithScopeAndIDToken() async throws {
        let store = InMemoryTokenCredentialStore(Self.old)
        let session = try SessionFixture(store: store)
        let call = session.call()
        await session.refresh().answer(#"{"access_token":"A1","expires_in":86400}"#)
        await session.transport.exchange(1).answer()
        #expect(await call.status() == 200)
        let stored = try #require(try await store.load())
        #expect(stored.accessToken == "A1")
        #expect(stored.refreshToken == "R0")
        #expect(stored.scope == "openid offline_access")
        #expect(stored.tokenType == "Bearer")
        #expect(stored.idToken == "I0")
    }

    @Test func anAnswerWithThemReplacesThem() async throws {
        let store = InMemoryTokenCredentialStore(Self.old)
        let session = try SessionFixture(store: store)
        let call = session.call()
        await session.refresh().answer(
            #"{"access_token":"A1","expires_in":86400,"refresh_token":"R1","scope":"openid","id_token":"I1"}"#)
        await session.transport.exchange(1).answer()
        #expect(await call.status() == 200)
        let stored = try #require(try await store.load())
        #expect([stored.refreshToken, stored.scope, stored.idToken] == ["R1", "openid", "I1"])
    }
}
