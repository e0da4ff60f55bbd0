import AtomNetworking
import Foundation
import PostgresStore
import Testing

@Suite(.enabled(if: Database.isThere, "the script Example/PostgresStore/test starts a server"), .timeLimit(.minutes(5)))
struct RefreshIntentTests {
    @Test func aNoteIsThereUntilItIsRemoved() async throws {
        let store = try await Database().store()
        try await store.save(.named("old"))
        #expect(try await store.recordRefreshIntent(for: .named("old")) == false)
        #expect(try await store.recordRefreshIntent(for: .named("old")))
        await store.removeRefreshIntent(for: .named("old"))
        #expect(try await store.recordRefreshIntent(for: .named("old")) == false)
    }

    @Test func aNoteIsOfOneRefreshToken() async throws {
        let store = try await Database().store()
        #expect(try await store.recordRefreshIntent(for: .named("old")) == false)
        // Another access token with the same refresh token.
        let same = TokenCredential(accessToken: "other", expiresAt: .distantFuture, refreshToken: "rt-old")
        #expect(try await store.recordRefreshIntent(for: same))
        await store.removeRefreshIntent(for: .named("another"))
        #expect(try await store.recordRefreshIntent(for: .named("old")))
        #expect(try await store.recordRefreshIntent(for: .named("another")) == false)
    }

    @Test func aNoteSurvivesAnExchangeThatFails() async throws {
        let store = try await Database().store()
        try await store.save(.named("old"))
        await #expect(throws: CancellationError.self) {
            try await store.exchange { old in
                _ = try await store.recordRefreshIntent(for: .named("old"))
                throw CancellationError()
            }
        }
        #expect(try await store.recordRefreshIntent(for: .named("old")))
    }

    @Test func storingOtherTokensForgetsTheNote() async throws {
        let store = try await Database().store()
        try await store.save(.named("old"))
        _ = try await store.exchange { _ in
            let wasNoted = try await store.recordRefreshIntent(for: .named("old"))
            #expect(!wasNoted)
            // Without rotation the same refresh token stays valid.
            return TokenCredential(accessToken: "new", expiresAt: .distantFuture, refreshToken: "rt-old")
        }
        #expect(try await store.recordRefreshIntent(for: .named("old")) == false)
        try await store.save(nil)
        #expect(try await store.recordRefreshIntent(for: .named("old")) == false)
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
