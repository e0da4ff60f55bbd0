import AsyncHTTPClientTransport

@testable import AtomNetworking

/// The SDK's suites in `Wire` run over this transport.
extension TransportUnderTest {
    static let all = [asyncHTTPClient]

    // Several event loops open the connections in turn, and one in order.
    static let asyncHTTPClient = TransportUnderTest(kind: .asyncHTTPClient, exceptions: [.requestsKeepTheirOrder]) {
        AsyncHTTPClientTransport()
    }
}
