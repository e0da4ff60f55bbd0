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
        // One that is never shut down: a client that is released uses it for a while.
        let oneLoop = MultiThreadedEventLoopGroup.singleton.next()
        try await TransportContract.check(patience: .seconds(120)) {
            AsyncHTTPClientTransport(eventLoopGroup: oneLoop)
        }.get()
    }
}
