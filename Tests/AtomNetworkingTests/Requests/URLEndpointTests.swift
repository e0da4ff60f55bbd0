import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("An endpoint of a URL of the app's own", .limited)
struct URLEndpointTests {
    private static func target(_ endpoint: URLEndpoint) throws -> String {
        try RequestDescription(of: endpoint).target().absoluteString
    }

    @Test("A stranger's first program is two lines")
    func firstProgram() async throws {
        let (atom, wire) = Atom.scripted(.text("hello"))
        let text = try await atom.enqueue(URLEndpoint("https://example.com")).resume(expecting: String.self)
        #expect(text == "hello")
        #expect(wire.requests.map(\.target.absoluteString) == ["https://example.com/"])
    }

    @Test(
        "Host, path and query are sent as they are written",
        arguments: [
            "https://example.com/", "https://example.com:8443/v1/a%2Fb/", "http://[::1]:9/x", "http://127.0.0.1:80/x",
            "https://example.com/users/@me", "https://example.com/a'(b);c=1,2/$x", "https://example.com/?x=1",
            "https://example.com/a?ids=1,2&flag&q=a+b%2c&&p=a:b", "https://example.com/a?",
            "https://example.com/a?u=http://user@b.example/?c",
        ])
    func asWritten(_ url: String) throws {
        #expect(try Self.target(URLEndpoint(url)) == url)
        let value = try #require(URL(string: url))
        #expect(try Self.target(URLEndpoint(value)) == url)
    }

    @Test(
        "A bare host has the path /, the host is in lower case, and what a URL can't have is encoded",
        arguments: [
            ("https://example.com", "https://example.com/"), ("https://example.com?x=1", "https://example.com/?x=1"),
            ("HTTPS://EXAMPLE.com:443/A", "https://example.com:443/A"),
            ("https://example.com/caf\u{E9}/[1]", "https://example.com/caf%C3%A9/%5B1%5D"),
            (
                "https://example.com/?q=\u{E9} x&p=50%&r[0]=\\",
                "https://example.com/?q=%C3%A9%20x&p=50%25&r%5B0%5D=%5C"
            ),
        ])
    func completed(_ url: String, becomes target: String) throws {
        #expect(try Self.target(URLEndpoint(url)) == target)
    }

    @Test(
        "What is wrong with a URL is said, with the remedy",
        arguments: [
            ("", "https://api.example.com"), ("example.com", "begins with https://"), ("//example.com", "begins"),
            ("example.com/a?u=https://b.example", "begins"), ("ftp://example.com/", "begins"), ("://", "begins"),
            ("file:///etc/passwd", "begins"), (" https://example.com", "begins"), ("https:/example.com", "begins"),
            ("mailto:ada@example.com", "begins"), ("xhttps://example.com", "begins"),
            ("https://", "host is empty"), ("https:///x", "host is empty"), ("https://?x", "host is empty"),
            ("https://a b/", "letters, digits"), ("https://a\\b/", "letters, digits"), ("https://127.1/", "four num"),
            ("https://b\u{FC}cher.example/", "xn--"), ("https://::1/", "brackets"), ("https://[::1/x", "bracket"),
            ("https://example.com:0/", "1…65535"), ("https://example.com:65536/", "1…65535"),
            ("https://example.com:x/", "1…65535"), ("https://example.com:/", "1…65535"),
            ("https://example.com//a", "segment is empty"), ("https://example.com/a//", "segment is empty"),
            ("https://example.com/a/../b", ". and .."), ("https://example.com/%2e%2E/b", ". and .."),
            ("https://example.com/a b", "%20"), ("https://example.com/ ", "%20"), ("https://example.com/100%", "%25"),
            ("https://example.com/%zz", "%25"),
            ("https://example.com/#a", "%23"), ("https://example.com/a?b#c", "%23"), ("https://example.com#", "%23"),
            ("https://example.com/\n", "line break"), ("https://example.com/?a=1\r\nEvil: 1", "line break"),
            ("https://example.com\0/", "control"), ("https://example.com/?\u{7F}", "control"),
        ])
    func refused(_ url: String, because reason: String) {
        let error = refusal { () throws(AtomError) in try URLEndpoint(url) }
        #expect(error == .invalidURL)
        #expect(error?.violation.reason.contains(reason) == true, "\(String(describing: error))")
    }

