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

private struct FailingPath: AppEndpoint {
    let error: any Error & Sendable
    func path() throws -> URLPath { throw error }
}

private enum Cases: AppEndpoint {
    case seats(String)
    case bookings

    func path() throws -> URLPath {
        switch self {
        case .seats(let flight): try URLPath("/seats/\(flight)")
        case .bookings: .literal("/bookings")
        }
    }

    var queryItems: [QueryItem] { ["a": "1"] }
}

private struct Lists: AppEndpoint {
    var queryItems: [QueryItem] { ["q": "1"] }
    var headerItems: [HeaderItem] { ["X-A": "1"] }
}

private struct StoredLists: AppEndpoint {
    let queryItems: [QueryItem]
    let headerItems: [HeaderItem]
}

private struct Post: AppEndpoint {
    var method: HTTPMethod { .post }
    var body: RequestBody { .json([1]) }
    var timeout: ServiceTimeout { ServiceTimeout(request: 1, resource: 2) }
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
}

/// Its `body` is the bytes of its method, as in an app for Atom.
private struct PostOwnBytes: AppEndpoint {
    let body: Data
    var method: HTTPMethod { .post(body) }
}

/// Its `path` is a part of the path.
private protocol File: AppEndpoint { var path: String { get } }

extension File {
    func path() throws(AtomError) -> URLPath { try URLPath("/files\(path)") }
}

private struct Report: File {
    let path: String
}

// A base protocol with defaults of its own.

private protocol CommonEndpoint: AppEndpoint {}

extension CommonEndpoint {
    var headerItems: [HeaderItem]? { ["X-Common": "1"] }
    var timeout: ServiceTimeout { ServiceTimeout(request: 7, resource: 7) }
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
    let timeout: ServiceTimeout?
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
    func baseURL() throws -> BaseURL { try endpoint.baseURL() }
    func path() throws -> URLPath { try endpoint.path() }
    var queryItems: [QueryItem]? { endpoint.queryItems }
    var headerItems: [HeaderItem]? { endpoint.headerItems }
    var method: HTTPMethod { endpoint.method }
    var body: RequestBody? { endpoint.body }
    var timeout: ServiceTimeout? { endpoint.timeout }
    var acceptableStatusCodes: ClosedRange<Int> { endpoint.acceptableStatusCodes }
}

@Suite("What an endpoint declares is sent", .limited)
struct EndpointMembersTests {
    private static func atom(_ transport: ScriptedTransport) -> Atom {
        var configuration = ServiceConfiguration()
        configuration.transport = transport
        return Atom(serviceConfiguration: configuration)
    }

