import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Adapters change what an endpoint says, before it is checked.
@Suite(.limited) struct RequestAdapterTests {
    private struct Endpoint: Requestable {
        var method: HTTPMethod { .post }
        var headerItems: [HeaderItem]? { ["X-Own": "1", "Accept-Language": "en"] }
        var queryItems: [QueryItem]? { ["page": "2"] }
        var body: RequestBody? { .json(["seat": "12A"]) }

        func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
        func path() -> URLPath { .literal("/v1/seats") }
    }

    private typealias Change = @Sendable (inout RequestDescription, any Requestable) throws -> Void

    /// An adapter that a test writes in place.
    private struct Adapter: RequestAdapter {
        let change: Change

        func adapt(_ request: inout RequestDescription, of endpoint: any Requestable) throws {
            try change(&request, endpoint)
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String { "key-5318008" }
    }

    private let transport = ScriptedTransport.held { $0.answer("{}") }

    private func atom(
        _ method: AuthenticationMethod = .none,
        _ changes: Change...
    ) -> Atom {
        var configuration = ServiceConfiguration(authenticationMethod: method)
        configuration.transport = transport
        configuration.timeSource = transport.clock
        configuration.headerItems = ["X-Own": "service", "X-Common": "service"]
        configuration.adapters = changes.map(Adapter.init)
        return Atom(serviceConfiguration: configuration)
    }

    @Test func theyChangeEverythingInTheirOrder() async throws {
        let atom = atom(
            .none,
            { request, endpoint in
                #expect(endpoint is Endpoint)
                #expect(request.headerValue("x-OWN") == "1")
                request.setHeader("accept-language", to: "de")
                request.baseURL = try BaseURL(scheme: .http, host: "127.0.0.1", port: 8080)
            },
            { request, _ in
                #expect(request.headerValue("Accept-Language") == "de", "after the first one")
                #expect(request.description == "POST http://127.0.0.1:8080/v1/seats?page=…")
                request.path = try URLPath("/mock\(request.path)")
                request.queryItems.append(QueryItem(name: "key", value: "k"))
                request.method = .put
                request.body = .data(Data("x".utf8), contentType: "text/plain")
                request.acceptableStatusCodes = 200...200
                request.timeout = ServiceTimeout(request: 5, resource: 7)
            })
        try await atom.enqueue(Endpoint()).resume()
        let request = try #require(transport.requests.first).transportRequest
        #expect(request.method == "PUT")
        #expect(request.target.absoluteString == "http://127.0.0.1:8080/mock/v1/seats?page=2&key=k")
        #expect(request.body?.data == Data("x".utf8))
        #expect(request.idleTimeout == .seconds(5))
        #expect(
            request.headerFields.map { "\($0.name): \($0.value)" } == [
                "X-Own: 1", "accept-language: de", "Content-Type: text/plain", "X-Common: service",
            ], "the service's fields come last, and only where none is")
    }

    @Test func theyAreCalledOnceForEachResume() async throws {
        let calls = Guarded(0)
        let atom = atom(.none, { _, _ in calls.withLock { $0 += 1 } })
        let service = atom.enqueue(Endpoint())
        #expect(calls.withLock { $0 } == 0, "nothing happens before")
        try await service.resume()
        try await service.resume()
        #expect(calls.withLock { $0 } == 2)
    }

    @Test func whatTheySayIsChecked() async throws {
        let wrong: [Change] = [
            { request, _ in request.setHeader("X Key", to: "1") },
            { request, _ in request.setHeader("X-Key", to: "1\r\nX-Evil: 1") },
            { request, _ in request.method = .token("NO SUCH") },
            { request, _ in request.method = .get },
            { request, _ in request.timeout = ServiceTimeout(request: -1, resource: 1) },
        ]
        for change in wrong {
            await #expect(throws: AtomError.self) { try await atom(.none, change).enqueue(Endpoint()).resume() }
        }
        #expect(transport.exchanges.isEmpty)
    }

