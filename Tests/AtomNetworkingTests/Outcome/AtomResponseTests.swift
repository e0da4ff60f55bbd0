import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A server's response", .limited)
struct AtomResponseTests {
    @Test("A status from 200 to 299 is a success, any other or none is a failure")
    func statusRanges() {
        for status in -1...1_000 {
            let response = AtomResponse(statusCode: status)
            #expect(response.isSuccess == (status >= 200 && status < 300))
            #expect(response.isFailure == !response.isSuccess)
        }
        #expect(AtomResponse(statusCode: nil).isFailure)
        #expect(!AtomResponse(statusCode: nil).isSuccess)
    }

    @Test("The ready-made success is an empty 200")
    func success() {
        #expect(AtomResponse.success.isSuccess)
        #expect(AtomResponse.success.statusCode == 200)
        #expect(AtomResponse.success.data.isEmpty)
        #expect(AtomResponse.success.httpResponse?.statusCode == 200)
        #expect(AtomResponse.success.url == nil)
    }

    @Test("Foundation's response has the status, the URL and the fields, repeats joined")
    func httpResponse() throws {
        let url = try #require(URL(string: "https://a.example/x?y=z"))
        let response = AtomResponse(
            statusCode: 404,
            headerFields: HeaderFields([
                .init(name: "Content-Type", value: "text/html"), .init(name: "Vary", value: "a"),
                .init(name: "vary", value: "b"), .init(name: "x-lower", value: "1"),
            ]), url: url)
        let foundation = try #require(response.httpResponse)
        #expect(foundation.statusCode == 404)
        #expect(foundation.url == url)
        #expect(foundation.value(forHTTPHeaderField: "VARY") == "a, b")
        #expect(foundation.value(forHTTPHeaderField: "content-type") == "text/html")
        #expect(foundation.value(forHTTPHeaderField: "X-Lower") == "1")
        #expect(foundation.mimeType == "text/html")
        #expect(response.url == url)
    }

    @Test("Foundation's response is nil without a status, but not without a URL")
    func noHTTPResponse() throws {
        let url = try #require(URL(string: "https://a.example/"))
        #expect(AtomResponse(statusCode: nil, url: url).httpResponse == nil)
        #expect(AtomResponse(statusCode: 200).httpResponse?.url == URL(string: "/"))
        #expect(AtomResponse(statusCode: 200, url: url).httpResponse != nil)
    }

    @Test("Two responses are equal when body, status, fields and URL are, with any decoder")
    func equality() throws {
        let url = try #require(URL(string: "https://a.example/"))
        let one = AtomResponse(data: Data([1]), statusCode: 200, url: url)
        let same = AtomResponse(
            data: Data([1]), statusCode: 200, headerFields: HeaderFields(), address: "https://a.example/",
            decoder: .plain)
        #expect(one == same)
        #expect(one != AtomResponse(data: Data([2]), statusCode: 200, url: url))
        #expect(one != AtomResponse(data: Data([1]), statusCode: 201, url: url))
        #expect(one != AtomResponse(data: Data([1]), statusCode: 200))
        #expect(
            one
                != AtomResponse(
                    data: Data([1]), statusCode: 200, headerFields: HeaderFields([.init(name: "A", value: "b")]),
                    url: url))
    }

    @Test("Its description is status, media type and size")
    func description() {
        let response = AtomResponse(
            data: Data("secret".utf8), statusCode: 503,
            headerFields: HeaderFields([.init(name: "content-type", value: "text/html; charset=utf-8")]))
        #expect(response.description == "HTTP 503 Service Unavailable, text/html; charset=utf-8, 6 bytes")
        #expect(AtomResponse(statusCode: nil).description == "no HTTP status, 0 bytes")
        #expect(AtomResponse(statusCode: 799).description == "HTTP 799 Status, 0 bytes")
    }

    @Test(
        "A body that isn't in it has no size in its description",
        arguments: [
            ("Content-Length", "5", false), ("Content-Length", "0", true), ("Transfer-Encoding", "chunked", false),
        ])
    func bodyElsewhere(_ name: String, _ value: String, isShown: Bool) {
        let fields = HeaderFields([.init(name: name, value: value)])
        let response = AtomResponse(statusCode: 200, headerFields: fields)
        #expect(response.description == "HTTP 200 OK" + (isShown ? ", 0 bytes" : ""))
        let full = AtomResponse(data: Data("x".utf8), statusCode: 200, headerFields: fields)
        #expect(full.description == "HTTP 200 OK, 1 bytes")
    }

    @Test(
        "A media type is shown if it is plain",
        arguments: [
            ("application/json", "application/json"), ("Text/HTML ; Charset=\"UTF-8\"", "Text/HTML; charset=UTF-8"),
            ("application/problem+json", "application/problem+json"), ("text/plain;", "text/plain"),
            ("application/vnd.github.v3+json; charset=utf-8", "application/vnd.github.v3+json; charset=utf-8"),
            ("multipart/mixed; boundary=hunter2; x=hunter2", "multipart/mixed; …"),
            ("text/plain; charset=utf-8; charset=utf-8; x=y", "text/plain; charset=utf-8; …"),
            ("text/plain; charset=hunter 2", "text/plain; …"), ("text/plain; hunter2", "text/plain; …"),
            ("text/plain; charset=d41d8cd98f00b204e9800998ecf8427e", "text/plain; …"),
            ("text/d41d8cd98f00b204e9800998ecf8427e", nil), ("hunter2", nil), ("Bearer hunter2", nil), ("", nil),
            ("Bearer/hunter2", nil), ("text/hunter/2", nil), ("text/", nil), ("/json", nil), ("text/hunter 2", nil),
            ("text/hünter2", nil), ("text/html, hunter2", nil), ("; hunter2", nil),
        ])
    func mediaType(_ field: String, becomes shown: String?) {
        let response = AtomResponse(
            statusCode: 200, headerFields: HeaderFields([.init(name: "Content-Type", value: field)]))
        #expect(response.description == "HTTP 200 OK, \(shown ?? "unusual media type"), 0 bytes")
    }

    @Test("A media type that a server made up can't flood a log or steer a terminal")
    func hostileMediaType() {
        let type = "text/\u{1B}[2J\nfake log line" + String(repeating: "x", count: 10_000)
        let response = AtomResponse(
            statusCode: 200, headerFields: HeaderFields([.init(name: "Content-Type", value: type)]))
        #expect(response.description.count < 200)
        #expect(response.description.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test(
        "The reason phrases are the registry's",
        arguments: [
            (200, "OK"), (204, "No Content"), (302, "Found"), (401, "Unauthorized"), (418, "I'm a teapot"),
            (429, "Too Many Requests"), (599, "Status"),
        ])
    func reasonPhrase(_ status: Int, is phrase: String) {
        #expect(HTTPStatus.reasonPhrase(for: status) == phrase)
    }

    @Test("Neither body nor header values nor the query are shown, however it is printed")
    func hidden() {
        let response = AtomResponse(
            data: Data("hunter2".utf8), statusCode: 200,
            headerFields: HeaderFields([.init(name: "Set-Cookie", value: "session=hunter2")]),
            url: URL(string: "https://a.example/?token=hunter2"))
        expectNone(of: everyRendering(of: response), toContain: "hunter2")
    }
}
