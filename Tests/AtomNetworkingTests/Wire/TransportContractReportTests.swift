import AtomNetworkingTesting
import Testing

/// The contract as the library for tests checks it for anybody.
@Suite(.timeLimit(.minutes(10))) struct TransportContractReportTests {
    @Test("The transport meets the contract", arguments: ContractSubject.all)
    func contract(subject: ContractSubject) async throws {
        try await TransportContract.check(except: subject.exceptions, patience: .seconds(120), subject.make).get()
    }
}
