@testable import AtomNetworking

/// The transport of the suites with real connections.
///
/// The package of another transport includes these suites with symbolic links,
/// and has its own version of this file.
enum TransportUnderTest {
    /// Each of these has to meet the requirements.
    static let subjects = [ContractSubject(description: "URLSession") { URLSessionTransport() }]

    /// Creates a service's transport; with `nil` the service uses its default.
    static let make: (@Sendable () -> any Transport)? = nil
}
