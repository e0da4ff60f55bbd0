import AsyncHTTPClient
import AsyncHTTPClientTransport
import AtomNetworking
import Foundation
import NIOCore
import NIOFoundationCompat

// Measures the service over this transport, and AsyncHTTPClient alone with the
// same work:
//
//     swift run -c release --package-path Example/AsyncHTTPClientTransport measure client 16 20000 8080
//     swift run -c release --package-path Example/AsyncHTTPClientTransport measure service 16 20000 8080
//
// It sends signed requests to /flight on that port, with the given concurrency,
// decodes each response, and prints the number of responses per second. A fifth
// argument is the number of connections.

struct Flight: Model {
    let id: Int
    let number: String
    let origin: String
    let destination: String
    let seats: Int
}

struct FlightEndpoint: Requestable {
    let port: Int

    var headerItems: [HeaderItem]? { ["Authorization": "Bearer 0123456789abcdef0123456789abcdef"] }
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(scheme: .http, host: "127.0.0.1", port: port) }
    func path() throws(AtomError) -> URLPath { try URLPath("/flight") }
}

struct UnexpectedStatus: Error {}

/// What to measure, and how.
struct Measurement: Sendable {
    let subject: String
    let atOnce: Int
    let count: Int
    let port: Int
    let connections: Int?

    func run() async throws -> Duration {
        switch subject {
        case "client": try await client()
        case "service":
            try await service(
                connections.map { AsyncHTTPClientTransport(connectionsPerOrigin: $0) } ?? AsyncHTTPClientTransport())
        default: try await service(nil)
        }
    }

    /// AsyncHTTPClient by itself.
    private func client() async throws -> Duration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.decompression = .enabled(limit: .none)
        if let connections { configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections }
        let client = HTTPClient(configuration: configuration)
        let decoder = JSONDecoder()
        let elapsed = try await repeated {
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/flight")
            request.headers.add(name: "Authorization", value: "Bearer 0123456789abcdef0123456789abcdef")
            let response = try await client.execute(request, timeout: .seconds(30))
            let body = try await response.body.collect(upTo: 1 << 20)
            guard response.status == .ok else { throw UnexpectedStatus() }
            _ = try decoder.decode(Flight.self, from: body)
        }
        try await client.shutdown()
        return elapsed
    }

    /// A service over a transport, URLSession if it is `nil`.
    private func service(_ transport: (any Transport)?) async throws -> Duration {
        var configuration = ServiceConfiguration(timeout: ServiceTimeout(request: 30, resource: 30))
        configuration.transport = transport
        let service = Atom(serviceConfiguration: configuration).enqueue(FlightEndpoint(port: port))
        return try await repeated { _ = try await service.resume(expecting: Flight.self) }
    }

    private func repeated(_ work: @escaping @Sendable () async throws -> Void) async throws -> Duration {
        try await work()
        return try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<atOnce {
                    group.addTask { [atOnce, count] in
                        for _ in stride(from: worker, to: count, by: atOnce) { try await work() }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}

let arguments = CommandLine.arguments
guard arguments.count >= 5, ["client", "service", "urlsession"].contains(arguments[1]),
    let atOnce = Int(arguments[2]), let count = Int(arguments[3]), let port = Int(arguments[4])
else {
    print("usage: measure client|service|urlsession AT-ONCE COUNT PORT [CONNECTIONS]")
    exit(64)
}
let measurement = Measurement(
    subject: arguments[1], atOnce: atOnce, count: count, port: port,
    connections: arguments.count > 5 ? Int(arguments[5]) : nil)
// Not at the top level: there the main thread would wait in a way that Valgrind can't follow.
Task.detached {
    do {
        let seconds = try await measurement.run() / .seconds(1)
        print("\(measurement.subject), \(atOnce) at once: \(Int(Double(count) / seconds)) a second")
        exit(0)
    } catch {
        print("\(error)")
        exit(1)
    }
}
while true { sleep(1_000) }
