import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// The store in the Keychain without the Keychain, which only Apple platforms
/// have.
private final class StoreInFakeKeychain: RefreshIntentRecording {
    private let keeper: CredentialKeeper<KeychainMedium<FakeKeychain>>

    init(_ keychain: FakeKeychain, account: String, lockFileURL: URL?, lockTimeout: Duration = .seconds(120)) {
        let item = KeychainItem(service: "contract", account: account, accessGroup: nil)
        keeper = CredentialKeeper(
            KeychainMedium(keychain, item: item, lockFileURL: lockFileURL), lockTimeout: lockTimeout,
            time: SystemTimeSource())
    }

    func load() async throws -> TokenCredential? { try await keeper.load() }

    func save(_ credential: TokenCredential?) async throws { try await keeper.save(credential) }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        try await keeper.exchange(body)
    }

    func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool {
        try await keeper.recordRefreshIntent(for: credential)
    }

    func removeRefreshIntent(for credential: TokenCredential) async {
        await keeper.removeRefreshIntent(for: credential)
    }
}

@Suite("The store in the Keychain meets the contract of a shared one", .limited(minutes: 10))
struct KeychainContractTests {
    @Test("The store meets the contract with a lock file and without one", arguments: [true, false])
    func contract(hasLockFile: Bool) async throws {
        let folder = try TemporaryFolder()
        let keychain = FakeKeychain()
        let lock: @Sendable (String) -> URL? = { [folder] place in
            hasLockFile ? folder["\(place).lock"] : nil
        }
        let report = await TokenCredentialStoreContract.check(
            Set(TokenCredentialStoreContract.Check.allCases).subtracting([.waitIsBounded]), isShared: true,
            patience: .seconds(120)
        ) { StoreInFakeKeychain(keychain, account: $0, lockFileURL: lock($0)) }
        try report.get()
        #expect(report.findings.allSatisfy { $0.outcome == .met })
        try await TokenCredentialStoreContract.check([.waitIsBounded], isShared: true, patience: .seconds(120)) {
            StoreInFakeKeychain(keychain, account: $0, lockFileURL: lock($0), lockTimeout: .milliseconds(50))
        }.get()
    }
}
