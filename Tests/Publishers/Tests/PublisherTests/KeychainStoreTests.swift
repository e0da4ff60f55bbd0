import AtomNetworking
import Foundation
import Security
import Testing

@Suite("Tokens in the Keychain", .limited)
struct KeychainStoreTests {
    private let service = UUID().uuidString
    private let first = TokenCredential(accessToken: "a", expiresAt: Date(), refreshToken: "r")
    private let second = TokenCredential(accessToken: "b", expiresAt: .distantFuture, refreshToken: "")

    private func store(group: String? = nil, lock: URL? = nil) -> KeychainTokenCredentialStore {
        KeychainTokenCredentialStore(service: service, account: "tokens", accessGroup: group, lockFileURL: lock)
    }

    /// Adds an item that another app or version has created to the Keychain.
    @discardableResult
    private func put(_ data: Data) -> Keychain.Item {
        let item = Keychain.Item(
            service: service, account: "tokens", accessGroup: Keychain.firstGroup, accessible: "ak", data: data)
        Keychain.put(item)
        return item
    }

    private var items: [Keychain.Item] { Keychain.items.filter { $0.service == service } }

    @Test("Tokens are added, found, replaced and deleted")
    func tokens() async throws {
        #expect(try await store().load() == nil)
        try await store().save(first)
        #expect(try await store().load() == first)
        try await store().save(second)
        #expect(try await store().load() == second)
        #expect(items.count == 1)
        try await store().save(nil)
        #expect(try await store().load() == nil)
        #expect(items.isEmpty)
        try await store().save(nil)
    }

    @Test("The item can be read after the first unlock, on this device only, whoever created it")
    func accessibility() async throws {
        try await store().save(first)
        let item = try #require(items.first)
        #expect(item.accessible == kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly)
        #expect(item.account == "tokens")
        #expect(item.accessGroup == Keychain.firstGroup)
        try await store().save(nil)
        put(item.data)
        #expect(try await store().load() == first)
        try await store().save(second)
        #expect(items.map(\.accessible) == [kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly])
    }

    @Test("Access groups are kept apart")
    func accessGroups() async throws {
        try await store(group: "shared").save(first)
        #expect(try await store(group: "other").load() == nil)
        try await store(group: "other").save(second)
        #expect(try await store(group: "shared").load() == first)
        #expect(items.map(\.accessGroup) == ["shared", "other"])
        try await store(group: "other").save(nil)
        #expect(items.map(\.accessGroup) == ["shared"])
    }

    @Test("Invalid data stays until other tokens are stored")
    func corrupt() async throws {
        let item = put(Data("x".utf8))
        await #expect {
            try await store().load()
        } throws: { error in
            if case TokenStoreError.corrupt(_, keptAt: nil) = error { true } else { false }
        }
        #expect(items == [item])
        try await store().save(first)
        #expect(try await store().load() == first)
    }

    @Test("An exchange notes that a refresh begins, and takes the lock file that it is given")
    func exchange() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = store(lock: folder.appendingPathComponent("app.lock"))
        try await store.save(first)
        let result = try await store.exchange { old in
            let begunBefore = try await store.recordRefreshIntent(for: first)
            let begunNow = try await store.recordRefreshIntent(for: first)
            #expect(!begunBefore)
            #expect(begunNow)
            #expect(old == first)
            return second
        }
        #expect(result == second)
        #expect(try await store.load() == second)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["app.lock"])
    }
}
