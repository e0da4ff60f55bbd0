import AtomNetworking
import Foundation
import PostgresStore
import Testing

@Suite(.enabled(if: Database.isThere, "the script Example/PostgresStore/test starts a server"), .timeLimit(.minutes(5)))
struct ExclusionTests {
    @Test func whatIsSavedIsLoaded() async throws {
        let store = try await Database().store()
        #expect(try await store.load() == nil)
        let credential = TokenCredential(
            accessToken: "a'\"\\\u{0}$1;--é", expiresAt: Date(timeIntervalSinceNow: 3600.123_456_789), refreshToken: "",
            scope: "a b", tokenType: "Bearer", idToken: "i.d.t")
        try await store.save(credential)
        #expect(try await store.load() == credential)
        try await store.save(nil)
        #expect(try await store.load() == nil)
    }

    @Test func sessionsAreApartWhateverTheirNames() async throws {
        let database = try Database()
        let names = ["", "'; DROP TABLE atom_token_credentials; --", "$1", "Zürich"].map { "\($0)\(UUID())" }
        for name in names { try await database.store(name).save(.named(name)) }
        for name in names { #expect(try await database.store(name).load() == .named(name)) }
    }

    @Test func aSecondExchangeWaitsAndSeesWhatTheFirstStored() async throws {
        let database = try Database()
        let first = try await database.store()
        let waiter = UUID().uuidString
        let second = try await database.store(first.session, as: waiter)
        let held = try await HeldExchange(of: first, storing: .named("new"))
        async let seen = second.exchange { old in old }
        try await database.waitUntilBlocked(waiter)
        #expect(try await held.finish() == .named("new"))
        #expect(try await seen == .named("new"))
    }

    @Test func theFirstExchangeOfASessionKeepsOthersOutToo() async throws {
        let database = try Database()
        let session = UUID().uuidString
        _ = try await database.store(session)
        // None of them finds a row at first.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let store = database.plainStore(session, as: "tests")
                    _ = try await store.exchange { old in
                        let number = old.flatMap { Int($0.accessToken) } ?? 0
                        await Task.yield()
                        return TokenCredential(
                            accessToken: "\(number + 1)", expiresAt: .distantFuture, refreshToken: "")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await database.plainStore(session, as: "tests").load()?.accessToken == "8")
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

    @Test func loadWaitsForTheFirstExchangeOfASession() async throws {
        let database = try Database()
        let first = try await database.store()
        let waiter = UUID().uuidString
        let second = try await database.store(first.session, as: waiter)
        let held = try await HeldExchange(of: first, storing: .named("new"))
        async let seen = second.load()
        try await database.waitUntilBlocked(waiter)
        _ = try await held.finish()
        #expect(try await seen == .named("new"))
    }

    @Test func saveWaitsForAnExchangeAndIsNotLost() async throws {
        let database = try Database()
        let first = try await database.store()
        let waiter = UUID().uuidString
        let second = try await database.store(first.session, as: waiter)
        let held = try await HeldExchange(of: first, storing: .named("refreshed"))
        async let saving: Void = second.save(.named("signed in"))
        try await database.waitUntilBlocked(waiter)
        _ = try await held.finish()
        try await saving
        #expect(try await first.load() == .named("signed in"))
    }

    @Test func oneStoreMayBeUsedByManyTasks() async throws {
        let store = try await Database().store()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    _ = try await store.exchange { old in
                        let number = old.flatMap { Int($0.accessToken) } ?? 0
                        return TokenCredential(
                            accessToken: "\(number + 1)", expiresAt: .distantFuture, refreshToken: "")
                    }
                    _ = try await store.load()
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.load()?.accessToken == "20")
    }

    @Test func anExchangeThatChangesNothingWritesNothing() async throws {
        let database = try Database()
        let store = try await database.store()
        try await store.save(.named("same", expiresAt: Date(timeIntervalSinceNow: 1.1)))
        let place = "SELECT ctid || ' ' || stored_at FROM atom_token_credentials WHERE session = '\(store.session)'"
        let before = try database.ask(place)
        #expect(try await store.exchange { $0 }?.accessToken == "at-same")
        #expect(try database.ask(place) == before)
    }

    @Test func whatTheBodyThrowsIsThrownAndNothingIsWritten() async throws {
        let store = try await Database().store()
        try await store.save(.named("old"))
        await #expect(throws: CancellationError.self) {
            try await store.exchange { _ in throw CancellationError() }
        }
        #expect(try await store.exchange { $0 } == .named("old"))
    }

    @Test func nilRemovesTheTokensAndLeavesTheRowToLock() async throws {
        let database = try Database()
        let store = try await database.store()
        try await store.save(.named("old"))
        #expect(try await store.exchange { _ in nil } == nil)
        #expect(try await store.load() == nil)
        let sql = "SELECT credential IS NULL FROM atom_token_credentials WHERE session = '\(store.session)'"
        #expect(try database.ask(sql) == ["t"])
        let held = try await HeldExchange(of: store, storing: .named("new"))
        let waiter = UUID().uuidString
        async let seen = database.store(store.session, as: waiter).load()
        try await database.waitUntilBlocked(waiter)
        _ = try await held.finish()
        #expect(try await seen == .named("new"))
    }

    @Test func manyMayPrepareAtOnce() async throws {
        let database = try Database()
        let schema = "s\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
        try database.ask("CREATE SCHEMA \(schema)")
        let store = database.plainStore("x", as: "tests", options: "options=-csearch_path=\(schema)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await store.prepare() } }
            try await group.waitForAll()
        }
        try await store.save(.named("there"))
        #expect(try database.ask("SELECT count(*) FROM \(schema).atom_token_credentials") == ["1"])
    }
}
