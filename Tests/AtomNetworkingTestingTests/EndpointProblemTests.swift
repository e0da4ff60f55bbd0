import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

private protocol AppEndpoint: Requestable {}

extension AppEndpoint {
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
}

/// A base protocol with defaults of its own.
private protocol CommonEndpoint: AppEndpoint {}

extension CommonEndpoint {
    var headerItems: [HeaderItem]? { ["X-Common": "1"] }
    var timeout: ServiceTimeout? { ServiceTimeout() }
    var body: RequestBody? { nil }
    var retryPolicy: RetryPolicy? { RetryPolicy.none }
    var idempotency: Idempotency? { .declared }
    func path() throws(AtomError) -> URLPath { try URLPath("/common") }
}

@Suite("What the SDK won't see of an endpoint", .limited)
struct EndpointProblemTests {
    private static func members(_ endpoint: any Requestable) -> Set<String> {
        Set(checkEndpoint(endpoint).map(\.member))
    }

    @Test("An endpoint whose members are those of Requestable has no problem")
    func noProblem() throws {
        struct Everything: AppEndpoint {
            var headerItems: [HeaderItem]?
            var method: HTTPMethod = .post
            var queryItems: [QueryItem]? = ["q": "1"]
            var requiresAuthorization = false
            var body: RequestBody?
            var timeout: ServiceTimeout?
            var retryPolicy: RetryPolicy?
            var idempotency: Idempotency?
            var sharesIdenticalRequests = true
            var allowsDeduplication = false
            var acceptableStatusCodes = 200...404
            var seat = "12A"
        }
        struct Plain: AppEndpoint {
            let headerItems: [HeaderItem] = ["X-A": "1"]
            let queryItems: [QueryItem] = ["q": "1"]
            let body: RequestBody = .json([1])
            let timeout: ServiceTimeout = ServiceTimeout()
            let retryPolicy = RetryPolicy.standard
            let idempotency = Idempotency.byKey
        }
        struct Nothing: AppEndpoint {}
        #expect(checkEndpoint(Everything()).isEmpty)
        #expect(checkEndpoint(Plain()).isEmpty)
        #expect(checkEndpoint(Nothing()).isEmpty)
        let response = AtomResponse(statusCode: 200)
        #expect(checkEndpoint(try LinkedEndpoint("https://api.example.com/x", in: response)).isEmpty)
    }

    @Test("A member of another type is named, with the type to write, also without a value")
    func types() throws {
        struct Wrong: AppEndpoint {
            let headerItems: [String: String]
            let queryItems: [URLQueryItem]?
            private let body = Data()
            let timeout: TimeInterval
            let method: String
            let acceptableStatusCodes: Range<Int>
            let requiresAuthorization: Bool?
            let retryPolicy: Int
            let path: String
        }
        let problems = checkEndpoint(
            Wrong(
                headerItems: [:], queryItems: nil, timeout: 3, method: "POST", acceptableStatusCodes: 200..<300,
                requiresAuthorization: nil, retryPolicy: 2, path: "/a"))
        #expect(
            problems.map(\.member) == [
                "headerItems", "queryItems", "body", "timeout", "method", "acceptableStatusCodes",
                "requiresAuthorization", "retryPolicy", "path",
            ])
        #expect(
            problems[0].description
                == "headerItems is a Dictionary<String, String>, which the SDK doesn't see: make it [HeaderItem]?, for "
                + "example [HeaderItem](values), or rename it if it is meant for something else.")
        #expect(problems[1].description.contains("Optional<Array<URLQueryItem>>"))
        #expect("\(problems[8])".contains("func path() throws -> URLPath"))
    }

    @Test("A set of codes, a text as a body and a dictionary of query items are named as problems")
    func moreTypes() {
        struct Codes: AppEndpoint { let acceptableStatusCodes: Set<Int> = [200] }
        struct Text: AppEndpoint { let body: String }
        final class Base: AppEndpoint { let queryItems = ["page": 2] }
        #expect(Self.members(Codes()) == ["acceptableStatusCodes"])
        #expect(Self.members(Text(body: "x")) == ["body"])
        #expect(Self.members(Base()) == ["queryItems"])
    }

    @Test("A class shows what it inherits")
    func inherited() {
        class Base: AppEndpoint, @unchecked Sendable { let headerItems: [String: Int] = [:] }
        final class Derived: Base, @unchecked Sendable { let timeout = 3 }
        #expect(Self.members(Derived()) == ["headerItems", "timeout"])
    }

    @Test("A name of another library is a problem, if the right one isn't declared")
    func names() {
        struct Other: AppEndpoint {
            let headers: [String: String]
            let query: String
            let httpMethod: String
            let parameters: [String: Int]
            let timeoutInterval: Double
            let seat: String
        }
        let endpoint = Other(headers: [:], query: "", httpMethod: "PUT", parameters: [:], timeoutInterval: 1, seat: "")
        #expect(Self.members(endpoint) == ["headers", "query", "httpMethod", "parameters", "timeoutInterval"])
        let parameters = checkEndpoint(endpoint).first { $0.member == "parameters" }
        #expect(parameters?.description.contains("queryItems") == true)
        #expect(parameters?.description.contains("; or body, a RequestBody?") == true)

        struct Search: AppEndpoint {
            let query: String
            let parameters: String
            var queryItems: [QueryItem]? { ["q": query, "p": parameters] }
        }
        #expect(checkEndpoint(Search(query: "SEA", parameters: "x")).isEmpty)
    }

    @Test("A body for the method, and a part of the path, are no problem")
    func ownMeaning() {
        struct Put: AppEndpoint {
            let body: Data
            var method: HTTPMethod { .put(body) }
        }
        struct Part: CommonEndpoint { let path: String }
        #expect(checkEndpoint(Put(body: Data("x".utf8))).isEmpty)
        #expect(Self.members(Put(body: Data())) == ["body"])
        #expect(checkEndpoint(Part(path: "/a")).isEmpty)
    }

    @Test("A member that is declared twice is named, also a computed one")
    func twice() {
        struct Twice: CommonEndpoint {
            var headerItems: [HeaderItem] { ["X-Own": "1"] }
            var timeout: ServiceTimeout { ServiceTimeout(request: 1, resource: 1) }
            let body: RequestBody
            let retryPolicy = RetryPolicy.standard
            let idempotency = Idempotency.byKey
        }
        struct Once: CommonEndpoint {
            var headerItems: [HeaderItem]? { ["X-Own": "1"] }
        }
        #expect(
            Self.members(Twice(body: .json(1))) == ["headerItems", "timeout", "body", "retryPolicy", "idempotency"])
        #expect(checkEndpoint(Once()).isEmpty)
    }

    @Test("Computed properties of another type, and what an enum has, can't be seen")
    func unseen() {
        struct Computed: AppEndpoint { var headerItems: [String: String] { ["X-A": "1"] } }
        enum Cases: AppEndpoint {
            case headers([String: String])
            func path() -> String { "/a" }
        }
        #expect(checkEndpoint(Computed()).isEmpty)
        #expect(checkEndpoint(Cases.headers([:])).isEmpty)
    }
}
