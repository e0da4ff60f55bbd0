@testable import AtomNetworking

/// Runs the suites in `Shared` with URLSession, also where it isn't the default.
enum TransportUnderTest {
    static let kind = TransportKind.urlSession
    static let subjects = [ContractSubject(description: "URLSession") { URLSessionTransport() }]
    static let make: (@Sendable () -> any Transport)? = { URLSessionTransport() }
}
