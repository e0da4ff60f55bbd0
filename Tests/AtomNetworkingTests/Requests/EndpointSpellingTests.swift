import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

// Endpoints as an app would write them, with the public API only.

private protocol AppEndpoint: Requestable {}

extension AppEndpoint {
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
}

private struct OwnFailure: Error {}

private struct Undescribed: AppEndpoint {}

private struct UntypedPath: AppEndpoint {
    func path() throws -> URLPath { try URLPath("/untyped") }
}

private struct PathWithoutThrows: AppEndpoint {
    let value: URLPath
    func path() -> URLPath { value }
}

private struct TextPath: AppEndpoint {
    func path() -> String { "/text" }
}

private struct ThrowingTextPath: AppEndpoint {
    func path() throws(AtomError) -> String { throw .requestable(.invalidURLPath) }
}

private struct StoredTextPath: AppEndpoint {
    let path: String
}

private struct StoredPath: AppEndpoint {
    let path: URLPath
}

private struct ThrowingPath: AppEndpoint {
    var path: URLPath { get throws { throw OwnFailure() } }
}

private enum Cases: AppEndpoint {
    case seats(String)
    case bookings

    func path() throws -> URLPath {
        switch self {
        case .seats(let flight): try URLPath("/seats/\(flight)")
        case .bookings: try URLPath("/bookings")
        }
    }

    var queryItems: [QueryItem] { ["a": "1"] }
}

private struct Lists: AppEndpoint {
    var queryItems: [QueryItem] { ["q": "1"] }
    var headerItems: [HeaderItem] { ["X-A": "1"] }
}

private struct EmptyLists: AppEndpoint {
    let queryItems: [QueryItem] = []
    let headerItems: [HeaderItem] = []
}

private struct Dictionaries: AppEndpoint {
    let queryItems: [String: String]
    var headerItems: [String: String]? { ["X-B": "2", "X-A": "1"] }
}

private struct NoDictionaries: AppEndpoint {
    var queryItems: [String: String]? { nil }
    let headerItems: [String: String] = [:]
}

private struct Post: AppEndpoint {
    var method: HTTPMethod { .post }
    var body: RequestBody { .json([1]) }
    var timeout: ServiceTimeout { ServiceTimeout(request: 1, resource: 2) }
    var acceptableStatusCodes: Range<Int> { 200..<500 }
}

private struct PostData: AppEndpoint {
    var method: String { "POST" }
    let body: Data
    var timeout: TimeInterval { 3 }
}

private struct PostOptionalData: AppEndpoint {
    let method: HTTPMethod?
    let body: Data?
    let timeout: Double?
}

/// Its `body` is the bytes of its method, as in an app for Atom.
private struct PostOwnBytes: AppEndpoint {
    let body: Data
    var method: HTTPMethod { .post(body) }
}

/// Its `method` is no method of HTTP.
private struct Payments: AppEndpoint {
    let method: String
    var queryItems: [QueryItem]? { ["method": method] }
}

/// Its `path` is a part of the path.
private protocol File: AppEndpoint { var path: String { get } }

extension File {
    func path() throws(AtomError) -> URLPath { try URLPath("/files\(path)") }
}

private struct Report: File {
    let path: String
}

private struct FailingGetters: AppEndpoint {
    var queryItems: [QueryItem]? { get throws { throw OwnFailure() } }
}

private struct FailingText: AppEndpoint {
    func path() throws -> String { throw CancellationError() }
}

private struct UntypedBase: Requestable {
    var error: (any Error & Sendable)?
    func baseURL() throws -> BaseURL {
        if let error { throw error }
        return try BaseURL(host: "untyped.example")
    }
}

private final class ClassEndpoint: Requestable {
    func baseURL() -> BaseURL { host }
    func path() throws -> URLPath { try URLPath("/class") }
    let headerItems: [HeaderItem] = ["X-C": "1"]
    private let host: BaseURL

    init() throws { host = try BaseURL(host: "class.example") }
}

