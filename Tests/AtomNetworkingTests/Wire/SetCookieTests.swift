import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct SetCookieTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func target(
        _ host: String = "a.example.com", _ path: String = "/v1/me", secure: Bool = false
    ) throws -> TargetURL {
        TargetURL(
            base: try BaseURL(scheme: secure ? .https : .http, host: host), path: try URLPath(path), queryItems: [])
    }

    @Test(
        "The domain is the host's own or above it",
        arguments: [
            ("a.example.com", "a.example.com"), ("example.com", "example.com"), (".Example.COM", "example.com"),
            ("", nil), ("com", "refused"), (".com", "refused"), ("evil.com", "refused"), ("ample.com", "refused"),
            ("b.a.example.com", "refused"), (".", "refused"), ("a.example.com.", "refused"),
        ])
    func domain(attribute: String, expected: String?) throws {
        let cookie = SetCookie("n=v; Domain=\(attribute)", from: try target(), now: now)
        #expect((cookie == nil ? "refused" : cookie?.domain) == expected)
    }

    @Test(arguments: ["localhost", "127.0.0.1", "[::1]"])
    func aHostWithoutADomainMayOnlyNameItself(host: String) throws {
        #expect(SetCookie("n=v; Domain=\(host)", from: try target(host), now: now)?.cookie?.domain == host)
    }

    @Test(arguments: [
        ("/v1/me", "/v1"), ("/me", "/"), ("/v1/me/", "/v1/me"),
    ])
    func withoutAPathItIsTheFolderOfTheRequest(path: String, expected: String) throws {
        #expect(SetCookie("n=v", from: try target("a.example.com", path), now: now)?.path == expected)
        #expect(SetCookie("n=v; Path=x", from: try target("a.example.com", path), now: now)?.path == expected)
    }

    @Test func onlyASecureOriginMaySetASecureCookie() throws {
        #expect(SetCookie("n=v; secure", from: try target(), now: now) == nil)
        #expect(SetCookie("n=v; secure", from: try target(secure: true), now: now)?.isSecure == true)
    }

    @Test(arguments: ["", "=v", "n", ";", "n; =v", "a\u{0}=1", "a=\r\nb"])
    func whatIsNoCookieIsNone(field: String) throws {
        #expect(SetCookie(field, from: try target(), now: now) == nil)
    }

    @Test func maxAgeWinsOverExpires() throws {
        let cookie = SetCookie("n=v; Max-Age=10; Expires=Wed, 21 Oct 2037 07:28:00 GMT", from: try target(), now: now)
        #expect(cookie?.expires == now.addingTimeInterval(10))
    }

    @Test(
        "A date is read in all its forms",
        arguments: [
            "Wed, 21 Oct 2037 07:28:00 GMT", "Wednesday, 21-Oct-37 07:28:00 GMT", "Wed Oct 21 07:28:00 2037",
            "21 oct 2037 7:28:0", "2037 21 October 07:28:00 +0100",
        ])
    func date(text: String) {
        #expect(CookieDate.date(from: text) == Date(timeIntervalSince1970: 2_139_722_880))
    }

    @Test(arguments: [
        "", "tomorrow", "21 Oct 07:28:00", "32 Oct 2037 07:28:00", "21 Oct 1600 07:28:00", "21 Oct 2037 24:00:00",
        "21 Oct 2037 07:60:00",
    ])
    func whatIsNoDateIsNone(text: String) {
        #expect(CookieDate.date(from: text) == nil)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("29 Feb 2000 12:00:00", 951_825_600),
        ("31 Dec 99 23:59:59", 946_684_799),
    ])
    func oldDatesAreReadToo(text: String, seconds: Double) {
        #expect(CookieDate.date(from: text)?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]), ("a=1,b=2", ["a=1,b=2"]),
        ("a=\"1, 2\", b=2", ["a=\"1, 2\"", "b=2"]),
        ("a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT, b=2", ["a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "b=2"]),
        ("", [""]), (", =", [", ="]), (", a=", ["", "a="]),
    ])
    func joinedCookiesAreTakenApart(joined: String, cookies: [String]) {
        #expect(TransportResponse.cookies(in: joined) == cookies)
    }

    @Test func fiveThousandRandomFieldsTrapNothing() throws {
        var generator = SeededGenerator(seed: 6_265)
        let pieces = [
            "=", ";", ",", " ", "\"", "a", "Expires", "Max-Age", "Domain", "Path", "Secure", "/", ".", "-", "9",
            "e\u{301}",
            "\u{1F468}\u{200D}\u{1F469}", "\u{FEFF}", "\t", "\u{301}", "Wed, 21 Oct 2037 07:28:00 GMT",
            "99999999999999999999",
            ":", "\u{7F}", "%00", "com", "example.com", "\u{E9}", "Port", "Version=1", "Comment", "Discard", "\\",
        ]
        var jar = CookieJar(storage: SessionConfiguration.ephemeral.cookieStorage)
        let target = try target()
        for round in 0..<5_000 {
            // A full jar would be all that is tested, and slow.
            if round % 100 == 0 { jar = CookieJar(storage: SessionConfiguration.ephemeral.cookieStorage) }
            let field = (0..<Int.random(in: 0...14, using: &generator)).map { _ in
                pieces[Int.random(in: pieces.indices, using: &generator)]
            }.joined()
            let fields = HeaderFields([.init(name: "Set-Cookie", value: field)])
            jar.store(from: TransportResponse(statusCode: 200, headerFields: fields), for: target)
            let header = jar.header(for: target) ?? ""
            #expect(HTTPGrammar.violation(inFieldValue: header) == nil)
            for cookie in TransportResponse.cookies(in: field) { _ = SetCookie(cookie, from: target, now: now) }
        }
    }

    @Test func aNameOfManyCodeUnitsIsKeptWhereFoundationTraps() throws {
        let name = "\u{1F468}\u{200D}\u{1F469}"
        #expect(SetCookie("\(name)=", from: try target(), now: now)?.cookie?.name == name)
    }
}
