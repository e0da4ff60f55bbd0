import Foundation
import Testing

@testable import AtomNetworking

@Suite("What a session writes to its store", .limited)
struct SessionWriteTests {
    @Test("After a sign-in with the credential that is being refreshed, the store holds the new one")
    func signInWhileRefreshing() async throws {
        let expired = TokenCredential(accessToken: "A0", expiresAt: .distantPast, refreshToken: "R0")
        let store = InMemoryTokenCredentialStore(expired)
        let bearer = try Self.bearer(store)
        let session = try SessionFixture(bearer: { $0 = bearer })
        let call = session.call()
        let refresh = await session.refresh()
        let signIn = Task { try await session.atom.signIn(with: expired) }
        // It is told when the session knows of the sign-in, and its write is queued.
        guard case .failure(.authentication(.signedOut)) = await call.outcome() else {
            Issue.record("a request of the session before goes on")
            return
        }
        refresh.grant(1)
        try await signIn.value
        let stored = try await store.load()
        #expect(stored?.refreshToken == "R1", "R0 is spent")
        let next = session.call()
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A1")
        exchange.answer()
        _ = await next.outcome()
    }

    @Test("A provider's credential is used when the store can't be reached, and written later")
    func providerAndLockedStore() async throws {
        let store = LockedStore()
        let session = try SessionFixture(
            script: { $0.answer() },
            bearer: { $0 = BearerAuthentication(provider: FixedProvider(), store: store) })
        let status = await session.call().status()
        try #require(status == 200)
        #expect(session.sent.map(\.token) == ["P1"])
        #expect(await store.content == nil)
        await store.unlock()
        session.time.advance(by: .seconds(1))
        await store.isWritten()
        #expect(await store.content?.accessToken == "P1")
    }

    private static func bearer(_ store: any TokenCredentialStore) throws -> BearerAuthentication {
        BearerAuthentication(
            endpoint: try AuthorizationEndpoint(host: "auth.example.com", path: "/token"),
            client: ClientCredential(id: "client", secret: "secret"), store: store)
    }
}

private struct FixedProvider: TokenCredentialProvider {
    func credential(replacing rejected: TokenCredential?) async throws -> TokenCredential {
        TokenCredential(accessToken: "P1", expiresAt: .distantFuture, refreshToken: "")
    }
}

/// A store that can be read, and whose lock somebody else holds at first.
private actor LockedStore: TokenCredentialStore {
    struct Locked: Error {}

    private(set) var content: TokenCredential?
    private var isLocked = true
    private let hasContent = Signal()

    func unlock() { isLocked = false }

    /// Returns when something has been written.
    func isWritten() async {
        await hasContent.wait()
    }

    func load() -> TokenCredential? { content }

    func save(_ credential: TokenCredential?) {
        content = credential
        hasContent.raise()
    }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        guard !isLocked else { throw Locked() }
        let new = try await body(content)
        if new != content { save(new) }
        return new
    }
}
