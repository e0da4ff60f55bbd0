import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited)
struct LoopbackRequestTests {
    private func answer(_ text: String, port: Int = 4711) -> LoopbackAnswer? {
        var request = LoopbackRequest(port: port, path: "/callback")
        return request.receive(text.utf8)
    }

    private func get(_ target: String, host: String = "127.0.0.1:4711") -> LoopbackAnswer? {
        answer("GET \(target) HTTP/1.1\r\nHost: \(host)\r\nAccept: */*\r\n\r\n")
    }

    @Test("The callback is a GET of the redirect URI's path with a query")
    func callback() {
        #expect(get("/callback?code=a%20b&state=s") == .callback(query: "code=a%20b&state=s"))
        #expect(get("/callback?error=?/") == .callback(query: "error=?/"))
        #expect(get("/callback?code=x", host: "LocalHost:4711") == .callback(query: "code=x"))
    }

    @Test("What a URL can't have, and browsers send, is percent-encoded in the query")
    func isEncoded() throws {
        guard case .callback(let query) = get("/callback?code=a|b^c{d}`\"") else {
            Issue.record("no callback")
            return
        }
        #expect(query == "code=a%7Cb%5Ec%7Bd%7D%60%22")
        let url = try #require(URL(string: "http://127.0.0.1:4711/callback?\(query)"))
        #expect(url.query(percentEncoded: false) == "code=a|b^c{d}`\"")
        #expect(get("/callback?code=100%&b=%20%2&c=%") == .callback(query: "code=100%25&b=%20%252&c=%25"))
    }

    @Test("What another page of the web embeds is no callback, nor is a query without code and error")
    func isNoCallback() {
        #expect(get("/callback?x") == .badRequest)
        #expect(get("/callback?state=s&codes=c") == .badRequest)
        for (destination, isNavigation) in [("document", true), ("image", false), ("script", false), ("empty", false)] {
            let found = answer(
                "GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nSec-Fetch-Dest: \(destination)\r\n\r\n")
            #expect(found == (isNavigation ? .callback(query: "code=x") : .badRequest), "\(destination)")
        }
    }

    @Test(
        "What isn't the callback is refused, and waited on",
        arguments: [
            ("GET /callback HTTP/1.1", LoopbackAnswer.badRequest), ("GET /callback? HTTP/1.1", .badRequest),
            ("GET /favicon.ico HTTP/1.1", .notFound), ("GET / HTTP/1.1", .notFound),
            ("GET /callback/?code=x HTTP/1.1", .notFound), ("GET /Callback?code=x HTTP/1.1", .notFound),
            ("POST /other?code=x HTTP/1.1", .notFound), ("HEAD /callback?code=x HTTP/1.1", .methodNotAllowed),
            ("POST /callback?code=x HTTP/1.1", .methodNotAllowed), ("get /callback?code=x HTTP/1.1", .methodNotAllowed),
            ("OPTIONS /callback HTTP/1.1", .methodNotAllowed), ("GET /callback?code=x HTTP/2.0", .badRequest),
            ("GET /callback?code=x", .badRequest), ("GET  /callback?code=x HTTP/1.1", .badRequest),
            ("GET /callback?code=x y HTTP/1.1", .badRequest), ("GET /callback?code=x#y HTTP/1.1", .badRequest),
            ("GET /callback?code=\u{e9} HTTP/1.1", .badRequest), ("GET /callback?code=\u{7} HTTP/1.1", .badRequest),
            ("GET http://127.0.0.1:4711/callback?code=x HTTP/1.1", .badRequest),
            ("OPTIONS * HTTP/1.1", .badRequest),
        ])
    func refused(_ line: String, _ expected: LoopbackAnswer) {
        #expect(answer("\(line)\r\nHost: 127.0.0.1:4711\r\n\r\n") == expected)
    }

    @Test(
        "A request with another host, none, or two is refused",
        arguments: [
            "Host: evil.example", "Host: evil.example:4711", "Host: 127.0.0.1", "Host: 127.0.0.1:4712",
            "Host: [::1]:4711", "Host: localhost.evil.example:4711", "Host:", "Accept: */*",
            "Host: 127.0.0.1:4711\r\nhost: evil.example", "X-Host: 127.0.0.1:4711",
        ])
    func otherHost(_ field: String) {
        #expect(answer("GET /callback?code=x HTTP/1.1\r\n\(field)\r\n\r\n") == .badRequest)
    }

