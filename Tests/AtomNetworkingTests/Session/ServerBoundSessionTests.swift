import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("A file of tokens belongs to one authorization server", .limited)
struct ServerBoundSessionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A session whose authorization server is there.
    private func session(
        at host: String = "auth.example.com", port: Int? = nil, path: String = "/token",
        store: (any TokenCredentialStore)? = nil, revokes: Bool = false
    ) throws -> SessionFixture {
        var bearer = BearerAuthentication(
            endpoint: try AuthorizationEndpoint(host: host, port: port, path: path),
            client: ClientCredential(id: "client"), store: store ?? folder.store())
        if revokes { bearer.revocationEndpoint = try AuthorizationEndpoint(host: host, path: "/revoke") }
        return try SessionFixture(bearer: { [bearer] in $0 = bearer })
    }

    /// Stores tokens that are from `auth.example.com`, unless another one is named.
    private func store(_ credential: TokenCredential, from host: String = "auth.example.com") async throws {
        let store = folder.store().forSession()
        #expect(store.bind(to: Origin(scheme: .https, host: host, port: 443)))
        try await store.save(credential)
    }

    /// The server that the file names.
    private var server: String? {
        get throws { try StoredCredential(Data(contentsOf: folder.file)).server }
    }

    /// The reason for which tokens are refused.
    private func refusal(_ error: AtomError?) throws -> String {
        switch error {
        case .authentication(.credentialNotReadable(TokenStoreError.refused(let reason), .notSent)),
            .authentication(.refreshFailed(TokenStoreError.refused(let reason), _, _)):
            return reason
        default: throw Unexpected("not refused: \(String(describing: error))")
        }
    }

    private static let secret = TokenCredential(
        accessToken: "hunter2", expiresAt: .distantFuture, refreshToken: "hunter2")

    // MARK: Whose it is

    @Test("A file that an earlier version has written is read, and bound when its tokens are refreshed")
    func earlierVersion() async throws {
        let text = """
            {"credential":{"access_token":"A0","expires_from_2001":"0.0","refresh_token":"R0"},"version":1}
            """
        try Data(text.utf8).write(to: folder.file)
        let session = try session()
        let call = session.call()
        let refresh = await session.refresh()
        #expect(refresh.form["refresh_token"] == "R0")
        #expect(try server == "https://auth.example.com", "before the refresh token is sent")
        refresh.grant(1)
        await session.transport.exchange(1).answer()
        #expect(await call.status() == 200)
        #expect(try server == "https://auth.example.com")
        #expect(try await folder.store().load()?.refreshToken == "R1")
    }

    @Test("The tokens of a sign-in are those of its service's server")
    func signIn() async throws {
        try await session(port: 8_443).atom.signIn(with: .issued(1))
        #expect(try server == "https://auth.example.com:8443")
    }

    @Test("The path and the query of the token endpoint may change")
    func otherPath() async throws {
        try await store(.issued(0))
        let session = try session(path: "/oauth2/v2/token")
        guard case .signedIn = try await session.atom.loadSession() else { throw Unexpected("not signed in") }
        #expect(try await folder.store().load() == .issued(0))
    }

    // MARK: Another server

    @Test("Another server gets neither token, and the error names both", arguments: [nil, 8_443])
    func otherServer(port: Int?) async throws {
        try await store(Self.secret)
        let other = try session(at: port == nil ? "login.example.com" : "auth.example.com", port: port)
        let error = try #require(await other.call().error())
        let name = port == nil ? "https://login.example.com" : "https://auth.example.com:8443"
        let reason = try refusal(error)
        #expect(reason.hasPrefix("its tokens come from https://auth.example.com, and are not sent to \(name);"))
        expectNone(of: everyRendering(of: error), toContain: "hunter2")
        await #expect(throws: AtomError.self) { try await other.atom.loadSession() }
        guard case .unknown = other.atom.sessionState else { throw Unexpected("\(other.atom.sessionState)") }
        #expect(other.transport.exchanges.isEmpty)
        #expect(try await folder.store().load() == Self.secret, "nobody was signed out")
        #expect(try server == "https://auth.example.com")
    }

    @Test("A sign-in replaces what is there, and then the file is the other server's")
    func signInElsewhere() async throws {
        try await store(.issued(0))
        try await session(at: "login.example.com").atom.signIn(with: .issued(1))
        #expect(try server == "https://login.example.com")
        #expect(try await folder.store().load() == .issued(1))
        _ = try refusal(await session().call().error())
    }

    @Test("A sign-in that could not be written replaces what is there when it is tried again")
    func signInTriedAgain() async throws {
        try await store(.issued(0))
        let lock = folder["tokens.json.lock"]
        try FileManager.default.removeItem(at: lock)
        try FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
        let other = try session(at: "login.example.com")
        await #expect(throws: AtomError.self) { try await other.atom.signIn(with: .issued(1)) }
        try FileManager.default.removeItem(at: lock)
        let isStored = await eventually {
            other.time.advance(by: .seconds(1))
            return (try? await folder.store().load()) == .issued(1)
        }
        #expect(isStored)
        #expect(try server == "https://login.example.com")
    }

    @Test("A sign-out removes what is there, and sends it nowhere")
    func signOut() async throws {
        try await store(.issued(0))
        let other = try session(at: "login.example.com", revokes: true)
        try await other.atom.signOut()
        #expect(try await folder.store().load() == nil)
        #expect(other.transport.exchanges.isEmpty)
    }

    @Test("A session goes on to the end of its token when another server's tokens were stored, and sends them nowhere")
    func replacedMeanwhile() async throws {
        try await store(.issued(0))
        let session = try session()
        let first = session.call()
        await session.transport.exchange(0).answer()
        #expect(await first.status() == 200)
        try await store(.issued(5), from: "login.example.com")
        let second = session.call()
        await session.transport.exchange(1).answer(status: 401)
        _ = try refusal(await second.error())
        #expect(session.refreshes.isEmpty)
        #expect(try server == "https://login.example.com")
    }

    // MARK: Several services

    @Test("Two services with one store and two servers have a session each, and no tokens of the other's")
    func oneStore() async throws {
        let store = folder.store()
        let first = try session(store: store)
        let second = try session(at: "login.example.com", store: store)
        #expect(first.atom.manager.session !== second.atom.manager.session)
        try await first.atom.signIn(with: .issued(1))
        _ = try refusal(await second.call().error())
        #expect(second.transport.exchanges.isEmpty)
        let call = first.call()
        await first.transport.exchange(0).answer()
        #expect(await call.status() == 200)
        #expect(try session(path: "/other", store: store).atom.manager.session === first.atom.manager.session)
    }

    @Test("A service with a provider shares the session, whichever comes first", arguments: [true, false])
    func provider(isFirst: Bool) async throws {
        let store = folder.store()
        func provided() throws -> SessionFixture { try SessionFixture(store: store, provider: ScriptedLogin()) }
        let early = isFirst ? try provided() : try session(store: store)
        let late = isFirst ? try session(store: store) : try provided()
        #expect(early.atom.manager.session === late.atom.manager.session)
        #expect(try session(at: "login.example.com", store: store).atom.manager.session !== early.atom.manager.session)
    }

    @Test("A session that has read another server's tokens isn't that of a service whose server is elsewhere")
    func providerOfAnothersTokens() async throws {
        try await store(.issued(0))
        let store = folder.store()
        let provided = try SessionFixture(store: store, provider: ScriptedLogin())
        let call = provided.call()
        await provided.transport.exchange(0).answer()
        #expect(await call.status() == 200)
        let other = try session(at: "login.example.com", store: store)
        #expect(other.atom.manager.session !== provided.atom.manager.session)
        guard case .authentication(.credentialNotReadable) = await other.call().error() else {
            throw Unexpected("another server's tokens are used")
        }
        #expect(other.transport.exchanges.isEmpty)
    }

    @Test("A session that has replaced another server's tokens is that of a service with any server")
    func replacedTokensOfAnother() async throws {
        try await store(.issued(0))
        let store = folder.store()
        let provided = try SessionFixture(store: store, provider: ScriptedLogin())
        try await provided.atom.loadSession()
        try await provided.atom.signIn(with: .issued(5))
        let other = try session(at: "login.example.com", store: store)
        #expect(other.atom.manager.session === provided.atom.manager.session)
    }

    @Test("A service with nothing but a provider reads every file, and what it stores is bound to no server")
    func providerAlone() async throws {
        try await store(.issued(0, life: 0))
        let login = ScriptedLogin()
        let session = try SessionFixture(store: folder.store(), provider: login)
        let call = session.call()
        await login.form(0).finish(.success(.issued(1)))
        await session.transport.exchange(0).answer()
        #expect(await call.status() == 200)
        #expect(try await folder.store().load() == .issued(1))
        #expect(try server == nil)
    }

    @Test("The app's own calls read and replace every file")
    func ownCalls() async throws {
        try await store(.issued(0))
        let store = folder.store()
        let session = try session(at: "login.example.com", store: store)
        _ = try refusal(await session.call().error())
        // The server has moved, and the app says so.
        let moved = try #require(try await store.load())
        try await session.atom.signIn(with: moved)
        #expect(try server == "https://login.example.com")
        let call = session.call()
        await session.transport.exchange(0).answer()
        #expect(await call.status() == 200)
        try await store.save(.issued(2))
        #expect(try server == nil)
    }

    // MARK: Notes about a refresh

    @Test("A note keeps the server, and tokens that are gone bind nobody")
    func notes() async throws {
        try await store(.issued(0))
        let own = folder.store()
        #expect(try await own.recordRefreshIntent(for: .issued(0)) == false)
        #expect(try server == "https://auth.example.com")
        await own.removeRefreshIntent(for: .issued(0))
        #expect(try server == "https://auth.example.com")
        let note = StoredCredential(
            credential: nil, intent: RefreshIntent(refreshToken: "R0"), server: "https://auth.example.com")
        try note.encoded().write(to: folder.file)
        let other = folder.store().forSession()
        #expect(other.bind(to: Origin(scheme: .https, host: "login.example.com", port: 443)))
        #expect(try await other.load() == nil)
    }
}
