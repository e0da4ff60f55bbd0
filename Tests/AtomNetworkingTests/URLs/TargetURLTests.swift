import Foundation
import Testing

@testable import AtomNetworking

@Suite("Resolving a Location", .limited)
struct TargetURLTests {
    private static func target(_ path: String = "/b/c/d;p", query: [QueryItem] = ["q": "1"]) throws -> TargetURL {
        TargetURL(base: try BaseURL(scheme: .http, host: "a.example"), path: try URLPath(path), queryItems: query)
    }

    @Test(
        "A reference is resolved as RFC 3986 §5.4 does it, without the fragment",
        arguments: [
            // §5.4.1
            ("g:h", nil), ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"),
            ("?y", "/b/c/d;p?y"), ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q=1"), ("g#s", "/b/c/g"),
            ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"), ("g;x?y#s", "/b/c/g;x?y"),
            (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"),
            ("../../", "/"), ("../../g", "/g"),
            // §5.4.2
            ("../../../g", "/g"), ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."),
            (".g", "/b/c/.g"), ("g..", "/b/c/g.."), ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"),
            ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"), ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"),
            ("g?y/./x", "/b/c/g?y/./x"), ("g?y/../x", "/b/c/g?y/../x"), ("g#s/../x", "/b/c/g"),
            ("http:g", nil),
            // An empty header has no reference.
            ("", nil), ("   ", nil),
        ] as [(String, String?)])
    func reference(_ location: String, leadsTo path: String?) throws {
        let resolved = try Self.target().resolving(location: location)
        #expect(resolved?.absoluteString == path.map { "http://a.example\($0)" })
    }

