import Foundation
import Testing

@testable import AtomNetworking

/// A Keychain with one group, whose results a test can replace.
final class FakeKeychain: KeychainStorage, Sendable {
    enum Call: Sendable { case add, copyMatching, update, delete }

    struct State: Sendable {
        var items: [KeychainItem: Data] = [:]
        var calls: [Call] = []
        /// The results of the next calls of a kind, which then do nothing else.
        var scripted: [Call: [KeychainStatus]] = [:]
        /// Whether an item without data is found.
        var hasNoData = false
    }

    let state = Locked(State())

    private func perform(_ call: Call, _ body: (inout State) -> KeychainStatus) -> KeychainStatus {
        state.with { state in
            state.calls.append(call)
            if let status = state.scripted[call]?.first {
                state.scripted[call]?.removeFirst()
                return status
            }
            return body(&state)
        }
    }

    func add(_ item: KeychainItem, data: Data) -> KeychainStatus {
        perform(.add) { state in
            guard state.items[item] == nil else { return .duplicateItem }
            state.items[item] = data
            return .success
        }
    }

    func copyMatching(_ item: KeychainItem) -> (status: KeychainStatus, data: Data?) {
        let status = perform(.copyMatching) { $0.items[item] == nil ? .itemNotFound : .success }
        return (status, state.with { $0.hasNoData || status != .success ? nil : $0.items[item] })
    }

    func update(_ item: KeychainItem, data: Data) -> KeychainStatus {
        perform(.update) { state in
            guard state.items[item] != nil else { return .itemNotFound }
            state.items[item] = data
            return .success
        }
    }

    func delete(_ item: KeychainItem) -> KeychainStatus {
        perform(.delete) { $0.items.removeValue(forKey: item) == nil ? .itemNotFound : .success }
    }
}

@Suite("Tokens in the Keychain", .limited)
struct KeychainStorageTests {
    private let keychain = FakeKeychain()
    private let item = KeychainItem(service: UUID().uuidString, account: "tokens", accessGroup: nil)

    private func keeper(
        item: KeychainItem? = nil, lockFileURL: URL? = nil, time: any TimeSource = SystemTimeSource()
    ) -> CredentialKeeper<KeychainMedium<FakeKeychain>> {
        CredentialKeeper(
            KeychainMedium(keychain, item: item ?? self.item, lockFileURL: lockFileURL), lockTimeout: .seconds(45),
            time: time)
    }

    @Test("What was saved is loaded, and there is nothing before and after")
    func saveAndLoad() async throws {
        #expect(try await keeper().load() == nil)
        try await keeper().save(nil)
        try await keeper().save(.numbered(1))
        #expect(try await keeper().load() == .numbered(1))
        try await keeper().save(.numbered(2))
        #expect(try await keeper().load() == .numbered(2))
        try await keeper().save(nil)
        #expect(try await keeper().load() == nil)
        #expect(keychain.state.value.items.isEmpty)
    }

    @Test("Accounts, services and access groups are kept apart")
    func identity() async throws {
        try await keeper().save(.numbered(1))
        for other in [
            KeychainItem(service: item.service, account: "others", accessGroup: nil),
            KeychainItem(service: item.service + "x", account: item.account, accessGroup: nil),
            KeychainItem(service: item.service, account: item.account, accessGroup: "group"),
        ] {
            #expect(try await keeper(item: other).load() == nil)
        }
    }

    @Test("A new item is added, one that is there is updated")
    func addOrUpdate() async throws {
        let medium = KeychainMedium(keychain, item: item, lockFileURL: nil)
        try medium.write(StoredCredential(credential: .numbered(1)))
        #expect(keychain.state.value.calls == [.update, .add])
        try medium.write(StoredCredential(credential: .numbered(2)))
        #expect(keychain.state.value.calls == [.update, .add, .update])
    }

    @Test("An item that another process adds or deletes between two calls is not a failure")
    func addedMeanwhile() async throws {
        let medium = KeychainMedium(keychain, item: item, lockFileURL: nil)
        try medium.write(StoredCredential(credential: .numbered(1)))
        keychain.state.with { $0.scripted = [.update: [.itemNotFound, .itemNotFound]] }
        try medium.write(StoredCredential(credential: .numbered(2)))
        #expect(try medium.read()?.credential == .numbered(2))
        #expect(keychain.state.value.calls.suffix(6) == [.update, .add, .update, .add, .update, .copyMatching])
    }

