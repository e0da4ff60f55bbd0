import AsyncHTTPClientTransport
import AtomNetworking
import AtomNetworkingTesting
import NIOPosix
import Testing

@Suite(.limited(minutes: 10)) struct ContractTests {
    @Test func itMeetsTheContract() async throws {
        // Several event loops open the connections in turn, and one in order.
        try await TransportContract.check(except: [.requestsKeepTheirOrder], patience: .seconds(120)) {
            AsyncHTTPClientTransport()
        }.get()
    }

    @Test func withOneEventLoopItMeetsTheWholeContract() async throws {
        let oneLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        try await TransportContract.check(patience: .seconds(120)) {
            AsyncHTTPClientTransport(eventLoopGroup: oneLoop)
        }.get()
        try await oneLoop.shutdownGracefully()
    }
}
