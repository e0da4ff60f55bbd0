import AsyncHTTPClientTransport

@testable import AtomNetworking

/// The suites in `Shared`, which are the SDK's own, run over this transport.
enum TransportUnderTest {
    static let subjects = [ContractSubject(description: "AsyncHTTPClient") { AsyncHTTPClientTransport() }]
    static let make: (@Sendable () -> any Transport)? = { AsyncHTTPClientTransport() }
}