@MainActor private struct MainActorEndpoint: AppEndpoint {
    nonisolated var queryItems: [QueryItem] { ["main": "1"] }
    nonisolated func path() throws -> URLPath { try URLPath("/main") }
    nonisolated var acceptableStatusCodes: Range<Int> { 200..<400 }
}

// A base protocol with defaults of its own.

private protocol CommonEndpoint: AppEndpoint {}

extension CommonEndpoint {
    var headerItems: [HeaderItem]? { ["X-Common": "1"] }
    var timeout: ServiceTimeout { ServiceTimeout(request: 7, resource: 7) }
    var sharesIdenticalRequests: Bool { true }
    func path() throws(AtomError) -> URLPath { try URLPath("/common") }
}

private struct Common: CommonEndpoint {}

private struct CommonWithOwnPath: CommonEndpoint {
    func path() throws -> URLPath { try URLPath("/own") }
}

private struct CommonWithOwnHeader: CommonEndpoint {
    var headerItems: [HeaderItem]? { ["X-Own": "1"] }
}

private struct CommonWithPlainHeader: CommonEndpoint {
    var headerItems: [HeaderItem] { ["X-Own": "1"] }
}

private struct CommonWithOwnTimeout: CommonEndpoint {
    var timeout: ServiceTimeout? { ServiceTimeout(request: 1, resource: 1) }
}

private struct CommonWithTextPath: CommonEndpoint {
    func path() -> String { "/own" }
}

private struct CommonWithOptionalSharing: CommonEndpoint {
    let sharesIdenticalRequests: Bool? = false
}

/// A base protocol that requires what the SDK has a default for.
private protocol Strict: AppEndpoint {
    var queryItems: [QueryItem]? { get }
    func path() throws(AtomError) -> URLPath
}

private struct StrictEndpoint: Strict {
    var queryItems: [QueryItem]? { ["s": "1"] }
    func path() throws(AtomError) -> URLPath { try URLPath("/strict") }
}

/// An endpoint around another one.
private struct Wrapper: Requestable {
    let endpoint: any Requestable
    func baseURL() throws(AtomError) -> BaseURL { try endpoint.baseURL() }
    func path() throws(AtomError) -> URLPath { try endpoint.path() }
    var queryItems: [QueryItem]? { endpoint.queryItems }
    var headerItems: [HeaderItem]? { endpoint.headerItems }
    var method: HTTPMethod { endpoint.method }
    var body: RequestBody? { endpoint.body }
    var timeout: ServiceTimeout? { endpoint.timeout }
    var acceptableStatusCodes: ClosedRange<Int> { endpoint.acceptableStatusCodes }
}

@Suite("A member with a slightly different type is used, or refused", .timeLimit(.minutes(5)))
struct EndpointSpellingTests {
    private static func atom(_ transport: ScriptedTransport) -> Atom {
        var configuration = ServiceConfiguration()
        configuration.transport = transport
        return Atom(serviceConfiguration: configuration)
    }

    /// The second request of a type is read in the forms that the first one had.
    private static func sent(_ endpoint: any Requestable, status: Int = 200) async throws -> TransportRequest {
        let transport = ScriptedTransport.held { $0.answer("", status: status) }
        let service = atom(transport).enqueue(endpoint)
        try await service.resume()
        try await service.resume()
        let requests = transport.requests.map(\.transportRequest)
        #expect(requests.map(\.target) == [requests[0].target, requests[0].target])
        #expect(requests[0].method == requests[1].method)
        #expect(requests[0].headerFields == requests[1].headerFields)
        #expect(requests[0].body?.data == requests[1].body?.data)
        #expect(requests[0].idleTimeout == requests[1].idleTimeout)
        return requests[1]
    }

    /// The same through a generic function.
    private static func sentGenerically<E: Requestable>(_ endpoint: E) async throws -> TransportRequest {
        try await sent(endpoint)
    }

    private static func url(_ endpoint: any Requestable) async throws -> String {
        let request = try await sent(endpoint)
        let wrapped = try await sent(Wrapper(endpoint: endpoint))
        #expect(request.target == wrapped.target, "another endpoint that reads its members")
        #expect(request.headerFields == wrapped.headerFields)
        #expect(request.method == wrapped.method)
        #expect(request.body?.data == wrapped.body?.data)
        return request.target.absoluteString
    }

