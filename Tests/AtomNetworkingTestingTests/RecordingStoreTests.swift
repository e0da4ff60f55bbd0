import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@Suite(.limited)
struct RecordingStoreTests {
    private struct DiskError: Error {}

    private static func credential(_ number: Int) -> TokenCredential {
        TokenCredential(accessToken: "A\(number)", expiresAt: .distantFuture, refreshToken: "R\(number)")
    }

    private let store = RecordingTokenCredentialStore(credential(0))

    @Test func anotherProcessHasTheSameTokensAndWaits() async throws {
        let other = RecordingTokenCredentialStore(sharing: store)
        let store = store
        store.holdWrites()
        async let mine = store.exchange { _ in Self.credential(1) }
        while !store.isInUse { await Task.yield() }
        async let theirs = other.exchange { old in old == Self.credential(1) ? Self.credential(2) : old }
        #expect(other.stored == Self.credential(0) && store.writes.isEmpty)
        store.releaseWrites()
        #expect(try await mine == Self.credential(1))
        #expect(try await theirs == Self.credential(2))
        #expect(other.writes == [Self.credential(1), Self.credential(2)])
        #expect(other.operations == store.operations && !store.isInUse)
    }

    @Test func aWriteThatIsHeldCannotBeCancelled() async throws {
        let store = store
        store.holdWrites()
        let task = Task { try await store.exchange { _ in Self.credential(1) } }
        while !store.isInUse { await Task.yield() }
        task.cancel()
        for _ in 0..<100 { await Task.yield() }
        #expect(store.isInUse && store.writes.isEmpty)
        store.releaseWrites()
        #expect(try await task.value == Self.credential(1))
        #expect(store.writes == [Self.credential(1)])
    }

    @Test func itFailsUntilItIsToldNotTo() async throws {
        store.saveError = DiskError()
        for _ in 0..<2 {
            await #expect(throws: DiskError.self) { try await store.save(nil) }
            await #expect(throws: DiskError.self) { try await store.exchange { _ in nil } }
        }
        store.saveError = nil
        store.loadError = DiskError()
        await #expect(throws: DiskError.self) { try await store.load() }
        await #expect(throws: DiskError.self) { try await store.exchange { $0 } }
        store.loadError = nil
        #expect(try await store.load() == Self.credential(0))
        #expect(store.operations == Array(repeating: .failure, count: 6) + [.load])
    }

    @Test func aRefreshThatIsAboutToBeSentIsNotedUntilTheNextWrite() async throws {
        #expect(try await !store.recordRefreshIntent(for: Self.credential(0)))
        #expect(store.refreshIntent == "R0")
        #expect(try await store.recordRefreshIntent(for: Self.credential(0)))
        await store.removeRefreshIntent(for: Self.credential(0))
        #expect(store.refreshIntent == nil)
        store.refreshIntent = "R0"
        try await store.save(Self.credential(1))
        #expect(store.refreshIntent == nil)
    }

    @Test func aProcessThatWasKilledInItsRefreshIsNoticed() async throws {
        let (atom, wire) = Atom.scripted(signedIn: true, expiringIn: .seconds(60))
        wire.tokenStore.refreshIntent = wire.tokenStore.stored?.refreshToken
        wire.authorizationServer.refuseRefreshes()
        wire.clock.advance(by: .seconds(61))
        do {
            try await atom.enqueue(PageEndpoint()).resume()
            Issue.record("It was answered")
        } catch {
            guard case .authentication(.refreshInterrupted) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }
}