    @Test(
        "User information is refused and never shown",
        arguments: [
            "https://ada@example.com/", "https://ada:hunter2@example.com", "https://:hunter2@example.com/x?y",
            "https://ada:p@hunter2@example.com/", "https://ada:hunter2\\@example.com/",
            "https://ada:hunter2 x@example.com/", "https://ada%40hunter2@a.example",
        ])
    func userInformation(_ url: String) throws {
        let error = try #require(refusal { () throws(AtomError) in try URLEndpoint(url) })
        #expect(error == .invalidURL && error.violation.reason.contains("Basic authentication"))
        expectNone(of: everyRendering(of: error), toContain: "hunter2")
    }

    @Test(
        "Nor is a password shown that ends the host",
        arguments: [
            "https://ada:hunter2/x@example.com/", "https://ada:hunter2?x@example.com/",
            "https://ada:hunter2#x@example.com/",
        ])
    func unreadableUserInformation(_ url: String) throws {
        let error = try #require(refusal { () throws(AtomError) in try URLEndpoint(url) })
        expectNone(of: everyRendering(of: error), toContain: "hunter2")
    }

    @Test("Whatever the text is, it is a URL or refused, and what is sent is one to Foundation as well")
    func fuzz() throws {
        var generator = SeededGenerator(seed: 2059)
        let pieces = [
            "https://", "http://", "a.example", "127.0.0.1", "[::1]", ":80", "/", "/a", "?", "&", "=", "#", "@", "%",
            "%2F", "..", " ", "\0", "\r\n", "\\", "\u{E9}", "\u{301}", "[", "]", "+", ",", ";", "'",
        ]
        var sent = 0
        for _ in 0..<5_000 {
            var text = ["https://a.example", ""].randomElement(using: &generator) ?? ""
            for _ in 0..<Int.random(in: 0...8, using: &generator) {
                text += pieces.randomElement(using: &generator) ?? ""
            }
            guard let endpoint = try? URLEndpoint(text) else { continue }
            sent += 1
            let target = try Self.target(endpoint)
            #expect(target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            let url = try #require(URL(string: target), "“\(text)” became \(target)")
            #expect(url.absoluteString == target && url.user == nil && url.fragment == nil)
            #expect(try Self.target(URLEndpoint(target)) == target)
        }
        #expect(sent > 200, "\(sent) of 5,000 were URLs")
    }

    @Test("Method, query, header fields, body and the options are those of the endpoint")
    func members() throws {
        var endpoint = try URLEndpoint(
            "https://example.com/a?b=1,2", method: .post, queryItems: ["c": "d,e"], headerItems: ["X-A": "1"],
            body: .json([1]))
        endpoint.timeout = ServiceTimeout(request: 1, resource: 2)
        endpoint.retryPolicy = .standard
        endpoint.idempotency = .byKey
        endpoint.acceptableStatusCodes = 200...404
        endpoint.requiresAuthorization = false
        let request = try PreparedRequest(endpoint, timeout: ServiceTimeout())
        #expect(request.description == "POST https://example.com/a?b=…&c=…")
        #expect(request.target.absoluteString == "https://example.com/a?b=1,2&c=d%2Ce")
        #expect(request.headerFields["X-A"] == "1" && request.headerFields["Content-Type"] == "application/json")
        #expect(request.headerFields.contains("Idempotency-Key"))
        #expect(request.timeouts.idle == .seconds(1) && request.acceptableStatusCodes == 200...404)
        #expect(request.retrying?.policy == .standard && !request.requiresAuthorization)

        let plain = try URLEndpoint("https://example.com")
        #expect(plain.queryItems == nil && plain.headerItems == nil && plain.body == nil && plain.timeout == nil)
        #expect(plain.method == .get && plain.requiresAuthorization && !plain.sharesIdenticalRequests)
        #expect(try PreparedRequest(plain, timeout: ServiceTimeout()).acceptableStatusCodes == 200...299)
        #expect(try Self.target(URLEndpoint("https://example.com", queryItems: [])) == "https://example.com/")
        #expect(try Self.target(URLEndpoint("https://a.example?", queryItems: ["b": "1"])) == "https://a.example/?b=1")
    }