    private static func refusal(_ endpoint: any Requestable) async -> AtomError? {
        let transport = ScriptedTransport.held { $0.answer("") }
        do {
            try await atom(transport).enqueue(endpoint).resume()
            Issue.record("It was sent")
            return nil
        } catch {
            #expect(transport.exchanges.isEmpty)
            #expect(error.delivery == .notSent)
            return error
        }
    }

    private static let host = "https://api.example.com"

    @Test("Every form of a path is sent")
    func paths() async throws {
        #expect(try await Self.url(Undescribed()) == "\(Self.host)/")
        #expect(try await Self.url(UntypedPath()) == "\(Self.host)/untyped")
        #expect(try await Self.url(PathWithoutThrows(value: URLPath("/plain"))) == "\(Self.host)/plain")
        #expect(try await Self.url(TextPath()) == "\(Self.host)/text")
        #expect(try await Self.url(StoredTextPath(path: "/stored")) == "\(Self.host)/stored")
        #expect(try await Self.url(StoredTextPath(path: "")) == "\(Self.host)/")
        #expect(try await Self.url(StoredPath(path: URLPath("/value"))) == "\(Self.host)/value")
        #expect(try await Self.url(Cases.seats("AS1")) == "\(Self.host)/seats/AS1?a=1")
        #expect(try await Self.url(Cases.bookings) == "\(Self.host)/bookings?a=1")
        #expect(try await Self.url(UntypedBase()) == "https://untyped.example/")
        #expect(try await Self.url(ClassEndpoint()) == "https://class.example/class")
        #expect(try await Self.url(MainActorEndpoint()) == "\(Self.host)/main?main=1")
        #expect(try await Self.url(StrictEndpoint()) == "\(Self.host)/strict?s=1")
    }

    @Test("A path in a wrong form is checked like any other")
    func wrongPaths() async throws {
        for endpoint in [StoredTextPath(path: "no slash"), ThrowingTextPath()] as [any Requestable] {
            guard case .requestable(.invalidURLPath) = await Self.refusal(endpoint) else {
                Issue.record("\(endpoint)")
                continue
            }
        }
    }

    @Test("Lists that aren't optional, and dictionaries, are sent")
    func lists() async throws {
        var request = try await Self.sent(Lists())
        #expect(request.target.absoluteString == "\(Self.host)/?q=1")
        #expect(request.headerFields.map(\.name) == ["X-A"])
        request = try await Self.sentGenerically(Lists())
        #expect(request.target.absoluteString == "\(Self.host)/?q=1")
        #expect(try await Self.url(EmptyLists()) == "\(Self.host)/")
        request = try await Self.sent(Dictionaries(queryItems: ["b": "2", "a": "1"]))
        #expect(request.target.absoluteString == "\(Self.host)/?a=1&b=2")
        #expect(request.headerFields.map(\.name) == ["X-A", "X-B"])
        request = try await Self.sentGenerically(NoDictionaries())
        #expect(request.target.absoluteString == "\(Self.host)/")
        #expect(request.headerFields.isEmpty)
        #expect(try await Self.sent(ClassEndpoint()).headerFields.map(\.name) == ["X-C"])
    }

