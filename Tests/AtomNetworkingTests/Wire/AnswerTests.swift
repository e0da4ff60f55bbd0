import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct AnswerTests {
    private func answer(
        _ answer: LoopbackServer.Response, to method: HTTPMethod = .get, over transport: TransportUnderTest
    ) async throws -> Result<AtomResponse, AtomError> {
        var outcome: Result<AtomResponse, AtomError>?
        let server = try LoopbackServer { _ in answer }
        defer { server.stop() }
        outcome = await Atom.forTest(over: transport).outcome(of: server.endpoint(method: method))
        return try #require(outcome)
    }

    @Test(arguments: TransportUnderTest.all)
    func headersAreFoundWhateverTheirCase(over transport: TransportUnderTest) async throws {
        let outcome = try await answer(
            .empty(200, headers: [("ETag", "\"1\""), ("x-lower", "a"), ("X-UPPER", "b")]), over: transport)
        let fields = try #require(outcome.response?.headerFields)
        #expect(["etag", "ETag", "ETAG"].allSatisfy { fields[$0] == "\"1\"" })
        #expect(fields["X-Lower"] == "a" && fields["x-upper"] == "b")
    }

    @Test(arguments: TransportUnderTest.all)
    func repeatedHeaderFieldsAreAllThere(over transport: TransportUnderTest) async throws {
        let outcome = try await answer(
            .empty(200, headers: [("Link", "<a>"), ("Link", "<b>"), ("Via", "1.1 x, 1.1 y")]), over: transport)
        let fields = try #require(outcome.response?.headerFields)
        #expect(fields.values(for: "link").joined(separator: ", ") == "<a>, <b>")
        #expect(fields["via"] == "1.1 x, 1.1 y")
    }

    @Test(arguments: TransportUnderTest.all)
    func eachSetCookieIsAFieldOfItsOwn(over transport: TransportUnderTest) async throws {
        let cookies = ["a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/", "b=x,y", "c=\"1, 2\"; Path=/", "d=4"]
        let outcome = try await answer(.empty(200, headers: cookies.map { ("Set-Cookie", $0) }), over: transport)
        #expect(outcome.response?.headerFields.values(for: "set-cookie") == cookies)
    }

    @Test(arguments: [204, 205, 304], TransportUnderTest.all)
    func someStatusesHaveNoBody(status: Int, over transport: TransportUnderTest) async throws {
        let outcome = try await answer(.empty(status, headers: [("ETag", "\"1\"")]), over: transport)
        #expect(outcome.response?.statusCode == status)
        #expect(outcome.response?.data.isEmpty == true)
        #expect(outcome.response?.headerFields["etag"] == "\"1\"")
        #expect((outcome.error == nil) == (status < 300))
    }

    @Test(arguments: TransportUnderTest.all)
    func aHandMadeValidationSurfacesThe304(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { $0["If-None-Match"] == "\"1\"" ? .empty(304) : .text("new") }
        defer { server.stop() }
        let endpoint = server.endpoint(headers: ["If-None-Match": "\"1\""])
        #expect(await Atom.forTest(over: transport).outcome(of: endpoint).response?.statusCode == 304)
    }

    @Test(arguments: TransportUnderTest.all)
    func theAnswerToHeadHasALengthAndNoBody(over transport: TransportUnderTest) async throws {
        let outcome = try await answer(.text("12345"), to: .head, over: transport)
        #expect(outcome.response?.headerFields["Content-Length"] == "5")
        #expect(outcome.response?.data.isEmpty == true)
    }

    @Test(arguments: TransportUnderTest.all)
    func afterAHeadTheConnectionGoesOn(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .text("12345") }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        for method in [HTTPMethod.head, .get, .head, .get] {
            #expect(await atom.outcome(of: server.endpoint(method: method)).response?.statusCode == 200)
        }
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: TransportUnderTest.all)
    func gzipIsDecoded(over transport: TransportUnderTest) async throws {
        let packed = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11FIr8osAABKm7FcCwAAAA=="))
        let outcome = try await answer(
            .status(200, headers: [("Content-Encoding", "gzip")], body: packed), over: transport)
        #expect(outcome.text == "hello, gzip")
    }

    /// How the body of a 404 can't be read.
    enum Damage: CaseIterable { case mislabelled, cut, tooLarge }

    @Test("A status is told also if its body can't be read", arguments: Damage.allCases, TransportUnderTest.all)
    func unreadableError(damage: Damage, over transport: TransportUnderTest) async throws {
        let plain = Data("no such flight".utf8)
        let server = try LoopbackServer { _ in
            switch damage {
            case .mislabelled: .status(404, headers: [("Content-Encoding", "gzip")], body: plain)
            case .cut: .truncated(declaredLength: 100, body: plain, status: 404)
            case .tooLarge: .text(String(repeating: "no", count: 1_000), status: 404)
            }
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport) { $0.maximumResponseSize = 1_000 }
        let outcome = await atom.outcome(of: server.endpoint())
        guard case .failure(.response(let response)) = outcome else { throw Unexpected("\(outcome)") }
        #expect(response.statusCode == 404 && outcome.error?.situation == .notFound)
        #expect(damage != .cut || response.data == plain)
        #expect(outcome.error?.description.contains("Its body is incomplete") == true)
        #expect(server.requestCount == 1)
    }

    @Test("A range is asked for without coding, unless the endpoint says otherwise", arguments: TransportUnderTest.all)
    func range(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer {
            .status(206, headers: [("Content-Range", "bytes 0-3/9")], body: Data(($0["Accept-Encoding"] ?? "").utf8))
        }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        #expect(await atom.outcome(of: server.endpoint(headers: ["range": "bytes=0-3"])).text == "identity")
        let own: [HeaderItem] = ["Range": "bytes=0-3", "Accept-Encoding": "gzip"]
        #expect(await atom.outcome(of: server.endpoint(headers: own)).text == "gzip")
        #expect(await atom.outcome(of: server.endpoint()).text != "identity")
    }

    @Test("A part of what is encoded stays as it is", arguments: TransportUnderTest.all.filter { $0.kind == .curl })
    func partOfGzip(over transport: TransportUnderTest) async throws {
        let part = Data([0xCB, 0x48, 0xCD, 0xC9])
        let headers = [("Content-Encoding", "gzip"), ("Content-Range", "bytes 10-13/31")]
        let outcome = try await answer(.status(206, headers: headers, body: part), over: transport)
        #expect(outcome.response?.data == part)
        #expect(outcome.response?.headerFields["Content-Encoding"] == "gzip")
    }

    @Test(arguments: ["100 Continue", "102 Processing", "103 Early Hints"], TransportUnderTest.all)
    func interimAnswersArePassedOver(status: String, over transport: TransportUnderTest) async throws {
        let wire = "HTTP/1.1 \(status)\r\nLink: a\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nhi"
        let heads = Locked(0)
        let server = try LoopbackServer { _ in .raw(wire) }
        defer { server.stop() }
        let spy = SpyTransport(base: transport.make()) { if case .response = $0 { heads.with { $0 += 1 } } }
        let atom = Atom(.forTest(over: spy))
        let outcome = await atom.outcome(of: server.endpoint(method: .post(Data("x".utf8))))
        #expect(outcome.response?.statusCode == 201)
        #expect(outcome.text == "hi")
        #expect(outcome.response?.headerFields["Link"] == nil)
        #expect(heads.value == 1)
    }

    @Test(arguments: TransportUnderTest.all)
    func aRedirectAfterAnInterimAnswerIsFollowed(over transport: TransportUnderTest) async throws {
        let wire =
            "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /new\r\n"
            + "Connection: close\r\nContent-Length: 0\r\n\r\n"
        let server = try LoopbackServer { $0.path == "/new" ? .text("here") : .raw(wire) }
        defer { server.stop() }
        #expect(await Atom.forTest(over: transport).outcome(of: server.endpoint("/old")).text == "here")
    }

    @Test(arguments: TransportUnderTest.all)
    func statusesAboveFiveHundredNinetyNineArrive(over transport: TransportUnderTest) async throws {
        #expect(try await answer(.text("x", status: 799), over: transport).response?.statusCode == 799)
    }

    @Test(arguments: TransportUnderTest.all)
    func anAnswerUntilTheConnectionClosesIsWhole(over transport: TransportUnderTest) async throws {
        let outcome = try await answer(.raw("HTTP/1.0 200 OK\r\n\r\nuntil the end"), over: transport)
        #expect(outcome.text == "until the end")
    }

    @Test(
        "A body that is coded as identity ends with its connection, which has no other response",
        arguments: TransportUnderTest.all.filter { $0.kind != .asyncHTTPClient })
    func identity(over transport: TransportUnderTest) async throws {
        let coding = "Transfer-Encoding: identity\r\n\r\n"
        let server = try LoopbackServer { request in
            switch (request.path, request["Authorization"]) {
            case ("/token", _): .json(#"{"access_token":"A2","expires_in":60}"#)
            case ("/none", _): .script([.write(text: "HTTP/1.1 204 No Content\r\n\(coding)")])
            case (_, "Bearer A1"): .raw("HTTP/1.1 401 Unauthorized\r\n\(coding)no")
            default: .raw("HTTP/1.1 200 OK\r\n\(coding)until the end")
            }
        }
        defer { server.stop() }
        let endpoint = try AuthorizationEndpoint(scheme: .http, host: server.host, port: server.port, path: "/token")
        let tokens = RecordingTokens(
            TokenCredential(accessToken: "A1", expiresAt: .distantFuture, refreshToken: "R1"))
        let atom = Atom.forTest(over: transport) {
            $0.authenticationMethod = .bearer(endpoint, ClientCredential(id: "c", secret: "s"), tokens)
        }
        #expect(await atom.outcome(of: server.endpoint("/a")).text == "until the end", "after a 401 and a refresh")
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer A1", nil, "Bearer A2"])
        let count = server.connectionCount
        #expect(await atom.outcome(of: server.endpoint("/none")).response?.statusCode == 204)
        #expect(await atom.outcome(of: server.endpoint("/b")).text == "until the end")
        if transport.kind == .curl { #expect(server.connectionCount == count + 2) }
    }

    @Test(arguments: TransportUnderTest.all)
    func anIPv6ServerIsReached(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer(ipv6: true) { _ in .redirect(302, location: "/x") }
        defer { server.stop() }
        var endpoint = server.endpoint()
        endpoint.acceptableStatusCodes = 200...399
        let outcome = await Atom.forTest(over: transport) { $0.redirectLimit = nil }.outcome(of: endpoint)
        #expect(outcome.response?.statusCode == 302)
        #expect(server.requests.first?["Host"] == "[::1]:\(server.port)")
    }

    @Test(arguments: TransportUnderTest.all)
    func aRedirectBetweenIPv6AddressesIsFollowed(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer(ipv6: true) { $0.path == "/x" ? .text("six") : .redirect(302, location: "/x") }
        defer { server.stop() }
        #expect(await Atom.forTest(over: transport).outcome(of: server.endpoint("/y")).text == "six")
    }

    @Test(arguments: TransportUnderTest.all)
    func aBackgroundSessionIsRefused(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport) { $0.configuration = .background("com.example.sync") }
        let outcome = await atom.outcome(of: server.endpoint())
        guard case .failure(.requestable(.unsupportedConfiguration(let violation))) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(violation.subject.contains("com.example.sync"))
        #expect(server.connectionCount == 0)
    }
}