    @Test func theCredentialGoesOnlyWhereItMayGo() async throws {
        let basic = AuthenticationMethod.basic(BasicCredential(password: "secret", username: "ada"))
        do {
            try await atom(basic, { request, _ in request.baseURL = try BaseURL(scheme: .http, host: "mock.example") })
                .enqueue(Endpoint()).resume()
            Issue.record("it was sent")
        } catch {
            guard case .requestable(.originNotAllowed) = error else { throw error }
        }
        #expect(transport.exchanges.isEmpty)
        try await atom(
            basic,
            { request, _ in
                request.baseURL = try BaseURL(scheme: .http, host: "mock.example")
                request.requiresAuthorization = false
            }
        ).enqueue(Endpoint()).resume()
        #expect(transport.requests.first?.headerFields["Authorization"] == nil)
    }

    @Test func anErrorEndsTheRequestBeforeTheNetwork() async throws {
        func error(_ thrown: any Error & Sendable) async throws -> AtomError {
            do throws(AtomError) {
                try await atom(.none, { _, _ in throw thrown }, { _, _ in Issue.record("after an error") })
                    .enqueue(Endpoint()).resume()
            } catch {
                return error
            }
            throw Unexpected("it was sent")
        }
        let failed = try await error(Failure())
        guard case .requestable(.adapterFailed(let violation, cause: is Failure)) = failed else {
            throw Unexpected("\(failed)")
        }
        #expect(violation.reason == "it threw Failure")
        #expect(!"\(failed) \(failed.localizedDescription)".contains("5318008"), "its text may be a secret")
        #expect(failed.delivery == .notSent)
        let path = try await error(RequestableError.invalidURLPath)
        guard case .requestable(.invalidURLPath) = path else { throw Unexpected("\(path)") }
        let own = try await error(AtomError.unexpected)
        guard case .unexpected = own else { throw Unexpected("\(own)") }
        let cancelled = try await error(CancellationError())
        guard case .cancelled(.notSent) = cancelled else { throw Unexpected("\(cancelled)") }
        #expect(transport.exchanges.isEmpty)
    }

    @Test func aLinkKeepsItsURLAndAForeignOneStaysAsItIs() async throws {
        let basic = AuthenticationMethod.basic(BasicCredential(password: "secret", username: "ada"))
        let atom = atom(
            basic,
            { request, _ in
                request.setHeader("X-Key", to: "k")
                #expect(request.baseURL.port == nil)
                request.baseURL = try BaseURL(host: "mock.example")
                request.path = try URLPath("/mock")
                request.queryItems = ["key": "k"]
            })
        let response = try await atom.enqueue(Endpoint()).resume()
        #expect(response.url?.absoluteString == "https://mock.example/mock?key=k")

        try await atom.enqueue(LinkedEndpoint("/next?page=3", in: response)).resume()
        let own = try #require(transport.requests.last)
        #expect(own.target.absoluteString == "https://mock.example/next?page=3")
        #expect(own.headerFields["X-Key"] == "k")
        #expect(own.headerFields["Authorization"] != nil)

        try await atom.enqueue(LinkedEndpoint("https://storage.example/file", in: response)).resume()
        let foreign = try #require(transport.requests.last)
        #expect(foreign.target.absoluteString == "https://storage.example/file")
        #expect(foreign.headerFields.isEmpty)
    }

    @Test func theSDKsOwnRequestsAreNotChanged() async throws {
        let session = try SessionFixture(lifetime: 0)
        var configuration = session.configuration
        configuration.adapters = [Adapter { request, _ in request.setHeader("X-Key", to: "k") }]
        let atom = Atom(configuration, time: session.time)
        let call = Task { try await atom.enqueue(PathEndpoint()).resume() }
        let refresh = await session.refresh()
        #expect(refresh.request.headerFields["X-Key"] == nil)
        refresh.grant(1)
        let sent = await session.transport.exchange(1)
        #expect(sent.request.headerFields["X-Key"] == "k")
        sent.answer()
        _ = try await call.value
    }
}
