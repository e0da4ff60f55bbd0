// What the SDK itself costs: the transport answers at once and from memory,
// and nothing is decoded.
//
//     share describe|async|completion COUNT
//
// `describe` only makes the URL of each request, which the other two do too.

import AtomNetworking
import Counting
import Foundation

struct EndedExchange: TransportExchange { func cancel() {} }

/// Answers every request at once.
struct InstantTransport: Transport {
    let answer = TransportResponse(
        statusCode: 200,
        headerFields: HeaderFields([
            HeaderFields.Field(name: "Content-Type", value: "application/json"),
            HeaderFields.Field(name: "Content-Length", value: "193"),
            HeaderFields.Field(name: "Date", value: "Tue, 01 Jan 2030 08:00:00 GMT"),
            HeaderFields.Field(name: "Server", value: "memory"),
            HeaderFields.Field(name: "Connection", value: "keep-alive"),
            HeaderFields.Field(name: "X-Request-Id", value: "4f1c2b9a"),
        ]))
    let body = Data(count: 193)
    let exchange = EndedExchange()
    let exchangesPerOrigin: Int? = 6

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        receive(.response(answer))
        receive(.data(body))
        receive(.finished)
        return exchange
    }
}

final class Tokens: TokenCredentialWritable, @unchecked Sendable {
    // Touched under `lock` only.
    private let lock = NSLock()
    private var credential = TokenCredential(
        accessToken: "A0.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl", expiresAt: Date() + 86_400, refreshToken: "R0")

    var tokenCredential: TokenCredential {
        get { lock.withLock { credential } }
        set { lock.withLock { credential = newValue } }
    }
}

struct Endpoint: Requestable {
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    func path() throws(AtomError) -> URLPath { try URLPath("/v1/flights") }
}

enum Share {
    static func describe(_ count: Int) throws {
        for _ in 0..<count {
            let endpoint: any Requestable = Endpoint()
            _ = try TransportRequest(base: endpoint.baseURL(), path: endpoint.path())
        }
    }

    static func sendAsync(_ count: Int, _ atom: Atom) async throws {
        for _ in 0..<count { try await atom.enqueue(Endpoint()).resume() }
    }

    static func sendWithCompletions(_ count: Int, _ atom: Atom, _ queue: DispatchQueue) {
        for _ in 0..<count {
            atom.enqueue(Endpoint()).resume { result in
                guard case .success = result else { fatalError("\(result)") }
            }
        }
        queue.sync {}
    }
}

guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[2]),
    ["describe", "async", "completion"].contains(CommandLine.arguments[1])
else {
    print("usage: \(CommandLine.arguments[0]) describe|async|completion COUNT")
    exit(2)
}
let form = CommandLine.arguments[1]
let queue = DispatchQueue(label: "completions")
var configuration = ServiceConfiguration(
    authenticationMethod: .bearer(
        try AuthorizationEndpoint(host: "auth.example.com", path: "/token"), ClientCredential(id: "client"), Tokens()),
    dispatchQueue: queue)
configuration.transport = InstantTransport()
let atom = Atom(serviceConfiguration: configuration)

let done = DispatchSemaphore(value: 0)
Task.detached { [form, count, atom, queue] in
    func send(_ count: Int) async throws {
        switch form {
        case "describe": try Share.describe(count)
        case "async": try await Share.sendAsync(count, atom)
        default: Share.sendWithCompletions(count, atom, queue)
        }
    }
    do {
        // What is made once is made before anything is counted.
        try await send(100)
        let allocations = allocationCount()
        let contended = contendedLockCount()
        try await send(count)
        let perRequest = Double(allocationCount() - allocations) / Double(count)
        print("allocations=\(perRequest) contended=\(contendedLockCount() - contended)")
    } catch {
        fatalError("\(error)")
    }
    done.signal()
}
done.wait()