    @Test("An adapter sees and changes its parts")
    func adapters() async throws {
        struct Adapter: RequestAdapter {
            func adapt(_ request: inout RequestDescription, of endpoint: any Requestable) throws {
                #expect(endpoint is URLEndpoint)
                #expect(request.baseURL.description == "https://example.com" && request.path.description == "/")
                #expect(request.queryItems.map(\.name) == ["ids", "key"])
                request.queryItems.removeAll { $0.name == "key" }
                request.queryItems.append(QueryItem(name: "page", value: "2"))
                request.path = try URLPath("/mock")
            }
        }
        let (atom, wire) = Atom.scripted(.status(204), configure: { $0.adapters = [Adapter()] })
        try await atom.enqueue(URLEndpoint("https://example.com?ids=1,2&key=x")).resume()
        #expect(wire.requests.map(\.pathAndQuery) == ["/mock?ids=1,2&page=2"])
    }

    @Test("It is signed where the service allows that, and refused elsewhere")
    func origins() async throws {
        let allowed = try BaseURL(host: "api.example.com")
        let session = try SessionFixture(
            script: { $0.answer("{}") }, bearer: { $0.allowedOrigins = .only([allowed]) })
        try await session.atom.enqueue(URLEndpoint("https://API.example.com:443/x?y")).resume()
        #expect(session.transport.requests.last?.bearerToken == "A0")
        for url in ["https://example.com/x", "http://api.example.com/x", "https://api.example.com.evil.example/"] {
            let service = session.atom.enqueue(try URLEndpoint(url))
            let error = await #expect(throws: AtomError.self) { try await service.resume() }
            guard case .requestable(.originNotAllowed) = error else {
                Issue.record("\(url): \(String(describing: error))")
                continue
            }
        }
        #expect(session.transport.exchanges.count == 1, "nothing else is sent")
        var open = try URLEndpoint("https://example.com/x")
        open.requiresAuthorization = false
        try await session.atom.enqueue(open).resume()
        #expect(session.transport.requests.last?.headerFields["Authorization"] == nil)
    }

    @Test("Identical ones share an exchange, and another query is another request")
    func sharing() async throws {
        let service = SharingFixture()
        var endpoint = try URLEndpoint("https://api.example.com/x?ids=1,2")
        endpoint.sharesIdenticalRequests = true
        let calls = [service.call(endpoint), service.call(endpoint)]
        var other = try URLEndpoint("https://api.example.com/x?ids=1%2C2")
        other.sharesIdenticalRequests = true
        let third = service.call(other)
        #expect(service.count == 2)
        for exchange in service.transport.exchanges { exchange.answer() }
        for call in calls + [third] { #expect(await call.status() == 200) }
    }

    @Test("Neither it nor what an observer hears of it shows a value")
    func redaction() async throws {
        let endpoint = try URLEndpoint(
            "https://example.com/a?token=hunter2,x&hunter2", method: .post(Data("hunter2".utf8)),
            headerItems: ["X-Key": "hunter2"])
        #expect(endpoint.description == "POST https://example.com/a?token=…&…")
        expectNone(of: everyRendering(of: endpoint), toContain: "hunter2")
        let observer = RecordingObserver()
        let (atom, _) = Atom.scripted(.status(404), configure: { $0.observers = [observer] })
        let error = await #expect(throws: AtomError.self) { try await atom.enqueue(endpoint).resume() }
        expectNone(of: everyRendering(of: try #require(error)), toContain: "hunter2")
        #expect(!observer.events.isEmpty)
        for event in observer.events { expectNone(of: everyRendering(of: event), toContain: "hunter2") }
    }
}
