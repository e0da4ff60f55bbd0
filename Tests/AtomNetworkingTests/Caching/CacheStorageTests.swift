import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("Kept responses outlive the process in a storage", .limited)
struct CacheStorageTests {
    private func session(
        _ storage: ScriptedStorage, keepsSigned: Bool = true, store: (any TokenCredentialStore)? = nil,
        tokens: RecordingTokens? = nil, lines: Locked<[String]> = Locked([])
    ) throws -> SessionFixture {
        try SessionFixture(
            tokens: tokens, store: store,
            change: {
                $0.cache = ResponseCache(storage: storage, keepsSignedResponses: keepsSigned)
                $0.isLogEnabled = true
                $0.logHandler = { line in lines.with { $0.append(line) } }
            })
    }

    private func keep(
        _ body: String, _ endpoint: CachedEndpoint = CachedEndpoint(), in session: SessionFixture
    ) async throws {
        let count = session.sent.count
        let call = session.atom.call(endpoint)
        #expect(await eventually { session.sent.count == count + 1 })
        try #require(session.sent.last).answerFresh(body)
        #expect(await call.told() == "\(body) from the server")
        await session.configuration.cache?.settle()
    }

    @Test("A response without a credential is found by another process")
    func open() async throws {
        let storage = ScriptedStorage()
        let endpoint = CachedEndpoint(requiresAuthorization: false)
        try await keep("one", endpoint, in: session(storage))
        #expect(storage.groups == ["open"])
        let other = try session(storage)
        #expect(await other.atom.call(endpoint).told().hasPrefix("one from the cache"))
        // From memory now.
        let calls = storage.calls.count
        #expect(await other.atom.call(endpoint).told().hasPrefix("one from the cache"))
        #expect(storage.calls.count == calls && other.sent.isEmpty)
    }

    @Test("A signed response is stored only where that is asked for, and found by the same person's session only")
    func signed() async throws {
        let without = ScriptedStorage()
        try await keep("one", in: session(without, keepsSigned: false))
        #expect(without.groups.isEmpty)
        let storage = ScriptedStorage()
        try await keep("one", in: session(storage))
        #expect(storage.groups.count == 1 && !storage.groups.contains("open"))
        #expect(!storage.groups.joined().contains("R0"))
        let same = try session(storage)
        #expect(await same.atom.call(CachedEndpoint()).told().hasPrefix("one from the cache"))
        let other = try session(storage, tokens: RecordingTokens(.issued(7)))
        let call = other.atom.call(CachedEndpoint())
        #expect(await eventually { other.sent.count == 1 })
        other.sent[0].answerFresh("other's")
        #expect(await call.told() == "other's from the server")
    }

    @Test("A session whose store hasn't been read yet reads it first")
    func unread() async throws {
        let storage = ScriptedStorage()
        try await keep("one", in: session(storage, store: InMemoryTokenCredentialStore(.issued(3))))
        let other = try session(storage, store: InMemoryTokenCredentialStore(.issued(3)))
        #expect(await other.atom.call(CachedEndpoint()).told().hasPrefix("one from the cache"))
        #expect(other.sent.isEmpty)
    }

    @Test("After a refresh the same person finds it, also in another process")
    func refreshed() async throws {
        let storage = ScriptedStorage()
        let first = try session(storage)
        try await keep("one", in: first)
        let before = storage.groups
        first.time.advance(by: .seconds(3_600))
        let call = first.atom.call(CachedEndpoint())
        await first.refresh().grant(1)
        #expect(await eventually { first.sent.count == 2 })
        first.sent[1].answer(status: 304, headers: [("Cache-Control", "max-age=60"), ("ETag", "\"1\"")])
        #expect(await call.told().hasPrefix("one from the cache"))
        await first.configuration.cache?.settle()
        #expect(storage.groups.count == 1 && storage.groups != before)
        let other = try session(storage, tokens: RecordingTokens(.issued(1, life: 9_000)))
        other.time.advance(by: .seconds(3_600))
        #expect(await other.atom.call(CachedEndpoint()).told().hasPrefix("one from the cache"))
    }

    @Test("A sign-out has removed all that was signed when it returns, and nobody stores there again")
    func signOut() async throws {
        let storage = ScriptedStorage()
        let first = try session(storage)
        let other = try session(storage, tokens: RecordingTokens(.issued(0)))
        try await keep("one", in: first)
        try await keep("open", CachedEndpoint(pathText: "/open", requiresAuthorization: false), in: first)
        try await keep("three", CachedEndpoint(pathText: "/other"), in: other)
        try await first.atom.signOut()
        #expect(storage.groups == ["open"])
        // The other process doesn't know of it yet.
        try await keep("late", CachedEndpoint(pathText: "/late"), in: other)
        #expect(storage.groups == ["open"])
    }