    @Test("A body, a method, a timeout and status codes in another form are used")
    func others() async throws {
        var request = try await Self.sent(Post(), status: 404)
        #expect(request.method == "POST")
        #expect(request.body?.data == Data("[1]".utf8))
        #expect(request.idleTimeout == .seconds(1))
        let bytes = Data("x".utf8)
        request = try await Self.sent(PostData(body: bytes))
        #expect(request.method == "POST")
        #expect(request.body?.data == bytes)
        #expect(request.idleTimeout == .seconds(3))
        request = try await Self.sent(PostOptionalData(method: .put, body: bytes, timeout: 4))
        #expect(request.method == "PUT")
        #expect(request.body?.data == bytes)
        #expect(request.idleTimeout == .seconds(4))
        request = try await Self.sent(PostOptionalData(method: nil, body: nil, timeout: nil))
        #expect(request.method == "GET")
        #expect(request.body == nil)
        #expect(request.idleTimeout == .seconds(30))
        // An empty value is declared too.
        struct Bare: AppEndpoint {
            let queryItems: [String: String]?
            let headerItems: [String: String]?
            let body: Data?
            let timeout: Double?
            let method: HTTPMethod?
            let path: String
        }
        request = try await Self.sent(
            Bare(queryItems: nil, headerItems: nil, body: nil, timeout: nil, method: nil, path: ""))
        #expect(request.target.absoluteString == "\(Self.host)/")
        request = try await Self.sent(
            Bare(queryItems: ["a": "1"], headerItems: ["B": "2"], body: bytes, timeout: 5, method: .put, path: "/p"))
        #expect(request.target.absoluteString == "\(Self.host)/p?a=1")
        #expect(request.headerFields.map(\.name) == ["B", "Content-Type"])
        #expect(request.body?.data == bytes)
        #expect(request.idleTimeout == .seconds(5))
        #expect(request.method == "PUT")
        _ = try await Self.sent(MainActorEndpoint(), status: 399)
        for endpoint in [Post(), PostData(body: bytes)] as [any Requestable] {
            _ = try await Self.url(endpoint)
        }
    }

    @Test("A text that is the name of a method for some values only")
    func textOfMethod() async throws {
        for (text, method) in [("card", "GET"), ("POST", "POST"), ("get", "GET"), ("DELETE", "DELETE")] {
            #expect(try await Self.sent(Payments(method: text)).method == method)
        }
    }

    @Test("A property of another meaning stays what it is")
    func ownMeaning() async throws {
        let request = try await Self.sent(PostOwnBytes(body: Data("own".utf8)))
        #expect(request.body?.data == Data("own".utf8))
        #expect(try await Self.url(Payments(method: "card")) == "\(Self.host)/?method=card")
        #expect(try await Self.sent(Payments(method: "card")).method == "GET")
        #expect(try await Self.url(Report(path: "/a")) == "\(Self.host)/files/a")
    }

    @Test("What an endpoint throws arrives as an AtomError, with its cause")
    func thrown() async throws {
        for (endpoint, member) in [
            (ThrowingPath(), "path()"), (FailingGetters(), "queryItems"),
            (UntypedBase(error: OwnFailure()), "baseURL()"),
        ] as [(any Requestable, String)] {
            let error = try #require(await Self.refusal(endpoint))
            guard case .requestable(.endpointFailed(let violation, cause: is OwnFailure)) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(violation.subject == member)
            #expect(error.description == "Failed member of the endpoint “\(member)”: it threw OwnFailure.")
        }
        for endpoint in [FailingText(), UntypedBase(error: CancellationError())] as [any Requestable] {
            #expect(try #require(await Self.refusal(endpoint)).isCancelled)
        }
        for cause in [AtomError.requestable(.invalidURL), RequestableError.invalidURL] as [any Error & Sendable] {
            guard case .requestable(.invalidURL) = await Self.refusal(UntypedBase(error: cause)) else {
                Issue.record("\(cause)")
                continue
            }
        }
    }

    @Test("A base protocol's defaults, and an endpoint's own members above them, are used")
    func defaults() async throws {
        #expect(try await Self.url(Common()) == "\(Self.host)/common")
        #expect(try await Self.sent(Common()).headerFields.map(\.name) == ["X-Common"])
        #expect(try await Self.sent(Common()).idleTimeout == .seconds(7))
        #expect(try await Self.sent(CommonWithOwnPath()).target.absoluteString == "\(Self.host)/own")
        #expect(try await Self.sent(CommonWithOwnHeader()).headerFields.map(\.name) == ["X-Own"])
    }

    @Test("A member in two forms is refused: nobody knows which one is meant")
    func conflicts() async throws {
        for (endpoint, member) in [
            (CommonWithPlainHeader(), "headerItems"), (CommonWithOwnTimeout(), "timeout"),
            (CommonWithTextPath(), "path()"), (CommonWithOptionalSharing(), "sharesIdenticalRequests"),
        ] as [(any Requestable, String)] {
            guard case .requestable(.unusableMember(let violation)) = await Self.refusal(endpoint) else {
                Issue.record("\(endpoint)")
                continue
            }
            #expect(violation.subject == member)
        }
    }

