import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct SetCookieTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func cookie(_ line: String, _ url: String = "http://a.example.com/v1/me") -> Cookie? {
        Cookie(line, from: CookieAddress(url), at: now)
    }

    @Test(
        "The domain is the host's own or above it",
        arguments: [
            ("a.example.com", "a.example.com"), ("example.com", "example.com"), (".Example.COM", "example.com"),
            ("com", nil), (".com", nil), ("evil.com", nil), ("ample.com", nil), ("b.a.example.com", nil), (".", nil),
            ("a.example.com.", nil), ("example\u{301}.com", nil),
        ])
    func domain(attribute: String, expected: String?) {
        let cookie = cookie("n=v; Domain=\(attribute)")
        #expect(cookie?.domain == expected)
        #expect(cookie?.isHostOnly != true)
    }

    @Test("Without a domain it is the host's alone", arguments: ["n=v", "n=v; Domain=", "n=v; Domain"])
    func hostOnly(line: String) {
        let cookie = cookie(line)
        #expect(cookie?.domain == "a.example.com")
        #expect(cookie?.isHostOnly == true)
    }

    @Test(arguments: ["localhost", "127.0.0.1", "[::1]"])
    func aHostWithoutADomainMayOnlyNameItself(host: String) {
        let cookie = cookie("n=v; Domain=\(host)", "http://\(host)/")
        #expect(cookie?.domain == host)
        #expect(cookie?.isHostOnly == true)
    }

    @Test(
        "A host with a dot at its end sets cookies for itself alone: com. isn't above it",
        arguments: [
            ("n=v", true), ("n=v; Domain=a.example.com.", true), ("n=v; Domain=.A.example.com.", true),
            ("n=v; Domain=example.com.", false), ("n=v; Domain=com.", false), ("n=v; Domain=.", false),
            ("n=v; Domain=a.example.com", false), ("n=v; Domain=example.com", false),
        ])
    func lastDot(line: String, isTaken: Bool) {
        let cookie = cookie(line, "http://a.example.com./")
        #expect(cookie?.domain == (isTaken ? "a.example.com." : nil))
        #expect(cookie?.isHostOnly != false)
    }

    @Test(arguments: ["my_service", "a_b.example.com", "_a_.example.com"])
    func aHostMayHaveUnderscores(host: String) {
        #expect(cookie("n=v", "http://\(host)/")?.domain == host)
        #expect(cookie("n=v; Domain=\(host)", "http://\(host)/")?.domain == host)
    }

    @Test func aHostThatEndsInADigitIsNoAddress() {
        #expect(cookie("n=v; Domain=b.node1", "http://a.b.node1/")?.isHostOnly == false)
        #expect(cookie("n=v; Domain=0.0.1", "http://127.0.0.1/") == nil)
        #expect(cookie("n=v; Domain=com", "http://a.com/") == nil)
        #expect(cookie("n=v; Domain=127.0.0.1", "http://127.0.0.1/")?.isHostOnly == true)
    }

    @Test func aLetterBeyondASCIIIsNoOtherLetterInLowerCase() {
        #expect(cookie("n=v; Domain=a.b\u{212A}.com", "http://a.bk.com/") == nil)
        #expect(cookie("n=v; \u{017F}ecure", "https://a.bk.com/")?.isSecure == false)
    }

    @Test(arguments: [("/v1/me", "/v1"), ("/me", "/"), ("/v1/me/", "/v1/me"), ("/", "/")])
    func withoutAPathItIsTheFolderOfTheRequest(path: String, expected: String) {
        #expect(cookie("n=v", "http://a.example.com\(path)")?.path == expected)
        #expect(cookie("n=v; Path=x", "http://a.example.com\(path)")?.path == expected)
    }

    @Test func onlyASecureOriginMaySetASecureCookie() {
        #expect(cookie("n=v; secure") == nil)
        #expect(cookie("n=v; secure", "https://a.example.com/")?.isSecure == true)
    }

    @Test(arguments: ["", "=v", "n", ";", "n; =v", "a\u{0}=1", "a=\r\nb", "=session=EVIL", "a=1; Path=/\u{7F}"])
    func whatIsNoCookieIsNone(line: String) {
        #expect(cookie(line) == nil)
    }

    @Test func oneLineIsOneCookie() throws {
        let cookie = try #require(self.cookie("pref=chosen by a user, session=EVIL"))
        #expect(cookie.name == "pref")
        #expect(cookie.value == "chosen by a user, session=EVIL")
    }

    @Test func nameAndValueMayHave4096OctetsTogether() {
        let longest = "n=" + String(repeating: "é", count: 2_047) + "v"
        #expect(cookie(longest)?.value.utf8.count == 4_095)
        #expect(cookie(longest + "v") == nil)
        #expect(cookie("n" + longest) == nil)
    }

    @Test func anAttributeOfMoreThan1024OctetsIsPassedOver() {
        let longest = "/" + String(repeating: "p", count: 1_023)
        #expect(cookie("n=v; Path=\(longest)")?.path == longest)
        #expect(cookie("n=v; Path=/x; Path=\(longest)p")?.path == "/x")
        #expect(cookie("n=v; Max-Age=" + String(repeating: "9", count: 1_025))?.expires == nil)
    }

    @Test(
        "A cookie prefix is enforced",
        arguments: [
            ("__Secure-a=1; Secure", true), ("__Secure-a=1", false), ("__SECURE-a=1", false),
            ("__Secure-a=1; Secure; Domain=example.com; Path=/x", true), ("__Secure=1", true),
            ("__Host-a=1; Secure; Path=/", true), ("__Host-a=1; Path=/", false), ("__Host-a=1; Secure", false),
            ("__Host-a=1; Secure; Path=/x", false), ("__Host-a=1; Secure; Path=/; Domain=a.example.com", false),
            ("__hOSt-a=1; Secure; Path=/x", false), ("__Host-a=1; Secure; Path=/; Domain=", true),
        ])
    func prefixes(line: String, isTaken: Bool) {
        #expect((cookie(line, "https://a.example.com/") != nil) == isTaken)
    }

    @Test func maxAgeWinsOverExpires() {
        let expires = "Expires=Wed, 21 Oct 2037 07:28:00 GMT"
        #expect(cookie("n=v; Max-Age=10; \(expires)")?.expires == now.addingTimeInterval(10))
        #expect(cookie("n=v; \(expires); Max-Age=10; Max-Age=x")?.expires == now.addingTimeInterval(10))
    }

    @Test(arguments: [
        "Max-Age=34560001", "Max-Age=99999999999999999999", "Max-Age=9223372036854775807",
        "Expires=Wed, 21 Oct 2037 07:28:00 GMT", "Expires=Fri, 31 Dec 9999 23:59:59 GMT",
    ])
    func noneLastsLongerThan400Days(attribute: String) {
        #expect(cookie("n=v; \(attribute)")?.expires == now.addingTimeInterval(400 * 86_400))
    }

    @Test(arguments: ["0", "-1", "-99999999999999999999"])
    func aMaximumAgeOfNothingIsThePast(age: String) {
        #expect(cookie("n=v; Max-Age=\(age)")?.isExpired(at: .distantPast) == true)
    }

    @Test(arguments: ["", "-", "+1", "1.5", "1 0", "x"])
    func aMaximumAgeThatIsNoNumberIsPassedOver(age: String) {
        let read = cookie("n=v; Max-Age=\(age)")
        #expect(read != nil)
        #expect(read?.expires == nil)
    }

    @Test func aNameOfManyCodeUnitsIsKept() {
        let name = "\u{1F468}\u{200D}\u{1F469}"
        #expect(cookie("\(name)=")?.name == name)
    }
}

extension CookieAddress {
    /// Parses `scheme://host/path`.
    init(_ url: String) {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let rest = parts[2].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(host: String(rest[0]), path: "/" + (rest.count > 1 ? rest[1] : ""), isSecure: parts[0] == "https:")
    }
}
