import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Tokens that the SDK refreshes, and a provider for what a refresh can't do.
@Suite(.limited) struct SignInTests {
    private let login = ScriptedLogin()

    @Test func whenNobodyIsSignedInTheProviderIsAskedOnce() async throws {
        let disk = RecordingTokenCredentialStore()
        let session = try SessionFixture(store: disk, signIn: login)
        let calls = (0..<10).map { session.call("/\($0)") }
        let form = await login.form(0)
        #expect(form.rejected == nil)
        #expect(session.transport.exchanges.isEmpty)
        form.finish(.success(.issued(1)))
        _ = await session.transport.exchange(9)
        #expect(session.sentPaths == (0..<10).map { "/\($0)" })
        for exchange in session.sent { exchange.answer() }
        for call in calls { #expect(await call.status() == 200) }
        #expect(disk.writes.map(\.?.accessToken) == ["A1"])
    }

    @Test func aTokenThatExpiresIsRefreshedWithoutTheProvider() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0, life: 0)), signIn: login)
        let call = session.call()
        await session.refresh().grant(1)
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A1")
        exchange.answer()
        #expect(await call.status() == 200)
        #expect(login.count == 0)
    }

    @Test func aRefusedRefreshTokenIsFollowedByASignIn() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk, signIn: login)
        let calls = (0..<5).map { session.call("/\($0)") }
        await session.refresh().deny("invalid_grant")
        let form = await login.form(0)
        #expect(form.rejected == .issued(0, life: 0))
        #expect(!disk.isInUse, "the store is free while a person types")
        form.finish(.success(.issued(1)))
        _ = await session.transport.exchange(5)
        #expect(session.sentPaths == (0..<5).map { "/\($0)" })
        for exchange in session.sent {
            #expect(exchange.token == "A1")
            exchange.answer()
        }
        for call in calls { #expect(await call.status() == 200) }
        #expect(login.count == 1)
        #expect(session.refreshes.count == 1)
        #expect(disk.refreshIntent == nil)
        // The next refresh is the SDK's again.
        session.time.advance(by: .seconds(4_000))
        let later = session.call()
        let refresh = await session.refresh(1)
        #expect(refresh.form["refresh_token"] == "R1")
        refresh.grant(2)
        await session.transport.exchange(7).answer()
        #expect(await later.status() == 200)
        #expect(login.count == 1)
    }

    @Test func a401WithARefusedRefreshTokenIsFollowedByASignInToo() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0)), signIn: login)
        let call = session.call()
        await session.transport.exchange(0).answer(status: 401)
        await session.refresh().deny("invalid_grant")
        await login.form(0).finish(.success(.issued(1)))
        let retry = await session.transport.exchange(2)
        #expect(retry.token == "A1")
        retry.answer()
        #expect(await call.status() == 200)
    }

    @Test func nobodyIsAskedWhileTheTokenIsStillGood() async throws {
        // In the leeway: a quarter of the life at most.
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0, life: 10)), signIn: login)
        try await session.atom.loadSession()
        session.time.advance(by: .seconds(9))
        let early = session.call("/early")
        await session.refresh().deny("invalid_grant")
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A0")
        exchange.answer()
        #expect(await early.status() == 200)
        #expect(login.count == 0)
        // The refused token isn't sent again when the access token has expired.
        session.time.advance(by: .seconds(2))
        let late = session.call("/late")
        await login.form(0).finish(.success(.issued(1)))
        await session.transport.exchange(2).answer()
        #expect(await late.status() == 200)
        #expect(session.refreshes.count == 1)
    }

    @Test func a401BeforeTheRefusalLeadsToASignIn() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0, life: 10)), signIn: login)
        try await session.atom.loadSession()
        session.time.advance(by: .seconds(7))
        let direct = session.call("/direct")
        let sent = await session.transport.exchange(0)
        session.time.advance(by: .milliseconds(800))
        // In the leeway, so this one starts a refresh.
        let early = session.call("/early")
        let refresh = await session.refresh()
        sent.answer(status: 401)
        refresh.deny("invalid_grant")
        await login.form(0).finish(.success(.issued(1)))
        for number in 2...3 { await session.transport.exchange(number).answer() }
        #expect(await direct.status() == 200)
        #expect(await early.status() == 200)
        #expect(login.count == 1)
    }

    @Test(arguments: [500, 503, 400])
    func aFailureOfTheEndpointAsksNobody(status: Int) async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0, life: 0)), signIn: login)
        let call = session.call()
        let refresh = await session.refresh()
        if status == 400 { refresh.deny("invalid_client") } else { refresh.answer(status: status) }
        guard case .authentication(.refreshFailed) = await call.error() else {
            throw Unexpected("\(String(describing: await call.error()))")
        }
        #expect(login.count == 0)
    }

    @Test func aTokenWithoutARefreshTokenIsReplacedWhenItHasExpired() async throws {
        let lonely = TokenCredential(
            accessToken: "A0", expiresAt: ManualClock().date.addingTimeInterval(10), refreshToken: "")
        let session = try SessionFixture(store: RecordingTokenCredentialStore(lonely), signIn: login)
        try await session.atom.loadSession()
        session.time.advance(by: .seconds(9))
        let early = session.call()
        await session.transport.exchange(0).answer()
        #expect(await early.status() == 200)
        #expect(login.count == 0, "a login screen doesn't come before it is needed")
        session.time.advance(by: .seconds(1))
        let late = session.call()
        await login.form(0).finish(.success(.issued(1)))
        await session.transport.exchange(1).answer()
        #expect(await late.status() == 200)
        #expect(session.refreshes.isEmpty)
    }

    @Test func aProviderThatGivesUpEndsTheSession() async throws {
        struct Closed: Error {}
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0, life: 0)), signIn: login)
        let calls = (0..<3).map { session.call("/\($0)") }
        await session.refresh().deny("invalid_grant")
        await login.form(0).finish(.failure(TokenCredentialProviderError.retryAfterSignIn(Closed())))
        for call in calls {
            guard case .authentication(.credentialNotProvided(let cause, _, _)) = await call.error() else {
                throw Unexpected("\(String(describing: await call.error()))")
            }
            #expect(cause is Closed)
        }
        #expect(await session.call().error()?.isAccessTokenRefreshFailure == true)
        #expect(login.count == 1)
        #expect(session.refreshes.count == 1)
        try await session.atom.signIn(with: .issued(4))
        let call = session.call()
        await session.transport.exchange(1).answer()
        #expect(await call.status() == 200)
    }

    @Test func afterAFailedSignInTheRefusedTokenIsNotSentAgain() async throws {
        struct Closed: Error {}
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0, life: 0)), signIn: login)
        let first = session.call()
        await session.refresh().deny("invalid_grant")
        await login.form(0).finish(.failure(Closed()))
        #expect(await first.error()?.isAccessTokenRefreshFailure == true)
        let second = session.call()
        await login.form(1).finish(.success(.issued(1)))
        await session.transport.exchange(1).answer()
        #expect(await second.status() == 200)
        #expect(session.refreshes.count == 1)
    }

    @Test func twoProcessesSpendEachRefreshTokenOnce() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let one = try SessionFixture(store: disk, signIn: login)
        let other = try SessionFixture(store: disk, signIn: login)
        let first = one.call()
        let refresh = await one.refresh()
        // This one has to wait for the store.
        let second = other.call()
        refresh.grant(1)
        let late = await other.transport.exchange(0)
        #expect(late.token == "A1")
        late.answer()
        await one.transport.exchange(1).answer()
        #expect(await first.status() == 200)
        #expect(await second.status() == 200)
        #expect(other.refreshes.isEmpty)
        #expect(login.count == 0)
    }

    @Test func aSignInOfAnotherProcessIsUsed() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk, signIn: login)
        let call = session.call()
        await session.refresh().deny("invalid_grant")
        let form = await login.form(0)
        // Meanwhile somebody signs in elsewhere.
        try await RecordingTokenCredentialStore(sharing: disk).save(.issued(7))
        form.finish(.success(.issued(1)))
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A7")
        exchange.answer()
        #expect(await call.status() == 200)
    }

    @Test func aSignOutEndsTheSignIn() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0, life: 0)), signIn: login)
        let call = session.call()
        await session.refresh().deny("invalid_grant")
        let form = await login.form(0)
        try await session.atom.signOut()
        guard case .authentication(.signedOut) = await call.error() else {
            throw Unexpected("\(String(describing: await call.error()))")
        }
        await form.wasCancelled.wait()
    }

    @Test func aServiceWithoutAProviderSharesTheSession() async throws {
        let store = RecordingTokenCredentialStore(.issued(0, life: 0))
        let plain = try SessionFixture(store: store)
        let asking = try SessionFixture(store: store, signIn: login, time: plain.time)
        let first = plain.call()
        await plain.refresh().deny("invalid_grant")
        guard case .authentication(.refreshRejected) = await first.error() else {
            throw Unexpected("\(String(describing: await first.error()))")
        }
        let second = asking.call()
        await login.form(0).finish(.success(.issued(1)))
        await asking.transport.exchange(0).answer()
        #expect(await second.status() == 200)
        let third = plain.call()
        let exchange = await plain.transport.exchange(1)
        #expect(exchange.token == "A1")
        exchange.answer()
        #expect(await third.status() == 200)
    }
}
