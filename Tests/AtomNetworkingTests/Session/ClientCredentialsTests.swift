import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// A client that signs with its own credentials (RFC 6749 §4.4).
@Suite(.limited) struct ClientCredentialsTests {
    @Test func theFirstRequestsFetchOneToken() async throws {
        let store = InMemoryTokenCredentialStore()
        let session = try SessionFixture(store: store, grant: .clientCredentials)
        let calls = (0..<10).map { session.call("/\($0)") }
        let fetch = await session.refresh()
        #expect(fetch.form == ["grant_type": "client_credentials", "client_id": "client", "client_secret": "secret"])
        fetch.answer(#"{"access_token":"A1","expires_in":100,"token_type":"Bearer","refresh_token":"not to be used"}"#)
        _ = await session.transport.exchange(10)
        #expect(session.sent.allSatisfy { $0.token == "A1" })
        for exchange in session.sent { exchange.answer() }
        for call in calls { #expect(await call.status() == 200) }
        #expect(session.refreshes.count == 1)
        #expect(try await store.load()?.refreshToken == "")
    }

    @Test func anotherOneIsFetchedBeforeItExpires() async throws {
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), grant: .clientCredentials)
        let first = session.call()
        await session.refresh().answer(#"{"access_token":"A1","expires_in":100}"#)
        await session.transport.exchange(1).answer()
        #expect(await first.status() == 200)
        session.time.advance(by: .seconds(74))
        let second = session.call()
        let sent = await session.transport.exchange(2)
        #expect(sent.token == "A1")
        sent.answer()
        #expect(await second.status() == 200)
        session.time.advance(by: .seconds(1))
        let third = session.call()
        await session.refresh(1).answer(#"{"access_token":"A2","expires_in":100}"#)
        let exchange = await session.transport.exchange(4)
        #expect(exchange.token == "A2")
        exchange.answer()
        #expect(await third.status() == 200)
    }

    @Test func aRejectedTokenIsReplaced() async throws {
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(.issued(0)), grant: .clientCredentials)
        let call = session.call()
        await session.transport.exchange(0).answer(status: 401)
        await session.refresh().answer(#"{"access_token":"A1"}"#)
        let retry = await session.transport.exchange(2)
        #expect(retry.token == "A1")
        retry.answer()
        #expect(await call.status() == 200)
    }

    @Test func aWritableDoesAsWell() async throws {
        let tokens = RecordingTokens(.empty)
        let session = try SessionFixture(tokens: tokens, grant: .clientCredentials)
        let call = session.call()
        await session.refresh().answer(#"{"access_token":"A1"}"#)
        await session.transport.exchange(1).answer()
        #expect(await call.status() == 200)
        #expect(tokens.writes.map(\.accessToken) == ["A1"])
    }

    @Test(arguments: [("invalid_client", 401), ("invalid_grant", 400)])
    func aFailureIsNotForEver(code: String, status: Int) async throws {
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(), grant: .clientCredentials)
        let first = session.call()
        await session.refresh().deny(code, status: status)
        guard case .authentication(.refreshFailed) = await first.error() else { throw Unexpected("not failed") }
        let second = session.call()
        await session.refresh(1).answer(#"{"access_token":"A1"}"#)
        await session.transport.exchange(2).answer()
        #expect(await second.status() == 200)
    }

    @Test func aWorkerThatClearsTheStoreSignsNobodyOut() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk, grant: .clientCredentials)
        let call = session.call()
        let first = await session.transport.exchange(0)
        disk.stored = nil
        first.answer(status: 401)
        await session.refresh().answer(#"{"access_token":"A1"}"#)
        await session.transport.exchange(2).answer()
        #expect(await call.status() == 200)
    }
}
