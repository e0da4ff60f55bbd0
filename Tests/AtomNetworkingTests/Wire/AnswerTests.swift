import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite(.timeLimit(.minutes(5))) struct AnswerTests {
    private func answer(
        _ answer: LoopbackServer.Response, to method: HTTPMethod = .get
    ) async throws -> Result<AtomResponse, AtomError> {
        var outcome: Result<AtomResponse, AtomError>?
        let server = try LoopbackServer { _ in answer }
        defer { server.stop() }
        outcome = await Atom.forTest().outcome(of: server.endpoint(method: method))
        return try #require(outcome)
    }

    @Test func headersAreFoundWhateverTheirCase() async throws {
        let outcome = try await answer(.empty(200, headers: [("ETag", "\"1\""), ("x-lower", "a"), ("X-UPPER", "b")]))
        let fields = try #require(outcome.response?.headerFields)
        #expect(["etag", "ETag", "ETAG"].allSatisfy { fields[$0] == "\"1\"" })
        #expect(fields["X-Lower"] == "a" && fields["x-upper"] == "b")
    }

    @Test func repeatedHeaderFieldsAreAllThere() async throws {
        let outcome = try await answer(
            .empty(200, headers: [("Link", "<a>"), ("Link", "<b>"), ("Via", "1.1 x, 1.1 y")]))
        let fields = try #require(outcome.response?.headerFields)
        #expect(fields.values(for: "link").joined(separator: ", ") == "<a>, <b>")
        #expect(fields["via"] == "1.1 x, 1.1 y")
    }

    @Test func eachSetCookieIsAFieldOfItsOwn() async throws {
        let cookies = ["a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Path=/", "b=x,y", "c=\"1, 2\"; Path=/", "d=4"]
        let outcome = try await answer(.empty(200, headers: cookies.map { ("Set-Cookie", $0) }))
        #expect(outcome.response?.headerFields.values(for: "set-cookie") == cookies)
    }

    @Test(arguments: [204, 205, 304])
    func someStatusesHaveNoBody(status: Int) async throws {
        let outcome = try await answer(.empty(status, headers: [("ETag", "\"1\"")]))
        #expect(outcome.response?.statusCode == status)
        #expect(outcome.response?.data.isEmpty == true)
        #expect(outcome.response?.headerFields["etag"] == "\"1\"")
        #expect((outcome.error == nil) == (status < 300))
    }

    @Test func aHandMadeValidationSurfacesThe304() async throws {
        let server = try LoopbackServer { $0["If-None-Match"] == "\"1\"" ? .empty(304) : .text("new") }
        defer { server.stop() }
        let endpoint = server.endpoint(headers: ["If-None-Match": "\"1\""])
        #expect(await Atom.forTest().outcome(of: endpoint).response?.statusCode == 304)
    }

    @Test func theAnswerToHeadHasALengthAndNoBody() async throws {
        let outcome = try await answer(.text("12345"), to: .head)
        #expect(outcome.response?.headerFields["Content-Length"] == "5")
        #expect(outcome.response?.data.isEmpty == true)
    }

    @Test func afterAHeadTheConnectionGoesOn() async throws {
        let server = try LoopbackServer { _ in .text("12345") }
        defer { server.stop() }
        let atom = Atom.forTest()
        for method in [HTTPMethod.head, .get, .head, .get] {
            #expect(await atom.outcome(of: server.endpoint(method: method)).response?.statusCode == 200)
        }
        #expect(server.connectionCount == 1)
    }

    @Test func gzipIsDecoded() async throws {
        let packed = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11FIr8osAABKm7FcCwAAAA=="))
        let outcome = try await answer(.status(200, headers: [("Content-Encoding", "gzip")], body: packed))
        #expect(outcome.text == "hello, gzip")
    }

    @Test(arguments: ["100 Continue", "102 Processing", "103 Early Hints"])
    func interimAnswersArePassedOver(status: String) async throws {
        let wire = "HTTP/1.1 \(status)\r\nLink: a\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nhi"
        let heads = Locked(0)
        let server = try LoopbackServer { _ in .raw(wire) }
        defer { server.stop() }
        let atom = Atom.forTest {
            $0.transport = SpyTransport { if case .response = $0 { heads.with { $0 += 1 } } }
        }
        let outcome = await atom.outcome(of: server.endpoint(method: .post(Data("x".utf8))))
        #expect(outcome.response?.statusCode == 201)
        #expect(outcome.text == "hi")
        #expect(outcome.response?.headerFields["Link"] == nil)
        #expect(heads.value == 1)
    }

    @Test func aRedirectAfterAnInterimAnswerIsFollowed() async throws {
        let wire =
            "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /new\r\n"
            + "Connection: close\r\nContent-Length: 0\r\n\r\n"
        let server = try LoopbackServer { $0.path == "/new" ? .text("here") : .raw(wire) }
        defer { server.stop() }
        #expect(await Atom.forTest().outcome(of: server.endpoint("/old")).text == "here")
    }

    @Test func statusesAboveFiveHundredNinetyNineArrive() async throws {
        #expect(try await answer(.text("x", status: 799)).response?.statusCode == 799)
    }

    @Test func anAnswerUntilTheConnectionClosesIsWhole() async throws {
        let outcome = try await answer(.raw("HTTP/1.0 200 OK\r\n\r\nuntil the end"))
        #expect(outcome.text == "until the end")
    }

    @Test func anIPv6ServerIsReached() async throws {
        let server = try LoopbackServer(ipv6: true) { _ in .redirect(302, location: "/x") }
        defer { server.stop() }
        var endpoint = server.endpoint()
        endpoint.acceptableStatusCodes = 200...399
        let outcome = await Atom.forTest { $0.redirectPolicy = .doNotFollow }.outcome(of: endpoint)
        #expect(outcome.response?.statusCode == 302)
        #expect(server.requests.first?["Host"] == "[::1]:\(server.port)")
    }

    @Test func aRedirectBetweenIPv6AddressesIsFollowed() async throws {
        let server = try LoopbackServer(ipv6: true) { $0.path == "/x" ? .text("six") : .redirect(302, location: "/x") }
        defer { server.stop() }
        #expect(await Atom.forTest().outcome(of: server.endpoint("/y")).text == "six")
    }

    @Test func aBackgroundSessionIsRefused() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let atom = Atom.forTest { $0.configuration = .background("com.example.sync") }
        let outcome = await atom.outcome(of: server.endpoint())
        guard case .failure(.requestable(.unsupportedConfiguration(let violation))) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(violation.subject.contains("com.example.sync"))
        #expect(server.connectionCount == 0)
    }
}
