import Foundation
import Testing

@testable import AtomNetworking

@Suite("The keeper of a credential in the app's variable", .limited)
struct VariableKeeperTests {
    @Test("The getter is read once for each admission, and nothing is loaded")
    func reads() async throws {
        let session = try SessionFixture(script: { $0.answer() })
        let keeper = try #require(session.atom.manager.session?.keeper)
        #expect(keeper.store == nil)
        #expect(try await keeper.load() == nil)
        #expect(await session.call().status() == 200)
        let reads = session.tokens.readCount
        for _ in 0..<10 { #expect(await session.call().status() == 200) }
        #expect(session.tokens.readCount == reads + 10)
    }

    @Test("The result of a refresh that ends after a sign-out is revoked, and not written")
    func leftBehind() async throws {
        let session = try SessionFixture(
            lifetime: 0,
            bearer: { $0.revocationEndpoint = try? AuthorizationEndpoint(host: "auth.example.com", path: "/revoke") })
        let call = session.call()
        let refresh = await session.refresh()
        try await session.atom.signOut()
        #expect(await call.error() != nil)
        refresh.grant(1)
        #expect(await eventually { session.transport.exchanges.contains { $0.form["token"] == "R1" } })
        #expect(session.tokens.writes == [.empty])
        #expect(session.tokens.tokenCredential == .empty)
    }

    @Test("The next refresh starts when a refresh has ended that a sign-in has left behind")
    func nextAfterLeftBehind() async throws {
        let session = try SessionFixture(lifetime: 0)
        session.call()
        let first = await session.refresh()
        try await session.atom.signIn(
            with: TokenCredential(accessToken: "", expiresAt: .distantFuture, refreshToken: "S0"))
        let call = session.call()
        first.deny("server_error", status: 500)
        let second = await session.refresh(1)
        #expect(second.form["refresh_token"] == "S0")
        second.grant(1)
        await session.transport.exchange(2).answer()
        #expect(await call.status() == 200)
    }

    @Test("A service with a provider that shares a variable's session asks its provider")
    func provider() async throws {
        let tokens = VariableAndStore()
        let endpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/token")
        let first = try SessionFixture(
            bearer: {
                $0 = BearerAuthentication(
                    endpoint: endpoint, client: ClientCredential(id: "a"), writable: tokens)
            })
        let login = ScriptedLogin()
        let second = try SessionFixture(store: tokens, provider: login, time: first.time, script: { $0.answer() })
        #expect(first.atom.manager.session === second.atom.manager.session)
        let call = second.call()
        await login.form(0).finish(.success(.issued(1)))
        #expect(await call.status() == 200)
        #expect(tokens.tokenCredential == .issued(1))
    }
}

/// An app's object that is a variable for one service and a store for another.
private final class VariableAndStore: TokenCredentialWritable, TokenCredentialStore {
    private let credential = Locked(TokenCredential.empty)

    var tokenCredential: TokenCredential {
        get { credential.value }
        set { credential.set(newValue) }
    }

    func load() async throws -> TokenCredential? { credential.value }
    func save(_ new: TokenCredential?) async throws { credential.set(new ?? .empty) }
}
