import Testing

@testable import AtomNetworking

@Suite("A base URL from its text", .limited)
struct BaseURLTests {
    @Test(
        "A scheme, a host and an optional port make a base URL",
        arguments: [
            ("https://api.example.com", "https://api.example.com"), ("http://a.example/", "http://a.example"),
            ("HTTPS://A.example:8443/", "https://A.example:8443"), ("http://127.0.0.1:80", "http://127.0.0.1:80"),
            ("http://my_service:8080", "http://my_service:8080"), ("https://a.example.", "https://a.example."),
            ("https://A.example.:8443/", "https://A.example.:8443"),
            ("https://[::1]", "https://[::1]"), ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
        ])
    func valid(_ text: String, _ description: String) throws {
        #expect(try BaseURL(string: text).description == description)
    }

    @Test(
        "Everything else is refused",
        arguments: [
            "", "api.example.com", "ftp://a.example", "https://", "https:///", "https://a.example/v1",
            "https://a.example//", "https://a.example?x", "https://a.example#x", "https://user@a.example",
            "https://u:p@a.example", "https://a.example:", "https://a.example:0", "https://a.example:65536",
            "https://a.example:+80", "https://a.example:99999999999999999999", "https://::1", "https://[::1",
            "https://a b", " https://a.example", "https://.", "https://a.example..", "https://127.0.0.1.",
            "https://[::1].", "https://a_b/c",
        ])
    func invalid(_ text: String) {
        do {
            let url = try BaseURL(string: text)
            Issue.record("\(url)")
        } catch .requestable(.invalidBaseURL(let violation)) {
            #expect(!violation.reason.isEmpty)
            #expect(!"\(violation)".contains("u:p"))
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("A token endpoint takes the port where a base URL does")
    func ports() throws {
        #expect(
            try AuthorizationEndpoint(scheme: .http, host: "a.example", port: 8080, path: "/token").description
                == "http://a.example:8080/token")
        #expect(try AuthorizationEndpoint(host: "a.example", path: "/t").description == "https://a.example/t")
        #expect(try AuthorizationEndpoint(host: "key_cloak.", path: "/t").description == "https://key_cloak./t")
    }

    @Test("A token endpoint can be made of a base URL")
    func tokenEndpoint() throws {
        let base = try BaseURL(string: "http://a.example:8080")
        let parts = try AuthorizationEndpoint(
            scheme: .http, host: "a.example", port: 8080, path: "/t", queryItems: ["p": "x"])
        #expect(try AuthorizationEndpoint(base: base, path: "/t", queryItems: ["p": "x"]) == parts)
        #expect(try AuthorizationEndpoint(base: base, path: "/t").description == "http://a.example:8080/t")
        #expect(refusal { () throws(AtomError) in try AuthorizationEndpoint(base: base, path: "t") } == .invalidURLPath)
    }

    @Test(
        "Loopback hosts are this machine",
        arguments: [
            "localhost", "LOCALHOST", "127.0.0.1", "127.255.255.255", "127.0.00.1", "[::1]",
        ])
    func loopback(host: String) {
        #expect(Origin(scheme: .http, host: host.lowercased(), port: 80).isLoopback)
    }

    @Test(
        "Other hosts aren't this machine",
        arguments: [
            "localhost.example", "notlocalhost", "a.localhost", "localhost.", "localhost_", "128.0.0.1",
            "127.0.0", "127.0.0.0.1", "127.0.0.1.example",
            "127.0.0.256", "127.0.256.1", "127.0.0.2561", "127.300.0.1", "127.0.0.", "127.0.0.1.", "127...1",
            "127.0.0.999999999999999999999999", "127.x.0.1", "[::2]", "0.0.0.0", "", ".", "127.",
        ])
    func notLoopback(host: String) {
        #expect(!Origin(scheme: .http, host: host, port: 80).isLoopback)
    }
}
