import Foundation
import Testing

@testable import AtomNetworking

@Suite("Valid paths", .limited)
struct URLPathTests {
    /// `pchar` (RFC 3986 §3.3), written independently of the code.
    private static let pchar = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@".utf8)

    @Test(
        "A path that needs no encoding is kept as it is",
        arguments: [
            "/path", "/api", "/me", "/v1/new/path", "/v1/new/path/", "/v2/new-path", "/v3/new_path",
            "/files/report.pdf", "/.well-known/openid-configuration", "/~user/x", "/users/@me", "/v1/$batch",
            "/v1/a%20b", "/", "/a/", "/...", "/..a", "/a..", "/.a", "/a.", "/%2F", "/a%2Fb", "/a%2fb", "/%25", "/%3F",
            "/%23", "/%00", "/%E2%82%AC", "/%ff", "/a;b=c,d", "/a:b", "/a'(b)*!", "/a=b&c+d", "/%2e%2e%2e", "/%2ea",
            "/a%2e", "/%2525",
        ])
    func validPath(_ path: String) throws {
        #expect(try URLPath(path).description == path)
    }

    @Test(
        "Letters outside ASCII and characters that aren't allowed in a URL are encoded",
        arguments: [
            ("/v1/café", "/v1/caf%C3%A9"), ("/日本", "/%E6%97%A5%E6%9C%AC"), ("/😀", "/%F0%9F%98%80"),
            ("/a\"b", "/a%22b"), ("/<a>", "/%3Ca%3E"), ("/{id}", "/%7Bid%7D"), ("/a|b", "/a%7Cb"), ("/a\\b", "/a%5Cb"),
            ("/^", "/%5E"), ("/`", "/%60"), ("/[1]", "/%5B1%5D"), ("/é%20é", "/%C3%A9%20%C3%A9"),
            ("/e\u{301}", "/e%CC%81"), ("/\u{80}", "/%C2%80"), ("/\u{2028}", "/%E2%80%A8"),
        ])
    func encodedPath(_ path: String, becomes encoded: String) throws {
        #expect(try URLPath(path).description == encoded)
    }

    @Test(
        "What can't be sent or is read in several ways is refused, with the reason",
        arguments: [
            ("", "empty"), ("path", "begins"), ("_/v3/new_path", "begins"), ("%2Fa", "begins"), ("é", "begins"),
            ("//a", "segment is empty"), ("//", "segment is empty"), ("/a//b", "segment is empty"),
            ("/a//", "segment is empty"), ("/a b", "%20"), (" /a", "begins"), ("/a ", "%20"),
            ("/a?b", "query items"), ("/a?", "query items"), ("/a#b", "fragment"), ("/#", "fragment"),
            ("/a\nb", "control"), ("/a\r\nb", "control"), ("/\0", "control"), ("/\t", "control"),
            ("/\u{7F}", "control"), ("/\u{1B}", "control"),
            ("/%", "%25"), ("/a%", "%25"), ("/%2", "%25"), ("/%2/", "%25"), ("/%zz", "%25"), ("/%2g", "%25"),
            ("/%%20", "%25"), ("/100%", "%25"), ("/% 20", "%25"), ("/%é", "%25"), ("/%+1", "%25"),
            ("/.", ". and .."), ("/..", ". and .."), ("/./a", ". and .."), ("/../a", ". and .."),
            ("/a/..", ". and .."), ("/a/../b", ". and .."), ("/a/.", ". and .."), ("/a/./", ". and .."),
            ("/%2e", ". and .."), ("/%2e%2e", ". and .."), ("/%2E.", ". and .."), ("/.%2e/a", ". and .."),
            ("/a/%2E%2E/b", ". and .."),
        ])
    func invalidPath(_ path: String, because reason: String) {
        guard case .invalidURLPath(let violation) = refusal(of: { () throws(AtomError) in try URLPath(path) }) else {
            Issue.record("“\(path)” was accepted")
            return
        }
        #expect(violation.reason.contains(reason))
    }

