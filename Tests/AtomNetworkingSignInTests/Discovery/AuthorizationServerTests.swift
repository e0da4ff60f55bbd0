import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite("An authorization server that the app knows", .limited)
struct AuthorizationServerTests {
    @Test("It has what the app says")
    func hasWhatTheAppSays() throws {
        let server = try AuthorizationServer(
            issuer: "https://a.example/tenant", authorizationEndpoint: "https://login.example/?p=1",
            tokenEndpoint: "https://a.example/token?p=1")
        #expect(server.issuer == "https://a.example/tenant")
        #expect(server.authorizationEndpoint == "https://login.example/?p=1")
        #expect(server.tokenEndpoint == (try AuthorizationEndpoint("https://a.example/token?p=1")))
        #expect(!server.sendsIssuerInCallback && !server.requiresPushedRequests && server.scopes == nil)
    }

    @Test(
        "Its addresses are https, or http on this device where its issuer is",
        arguments: [
            ("http://localhost", "http://localhost:8080/authorize", "http://127.0.0.1:81/token"),
            ("http://127.8.9.10:81/a", "http://[::1]/authorize", "https://a.example/token"),
            ("http://[::1]:8080", nil, "http://LOCALHOST/token"),
            ("HTTPS://a.example", nil, "https://b.example/token"),
        ])
    func areAccepted(_ issuer: String, _ page: String?, _ token: String) throws {
        _ = try AuthorizationServer(issuer: issuer, authorizationEndpoint: page, tokenEndpoint: token)
    }

    @Test(
        "Other addresses are refused",
        arguments: [
            // Issuers.
            ("http://a.example", nil, "https://a.example/token"),
            ("http://127.0.0.1.example", nil, "https://a.example/token"),
            ("http://127.example", nil, "https://a.example/token"),
            ("http://localhost.", nil, "https://a.example/token"),
            ("http://a.localhost", nil, "https://a.example/token"),
            ("https://a.example?", nil, "https://a.example/token"),
            ("https://a.example/?tenant=1", nil, "https://a.example/token"),
            ("https://a.example/#", nil, "https://a.example/token"),
            ("https://ann:secret@a.example", nil, "https://a.example/token"),
            ("https://a.example/b/../c", nil, "https://a.example/token"),
            ("https://a.example//b", nil, "https://a.example/token"),
            ("https://a.example:0", nil, "https://a.example/token"),
            ("a.example", nil, "https://a.example/token"), ("", nil, "https://a.example/token"),
            ("ftp://a.example", nil, "https://a.example/token"),
            // Pages.
            ("https://a.example", "http://a.example/authorize", "https://a.example/token"),
            ("https://a.example", "http://localhost/authorize", "https://a.example/token"),
            ("http://localhost", "http://a.example/authorize", "https://a.example/token"),
            ("https://a.example", "https://a.example/authorize#top", "https://a.example/token"),
            ("https://a.example", "javascript:alert(1)", "https://a.example/token"),
            // Token endpoints.
            ("https://a.example", nil, "http://a.example/token"), ("https://a.example", nil, "http://127.0.0.1/token"),
            ("https://a.example", nil, "https://a.example/token#"), ("https://a.example", nil, "/token"),
        ] as [(String, String?, String)])
    func areRefused(_ issuer: String, _ page: String?, _ token: String) {
        let result = Result { () throws(AtomError) in
            try AuthorizationServer(issuer: issuer, authorizationEndpoint: page, tokenEndpoint: token)
        }
        #expect(result.refusal != nil)
        #expect(result.failure?.description.contains("secret") == false)
    }

    @Test("Its description hides the values of queries")
    func hidesValues() throws {
        var server = try AuthorizationServer(issuer: "https://a.example", tokenEndpoint: "https://a.example/token")
        server.authorizationEndpoint = "https://a.example/authorize?key=hunter2"
        for text in ["\(server)", String(reflecting: server), String(dumping: server)] {
            #expect(text.contains("https://a.example") && !text.contains("hunter2"))
        }
    }
}

extension String {
    fileprivate init(dumping value: Any) {
        self = ""
        dump(value, to: &self)
    }
}
