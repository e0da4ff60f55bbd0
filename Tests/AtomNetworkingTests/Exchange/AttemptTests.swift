import Foundation
import Testing

@testable import AtomNetworking

@Suite("What a redirect sends next", .limited)
struct AttemptTests {
    private static func attempt(
        _ method: HTTPMethod = .get, scheme: BaseURLScheme = .https, headers: [HeaderItem] = []
    ) throws -> Attempt {
        struct Endpoint: Requestable {
            var scheme: BaseURLScheme
            var method: HTTPMethod
            var headerItems: [HeaderItem]?
            func baseURL() throws(AtomError) -> BaseURL { try BaseURL(scheme: scheme, host: "a.example") }
            func path() throws(AtomError) -> URLPath { try URLPath("/start") }
        }
        return Attempt(
            try PreparedRequest(
                Endpoint(scheme: scheme, method: method, headerItems: headers), timeout: ServiceTimeout()))
    }

    private static func next(
        _ attempt: Attempt, _ status: Int, to location: String?, limit: Int? = 20
    ) -> Attempt? {
        let fields = location.map { [HeaderItem(name: "location", value: $0)] } ?? []
        let response = TransportResponse(statusCode: status, headerFields: HeaderFields(fields))
        if case .redirected(let next) = attempt.following(response, limit: limit) { return next }
        return nil
    }

    private static let body = Data("seat=12A".utf8)

    @Test(
        "Method and body after every redirect are those of RFC 9110 §15.4", arguments: [301, 302, 303, 307, 308],
        [true, false])
    func methods(_ status: Int, staysHome: Bool) throws {
        let table: [(HTTPMethod, [Int: String])] = [
            (.get, [:]), (.head, [:]), (.options, [303: "GET"]), (.delete, [303: "GET"]),
            (.delete(Self.body), [303: "GET"]),
            (.post(Self.body), [301: "GET", 302: "GET", 303: "GET"]), (.put(Self.body), [303: "GET"]),
            (.patch(Self.body), [303: "GET"]), (.token("PROPFIND", Self.body), [303: "GET"]),
            (.post, [301: "GET", 302: "GET", 303: "GET"]),
        ]
        for (method, changes) in table {
            let attempt = try Self.attempt(
                method,
                headers: [
                    "Content-Language": "en", "Accept": "*/*", "Expect": "100-continue", "Digest": "sha-256=x",
                ])
            let location = staysHome ? "/next" : "https://b.example/next"
            let next = try #require(Self.next(attempt, status, to: location))
            let isKept = changes[status] == nil
            #expect(next.method == changes[status] ?? method.name, "\(status) after \(method)")
            #expect(next.body?.data == (isKept ? method.body : nil), "\(status) after \(method)")
            #expect(next.headerFields.contains("Content-Type") == (isKept && method.body != nil))
            #expect(next.headerFields.contains("Content-Language") == isKept)
            for name in ["Expect", "Digest"] where staysHome { #expect(next.headerFields.contains(name) == isKept) }
            #expect(next.headerFields.contains("Accept"))
            #expect(next.hasLeftOrigin == !staysHome)
            #expect(next.redirects == 1)
            #expect(next.target.absoluteString == (staysHome ? "https://a.example/next" : location))
        }
    }

    @Test(
        "Any other status is the caller's, with a Location or without",
        arguments: [200, 201, 202, 204, 300, 304, 305, 306, 309, 399, 400, 401, 404, 500, 503])
    func otherStatus(_ status: Int) throws {
        #expect(Self.next(try Self.attempt(), status, to: "/next") == nil)
    }

    @Test(
        "A redirect that leads nowhere is the caller's",
        arguments: [nil, "", "ftp://b.example/", "http://b..example/"])
    func nowhere(_ location: String?) throws {
        for status in [301, 302, 303, 307, 308] {
            #expect(Self.next(try Self.attempt(scheme: .http), status, to: location) == nil)
        }
    }

    @Test(
        "Leaving the origin, everything stays but what is known to be harmless",
        arguments: [
            "https://b.example/", "https://a.example:8443/", "https://sub.a.example/", "//b.example/",
            "https://a.example./", "https://my_service/",
        ])
    func stripping(_ location: String) throws {
        let attempt = try Self.attempt(
            .put(Self.body),
            headers: [
                "Authorization": "Bearer t", "authorization": "Basic t", "Cookie": "s=1", "X-Api-Key": "k",
                "Proxy-Authorization": "p", "X-Session": "s", "Accept": "application/json", "ACCEPT-Language": "en",
                "Accept-Encoding": "br", "content-type": "text/plain", "Content-Encoding": "gzip",
                "User-Agent": "App/1", "Acceptance": "no", "Contented": "no", "X-Accept": "no", "Referer": "r",
                "If-None-Match": "e",
            ])
        let next = try #require(Self.next(attempt, 307, to: location))
        #expect(
            next.headerFields.map(\.name) == [
                "Accept", "ACCEPT-Language", "Accept-Encoding", "content-type", "Content-Encoding", "User-Agent",
            ])
        #expect(next.body?.data == Self.body)
        #expect(next.hasLeftOrigin)
    }

