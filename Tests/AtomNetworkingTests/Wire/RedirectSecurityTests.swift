import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Two servers on two ports are two origins.
@Suite(.limited) struct RedirectSecurityTests {
    private static let secrets: [HeaderItem] = [
        "Cookie": "session=1", "X-Api-Key": "k", "Proxy-Authorization": "p", "Referer": "r", "Accept": "text/plain",
        "Accept-Language": "de", "User-Agent": "app/1", "Content-Language": "de",
    ]

    private static let basic = AuthenticationMethod.basic(BasicCredential(password: "secret", username: "me"))

    @Test(arguments: [301, 302, 303, 307, 308], TransportUnderTest.all)
    func credentialsAndOwnHeadersStayHome(status: Int, over transport: TransportUnderTest) async throws {
        let abroad = try LoopbackServer { _ in .json("{}") }
        defer { abroad.stop() }
        let port = abroad.port
        let home = try LoopbackServer { _ in .redirect(status, location: "http://127.0.0.1:\(port)/in") }
        defer { home.stop() }
        let atom = Atom.forTest(over: transport) { $0.authenticationMethod = Self.basic }
        let outcome = await atom.outcome(
            of: home.endpoint("/out", method: .post(Data("x".utf8)), headers: Self.secrets))

        #expect(outcome.response?.statusCode == 200)
        let first = try #require(home.requests.first)
        let second = try #require(abroad.requests.first)
        #expect(first["Authorization"] != nil && first["X-Api-Key"] == "k")
        for name in ["Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "Referer"] {
            #expect(second[name] == nil, "\(name) was sent abroad")
        }
        #expect(second["Accept"] == "text/plain" && second["User-Agent"] == "app/1")
        #expect(second["Accept-Language"] == "de")
        let keepsBody = status >= 307
        #expect(second.text == (keepsBody ? "x" : ""))
        #expect(second["Content-Type"] == (keepsBody ? "application/x-www-form-urlencoded" : nil))
    }

    @Test(arguments: TransportUnderTest.all)
    func anOwnAuthorizationStaysHomeToo(over transport: TransportUnderTest) async throws {
        let abroad = try LoopbackServer { _ in .json("{}") }
        defer { abroad.stop() }
        let port = abroad.port
        let home = try LoopbackServer { _ in .redirect(302, location: "//127.0.0.1:\(port)/") }
        defer { home.stop() }
        _ = await Atom.forTest(over: transport).outcome(of: home.endpoint(headers: ["authorization": "Bearer mine"]))
        #expect(home.requests.first?["Authorization"] == "Bearer mine")
        #expect(abroad.requests.map { $0["Authorization"] } == [nil])
    }

    @Test(arguments: TransportUnderTest.all)
    func whoHasLeftHomeDoesNotGetTheCredentialBackOnReturn(over transport: TransportUnderTest) async throws {
        let home = Locked(0)
        let abroad = try LoopbackServer { _ in .redirect(302, location: "http://127.0.0.1:\(home.value)/back") }
        defer { abroad.stop() }
        let port = abroad.port
        let server = try LoopbackServer { request in
            request.path == "/back" ? .json("{}") : .redirect(302, location: "http://127.0.0.1:\(port)/")
        }
        defer { server.stop() }
        home.with { $0 = server.port }
        let atom = Atom.forTest(over: transport) { $0.authenticationMethod = Self.basic }
        _ = await atom.outcome(of: server.endpoint("/out"))
        #expect(server.requests.map(\.path) == ["/out", "/back"])
        #expect(server.requests.map { $0["Authorization"] == nil } == [false, true])
    }

    @Test(arguments: TransportUnderTest.all)
    func theCookiesOfTheJarStayHomeToo(over transport: TransportUnderTest) async throws {
        let abroad = try LoopbackServer { _ in .json("{}") }
        defer { abroad.stop() }
        let port = abroad.port
        let home = try LoopbackServer { request in
            request.path == "/set"
                ? .empty(204, headers: [("Set-Cookie", "session=1")])
                : .redirect(307, location: "http://127.0.0.1:\(port)/")
        }
        defer { home.stop() }
        let atom = Atom.forTest(over: transport)
        _ = await atom.outcome(of: home.endpoint("/set"))
        _ = await atom.outcome(of: home.endpoint("/go"))
        #expect(home.requests.last?["Cookie"] == "session=1")
        #expect(abroad.requests.map { $0["Cookie"] } == [nil])
    }

    @Test(arguments: TransportUnderTest.all)
    func onTheSameOriginEverythingGoesAlong(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { request in
            request.path == "/new" ? .json("{}") : .redirect(307, location: "/new")
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport) { $0.authenticationMethod = Self.basic }
        _ = await atom.outcome(of: server.endpoint("/old", headers: Self.secrets))
        let names = ["Authorization", "Cookie", "X-Api-Key", "Referer"]
        #expect(server.requests.map { request in names.allSatisfy { request[$0] != nil } } == [true, true])
    }

    @Test(arguments: TransportUnderTest.all)
    func userInformationInALocationIsNeitherSentNorShown(over transport: TransportUnderTest) async throws {
        let abroad = try LoopbackServer { _ in .text("no", status: 500) }
        defer { abroad.stop() }
        let port = abroad.port
        let home = try LoopbackServer { _ in .redirect(302, location: "http://u:hush@127.0.0.1:\(port)/in") }
        defer { home.stop() }
        let outcome = await Atom.forTest(over: transport).outcome(of: home.endpoint())
        #expect(abroad.requests.map { $0["Authorization"] } == [nil])
        #expect(outcome.response?.url?.absoluteString.contains("hush") == false)
    }
}