    @Test("Every byte of ASCII alone in a segment is kept, encoded or refused, by RFC 3986", arguments: UInt8(0)...0x7F)
    func everyByte(_ byte: UInt8) throws {
        let character = Character(Unicode.Scalar(byte))
        let path = "/a/\(character)/b"
        switch byte {
        case 0..<0x20, 0x7F, UInt8(ascii: " "), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "%"),
            UInt8(ascii: "."), UInt8(ascii: "/"):
            #expect(refusal { () throws(AtomError) in try URLPath(path) } != nil)
        case let byte where Self.pchar.contains(byte):
            #expect(try URLPath(path).description == path)
        default:
            let hex = String(byte, radix: 16, uppercase: true)
            #expect(try URLPath(path).description == "/a/%\(hex)/b")
        }
    }

    @Test("Every octet can be written percent-encoded, in either case, and stays as written", arguments: UInt8(0)...255)
    func everyOctetEncoded(_ byte: UInt8) throws {
        for isUppercase in [true, false] {
            let digits = String(byte, radix: 16, uppercase: isUppercase)
            let octet = "%" + (digits.count == 1 ? "0" : "") + digits
            #expect(try URLPath("/a\(octet)/b").description == "/a\(octet)/b")
        }
    }

    @Test("A path of a hundred thousand characters is encoded whole, in one pass")
    func longPath() throws {
        let plain = String(repeating: "/abcdefghi", count: 10_000)
        #expect(try URLPath(plain).description == plain)
        let accented = "/" + String(repeating: "é", count: 50_000)
        #expect(try URLPath(accented).description == "/" + String(repeating: "%C3%A9", count: 50_000))
        guard case .invalidURLPath(let violation) = refusal(of: { () throws(AtomError) in try URLPath(plain + "?") })
        else {
            Issue.record("The question mark was accepted")
            return
        }
        #expect(violation.subject.count < 120)
    }

    @Test("The default path of an endpoint is none at all, and the URL ends with a slash")
    func emptyPath() throws {
        #expect(URLPath.empty.description.isEmpty)
        let target = TargetURL(base: try BaseURL(host: "a.example"), path: .empty, queryItems: [])
        #expect(target.absoluteString == "https://a.example/")
    }

    @Test("Segments may be any text and stay one segment each")
    func segments() throws {
        #expect(try URLPath(segments: ["airports", "Paris/CDG"]).description == "/airports/Paris%2FCDG")
        #expect(try URLPath(segments: ["100%", "a?b#c", "é +"]).description == "/100%25/a%3Fb%23c/%C3%A9%20%2B")
        #expect(try URLPath(segments: ["%2F"]).description == "/%252F")
        #expect(try URLPath(segments: ["..."]).description == "/...")
        for byte in UInt8(0)..<0x80 where byte != UInt8(ascii: ".") {
            let text = String(Character(Unicode.Scalar(byte)))
            let path = try URLPath(segments: [text, "x"]).description
            #expect(path.split(separator: "/").count == 2)
            #expect(path.split(separator: "/").first.flatMap { String($0).removingPercentEncoding } == text)
        }
    }

    @Test(
        "No segments, and segments that are empty or nothing but one or two dots, are refused",
        arguments: [[], [""], ["a", ""], ["", "a"], ["a", "", "b"], ["."], [".."], ["a", ".."], ["", ""]])
    func invalidSegments(_ segments: [String]) {
        guard case .invalidURLPath = refusal(of: { () throws(AtomError) in try URLPath(segments: segments) }) else {
            Issue.record("They were accepted")
            return
        }
    }

    @Test("Two paths are equal when they are sent alike")
    func equality() throws {
        #expect(try URLPath("/é") == URLPath("/%C3%A9"))
        #expect(try URLPath("/a") != URLPath("/a/"))
        #expect(try URLPath("/%2F") != URLPath("/%2f"))
    }

    @Test("What is encoded here is a URL to Foundation as well")
    func foundationAgrees() throws {
        var generator = SeededGenerator(seed: 7)
        let base = try BaseURL(host: "a.example")
        var accepted = 0
        for _ in 0..<2_000 {
            let scalars = (0..<Int.random(in: 1...12, using: &generator)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x24F, using: &generator))
            }
            var text = "/"
            text.unicodeScalars.append(contentsOf: scalars)
            guard let path = try? URLPath(text) else { continue }
            accepted += 1
            let target = TargetURL(base: base, path: path, queryItems: [])
            #expect(target.url?.absoluteString == target.absoluteString)
        }
        #expect(accepted > 500, "\(accepted) of 2,000 were paths")
    }
}
