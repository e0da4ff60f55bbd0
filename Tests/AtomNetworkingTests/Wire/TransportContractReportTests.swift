import AtomNetworkingTesting
import Testing

@testable import AtomNetworking

/// The transports that the suites run with; they differ in a few details.
enum TransportKind {
    case curl
    case urlSession
    case asyncHTTPClient
}

extension TransportUnderTest {
    /// A transport as the services of the tests use it.
    static func transport() -> any Transport { make?() ?? ServiceConfiguration().makeDefaultTransport() }
}

/// A transport that has to meet the requirements of ``Transport``;
/// `TransportUnderTest` lists the tested ones.
struct ContractSubject: Sendable, CustomStringConvertible {
    let description: String
    /// What its HTTP stack doesn't let it do.
    var exceptions: Set<TransportContract.Check> = []
    let make: @Sendable () -> any Transport

    static let all = TransportUnderTest.subjects
}

/// The contract as the library for tests checks it for anybody.
@Suite(.timeLimit(.minutes(10))) struct TransportContractReportTests {
    @Test("The transport meets the contract", arguments: ContractSubject.all)
    func contract(subject: ContractSubject) async throws {
        try await TransportContract.check(except: subject.exceptions, patience: .seconds(120), subject.make).get()
    }
}