    @Test("Foundation's query items, and values of several types, are sent")
    func foundationLists() async throws {
        struct Items: AppEndpoint {
            let queryItems: [URLQueryItem]
            let requiresAuthorization: Bool?
        }
        struct OptionalItems: AppEndpoint { let queryItems: [URLQueryItem]? }
        struct Mixed: AppEndpoint {
            var queryItems: [String: any QueryValue] { ["seats": 2, "cabin": "first", "ids": [1, 2]] }
        }
        let items = [URLQueryItem(name: "a", value: "1 2"), URLQueryItem(name: "b", value: nil)]
        #expect(
            try await Self.url(Items(queryItems: items, requiresAuthorization: nil)) == "\(Self.host)/?a=1%202&b=")
        #expect(try await Self.url(OptionalItems(queryItems: items)) == "\(Self.host)/?a=1%202&b=")
        #expect(try await Self.url(OptionalItems(queryItems: nil)) == "\(Self.host)/")
        #expect(try await Self.url(Mixed()) == "\(Self.host)/?cabin=first&ids=1&ids=2&seats=2")
    }

    @Test("Whether a request is signed may be optional")
    func optionalAuthorization() async throws {
        struct Item: AppEndpoint { let requiresAuthorization: Bool? }
        let transport = ScriptedTransport.held { $0.answer("") }
        var configuration = ServiceConfiguration(
            authenticationMethod: .basic(BasicCredential(password: "secret", username: "ada")))
        configuration.transport = transport
        let atom = Atom(serviceConfiguration: configuration)
        for value in [nil, false, true, nil, false] {
            try await atom.enqueue(Item(requiresAuthorization: value)).resume()
        }
        #expect(
            transport.requests.map { $0.headerFields["Authorization"] != nil } == [true, false, true, true, false])
    }

    @Test("Members of a type that isn't read are refused, where something would be missing")
    func unreadable() async throws {
        struct Headers: AppEndpoint { var headerItems: [String: Any] { ["X-A": 1] } }
        struct OptionalHeaders: AppEndpoint { var headerItems: [String: Any]? { nil } }
        struct Counts: AppEndpoint { let queryItems = ["page": 2] }
        final class Pairs: AppEndpoint { let queryItems = [("page", "2")] }
        struct Fields: AppEndpoint { let headerItems = ["X-A": 1] }
        struct Anything: AppEndpoint { var queryItems: [String: Any] { ["page": 2] } }
        struct Nothing: AppEndpoint {
            let body: [Int]?
            let queryItems: [String: Double]?
            var method: HTTPMethod { .post(Data()) }
        }
        struct Text: AppEndpoint {
            var method: HTTPMethod
            var body: String { "text" }
        }
        struct Dictionary: AppEndpoint {
            var method: HTTPMethod { .put }
            var body: [String: Any] { [:] }
        }
        struct OptionalDictionary: AppEndpoint {
            var method: HTTPMethod { .patch }
            var body: [String: Any]? { nil }
        }
        struct Generic<Body: Codable & Sendable>: AppEndpoint {
            var method: HTTPMethod
            let body: Body
        }
        for (endpoint, member, type) in [
            (Headers(), "headerItems", "[String: Any]"), (OptionalHeaders(), "headerItems", "[String: Any]"),
            (Counts(), "queryItems", "Dictionary<String, Int>"), (Pairs(), "queryItems", "(String, String)"),
            (Fields(), "headerItems", "Dictionary<String, Int>"), (Text(method: .post), "body", "String"),
            (Dictionary(), "body", "[String: Any]"), (OptionalDictionary(), "body", "[String: Any]"),
            (Generic(method: .post, body: [1]), "body", "Array<Int>"), (Anything(), "queryItems", "[String: Any]"),
            (Nothing(body: [1], queryItems: nil), "body", "Array<Int>"),
            (Nothing(body: nil, queryItems: [:]), "queryItems", "Double"),
        ] as [(any Requestable, String, String)] {
            for _ in 0..<2 {
                guard case .requestable(.unusableMember(let violation)) = await Self.refusal(endpoint) else {
                    Issue.record("\(endpoint)")
                    continue
                }
                #expect(violation.subject == member)
                #expect(violation.reason.contains(type))
            }
        }
        #expect(try await Self.sent(Nothing(body: nil, queryItems: nil)).method == "POST", "nothing is lost")
        // With bytes in the method, or no body wanted, it means something else.
        for endpoint in [
            Text(method: .post(Data("own".utf8))), Text(method: .get),
            Generic(method: .put(Data("own".utf8)), body: [1]), Generic(method: .delete, body: "x"),
        ] as [any Requestable] {
            let body = try await Self.sent(endpoint).body?.data
            #expect(body == nil || body == Data("own".utf8))
        }
    }

    @Test("Whether a member is refused doesn't depend on the first endpoint of its type")
    func firstWithoutAValue() async throws {
        struct Headers: AppEndpoint { let headerItems: [String: Int]? }
        struct Query: AppEndpoint { let queryItems: [Int]? }
        struct Content: AppEndpoint {
            let body: [Int]?
            var method: HTTPMethod { .post }
        }
        for (none, some, member) in [
            (Headers(headerItems: nil), Headers(headerItems: ["X-A": 1]), "headerItems"),
            (Query(queryItems: nil), Query(queryItems: [1]), "queryItems"),
            (Content(body: nil), Content(body: [1]), "body"),
        ] as [(any Requestable, any Requestable, String)] {
            for _ in 0..<2 {
                _ = try await Self.sent(none)
                guard case .requestable(.unusableMember(let violation)) = await Self.refusal(some) else {
                    Issue.record("\(some)")
                    continue
                }
                #expect(violation.subject == member)
            }
        }
    }

    @Test("Status codes that aren't a range, and an empty range, are refused")
    func statusCodes() async {
        struct Codes: AppEndpoint { let acceptableStatusCodes: Set<Int> = [200, 404] }
        struct List: AppEndpoint { let acceptableStatusCodes: [Int] }
        struct Empty: AppEndpoint { let acceptableStatusCodes = 200..<200 }
        for endpoint in [Codes(), List(acceptableStatusCodes: []), List(acceptableStatusCodes: [200]), Empty()]
            as [any Requestable]
        {
            guard case .requestable(.unusableMember(let violation)) = await Self.refusal(endpoint) else {
                Issue.record("\(endpoint)")
                continue
            }
            #expect(violation.subject == "acceptableStatusCodes")
        }
    }

    @Test("An app's code reads the documented members, whatever form they have")
    func readByTheApp() throws {
        func path(_ endpoint: some Requestable) throws(AtomError) -> URLPath { try endpoint.path() }
        #expect(try path(UntypedPath()) == URLPath("/untyped"))
        #expect(try path(StoredTextPath(path: "/a")) == URLPath("/a"))
        #expect(throws: AtomError.self) { try path(ThrowingPath()) }

        var endpoint: any Requestable = Undescribed()
        #expect(endpoint.queryItems == nil)
        #expect(endpoint.headerItems == nil)
        #expect(endpoint.body == nil)
        #expect(endpoint.timeout == nil)
        #expect(endpoint.method == .get)
        #expect(endpoint.requiresAuthorization)
        #expect(!endpoint.sharesIdenticalRequests)
        #expect(endpoint.acceptableStatusCodes == 200...299)
        endpoint = Lists()
        #expect(endpoint.queryItems == [QueryItem(name: "q", value: "1")])
        #expect(endpoint.queryItems?.count == 1)
        endpoint = Post()
        #expect(endpoint.timeout?.request == 1)
        #expect(endpoint.acceptableStatusCodes == 200...499)
        #expect(endpoint.body?.contentType == "application/json")
        var concrete = Undescribed()
        #expect(concrete.queryItems == nil)
        #expect(try concrete.path().description.isEmpty)
        concrete = Undescribed()
        _ = concrete
    }
}
