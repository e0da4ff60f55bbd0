import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.limited) struct RedirectTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let status: Int
        let method: HTTPMethod
        let nextMethod: String
        let keepsBody: Bool

        init(_ status: Int, _ method: HTTPMethod, _ nextMethod: String, keepsBody: Bool = false) {
            (self.status, self.method, self.nextMethod, self.keepsBody) = (status, method, nextMethod, keepsBody)
        }

        var testDescription: String { "\(status) \(method.name)" }
    }

    private static let body = Data(#"{"seat":"12A"}"#.utf8)

    static let cases: [Case] =
        [301, 302].flatMap { status in
            [
                Case(status, .get, "GET"), Case(status, .head, "HEAD"), Case(status, .post(body), "GET"),
                Case(status, .put(body), "PUT", keepsBody: true),
            ]
        } + [
            Case(303, .get, "GET"), Case(303, .head, "HEAD"), Case(303, .post(body), "GET"),
            Case(303, .put(body), "GET"),
        ]
        + [307, 308].flatMap { status in
            [
                Case(status, .get, "GET"), Case(status, .head, "HEAD"),
                Case(status, .post(body), "POST", keepsBody: true),
                Case(status, .put(body), "PUT", keepsBody: true),
            ]
        }

    @Test("Method and body after a redirect are those of RFC 9110", arguments: cases, TransportUnderTest.all)
    func method(_ redirect: Case, over transport: TransportUnderTest) async throws {
        let status = redirect.status
        let routes: [String: LoopbackServer.Handler] = [
            "/old": { _ in .redirect(status, location: "/new?x=1") }, "/new": { _ in .json("[1]") },
        ]
        let server = try LoopbackServer(handler: LoopbackServer.routes(routes))
        defer { server.stop() }
        let headers = ["X-Trace": "abc", "Content-Type": "application/json"] as [HeaderItem]
        let outcome = await Atom.forTest(over: transport).outcome(
            of: server.endpoint("/old", method: redirect.method, headers: headers))

        #expect(outcome.response?.statusCode == 200)
        #expect(outcome.response?.url == server.url("/new?x=1"))
        let next = try #require(server.requests.dropFirst().first)
        #expect(server.requestCount == 2)
        #expect(next.method == redirect.nextMethod)
        #expect(next.target == "/new?x=1")
        #expect(next["X-Trace"] == "abc")
        #expect(next.body == (redirect.keepsBody ? Self.body : Data()))
        let dropsType = !redirect.keepsBody && redirect.nextMethod != redirect.method.name
        #expect(next["Content-Type"] == (dropsType ? nil : "application/json"))
    }

    @Test(arguments: [300, 304, 305, 306, 399], TransportUnderTest.all)
    func otherRedirectCodesAreTheCallers(status: Int, over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .redirect(status, location: "/new") }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: transport).outcome(of: server.endpoint("/old"))
        #expect(outcome.response?.statusCode == status)
        #expect(server.requestCount == 1)
    }

    @Test(
        "A redirect that leads nowhere is the caller's response",
        arguments: [
            nil, "", "http://[", "mailto:a@b.c", "ftp://127.0.0.1/x", "http:///x", "//127.0.0.1:-1/x", "javascript:1",
        ], TransportUnderTest.all)
    func broken(location: String?, over transport: TransportUnderTest) async throws {
        let headers = location.map { [("Location", $0)] } ?? []
        let server = try LoopbackServer { _ in .status(302, headers: headers, body: Data("b".utf8)) }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: transport).outcome(of: server.endpoint())
        #expect(outcome.response?.statusCode == 302)
        #expect(outcome.error?.delivery == .answered)
        #expect(server.requestCount == 1)
    }

    @Test(arguments: TransportUnderTest.all)
    func aRedirectThatIsNotFollowedArrivesWithItsBody(over transport: TransportUnderTest) async throws {
        let answer = LoopbackServer.Response.status(
            302, headers: [("Location", "/new")], body: Data("moved".utf8))
        let server = try LoopbackServer { _ in answer }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport) { $0.redirectLimit = nil }
        let outcome = await atom.outcome(of: server.endpoint())
        #expect(outcome.response?.statusCode == 302)
        #expect(outcome.response?.headerFields["location"] == "/new")
        #expect(outcome.text == "moved")
        #expect(server.requestCount == 1)
    }

    @Test(arguments: TransportUnderTest.all)
    func theBodyOfARedirectIsNotMixedIntoTheAnswer(over transport: TransportUnderTest) async throws {
        let routes: [String: LoopbackServer.Handler] = [
            "/old": { _ in .status(302, headers: [("Location", "/new")], body: Data("moved".utf8)) },
            "/new": { _ in .text("here") },
        ]
        let server = try LoopbackServer(handler: LoopbackServer.routes(routes))
        defer { server.stop() }
        #expect(await Atom.forTest(over: transport).outcome(of: server.endpoint("/old")).text == "here")
    }

    @Test(arguments: [0, 1, 20], TransportUnderTest.all)
    func aLoopEndsAtTheLimit(limit: Int, over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .redirect(302, location: "/again") }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport) { $0.redirectLimit = limit }
        let outcome = await atom.outcome(of: server.endpoint())
        #expect(outcome.urlError?.code == .httpTooManyRedirects)
        #expect(outcome.error?.delivery == .answered)
        #expect(outcome.error?.description.contains("redirected more than \(limit) times") == true)
        #expect(server.requestCount == limit + 1)
    }

    @Test(
        "Relative and odd locations are resolved by RFC 3986",
        arguments: [
            ("sibling", "/a/sibling"), ("../up", "/up"), ("/abs", "/abs"), ("?q=1", "/a/b?q=1"), ("/x#part", "/x"),
            ("/a b", "/a%20b"), ("/caf\u{E9}", "/caf%C3%A9"), ("/a%2Fb", "/a%2Fb"), ("./", "/a/"),
        ], TransportUnderTest.all)
    func resolution(_ redirect: (location: String, target: String), over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            request.path == "/a/b" && request.query == nil ? .redirect(302, location: redirect.location) : .json("{}")
        }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: transport).outcome(of: server.endpoint("/a/b"))
        #expect(outcome.response?.statusCode == 200)
        #expect(server.requests.last?.target == redirect.target)
    }

    @Test(arguments: TransportUnderTest.all)
    func aRedirectedRequestTakesOneSlotAtATime(over transport: TransportUnderTest) async throws {
        let routes: [String: LoopbackServer.Handler] = [
            "/old": { _ in .redirect(307, location: "/new") }, "/new": { _ in .json("{}") },
        ]
        let server = try LoopbackServer(handler: LoopbackServer.routes(routes))
        defer { server.stop() }
        let atom = Atom.forTest(over: transport) { $0.maximumExchangesPerOrigin = 1 }
        let endpoint = server.endpoint("/old")
        let statuses = await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<12 { group.addTask { await atom.outcome(of: endpoint).response?.statusCode } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 12))
        #expect(server.mostRequestsAtOnce == 1)
    }
}
