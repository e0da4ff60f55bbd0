import AtomNetworking
import Foundation
import PostgresStore
import Testing

@Suite(.enabled(if: Database.isThere, "the script Example/PostgresStore/test starts a server"), .limited)
struct RowTests {
    @Test func oddTokensAreLoadedAsTheyWereSaved() async throws {
        let store = try await Database().store()
        let credential = TokenCredential(
            accessToken: "a'\"\\\u{0}$1;--é", expiresAt: Date(timeIntervalSinceNow: 3600.123_456_789), refreshToken: "",
            scope: "a b", tokenType: "Bearer", idToken: "i.d.t")
        try await store.save(credential)
        #expect(try await store.load() == credential)
    }

    @Test func sessionsAreApartWhateverTheirNames() async throws {
        let database = try Database()
        let names = ["", "'; DROP TABLE atom_token_credentials; --", "$1", "Zürich"].map { "\($0)\(UUID())" }
        for name in names { try await database.store(name).save(.named(name)) }
        for name in names { #expect(try await database.store(name).load() == .named(name)) }
    }

    @Test func loadWaitsForAnExchangeAndSeesWhatItStored() async throws {
        let database = try Database()
        let first = try await database.store()
        try await first.save(.named("old"))
        let waiter = UUID().uuidString
        let second = try await database.store(first.session, as: waiter)
        let held = try await HeldExchange(of: first, storing: .named("new"))
        async let seen = second.load()
        try await database.waitUntilBlocked(waiter)
        _ = try await held.finish()
        #expect(try await seen == .named("new"))
    }

    @Test func manyMayPrepareAtOnce() async throws {
        let database = try Database()
        let (schema, store) = try database.separateStore()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await store.prepare() } }
            try await group.waitForAll()
        }
        try await store.save(.named("there"))
        #expect(try database.ask("SELECT count(*) FROM \(schema).atom_token_credentials") == ["1"])
    }

    @Test func aSaveThatWaitsForAnExchangeDoesNotHoldUpItsNote() async throws {
        let database = try Database()
        let store = try await database.store()
        try await store.save(.named("old"))
        _ = try await store.recordRefreshIntent(for: .named("old"))
        let waiter = UUID().uuidString
        let other = try await database.store(store.session, as: waiter)
        let held = try await HeldExchange(of: store, storing: .named("new"))
        async let saving: Void = other.save(.named("signed in"))
        try await database.waitUntilBlocked(waiter)
        let impatient = try await database.store(store.session) { $0.turn = .seconds(5) }
        #expect(try await impatient.recordRefreshIntent(for: .named("old")))
        _ = try await held.finish()
        try await saving
        #expect(try await store.recordRefreshIntent(for: .named("old")) == false)
    }

    @Test func noTokenIsInTheTableOfNotes() async throws {
        let database = try Database()
        let store = try await database.store()
        _ = try await store.recordRefreshIntent(for: .named("secret"))
        let rows = try database.ask("SELECT i::text FROM atom_refresh_intents i WHERE session = '\(store.session)'")
        #expect(try #require(rows.first).contains("secret") == false)
    }
}