    @Test("A sign-out in a process that has used nothing removes what others have stored")
    func unusedSignOut() async throws {
        let storage = ScriptedStorage()
        try await keep("one", in: session(storage))
        let other = try session(storage)
        try await other.atom.signOut()
        #expect(storage.count == 0)
    }

    @Test("A sign-out removes what an earlier version of the app has stored, and doesn't wait for ever")
    func signOutOfOthers() async throws {
        let storage = ScriptedStorage()
        try await keep("one", in: session(storage))
        let other = try session(storage, keepsSigned: false)
        try await other.atom.signOut()
        #expect(storage.count == 0)
        let hanging = try session(storage, tokens: RecordingTokens(.issued(7)))
        storage.hold()
        let call = hanging.atom.call(CachedEndpoint())
        let signedOut = Task { try await hanging.atom.signOut() }
        #expect(await eventually { hanging.time.hasAlarm(at: hanging.time.now.advanced(by: .seconds(5))) })
        hanging.time.advance(by: .seconds(5))
        try await signedOut.value
        storage.letGo()
        #expect(await call.error() != nil)
    }

    @Test("A response that is read when its person has gone is nobody's")
    func lateRead() async throws {
        let storage = ScriptedStorage()
        try await keep("one", in: session(storage))
        let late = try session(storage)
        storage.hold()
        let call = late.atom.call(CachedEndpoint())
        let signedIn = Task { try await late.atom.signIn(with: .issued(5)) }
        #expect(await eventually { late.tokens.writes.count == 1 })
        #expect(call.count == 0)
        storage.letGo()
        try await signedIn.value
        guard case .authentication(.signedOut)? = await call.error() else { throw Unexpected("another outcome") }
        #expect(late.sent.isEmpty)
    }

    @Test("A disk that takes too long is not waited for, and a cancelled call not at all")
    func slow() async throws {
        let storage = ScriptedStorage()
        let endpoint = CachedEndpoint(requiresAuthorization: false)
        try await keep("one", endpoint, in: session(storage))
        let other = try session(storage)
        storage.hold()
        let call = other.atom.call(endpoint)
        let cancelled = other.atom.call(endpoint)
        #expect(other.sent.isEmpty)
        cancelled.cancel()
        #expect(await cancelled.error()?.delivery == .notSent)
        other.time.advance(by: CachedRequest.longestLook)
        #expect(await eventually { other.sent.count == 1 })
        // The time that it has waited counts.
        #expect(other.time.hasAlarm(at: other.time.now.advanced(by: .seconds(999))))
        other.sent[0].answerFresh("two")
        #expect(await call.told() == "two from the server")
        // What is read too late is older.
        storage.letGo()
        await other.configuration.cache?.settle()
        #expect(await other.atom.call(endpoint).told().hasPrefix("two from the cache"))
    }

    @Test("If nothing can be read or stored, the requests go on, and the log says why")
    func failing() async throws {
        let storage = ScriptedStorage()
        storage.fails()
        let lines = Locked<[String]>([])
        let session = try session(storage, lines: lines)
        try await keep("one", in: session)
        func logs(_ text: String) async -> Bool { await eventually { lines.value.contains { $0.contains(text) } } }
        #expect(await logs("A kept response can't be read"))
        #expect(await logs("A response can't be kept"))
        #expect(await session.atom.call(CachedEndpoint()).told().hasPrefix("one from the cache"))
        try await session.atom.signOut()
        #expect(await logs("Kept responses can't be removed"))
    }

    @Test("What Basic authentication signs is kept in memory only")
    func basic() async throws {
        let storage = ScriptedStorage()
        let cache = ResponseCache(storage: storage, keepsSignedResponses: true)
        let service = SharingFixture(changing: {
            $0.authenticationMethod = .basic(BasicCredential(password: "secret", username: "ann"))
            $0.cache = cache
        })
        let call = service.call(CachedEndpoint())
        try service.last.answerFresh("one")
        _ = await call.outcome()
        await cache.settle()
        #expect(storage.count == 0)
        #expect(await service.call(CachedEndpoint()).told().hasPrefix("one from the cache"))
    }

    @Test("All of it can be removed")
    func removeAll() async throws {
        let storage = ScriptedStorage()
        let session = try session(storage)
        try await keep("one", in: session)
        try await keep("open", CachedEndpoint(pathText: "/open", requiresAuthorization: false), in: session)
        let cache = try #require(session.configuration.cache)
        await cache.removeAll()
        #expect(storage.count == 0 && cache.extent == (0, 0))
    }
}
