import Testing

@testable import AtomNetworking

@Suite("Valid hosts", .limited)
struct HostGrammarTests {
    private static let label63 = String(repeating: "a", count: 63)
    private static let octets253 = "\(label63).\(label63).\(label63).\(String(repeating: "b", count: 61))"

    @Test(
        "A name of labels, an IPv4 address and an IPv6 address in brackets are hosts",
        arguments: [
            "api.alaskaair.net", "apple.com", "developer.google.io", "localhost", "nike.nike",
            "a", "A.B.C", "x-y.z", "a--b.example", "xn--bcher-kva.example", "3com.com", "1a", "a1", "127.1.example",
            "0x7f.example", "0xyz", "1.2.3.a", label63, "\(label63).com", octets253,
            // Docker Compose, the DNS's own names, and names that are complete.
            "a_b.example", "_dmarc.example", "my_service_", "_", "__.a", "1_2", "0x_1", "a_-_b",
            "a.", "A.B.", "redis.prod.svc.cluster.local.", "my_service.", "localhost.", "1.2.3.a.", "\(label63).",
            "\(octets253).",
            "127.0.0.1", "0.0.0.0", "255.255.255.255", "10.0.200.9",
            "[::1]", "[::]", "[2001:db8::7]", "[2001:DB8:0:0:8:800:200C:417A]", "[::ffff:192.0.2.1]", "[fe80::1]",
        ])
    func validHost(_ host: String) throws {
        #expect(HostGrammar.violation(in: host) == nil)
        let base = try BaseURL(host: host)
        #expect(base.host == host)
        #expect(base.description == "https://\(host)")
        #expect(base.origin == Origin(scheme: .https, host: host.lowercased(), port: 443))
    }

    @Test(
        "Anything else is refused",
        arguments: [
            // The list of Atom.
            "/api.alaskaair.net", "apple/", "developer*", "http:localhost", ".com", ".api.alaskaair.net",
            "/alaskaair/", "",
            // Labels.
            "a..b", ".", "..", "a..", "..a", ".a.", "-a", "a-", "a.-b", "a-.b", "a.b-", "-", "a-.", "-.", "-_", "_-",
            label63 + "a", label63 + "a.", "x.\(label63)a.com", octets253 + "b", octets253 + "b.", "\(octets253)..",
            "\(octets253.dropLast(2)).com",
            // Characters.
            "a b", " a", "a ", "a\n", "a\r\nb", "a\t", "a\0", "\0", "\u{7F}",
            "bücher.example", "пример.рф", "例え.jp", "a\u{3002}b", "a%2eb", "a?b", "a#b", "a\\b", "a@b", "u:p@a",
            "a:80", "https://a", "a/b", "::1", "a,b", "a;b", "a=b", "a+b", "a~b", "(a)", "a!", "a$", "a&b", "'a'",
            "\"a\"", "<a>", "{a}", "a|b", "a^b", "`a`",
            // Numbers.
            "256.0.0.1", "1.2.3.256", "1.2.3", "1.2.3.4.5", "1", "127.1", "0x7f.1", "0x7f000001", "127.0.0.0x1",
            "1.2.3.0xG.0x", "01.2.3.4", "1.2.3.04", "1.2.3.00", "0x", "a.1", "a.b.c.0x1F", "99999999999999999999",
            "1.2.3.99999999999999999999", "1.2.3.4.", "127.0.0.1.", "127.1.", "1.", "0x7f000001.", "a.1.", "1.0x2.3.4",
            "0X7F.1", "1.2.3.+4",
            // Brackets.
            "[", "]", "[]", "[::1", "::1]", "[::1]:80", "[::1]a", "[:::1]", "[1::2::3]", "[12345::]", "[g::]",
            "[127.0.0.1]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[v1.a]", "[a.example]", "[::1\0]", "[ ::1]",
            "[::1].", "[::1.]", "[::1 ]", "[::1/64]", "[[::1]]", "[\u{301}::1]", "[\u{FE0F}::1]", "[1:2:3:4:5:6:7:8:9]",
            "[::256.0.0.1]",
        ])
    func invalidHost(_ host: String) {
        guard case .invalidBaseURL(let violation) = refusal(of: { () throws(AtomError) in try BaseURL(host: host) })
        else {
            Issue.record("“\(host)” was accepted")
            return
        }
        #expect(!violation.reason.isEmpty)
        #expect(!violation.reason.hasSuffix("."), "the description ends the sentence")
    }

    @Test(
        "The reason names the rule, and the remedy where there is one",
        arguments: [
            ("", "empty"), ("https://a", "scheme"), ("a/b", "path"), ("a:80", "port"), ("::1", "brackets"),
            ("u@a", "user information"),
            ("bücher", "xn--"), (".", "empty"), ("a..", "empty"), ("127.0.0.1.", "remove"), ("0x7f.", "remove"),
            ("a..b", "empty"), ("-a", "begin"), ("a-", "end"), ("a-.b", "end"),
            (label63 + "a", "63"), (octets253 + "c", "253"), ("127.1", "four numbers"), ("[::1", "bracket"),
            ("[fe80::1%1]", "zone"), ("[x]", "IPv6"), ("a b", "letters, digits, underscores"),
        ])
    func reason(_ host: String, says word: String) throws {
        #expect(try #require(HostGrammar.violation(in: host)).contains(word))
    }

    @Test("A host name contains only ASCII letters, digits, hyphens, underscores and dots", arguments: UInt8(0)...255)
    func everyByte(_ byte: UInt8) {
        let host = "a\(Character(Unicode.Scalar(byte)))b"
        let isFine: Bool =
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        #expect((HostGrammar.violation(in: host) == nil) == isFine)
    }

    @Test("A port is in 1…65535", arguments: [1, 80, 443, 8080, 65_535])
    func validPort(_ port: Int) throws {
        let base = try BaseURL(scheme: .http, host: "[::1]", port: port)
        #expect(base.port == port)
        #expect(base.description == "http://[::1]:\(port)")
        #expect(base.origin.port == port)
    }

    @Test("Any other number is not a port", arguments: [0, -1, 65_536, .max, .min])
    func invalidPort(_ port: Int) {
        let error = refusal { () throws(AtomError) in try BaseURL(host: "a", port: port) }
        #expect(error == .invalidBaseURL)
        #expect(error?.violation == .init(subject: String(port), reason: "a port is in 1…65535"))
    }

    @Test("Different spellings of one origin are equal, and another port is another origin")
    func origins() throws {
        let origin = try BaseURL(host: "API.example.com").origin
        #expect(try BaseURL(host: "api.example.com", port: 443).origin == origin)
        #expect(try BaseURL(scheme: .http, host: "api.example.com").origin.port == 80)
        #expect(try BaseURL(scheme: .http, host: "api.example.com", port: 443).origin != origin)
        #expect(try BaseURL(host: "api.example.com", port: 8443).origin != origin)
        #expect(try BaseURL(host: "example.com").origin != origin)
        #expect(try BaseURL(host: "api.example.com.").origin != origin)
        #expect(try BaseURL(host: "API.example.com.", port: 443).origin.string == "https://api.example.com.")
    }
}