    @Test(
        "An absolute URL, and one without its scheme, lead to another server",
        arguments: [
            ("https://b.example/x?y=z", "https://b.example/x?y=z"), ("HTTPS://B.example/X", "https://b.example/X"),
            ("//b.example/x", "http://b.example/x"), ("//b.example", "http://b.example/"),
            ("http://b.example", "http://b.example/"), ("http://b.example?x=1", "http://b.example/?x=1"),
            ("http://b.example#top", "http://b.example/"), ("http://b.example:8080/", "http://b.example:8080/"),
            ("http://b.example:/x", "http://b.example/x"), ("http://127.0.0.1:81/x", "http://127.0.0.1:81/x"),
            ("http://[::1]/x", "http://[::1]/x"), ("http://[2001:db8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
            ("//[::1]:1", "http://[::1]:1/"), ("http://[::1]:/x?[a]", "http://[::1]/x?[a]"),
            ("http://b.example:080/../x/./y", "http://b.example:80/x/y"), ("http://b.example/..", "http://b.example/"),
            ("http://b.example?/../x", "http://b.example/?/../x"), ("  /g  ", "http://a.example/g"),
            ("\t/g", "http://a.example/g"),
            ("http://b_c/x", "http://b_c/x"), ("//_b_.Example/x", "http://_b_.example/x"),
            ("https://B.example./x", "https://b.example./x"), ("//b_c.:81", "http://b_c.:81/"),
        ])
    func absolute(_ location: String, is absolute: String) throws {
        #expect(try Self.target().resolving(location: location)?.absoluteString == absolute)
    }

    @Test(
        "User information never goes along",
        arguments: [
            "http://user:hunter2@b.example/x", "//user:hunter2@b.example/x", "http://user@b.example/x",
            "http://:hunter2@b.example/x", "http://us%40er:hunter2@b.example/x", "http://@b.example/x",
            "http://user@c.example:81@b.example/x",
        ])
    func userInformation(_ location: String) throws {
        let resolved = try #require(try Self.target().resolving(location: location))
        #expect(resolved.absoluteString == "http://b.example/x")
        #expect(resolved.host == "b.example")
    }

    @Test(
        "A URL without HTTP or without a valid host is rejected",
        arguments: [
            "ftp://b.example/x", "file:///etc/passwd", "javascript:alert(1)", "data:text/plain,x", "mailto:a@b.example",
            "ws://b.example/", "about:blank", "http:", "http:/x", "http://", "https:///x", "//", "///x", "http://:80/",
            "http://user@/x", "http://b.example:0/", "http://b.example:65536/", "http://b.example:-1/",
            "http://b.example:x/", "http://b.example:99999999999999999999/", "http://b.example../", "http://b%2ec/",
            "http://./", "http://127.0.0.1./", "http://[::1]./",
            "http://a b/", "http://bücher.example/", "http://127.1/", "http://0x7f000001/", "http://[::1/",
            "http://[fe80::1%25eth0]/", "http://[v1.a]/", "http://.b.example/", "http://b..example/", "http://b%00/",
            "http://b.example%0d%0aX/", "http:\\\\b.example", "http://[::1]x/", "http://b.example:8 0/", "1:x", ":80",
            "[::1]",
            // What software reads in more than one way.
            "/a\\b", "http://b.example\\@c.example/", "/a\tb", "/a\r\nEvil: 1", "/a\nb", "/a\0b", "/a\u{7F}b",
            "/a#\u{1}",
        ])
    func nowhere(_ location: String) throws {
        #expect(try Self.target().resolving(location: location) == nil)
    }

    @Test(
        "Spaces and letters outside ASCII are encoded, encoded octets are kept",
        arguments: [
            ("/a b", "/a%20b"), ("/a%20b", "/a%20b"), ("/café", "/caf%C3%A9"), ("/caf%C3%A9", "/caf%C3%A9"),
            ("/a%2Fb", "/a%2Fb"), ("/x?q=a b", "/x?q=a%20b"), ("/x?q=a+b%2B", "/x?q=a+b%2B"), ("/x?q=é", "/x?q=%C3%A9"),
            ("/a\"b", "/a%22b"), ("/<a>", "/%3Ca%3E"), ("/a|b", "/a%7Cb"), ("/{id}", "/%7Bid%7D"),
            ("/x?u=http://c.example/", "/x?u=http://c.example/"),
            // A stray percent sign is encoded alone, and brackets are sent as they are.
            ("/x?a=%2B&b=5%", "/x?a=%2B&b=5%25"), ("/100%/a%20b", "/100%25/a%20b"), ("/%zz%2f", "/%25zz%2f"),
            ("/%%41%4", "/%25%41%254"), ("/x?q=%é", "/x?q=%25%C3%A9"),
            ("?page[after]=a%3D%3D", "/b/c/d;p?page[after]=a%3D%3D"), ("/a[1]/%5B?[%5D", "/a[1]/%5B?[%5D"),
            ("[1]", "/b/c/[1]"), ("/%2e%2E/a", "/%2e%2E/a"), ("/a//../b", "/a/b"), ("/..//b", "//b"),
        ] as [(String, String)])
    func encoding(_ location: String, becomes path: String) throws {
        #expect(try Self.target().resolving(location: location)?.absoluteString == "http://a.example\(path)")
    }

    @Test("To Foundation the brackets after the host are percent-encoded, and nothing else is")
    func brackets() throws {
        let target = try #require(Self.target().resolving(location: "//[::1]/a[0]?page[after]=a%3D%3D"))
        #expect(target.url?.absoluteString == "http://[::1]/a%5B0%5D?page%5Bafter%5D=a%3D%3D")
        let response = AtomResponse(
            data: Data(), statusCode: 200, headerFields: HeaderFields(), address: target.absoluteString, decoder: nil)
        #expect(response.url == target.url)
        // A link keeps the query of the response as it was sent.
        let link = try LinkedEndpoint("#next", in: response)
        #expect(link.target == target)
        #expect(link.acceptableStatusCodes == 200...299 && !link.sharesIdenticalRequests)
    }

    @Test("Host and port are compared as an origin, whatever their spelling")
    func origins() throws {
        let target = try Self.target()
        for same in ["http://a.example/x", "HTTP://A.EXAMPLE/x", "http://a.example:80/x", "//a.example", "/x"] {
            #expect(target.resolving(location: same)?.origin == target.origin)
        }
        for other in [
            "https://a.example/x", "http://a.example:8080/", "http://b.a.example/", "//example", "//a.example.",
        ] {
            #expect(try #require(target.resolving(location: other)).origin != target.origin)
        }
    }

    @Test("What is shown of a target are no values of its query")
    func description() throws {
        let target = try Self.target(query: ["token": "hunter2", "a": "b"])
        #expect(target.description == "http://a.example/b/c/d;p?token=…&a=…")
        #expect(target.absoluteString.hasSuffix("?token=hunter2&a=b"))
        #expect((target.scheme, target.host, target.port) == (.http, "a.example", 80))
    }

    @Test("Twenty thousand random texts crash nothing, and what comes out is a URL to Foundation as well")
    func fuzz() throws {
        var generator = SeededGenerator(seed: 2026)
        let pieces = [
            "http", "https", ":", "/", "//", "@", "[", "]", "::1", "%", "%2", "%2F", "%zz", "?", "#", "..", ".", "a",
            "B", "é", " ", "\0", "\r\n", "\\", "😀", "80", "65536", "-1", "xn--", "_", "&", "=", "+", "|", "^", "`",
            "\u{7F}", "\u{301}", "\u{FFFD}", "127.0.0.1", "b.example",
        ]
        let target = try Self.target()
        var found = 0
        for round in 0..<20_000 {
            var location = ""
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                if round % 2 == 0 {
                    location += pieces.randomElement(using: &generator) ?? ""
                } else if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x2FF, using: &generator)) {
                    location.unicodeScalars.append(scalar)
                }
            }
            guard let resolved = target.resolving(location: location) else { continue }
            found += 1
            let text = resolved.absoluteString
            let url = try #require(resolved.url, "“\(location)”")
            #expect(target.resolving(location: text) == resolved, "“\(location)” became \(text)")
            // Foundation has no brackets after the host.
            let path = resolved.pathAndQuery
            let encoded = path.replacing("[", with: "%5B").replacing("]", with: "%5D")
            let isSame =
                url.absoluteString == text.dropLast(path.count) + encoded && url.fragment == nil && url.user == nil
                && url.password == nil
            let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            let host = try #require(url.host(percentEncoded: true)).lowercased()
            let isThere = host == resolved.host || "[\(host)]" == resolved.host
            let hasPort = url.port ?? resolved.scheme.defaultPort == resolved.port
            #expect(isSame && isPlain && isThere && hasPort, "“\(location)” became \(text)")
            #expect(HostGrammar.violation(in: resolved.host) == nil)
        }
        #expect(found > 2_000, "the generator makes references that lead somewhere")
    }
}
