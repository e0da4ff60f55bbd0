import Foundation
import Testing

@testable import AtomNetworking

/// An app's own store for one process, with the default exchange.
private final class PlainStore: TokenCredentialStore {
    private struct State {
        var credential: TokenCredential?
        var saved: [TokenCredential?] = []
        var loads = 0
    }

    struct Failure: Error {}

    private let state: Locked<State>
    private let failsFromLoad: Int
    private let read: @Sendable (TokenCredential) -> TokenCredential

    /// - Parameters:
    ///   - failsFromLoad: The number of the first read that fails.
    ///   - read: Converts a saved credential to the one that is read.
    init(
        _ credential: TokenCredential?, failsFromLoad: Int = .max,
        read: @escaping @Sendable (TokenCredential) -> TokenCredential = { $0 }
    ) {
        state = Locked(State(credential: credential))
        self.failsFromLoad = failsFromLoad
        self.read = read
    }

    /// The saved credentials, in order.
    var saved: [TokenCredential?] { state.value.saved }

    func load() async throws -> TokenCredential? {
        let (credential, number) = state.with { state in
            state.loads += 1
            return (state.credential, state.loads)
        }
        guard number < failsFromLoad else { throw Failure() }
        return credential.map(read)
    }

    func save(_ credential: TokenCredential?) async throws {
        state.with { state in
            state.credential = credential
            state.saved.append(credential)
        }
    }
}

@Suite("A store for one process, without a lock", .limited)
struct InMemoryTokenCredentialStoreTests {
    enum Kind: CaseIterable, Sendable {
        case inMemory, byDefault

        func store(_ credential: TokenCredential?) -> any TokenCredentialStore {
            switch self {
            case .inMemory: InMemoryTokenCredentialStore(credential)
            case .byDefault: PlainStore(credential)
            }
        }
    }

    @Test("What is saved while an exchange runs stays", arguments: Kind.allCases, [nil, TokenCredential.numbered(7)])
    func savedMeanwhile(kind: Kind, saved: TokenCredential?) async throws {
        let store = kind.store(.numbered(0))
        let result = try await store.exchange { stored in
            #expect(stored == .numbered(0))
            await Task.detached { _ = await #expect(throws: Never.self) { try await store.save(saved) } }.value
            return .numbered(1)
        }
        #expect(try await store.load() == saved)
        #expect(result == saved, "the exchange returns it")
    }

    @Test("What is saved where there was nothing stays", arguments: Kind.allCases)
    func signedInMeanwhile(kind: Kind) async throws {
        let store = kind.store(nil)
        let result = try await store.exchange { _ in
            try await store.save(.numbered(7))
            return .numbered(1)
        }
        #expect(try await store.load() == .numbered(7))
        #expect(result == .numbered(7))
    }

    @Test("Saving the same credential doesn't prevent storing its successor", arguments: Kind.allCases)
    func savedAgain(kind: Kind) async throws {
        let store = kind.store(.numbered(0))
        let result = try await store.exchange { old in
            try await store.save(nil)
            try await store.save(
                TokenCredential(
                    accessToken: try #require(old).accessToken, expiresAt: .distantPast,
                    refreshToken: try #require(old).refreshToken))
            return .numbered(1)
        }
        #expect(try await store.load() == .numbered(1))
        #expect(result == .numbered(1))
    }

    @Test(
        "Of two exchanges at once, the one that ends later learns what the other has stored", arguments: Kind.allCases)
    func twoAtOnce(kind: Kind) async throws {
        let store = kind.store(.numbered(0))
        let slow = try await HeldExchange(store, returning: .numbered(1))
        #expect(try await store.exchange { _ in .numbered(2) } == .numbered(2))
        #expect(try await slow.end() == .numbered(2))
        #expect(try await store.load() == .numbered(2))
    }

    @Test("An undisturbed exchange stores its result, also an empty one", arguments: Kind.allCases)
    func undisturbed(kind: Kind) async throws {
        let store = kind.store(.numbered(0))
        #expect(try await store.exchange { _ in .numbered(1) } == .numbered(1))
        #expect(try await store.exchange { _ in try await store.load() } == .numbered(1))
        #expect(try await store.exchange { _ in nil } == nil)
        #expect(try await store.load() == nil)
        await #expect(throws: Unexpected.self) {
            _ = try await store.exchange { _ in throw Unexpected("a body that fails") }
        }
    }

    @Test("By default nothing is written that was there before")
    func unchanged() async throws {
        let store = PlainStore(.numbered(0))
        #expect(try await store.exchange { $0 } == .numbered(0))
        #expect(store.saved.isEmpty)
    }

    @Test("By default only the tokens are compared: a date may be read differently each time")
    func dates() async throws {
        let reads = Locked(0.0)
        let store = PlainStore(
            .numbered(0),
            read: { stored in
                let later = reads.with {
                    $0 += 1
                    return $0
                }
                return TokenCredential(
                    accessToken: stored.accessToken, expiresAt: stored.expiresAt + later,
                    refreshToken: stored.refreshToken)
            })
        #expect(try await store.exchange { _ in .numbered(1) } == .numbered(1))
        #expect(store.saved == [.numbered(1)])
    }

    @Test("By default unreadable data isn't overwritten")
    func unreadable() async throws {
        let store = PlainStore(.numbered(0), failsFromLoad: 2)
        await #expect(throws: PlainStore.Failure.self) { _ = try await store.exchange { _ in .numbered(1) } }
        #expect(store.saved.isEmpty)
    }
}
