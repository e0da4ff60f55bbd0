import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@Suite(.limited(minutes: 10)) struct StoreContractTests {
    @Test("The store in memory meets the contract")
    func inMemory() async throws {
        try await TokenCredentialStoreContract.check(patience: .seconds(120)) { _ in InMemoryTokenCredentialStore() }
            .get()
    }

    @Test("The store in a file meets the contract of a shared one")
    func file() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("contract-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let checks = Set(TokenCredentialStoreContract.Check.allCases)
        let report = await TokenCredentialStoreContract.check(
            checks.subtracting([.waitIsBounded]), isShared: true, patience: .seconds(120)
        ) { place in
            FileTokenCredentialStore(fileURL: folder.appendingPathComponent("\(place).json"))
        }
        try report.get()
        #expect(report.findings.allSatisfy { $0.outcome == .met })
        try await TokenCredentialStoreContract.check([.waitIsBounded], isShared: true, patience: .seconds(120)) {
            place in
            FileTokenCredentialStore(
                fileURL: folder.appendingPathComponent("\(place).json"), lockTimeout: .milliseconds(50))
        }.get()
    }

    @Test("A shared store in memory meets the contract of a shared one")
    func sharedPlace() async throws {
        let checks = Set(TokenCredentialStoreContract.Check.allCases)
        let places = Places { SharedPlace() }
        try await TokenCredentialStoreContract.check(
            checks.subtracting([.waitIsBounded]), isShared: true, patience: .seconds(120)
        ) { SharedPlaceStore(places[$0]) }.get()
        try await TokenCredentialStoreContract.check([.waitIsBounded], isShared: true, patience: .seconds(120)) {
            SharedPlaceStore(places[$0], attempts: 100)
        }.get()
    }

    @Test("An object needs only serve one call at a time")
    func oneCallAtATime() async throws {
        let checks = Set(TokenCredentialStoreContract.Check.allCases)
        let places = Places { SharedPlace() }
        try await TokenCredentialStoreContract.check(
            checks.subtracting([.waitIsBounded]), isShared: true, patience: .seconds(120)
        ) { OneCallStore(SharedPlaceStore(places[$0])) }.get()
    }

    @Test("The recording store meets it, except that it waits for ever")
    func recording() async throws {
        let stores = Shared<[String: RecordingTokenCredentialStore]>([:])
        let checks = Set(TokenCredentialStoreContract.Check.allCases).subtracting([.waitIsBounded])
        try await TokenCredentialStoreContract.check(checks, isShared: true, patience: .seconds(120)) { place in
            stores.change { stores in
                let store = stores[place].map { RecordingTokenCredentialStore(sharing: $0) }
                stores[place] = store ?? RecordingTokenCredentialStore()
                return stores[place] ?? RecordingTokenCredentialStore()
            }
        }.get()
    }

    @Test("Each planted fault is found by its check", arguments: FaultyStore.Fault.allCases)
    func planted(fault: FaultyStore.Fault) async {
        let places = Places { SharedPlace() }
        let report = await TokenCredentialStoreContract.check(
            [fault.check], isShared: fault.isShared, patience: fault.patience
        ) { place in
            guard fault.isShared else { return FaultyStore(fault, InMemoryTokenCredentialStore()) }
            let place = fault == .isNotShared ? SharedPlace() : places[place]
            return FaultyStore(
                fault,
                SharedPlaceStore(place, savesWait: fault != .saveDoesNotWait))
        }
        #expect(report.failures.map(\.name) == [fault.check.rawValue])
    }
}

/// A sound store that refuses a call during another one, as a connection to a database does.
private final class OneCallStore: RefreshIntentRecording {
    struct Busy: Error {}

    private let base: SharedPlaceStore
    private let isBusy = Shared(false)

    init(_ base: SharedPlaceStore) { self.base = base }

    private func alone<Result: Sendable>(_ call: () async throws -> Result) async throws -> Result {
        let wasBusy = isBusy.change { isBusy in
            defer { isBusy = true }
            return isBusy
        }
        if wasBusy { throw Busy() }
        defer { isBusy.change { $0 = false } }
        return try await call()
    }

    func load() async throws -> TokenCredential? { try await alone { try await base.load() } }

    func save(_ credential: TokenCredential?) async throws { try await alone { try await base.save(credential) } }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        try await alone { try await base.exchange(body) }
    }

    // These are called inside an exchange.
    func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool {
        try await base.recordRefreshIntent(for: credential)
    }

    func removeRefreshIntent(for credential: TokenCredential) async { await base.removeRefreshIntent(for: credential) }
}

/// The places of a test.
private final class Places<Place: Sendable>: Sendable {
    private let places = Shared<[String: Place]>([:])
    private let make: @Sendable () -> Place

    init(_ make: @escaping @Sendable () -> Place) { self.make = make }

    subscript(name: String) -> Place {
        places.change { places in
            let place = places[name] ?? make()
            places[name] = place
            return place
        }
    }
}
