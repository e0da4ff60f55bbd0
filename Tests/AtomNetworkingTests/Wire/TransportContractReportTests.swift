import AtomNetworkingTesting
import Testing

@testable import AtomNetworking

/// The contract as the library for tests checks it for anybody.
@Suite(.limited(minutes: 10)) struct TransportContractReportTests {
    @Test("The transport meets the contract", arguments: TransportUnderTest.all)
    func contract(over transport: TransportUnderTest) async throws {
        try await TransportContract.check(except: transport.exceptions, patience: .seconds(120), transport.make).get()
    }
}