    @Test("The port of a URL without one may be left out")
    func defaultPort() {
        let text = "GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        #expect(answer(text, port: 80) == .callback(query: "code=x"))
        #expect(answer(text, port: 4711) == .badRequest)
    }

    @Test(
        "A head with a malformed field is refused",
        arguments: ["Accept", ": x", "Accept : x", " folded", "A\u{0}: x", "Accept: a\u{0}b", "Accept: a\rb"])
    func malformed(_ field: String) {
        let text = "GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\(field)\r\n\r\n"
        #expect(answer(text) == .badRequest)
    }

    @Test("Lines may end without CR, and empty ones may come first")
    func lineEnds() {
        #expect(
            answer("\r\n\nGET /callback?code=x HTTP/1.1\nHost: 127.0.0.1:4711\n\n") == .callback(query: "code=x"))
    }

    @Test("It makes no difference how the bytes are divided")
    func divided() {
        let text = "GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n"
        var request = LoopbackRequest(port: 4711, path: "/callback")
        for byte in text.utf8.dropLast() { #expect(request.receive([byte]) == nil) }
        #expect(request.receive("\n".utf8) == .callback(query: "code=x"))
    }

    @Test("A head may have 16 KiB, and not a byte more")
    func limit() {
        let text = "GET /callback?code=x HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nCookie: "
        let rest = LoopbackRequest.limit - text.utf8.count - 4
        #expect(answer(text + String(repeating: "c", count: rest) + "\r\n\r\n") == .callback(query: "code=x"))
        #expect(answer(text + String(repeating: "c", count: rest + 1) + "\r\n\r\n") == .badRequest)
        #expect(answer(String(repeating: "c", count: LoopbackRequest.limit + 1)) == .badRequest)
        #expect(answer(String(repeating: "\n", count: LoopbackRequest.limit + 1)) == .badRequest)
    }

    @Test("The page says that the window can be closed, and has nothing of the request")
    func page() {
        let text = String(decoding: LoopbackAnswer.callback(query: "code=SECRET&state=S2").response, as: UTF8.self)
        let parts = text.components(separatedBy: "\r\n\r\n")
        #expect(parts.count == 2)
        for field in [
            "HTTP/1.1 200 OK", "Content-Type: text/html; charset=utf-8", "Content-Length: \(parts[1].utf8.count)",
            "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'", "Referrer-Policy: no-referrer",
            "Cache-Control: no-store", "Connection: close",
        ] { #expect(parts[0].components(separatedBy: "\r\n").contains(field)) }
        #expect(parts[1].contains("<p>You can close this window.</p>"))
        #expect(parts[1].contains("<title>Sign-in</title>"))
        #expect(parts[1].contains("content=\"light dark\""))
        #expect(!parts[1].contains("<script") && !parts[1].contains("http"))
        let other = LoopbackAnswer.callback(query: "state=<script>").response
        #expect(other == LoopbackAnswer.callback(query: "code=SECRET&state=S2").response)
    }

    @Test(
        "The page after an error says that nobody was signed in",
        arguments: [
            ("error=access_denied&state=s", true), ("state=s&error=x", true), ("error", true),
            ("error_description=x", false), ("code=error=", false), ("myerror=x", false),
        ])
    func errorPage(_ query: String, _ isError: Bool) {
        let text = String(decoding: LoopbackAnswer.callback(query: query).response, as: UTF8.self)
        #expect(text.contains("<p>Nobody was signed in. You can close this window.</p>") == isError)
        #expect(!text.contains("access_denied"))
    }

    @Test("Refusals have no body, and that of a method names the right one")
    func refusals() {
        for answer in [LoopbackAnswer.badRequest, .notFound, .methodNotAllowed] {
            let text = String(decoding: answer.response, as: UTF8.self)
            #expect(text.hasSuffix("\r\n\r\n"))
            #expect(text.contains("\r\nContent-Length: 0\r\n"))
            #expect(text.contains("\r\nAllow: GET\r\n") == (answer == .methodNotAllowed))
        }
    }
}
