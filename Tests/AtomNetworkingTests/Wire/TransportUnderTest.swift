@testable import AtomNetworking

/// Which transport the suites on real connections run over.
///
/// The package of another transport takes these suites in by symbolic links and has a file like this of its own.
enum TransportUnderTest {
    /// Each of these has to keep the contract.
    static let subjects = [ContractSubject(description: "URLSession") { URLSessionTransport() }]

    /// Makes the transport of a service; `nil` leaves it to the service.
    static let make: (@Sendable () -> any Transport)? = nil
}