    private static func sent(_ endpoint: any Requestable, status: Int = 200) async throws -> TransportRequest {
        let transport = ScriptedTransport.held { $0.answer("", status: status) }
        try await atom(transport).enqueue(endpoint).resume()
        return try #require(transport.requests.first).transportRequest
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
        #expect(request.idleTimeout == wrapped.idleTimeout)
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

    @Test("A path with typed, plain or no throws is sent")
    func paths() async throws {
        #expect(try await Self.url(Undescribed()) == "\(Self.host)/")
        #expect(try await Self.url(UntypedPath()) == "\(Self.host)/untyped")
        #expect(try await Self.url(PathWithoutThrows(value: URLPath("/plain"))) == "\(Self.host)/plain")
        #expect(try await Self.url(PathWithoutThrows(value: .literal("/plain"))) == "\(Self.host)/plain")
        #expect(try await Self.url(Cases.seats("AS1")) == "\(Self.host)/seats/AS1?a=1")
        #expect(try await Self.url(Cases.bookings) == "\(Self.host)/bookings?a=1")
        #expect(try await Self.url(UntypedBase()) == "https://untyped.example/")
        #expect(try await Self.url(ClassEndpoint()) == "https://class.example/class")
        #expect(try await Self.url(MainActorEndpoint()) == "\(Self.host)/main?main=1")
        #expect(try await Self.url(StrictEndpoint()) == "\(Self.host)/strict?s=1")
    }

    @Test("Lists that aren't optional are sent, whatever values came before")
    func lists() async throws {
        var request = try await Self.sent(Lists())
        #expect(request.target.absoluteString == "\(Self.host)/?q=1")
        #expect(request.headerFields.map(\.name) == ["X-A"])
        request = try await Self.sentGenerically(Lists())
        #expect(request.target.absoluteString == "\(Self.host)/?q=1")
        for items in [[], ["a": "1"], []] as [[QueryItem]] {
            let headerItems = items.map { HeaderItem(name: $0.name, value: "") }
            let endpoint = StoredLists(queryItems: items, headerItems: headerItems)
            #expect(try await Self.url(endpoint) == "\(Self.host)/" + (items.isEmpty ? "" : "?a=1"))
            #expect(try await Self.sent(endpoint).headerFields.map(\.name) == items.map(\.name))
        }
        #expect(try await Self.sent(ClassEndpoint()).headerFields.map(\.name) == ["X-C"])
    }

    @Test("A body and a timeout that aren't optional are used")
    func others() async throws {
        let request = try await Self.sent(Post())
        #expect(request.method == "POST")
        #expect(request.body?.data == Data("[1]".utf8))
        #expect(request.idleTimeout == .seconds(1))
        #expect(try await Self.sent(Undescribed()).idleTimeout == .seconds(30))
        _ = try await Self.url(Post())
    }

    @Test("What is done with a member doesn't depend on the first value of its type")
    func firstValues() async throws {
        struct Counted: AppEndpoint {
            let queryItems: [String: Int]?
            let headerItems: [HeaderItem]?
        }
        for count in [nil, ["page": 2], nil] as [[String: Int]?] {
            let items: [HeaderItem]? = count.map { _ in ["X-A": "1"] }
            let endpoint = Counted(queryItems: count, headerItems: items)
            #expect(try await Self.url(endpoint) == "\(Self.host)/", "its type isn't one that is read")
            #expect(try await Self.sent(endpoint).headerFields.map(\.name) == (items ?? []).map(\.name))
        }
    }

    @Test("A property of another meaning stays what it is")
    func ownMeaning() async throws {
        let request = try await Self.sent(PostOwnBytes(body: Data("own".utf8)))
        #expect(request.body?.data == Data("own".utf8))
        #expect(try await Self.url(Report(path: "/a")) == "\(Self.host)/files/a")
    }

    @Test("What an endpoint throws arrives as an AtomError, with its cause")
    func thrown() async throws {
        for (endpoint, member) in [
            (FailingPath(error: OwnFailure()), "path()"), (UntypedBase(error: OwnFailure()), "baseURL()"),
        ] as [(any Requestable, String)] {
            let error = try #require(await Self.refusal(endpoint))
            guard case .requestable(.endpointFailed(let violation, cause: is OwnFailure)) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(violation.subject == member)
            #expect(error.description == "Failed member of the endpoint “\(member)”: it threw OwnFailure.")
        }
        for endpoint in [FailingPath(error: CancellationError()), UntypedBase(error: CancellationError())]
            as [any Requestable]
        {
            #expect(try #require(await Self.refusal(endpoint)).isCancelled)
        }
        for cause in [AtomError.requestable(.invalidURL), RequestableError.invalidURL] as [any Error & Sendable] {
            for endpoint in [FailingPath(error: cause), UntypedBase(error: cause)] as [any Requestable] {
                guard case .requestable(.invalidURL) = await Self.refusal(endpoint) else {
                    Issue.record("\(cause)")
                    continue
                }
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

    @Test("Of a member with and without an optional type the optional one counts, whatever its value")
    func optionalOnesCount() async throws {
        #expect(try await Self.sent(CommonWithPlainHeader()).headerFields.map(\.name) == ["X-Common"])
        let own = ServiceTimeout(request: 1, resource: 1)
        #expect(try await Self.sent(CommonWithOwnTimeout(timeout: own)).idleTimeout == .seconds(1))
        #expect(try await Self.sent(CommonWithOwnTimeout(timeout: nil)).idleTimeout == .seconds(30))
    }

    @Test("An app's code reads the members of Requestable, also where they aren't optional")
    func readByTheApp() throws {
        func path(_ endpoint: some Requestable) throws -> URLPath { try endpoint.path() }
        #expect(try path(UntypedPath()) == URLPath("/untyped"))
        #expect(throws: OwnFailure.self) { try path(FailingPath(error: OwnFailure())) }

        var endpoint: any Requestable = Undescribed()
        #expect(endpoint.queryItems == nil)
        #expect(endpoint.headerItems == nil)
        #expect(endpoint.body == nil)
        #expect(endpoint.timeout == nil)
        #expect(endpoint.method == .get)
        #expect(endpoint.requiresAuthorization)
        #expect(!endpoint.sharesIdenticalRequests)
        #expect(endpoint.acceptableStatusCodes == 200...299)
        #expect(endpoint.retryPolicy == nil && endpoint.idempotency == nil)
        endpoint = Lists()
        #expect(endpoint.queryItems == [QueryItem(name: "q", value: "1")])
        #expect(endpoint.queryItems?.count == 1)
        endpoint = Post()
        #expect(endpoint.timeout?.request == 1)
        #expect(endpoint.body?.contentType == "application/json")
        var concrete = Undescribed()
        #expect(concrete.queryItems == nil)
        #expect(try concrete.path().description.isEmpty)
        concrete = Undescribed()
        _ = concrete
    }
}
