import AtomNetworking
import Foundation
import PostgresStore
import Testing

@Suite(.enabled(if: Database.isThere, "the script Example/PostgresStore/test starts a server"), .timeLimit(.minutes(5)))
struct ProcessTests {
    @Test func fourProcessesThatCountLoseNoNumber() async throws {
        let store = try await Database().store()
        let processes = try (0..<4).map { _ in try OtherProcess("count", store.session, 25) }
        for process in processes { #expect(await process.line() == "counted") }
        #expect(try await store.load()?.accessToken == "100")
    }

    @Test func anotherProcessKeepsThisOneOut() async throws {
        let database = try Database()
        let waiter = UUID().uuidString
        let store = try await database.store(as: waiter)
        try await store.save(.named("old"))
        let process = try OtherProcess("hold", store.session, 60)
        #expect(await process.line() == "holding")
        async let seen = store.exchange { $0 }
        try await database.waitUntilBlocked(waiter)
        process.proceed()
        #expect(await process.line() == "stored")
        #expect(try await seen?.accessToken == "late")
    }

    @Test func aKilledProcessFreesTheRowAndLeavesTheOldTokens() async throws {
        let database = try Database()
        let waiter = UUID().uuidString
        let store = try await database.store(as: waiter)
        try await store.save(.named("old"))
        let process = try OtherProcess("hold", store.session, 60)
        #expect(await process.line() == "holding")
        async let seen = store.exchange { $0 }
        try await database.waitUntilBlocked(waiter)
        process.signal(SIGKILL)
        #expect(try await seen == .named("old"))
        #expect(await process.line() == nil)
    }

    @Test func aProcessKilledWhileItSpendsARefreshTokenLeavesItsNote() async throws {
        let store = try await Database().store()
        try await store.save(.named("old"))
        let process = try OtherProcess("spend", store.session, 60)
        #expect(await process.line() == "noted false")
        #expect(await process.line() == "holding")
        process.signal(SIGKILL)
        _ = try await store.exchange { old in
            #expect(old == .named("old"))
            let wasNoted = try await store.recordRefreshIntent(for: .named("old"))
            #expect(wasNoted)
            return old
        }
    }

    @Test func aStoppedProcessHoldsTheOthersUpOnlyAsLongAsItMay() async throws {
        let store = try await Database().store()
        try await store.save(.named("old"))
        let process = try OtherProcess("hold", store.session, 1)
        #expect(await process.line() == "holding")
        process.signal(SIGSTOP)
        #expect(try await store.exchange { _ in .named("taken over") } == .named("taken over"))
        // After it has been resumed, it learns that its result isn't stored.
        process.signal(SIGCONT)
        process.proceed()
        #expect(await process.line() == PostgresStoreError.heldTooLong.description)
        #expect(try await store.load() == .named("taken over"))
    }
}
