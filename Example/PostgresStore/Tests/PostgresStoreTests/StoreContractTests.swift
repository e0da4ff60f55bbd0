import AtomNetworking
import AtomNetworkingTesting
import PostgresStore
import Testing

@Suite(.enabled(if: Database.isThere, "the script Example/PostgresStore/test starts a server"), .limited)
struct StoreContractTests {
    @Test func theStoreMeetsTheContractOfASharedOne() async throws {
        let database = try Database()
        let checks = Set(TokenCredentialStoreContract.Check.allCases)
        let report = await TokenCredentialStoreContract.check(
            checks.subtracting([.waitIsBounded]), isShared: true, patience: .seconds(120)
        ) { try await database.store($0) }
        try report.get()
        #expect(report.findings.allSatisfy { $0.outcome == .met })
    }

    @Test func theWaitForTheRowIsBounded() async throws {
        let database = try Database()
        try await TokenCredentialStoreContract.check([.waitIsBounded], isShared: true, patience: .seconds(120)) {
            try await database.store($0) { $0.turn = .milliseconds(200) }
        }.get()
    }
}
