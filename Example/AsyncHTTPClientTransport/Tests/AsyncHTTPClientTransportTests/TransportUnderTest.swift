import AsyncHTTPClientTransport
import NIOPosix

@testable import AtomNetworking

/// Runs the SDK's suites in `Shared` with this transport.
enum TransportUnderTest {
    static let kind = TransportKind.asyncHTTPClient
    static let subjects = [
        // Several event loops open the connections in turn, and one in order.
        ContractSubject(description: "AsyncHTTPClient", exceptions: [.requestsKeepTheirOrder]) {
            AsyncHTTPClientTransport()
        },
        ContractSubject(description: "AsyncHTTPClient with one event loop") {
            AsyncHTTPClientTransport(eventLoopGroup: oneLoop)
        },
    ]
    private static let oneLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    static let make: (@Sendable () -> any Transport)? = { AsyncHTTPClientTransport() }
}
