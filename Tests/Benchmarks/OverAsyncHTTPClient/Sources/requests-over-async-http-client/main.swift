import AsyncHTTPClient
import AsyncHTTPClientTransport
import Foundation
import NIOCore
import NIOFoundationCompat
import Workload

/// A server's code without a library above AsyncHTTPClient.
struct AsyncHTTPClientAlone: Client {
    private let client: HTTPClient
    private let decoder = JSONDecoder()
    private let place: Place

    init(_ place: Place) {
        self.place = place
        var configuration = HTTPClient.Configuration()
        // The same number as in the transport.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 32
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
    }

    func flight() async throws {
        var request = HTTPClientRequest(url: place.string)
        request.headers.add(name: "Authorization", value: "Bearer \(accessToken)")
        let response = try await client.execute(request, timeout: .seconds(30))
        guard (200...299).contains(response.status.code) else {
            throw UnexpectedAnswer(status: Int(response.status.code))
        }
        let body = try await response.body.collect(upTo: 1 << 20)
        _ = try decoder.decode(Flight.self, from: body)
    }
}

Program.run([
    "atom": { try AtomClient($0) },
    "async-http-client": { AsyncHTTPClientAlone($0) },
    "atom-over-async-http-client": { try AtomClient($0, transport: AsyncHTTPClientTransport()) },
])
// A client that isn't shut down traps when it is released, so the process exits
// first.
exit(0)
