import AsyncHTTPClientTransport

@testable import AtomNetworking

/// The suites in `Shared`, which are the SDK's own, run over this transport.
enum TransportUnderTest {
    static let subjects = [
        // Each connection is opened by the next of several event loops.
        ContractSubject(description: "AsyncHTTPClient", opensConnectionsInOrder: false) { AsyncHTTPClientTransport() }
    ]
    static let make: (@Sendable () -> any Transport)? = { AsyncHTTPClientTransport() }
}
