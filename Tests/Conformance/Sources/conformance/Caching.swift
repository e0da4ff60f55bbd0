import AtomNetworkingTesting
import Foundation

@testable import AtomNetworking

extension Conformance {
    private struct Outcome: Decodable {
        struct Test: Decodable {
            let id: String
            let problem: String?
        }

        let cases: [Test]
        let table: [String]
    }

    /// What a cache must do, by the tests of caches, with a proxy of this SDK between their client and their server.
    ///
    /// It also prints how many tests pass, beside other caches.
    static func caching(_ folder: Folder) async throws -> [Case] {
        _ = try folder.bytes("cache-tests/test-engine/client/runner.mjs")
        // A port that is free.
        let free = try LoopbackServer { _ in .empty() }
        free.stop()
        let proxy = CachingProxy(origin: "http://127.0.0.1:\(free.port)")
        let server = try LoopbackServer { proxy.answer($0) }
        defer { server.stop() }

        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "node", "--no-warnings", "caching.mjs", folder.file("cache-tests").path,
            "http://\(server.host):\(server.port)", String(free.port),
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let status = process.terminationStatus
        guard status == 0 else { return [Case(id: "caching.mjs", problem: "it ended with status \(status)")] }
        let outcome = try JSONDecoder().decode(Outcome.self, from: output)
        print(outcome.table.joined(separator: "\n"))
        return outcome.cases.map { Case(id: $0.id, problem: $0.problem) }
    }
}

/// A reverse proxy that asks its origin with the SDK, and lets it use its cache.
private final class CachingProxy: Sendable {
    private let origin: String
    private let configuration: ServiceConfiguration
    /// One for each test, with cookies of its own; the cache is the same.
    private let atoms = Guarded<[Substring: Atom]>([:])

    init(origin: String) {
        self.origin = origin
        var configuration = ServiceConfiguration(
            cache: ResponseCache(), dispatchQueue: DispatchQueue(label: "CachingProxy", attributes: .concurrent))
        configuration.redirectLimit = nil
        configuration.transport = NumberingTransport(base: configuration.makeDefaultTransport())
        self.configuration = configuration
    }

    /// The service for a test, whose name is the second part of the path.
    private func atom(for request: LoopbackServer.Request) -> Atom {
        let parts = request.path.split(separator: "/")
        let name = parts.count > 1 ? parts[1] : ""
        return atoms.withLock { atoms in
            if let atom = atoms[name] { return atom }
            let atom = Atom(serviceConfiguration: configuration)
            atoms[name] = atom
            return atom
        }
    }

    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        let endpoint: URLEndpoint
        do { endpoint = try self.endpoint(for: request) } catch { return .text("\(error)", status: 400) }
        let (result, isDone) = (Guarded<Result<AtomResponse, AtomError>?>(nil), DispatchSemaphore(value: 0))
        atom(for: request).enqueue(endpoint).resume { outcome in
            result.withLock { $0 = outcome }
            isDone.signal()
        }
        isDone.wait()
        switch result.withLock({ $0 }) {
        case .success(let response): return Self.forwarded(response)
        // What may not be asked for isn't there (RFC 9111 §5.2.1.7).
        case .failure(.session(URLError.resourceUnavailable)): return .empty(504)
        case .failure(let error): return .text("\(error)", status: 502)
        case nil: return .empty(500)
        }
    }

    private func endpoint(for request: LoopbackServer.Request) throws(AtomError) -> URLEndpoint {
        let type = request["Content-Type"] ?? "application/octet-stream"
        var endpoint = try URLEndpoint(
            origin + request.target, method: .token(request.method),
            headerItems: Self.endToEnd(request.headers.map { ($0.name, $0.value) }).map { name, value in
                HeaderItem(name: name.lowercased() == "req-num" ? NumberingTransport.ownName : name, value: value)
            },
            body: request.body.isEmpty ? nil : .data(request.body, contentType: type))
        endpoint.acceptableStatusCodes = 100...999
        // Otherwise nobody would see whether a response that forbids it is used.
        endpoint.caching = .whileCacheFresh(staleIfError: .seconds(86_400))
        return endpoint
    }

    private static func forwarded(_ response: AtomResponse) -> LoopbackServer.Response {
        var fields = endToEnd(response.headerFields.map { ($0.name, $0.value) })
        switch response.source {
        case .cache(let age, _), .revalidatedCache(let age):
            fields.removeAll { $0.0.lowercased() == "age" }
            fields.append(("Age", String(age.components.seconds)))
        default: break
        }
        return .status(response.statusCode ?? 500, headers: fields, body: response.data)
    }

    /// The fields without those that are of one connection (RFC 9110 §7.6.1).
    private static func endToEnd(_ fields: [(String, String)]) -> [(String, String)] {
        var names: Set = [
            "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "host",
        ]
        for (name, value) in fields where name.lowercased() == "connection" {
            names.formUnion(value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() })
        }
        return fields.filter { !names.contains($0.0.lowercased()) }
    }
}

/// Sends the number of a request by the name that the tests' server knows.
///
/// To the cache, requests that differ in a field of the app's own are different. It would never have what is asked for
/// again, but under the name of a field that tells calls apart.
private struct NumberingTransport: Transport {
    static let ownName = "X-Request-Id"

    let base: any Transport

    var exchangesPerOrigin: Int? { base.exchangesPerOrigin }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        var fields = request.headerFields
        fields["Req-Num"] = fields[Self.ownName]
        fields[Self.ownName] = nil
        do {
            return base.start(try request.replacing(headerFields: fields), receive: receive)
        } catch {
            fatalError("the fields were sent before: \(error)")
        }
    }
}