    @Test("The SDK's own fields come along, in place of the app's with their names")
    func ownFields() throws {
        let attempt = try Self.attempt(headers: ["range": "bytes=1-2", "Cache-Control": "mine", "Accept": "*/*"])
        let own = [HeaderItem(name: "Range", value: "bytes=9-"), .init(name: "If-Range", value: "e")]
        func fields(_ attempt: Attempt) -> [String] {
            attempt.transportRequest(
                own: own, authorization: nil, cookie: nil, idleTimeout: .seconds(1), needsFreshConnection: false,
                number: 1
            ).headerFields.map { "\($0.name): \($0.value)" }
        }
        let coding = "Accept-Encoding: identity"
        #expect(fields(attempt) == ["Range: bytes=9-", "Cache-Control: mine", "Accept: */*", coding, "If-Range: e"])
        let next = try #require(Self.next(attempt, 302, to: "https://b.example/"))
        #expect(fields(next) == ["Accept: */*", coding, "Range: bytes=9-", "If-Range: e"])
    }

    @Test(
        "At the same origin everything comes along, however the origin is spelt",
        arguments: [
            "/next", "next", "?page=2", "https://A.EXAMPLE/next", "//a.example:443/next", "https://u:p@a.example/",
        ])
    func sameOrigin(_ location: String) throws {
        let attempt = try Self.attempt(headers: ["Authorization": "Bearer t", "Cookie": "s=1", "X-Api-Key": "k"])
        let next = try #require(Self.next(attempt, 302, to: location))
        #expect(next.headerFields == attempt.headerFields)
        #expect(!next.hasLeftOrigin)
    }

    @Test("Whoever has left home is not signed again when coming back, and keeps nothing that was dropped")
    func comingBack() throws {
        let attempt = try Self.attempt(headers: ["X-Api-Key": "k", "Accept": "*/*"])
        let away = try #require(Self.next(attempt, 302, to: "https://b.example/"))
        let back = try #require(Self.next(away, 302, to: "https://a.example/start"))
        let further = try #require(Self.next(back, 302, to: "/further"))
        #expect(back.target.origin == attempt.target.origin)
        for next in [away, back, further] {
            #expect(next.hasLeftOrigin)
            #expect(next.headerFields.map(\.name) == ["Accept"])
        }
        #expect(further.redirects == 3)
    }

    @Test("From HTTPS to HTTP nothing is followed, on the first redirect and on a later one")
    func downgrade() throws {
        #expect(Self.next(try Self.attempt(), 302, to: "http://a.example/") == nil)
        #expect(Self.next(try Self.attempt(), 308, to: "http://a.example:443/") == nil)
        let plain = try Self.attempt(scheme: .http)
        let secure = try #require(Self.next(plain, 301, to: "https://a.example/"))
        #expect(secure.hasLeftOrigin, "another scheme is another origin")
        #expect(Self.next(secure, 301, to: "http://a.example/") == nil)
    }

    @Test("So many redirects are followed as the policy says, and one more is one too many", arguments: [0, 1, 3, 20])
    func limit(_ limit: Int) throws {
        var attempt = try Self.attempt()
        let response = TransportResponse(
            statusCode: 302, headerFields: HeaderFields([.init(name: "Location", value: "/again")]))
        for _ in 0..<limit {
            attempt = try #require(Self.next(attempt, 302, to: "/again", limit: limit))
        }
        guard case .tooManyRedirects = attempt.following(response, limit: limit) else {
            Issue.record("It went on after \(limit)")
            return
        }
        let last = TransportResponse(statusCode: 200)
        guard case .none = attempt.following(last, limit: limit) else {
            Issue.record("An answer is no redirect")
            return
        }
    }

    @Test("A policy that follows nothing hands every redirect to the caller")
    func doNotFollow() throws {
        for status in [301, 302, 303, 307, 308] {
            #expect(Self.next(try Self.attempt(), status, to: "/next", limit: nil) == nil)
        }
    }

    @Test("A first attempt is what was prepared")
    func first() throws {
        let attempt = try Self.attempt(.post(Self.body), headers: ["X-A": "1"])
        #expect(attempt.method == "POST")
        #expect(attempt.body?.data == Self.body)
        #expect(!attempt.hasLeftOrigin)
        #expect(attempt.redirects == 0)
        #expect(attempt.headerFields.map(\.name) == ["X-A", "Content-Type"])
    }
}