    @Test("A contradictory Keychain isn't queried forever")
    func contradiction() async throws {
        keychain.state.with {
            $0.scripted = [
                .update: Array(repeating: .itemNotFound, count: 9), .add: Array(repeating: .duplicateItem, count: 9),
            ]
        }
        let medium = KeychainMedium(keychain, item: item, lockFileURL: nil)
        #expect(throws: TokenStoreError.system(operation: "SecItemAdd", code: -25_299)) {
            try medium.write(StoredCredential(credential: .numbered(1)))
        }
        #expect(keychain.state.value.calls.count == 6)
    }

    @Test("Before the first unlock the user isn't signed out, and nothing is written")
    func locked() async throws {
        try await keeper().save(.numbered(1))
        keychain.state.with { $0.scripted = [.copyMatching: Array(repeating: .interactionNotAllowed, count: 4)] }
        await #expect(throws: TokenStoreError.locked) { try await keeper().load() }
        await #expect(throws: TokenStoreError.locked) { try await keeper().save(nil) }
        await #expect(throws: TokenStoreError.locked) { try await keeper().exchange { _ in .numbered(2) } }
        await #expect(throws: TokenStoreError.locked) { try await keeper().recordRefreshIntent(for: .numbered(1)) }
        #expect(try await keeper().load() == .numbered(1))
    }

    @Test(
        "Every other status is an error that says which call it was",
        arguments: [
            (-34, .diskFull), (-25_292, .readOnly),
            (-34_018, .refused("the app has no entitlement for this Keychain access group")),
            (-50, .system(operation: "SecItemCopyMatching", code: -50)),
        ] as [(Int32, TokenStoreError)])
    func statuses(status: Int32, error: TokenStoreError) async {
        keychain.state.with { $0.scripted = [.copyMatching: [KeychainStatus(rawValue: status)]] }
        await #expect(throws: error) { try await keeper().load() }
    }

    @Test("A call that fails when it writes is reported, and what was there stays")
    func writing() async throws {
        try await keeper().save(.numbered(1))
        keychain.state.with { $0.scripted = [.update: [KeychainStatus(rawValue: -50)]] }
        await #expect(throws: TokenStoreError.system(operation: "SecItemUpdate", code: -50)) {
            try await keeper().save(.numbered(2))
        }
        keychain.state.with { $0.scripted = [.delete: [KeychainStatus(rawValue: -50)]] }
        await #expect(throws: TokenStoreError.system(operation: "SecItemDelete", code: -50)) {
            try await keeper().save(nil)
        }
        #expect(try await keeper().load() == .numbered(1))
    }

    @Test("An item that can't be read stays until other tokens are stored", arguments: [true, false])
    func corrupt(hasNoData: Bool) async throws {
        keychain.state.with {
            $0.items[item] = Data("hunter2".utf8)
            $0.hasNoData = hasNoData
        }
        for _ in 0..<2 {
            await #expect {
                try await keeper().load()
            } throws: { error in
                expectNone(of: everyRendering(of: error), toContain: "hunter2")
                if case TokenStoreError.corrupt(_, keptAt: nil) = error { return true }
                return false
            }
        }
        #expect(keychain.state.value.items[item] == Data("hunter2".utf8))
        try await keeper().save(.numbered(1))
        keychain.state.with { $0.hasNoData = false }
        #expect(try await keeper().load() == .numbered(1))
    }

    @Test("What a newer version wrote is left alone")
    func newer() async throws {
        let content = Data(#"{"version":9}"#.utf8)
        keychain.state.with { $0.items[item] = content }
        await #expect(throws: TokenStoreError.newerFormat(version: 9)) { try await keeper().save(nil) }
        await #expect(throws: TokenStoreError.newerFormat(version: 9)) { try await keeper().load() }
        #expect(keychain.state.value.items[item] == content)
    }

    @Test("A note about a refresh is in the item, and the next credential removes it")
    func note() async throws {
        try await keeper().save(.numbered(1))
        #expect(try await keeper().recordRefreshIntent(for: .numbered(1)) == false)
        #expect(try await keeper().recordRefreshIntent(for: .numbered(1)))
        #expect(keychain.state.value.items.count == 1)
        try await keeper().save(.numbered(1))
        #expect(try await keeper().recordRefreshIntent(for: .numbered(1)) == false)
        await keeper().removeRefreshIntent(for: .numbered(1))
        #expect(try await keeper().recordRefreshIntent(for: .numbered(1)) == false)
    }

    @Test("Without a lock file two stores of an item keep each other out, with one those of the file do")
    func exclusion() async throws {
        let folder = try TemporaryFolder()
        let other = KeychainItem(service: item.service, account: "others", accessGroup: nil)
        for (first, second, lock) in [(item, item, nil), (item, other, folder["app.lock"])] {
            let time = AlarmWatchingTimeSource()
            let begun = Signal()
            let gate = Signal()
            let holder = keeper(item: first, lockFileURL: lock, time: time)
            let holding = Task {
                try await holder.exchange { _ in
                    begun.raise()
                    await gate.wait()
                    return nil
                }
            }
            await begun.wait()
            let waiter = keeper(item: second, lockFileURL: lock, time: time)
            let saving = Task { try await waiter.save(.numbered(2)) }
            await time.settings(1)
            time.manual.advance(by: .seconds(45))
            await #expect(throws: TokenStoreError.lockTimedOut(.seconds(45))) { try await saving.value }
            gate.raise()
            _ = try await holding.value
            try await waiter.save(.numbered(3))
        }
        #expect(try folder.names == ["app.lock"])
    }

    @Test("A lock file in a place that can't be used is refused")
    func lockFile() async throws {
        let url = try #require(URL(string: "https://example.com/app.lock"))
        await #expect(throws: TokenStoreError.refused("its URL is not a local file URL")) {
            try await keeper(lockFileURL: url).exchange { $0 }
        }
        #expect(keychain.state.value.calls == [])
    }
}
