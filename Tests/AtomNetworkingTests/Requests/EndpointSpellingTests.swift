import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

// How people who come from Alamofire, Moya, Get and Atom write a member, and what becomes of it. One spelling more,
// `let method = HTTPMethod.post`, doesn't compile.

private protocol Spelling: Requestable {}

extension Spelling {
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
}

// MARK: - What the SDK sees

private struct StoredMethod: Spelling { let method: HTTPMethod = .post }
private struct NamedMethod: Spelling { var method: HTTPMethod { HTTPMethod.put } }
private final class MethodOfClass: Spelling { let method: HTTPMethod = .patch }
private enum MethodOfEnum: Spelling {
    case update
    var method: HTTPMethod { .delete }
}
private struct MappedMethod: Spelling {
    let bytes: Data? = Data("x".utf8)
    var method: HTTPMethod { bytes.map(HTTPMethod.post) ?? .get }
}
private struct PlainLists: Spelling {
    let queryItems: [QueryItem] = ["q": "1"]
    let headerItems: [HeaderItem] = ["X-A": "1"]
}
private struct PlainBody: Spelling {
    let method: HTTPMethod = .post
    let body = RequestBody.data(Data("x".utf8), contentType: "text/plain")
}
private struct PlainTimeout: Spelling { let timeout = ServiceTimeout(request: 7, resource: 7) }
private struct PlainPolicy: Spelling { let retryPolicy = RetryPolicy.standard }
private struct PlainIdempotency: Spelling {
    let method: HTTPMethod = .post
    let idempotency = Idempotency.byKey
}
private struct PathWithoutThrows: Spelling { func path() -> URLPath { .literal("/seats") } }

// MARK: - What it doesn't

private struct DictionaryOfQuery: Spelling { let queryItems = ["q": "1"] }
private struct QueryOfFoundation: Spelling { let queryItems = [URLQueryItem(name: "q", value: "1")] }
private struct DictionaryOfFields: Spelling { let headerItems = ["X-A": "1"] }
private struct NamedHeaders: Spelling { let headers = ["X-A": "1"] }
private struct NamedParameters: Spelling { let parameters = ["q": "1"] }
private struct TextMethod: Spelling { let method = "POST" }
private struct OptionalMethod: Spelling { let method: HTTPMethod? = .post }
private struct NamedMethodOfHTTP: Spelling { let httpMethod: HTTPMethod = .post }
private struct TextPath: Spelling { let path = "/seats" }
private struct SecondsTimeout: Spelling { let timeout: TimeInterval = 7 }
private struct HalfOpenCodes: Spelling { let acceptableStatusCodes = 200..<300 }
private struct SetOfCodes: Spelling { let acceptableStatusCodes: Set<Int> = [200, 404] }
private struct BytesBody: Spelling { let body = Data("x".utf8) }
private struct NamedBody: Spelling { let httpBody = Data("x".utf8) }

/// An endpoint, and what is seen of its request: the line of the request, or the member that the log names.
private struct Row: CustomTestStringConvertible {
    let endpoint: any Requestable
    let seen: String

    init(_ endpoint: any Requestable, _ seen: String) {
        self.endpoint = endpoint
        self.seen = seen
    }

    var testDescription: String { "\(type(of: endpoint))" }
}

@Suite("The most natural spelling of a member is seen, or the log says that it isn't", .limited)
struct EndpointSpellingTests {
    /// Sends the request, and gives what was sent and what the log says of the endpoint.
    private static func sent(_ endpoint: any Requestable) async throws -> (request: RecordedRequest, lines: [String]) {
        let transport = ScriptedTransport.held { $0.answer() }
        let lines = Locked<[String]>([])
        var configuration = ServiceConfiguration(isLogEnabled: true)
        configuration.transport = transport
        configuration.timeSource = transport.clock
        configuration.logHandler = { line in lines.with { $0.append(line) } }
        let atom = Atom(serviceConfiguration: configuration)
        try await atom.enqueue(endpoint).resume()
        try await atom.enqueue(endpoint).resume()
        let name = "\(type(of: endpoint)): "
        return (try #require(transport.requests.first), lines.value.filter { $0.hasPrefix(name) })
    }

    @Test(
        "Seen",
        arguments: [
            Row(StoredMethod(), "POST /"), Row(NamedMethod(), "PUT /"), Row(MethodOfClass(), "PATCH /"),
            Row(MethodOfEnum.update, "DELETE /"), Row(MappedMethod(), "POST / x"),
            Row(PlainLists(), "GET /?q=1 X-A: 1"),
            Row(PlainBody(), "POST / x"), Row(PlainTimeout(), "GET / 7 s"), Row(PathWithoutThrows(), "GET /seats"),
        ])
    private func seen(_ row: Row) async throws {
        let (request, lines) = try await Self.sent(row.endpoint)
        var line = "\(request.method) \(request.target.pathAndQuery)"
        if let value = request.headerFields["X-A"] { line += " X-A: \(value)" }
        if let body = request.body { line += " " + String(decoding: body, as: UTF8.self) }
        let idle = request.transportRequest.idleTimeout
        if idle != .seconds(30) { line += " \(idle.components.seconds) s" }
        #expect(line.trimmingCharacters(in: .whitespaces) == row.seen)
        #expect(lines.isEmpty)
    }

    @Test("A policy and an idempotency need not be optional")
    func plainRetrying() async throws {
        let (atom, wire) = Atom.scripted(.status(503), .status(200))
        async let response = atom.enqueue(PlainPolicy()).resume()
        _ = await wire.exchange(0)
        await wire.advance(by: .seconds(1))
        #expect(try await response.statusCode == 200)
        let (request, _) = try await Self.sent(PlainIdempotency())
        #expect(request.headerFields.contains("Idempotency-Key"))
    }

    @Test(
        "Named by the log, once",
        arguments: [
            Row(DictionaryOfQuery(), "queryItems"), Row(QueryOfFoundation(), "queryItems"),
            Row(DictionaryOfFields(), "headerItems"), Row(NamedHeaders(), "headers"),
            Row(NamedParameters(), "parameters"), Row(TextMethod(), "method"), Row(OptionalMethod(), "method"),
            Row(NamedMethodOfHTTP(), "httpMethod"), Row(TextPath(), "path"), Row(SecondsTimeout(), "timeout"),
            Row(HalfOpenCodes(), "acceptableStatusCodes"), Row(SetOfCodes(), "acceptableStatusCodes"),
            Row(BytesBody(), "body"), Row(NamedBody(), "httpBody"),
        ])
    private func named(_ row: Row) async throws {
        let (request, lines) = try await Self.sent(row.endpoint)
        #expect("\(request.method) \(request.target.pathAndQuery)" == "GET /")
        #expect(lines.count == 1)
        #expect(lines.first?.contains(" \(row.seen)") == true)
    }
}
