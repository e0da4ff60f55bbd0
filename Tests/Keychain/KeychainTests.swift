import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Security
import Testing

/// The store in the system's Keychain, in the process of an app.
///
/// `.ci/test-apple` runs these tests in simulators. Elsewhere the store has a replacement of the Keychain.
@Suite("Tokens in the system's Keychain", .limited(minutes: 10))
struct KeychainTests {
    private let service = "AtomNetworking.\(UUID().uuidString)"
    private let first = TokenCredential(accessToken: "a", expiresAt: .distantFuture, refreshToken: "r")
    private let second = TokenCredential(accessToken: "b", expiresAt: .distantFuture, refreshToken: "s")

    private func store(_ account: String = "tokens", lock: URL? = nil) -> KeychainTokenCredentialStore {
        KeychainTokenCredentialStore(service: service, account: account, lockFileURL: lock, lockTimeout: .seconds(120))
    }

    /// The items of this test, with more members.
    private func query(_ more: [String: Any] = [:]) -> CFDictionary {
        var members: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecUseDataProtectionKeychain as String: true,
        ]
        members.merge(more) { $1 }
        return members as CFDictionary
    }

    /// What the Keychain tells of the only item.
    private func item() throws -> [String: Any] {
        var found: CFTypeRef?
        let status = SecItemCopyMatching(
            query([kSecReturnAttributes as String: true, kSecReturnData as String: true]), &found)
        #expect(status == errSecSuccess)
        return try #require(found as? [String: Any])
    }

    private func expectForThisDeviceAfterFirstUnlock(_ item: [String: Any]) {
        let expected = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String
        #expect(item[kSecAttrAccessible as String] as? String == expected)
    }

    @Test("Tokens are added, found, replaced and deleted")
    func tokens() async throws {
        #expect(try await store().load() == nil)
        try await store().save(first)
        #expect(try await store().load() == first)
        try await store().save(second)
        #expect(try await store().load() == second)
        try await store().save(nil)
        #expect(try await store().load() == nil)
        try await store().save(nil)
    }

    @Test("The item stays on this device, and can be read after the first unlock")
    func accessibility() async throws {
        try await store().save(first)
        let item = try item()
        expectForThisDeviceAfterFirstUnlock(item)
        #expect(item[kSecAttrAccount as String] as? String == "tokens")
        try await store().save(nil)
    }

    @Test("An item that can be read only while the device is unlocked is found, and the next write mends that")
    func mended() async throws {
        try await store().save(first)
        let data = try #require(try item()[kSecValueData as String] as? Data)
        try await store().save(nil)
        let added = SecItemAdd(
            query([
                kSecAttrAccount as String: "tokens",
                kSecAttrAccessible as String: kSecAttrAccessibleWhenUnlocked,
                kSecValueData as String: data,
            ]), nil)
        #expect(added == errSecSuccess)
        #expect(try await store().load() == first)
        try await store().save(second)
        expectForThisDeviceAfterFirstUnlock(try item())
        try await store().save(nil)
    }

    @Test("The store meets the contract of a shared one, with a lock file and without one", arguments: [true, false])
    func contract(hasLockFile: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer {
            try? FileManager.default.removeItem(at: folder)
            SecItemDelete(query())
        }
        // The limit of the wait has a test without the Keychain.
        let report = await TokenCredentialStoreContract.check(
            except: [.waitIsBounded], isShared: true, patience: .seconds(120)
        ) { place in
            store(place, lock: hasLockFile ? folder.appendingPathComponent("\(place).lock") : nil)
        }
        try report.get()
        #expect(report.findings.allSatisfy { $0.outcome == .met })
    }
}
