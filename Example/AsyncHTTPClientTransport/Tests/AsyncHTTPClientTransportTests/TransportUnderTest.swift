import AsyncHTTPClientTransport

@testable import AtomNetworking

/// Runs the SDK's suites in `Shared` with this transport.
enum TransportUnderTest {
    static let kind = TransportKind.asyncHTTPClient
    static let subjects = [
        // Several event loops open the connections in turn.
        ContractSubject(description: "AsyncHTTPClient", opensConnectionsInOrder: false) { AsyncHTTPClientTransport() }
    ]
    static let make: (@Sendable () -> any Transport)? = { AsyncHTTPClientTransport() }
}
