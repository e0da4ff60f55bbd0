import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

// How people who come from Alamofire, Moya, Get and Atom write a member, and what becomes of it. One spelling more,
// `let method = HTTPMethod.post`, doesn't compile: Tests/Compatibility has it.

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

// MARK: - What it doesn't, and checkEndpoint finds

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

private class Base: Spelling, @unchecked Sendable {}
private final class MethodOfSubclass: Base, @unchecked Sendable { let method: HTTPMethod = .post }

// MARK: - What only the request shows

private struct ComputedQuery: Spelling { var queryItems: [String: String] { ["q": "1"] } }
private struct ComputedMethod: Spelling { var method: HTTPMethod? { .post } }
private struct FunctionOfPath: Spelling { func path() -> String { "/seats" } }
private enum Router: Spelling {
    case seats
    var path: String { "/seats" }
    var headers: [String: String]? { ["X-A": "1"] }
    var parameters: [String: String] { ["q": "1"] }
}

/// An endpoint, and what is seen of it: the line of its request, or the member that checkEndpoint names.
private struct Row: CustomTestStringConvertible {
    let endpoint: any Requestable
    let seen: String

    init(_ endpoint: any Requestable, _ seen: String) {
        self.endpoint = endpoint
        self.seen = seen
    }

    var testDescription: String { "\(type(of: endpoint))" }
}

@Suite("The most natural spelling of a member is seen, or the request shows that it isn't", .limited)
struct EndpointSpellingTests {
    /// The line of the log that describes the request, without its number and the endpoint's name.
    private static func line(of endpoint: any Requestable) async throws -> String {
        let lines = Locked<[String]>([])
        let (atom, wire) = Atom.scripted(.status(204)) { configuration in
            configuration.isLogEnabled = true
            configuration.logHandler = { line in lines.with { $0.append(line) } }
        }
        try await atom.enqueue(endpoint).resume()
        let request = try #require(wire.requests.first)
        let line = try #require(lines.value.first { $0.contains(" of \(type(of: endpoint))") })
        #expect(line.contains("] \(request.method) \(request.target) of "))
        return String(line.drop { $0 != "]" }.dropFirst(2))
            .replacingOccurrences(of: " of \(type(of: endpoint))", with: "")
    }

    private static let server = "https://api.example.com"
    private static let nothing = "GET \(server)/"

    @Test(
        "A member in a natural spelling is seen in the line of the request",
        arguments: [
            Row(StoredMethod(), "POST \(server)/"),
            Row(NamedMethod(), "PUT \(server)/"),
            Row(MethodOfClass(), "PATCH \(server)/"),
            Row(MethodOfEnum.update, "DELETE \(server)/"),
            Row(MappedMethod(), "POST \(server)/, Content-Type, 1 bytes"),
            Row(PlainLists(), "GET \(server)/?q=…, X-A"),
            Row(PlainBody(), "POST \(server)/, Content-Type, 1 bytes"),
            Row(PathWithoutThrows(), "GET \(server)/seats"),
        ])
    private func seen(_ row: Row) async throws {
        #expect(try await Self.line(of: row.endpoint) == row.seen)
        #expect(checkEndpoint(row.endpoint).isEmpty)
    }

    @Test("Deadlines, a policy and an idempotency need not be optional")
    func plainSettings() async throws {
        let (atom, wire) = Atom.scripted(.status(503), .status(200), .status(204), .status(204))
        async let response = atom.enqueue(PlainPolicy()).resume()
        _ = await wire.exchange(0)
        await wire.advance(by: .seconds(1))
        #expect(try await response.statusCode == 200)
        try await atom.enqueue(PlainIdempotency()).resume()
        #expect(wire.requests[2].headerFields.contains("Idempotency-Key"))
        try await atom.enqueue(PlainTimeout()).resume()
        #expect(wire.requests[3].transportRequest.idleTimeout == .seconds(7))
    }

    @Test(
        "A member that isn't read is found by checkEndpoint and missing in the request's line",
        arguments: [
            Row(DictionaryOfQuery(), "queryItems"), Row(QueryOfFoundation(), "queryItems"),
            Row(DictionaryOfFields(), "headerItems"), Row(NamedHeaders(), "headers"),
            Row(NamedParameters(), "parameters"), Row(TextMethod(), "method"), Row(OptionalMethod(), "method"),
            Row(NamedMethodOfHTTP(), "httpMethod"), Row(TextPath(), "path"), Row(SecondsTimeout(), "timeout"),
            Row(HalfOpenCodes(), "acceptableStatusCodes"), Row(SetOfCodes(), "acceptableStatusCodes"),
            Row(BytesBody(), "body"), Row(NamedBody(), "httpBody"), Row(MethodOfSubclass(), "method"),
        ])
    private func found(_ row: Row) async throws {
        #expect(try await Self.line(of: row.endpoint) == Self.nothing)
        #expect(checkEndpoint(row.endpoint).map(\.member) == [row.seen])
    }

    @Test(
        "Only the request's line shows that a computed member of another type or name isn't read",
        arguments: [ComputedQuery(), ComputedMethod(), FunctionOfPath(), Router.seats] as [any Requestable])
    func missing(_ endpoint: any Requestable) async throws {
        #expect(try await Self.line(of: endpoint) == Self.nothing)
        #expect(checkEndpoint(endpoint).isEmpty)
    }
}
