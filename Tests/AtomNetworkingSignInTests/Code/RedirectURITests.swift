import AtomNetworking
import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited)
struct RedirectURITests {
    @Test(
        "These are redirect URIs of apps",
        arguments: [
            "https://app.example.com/callback", "https://app.example.com", "https://app.example.com:8443/a?b=c",
            "http://127.0.0.1:8080/callback", "http://[::1]:8080/callback", "http://localhost/callback",
            "com.example.app:/callback", "com.example.app://callback", "Com.Example.App:/callback?a=b",
        ])
    func accepts(text: String) throws { try RedirectURI.check(text) }

    @Test(
        "These are not, and the error says why",
        arguments: [
            ("", "RFC 3986"), ("/callback", "absolute"), ("callback", "absolute"),
            ("https://app.example.com/#a", "fragment"), ("com.example.app:/a#", "fragment"),
            ("http://app.example.com/callback", "8252 §7.3"), ("http://127.0.0.1.example.com/", "8252 §7.3"),
            ("myapp:/callback", "8252 §7.1"), ("urn:ietf:wg:oauth:2.0:oob", "8252 §7.1"),
            ("javascript:alert(1)", "8252 §7.1"), ("file:///a", "8252 §7.1"),
            ("https://ann@app.example.com/", "user name"), ("https:///callback", "host"),
            ("com.example.app:/a b", "RFC 3986"), ("com.example.app:/ä", "RFC 3986"),
        ])
    func refuses(text: String, reason: String) {
        let error = #expect(throws: AtomError.self) { try RedirectURI.check(text) }
        guard case .requestable(.invalidURL(let violation)) = error else {
            Issue.record("\(text): \(String(describing: error))")
            return
        }
        #expect(violation.reason.contains(reason), "\(violation.reason)")
    }

    @Test(
        "A callback is compared as browsers write it",
        arguments: [
            ("https://app.example.com/cb", "HTTPS://App.Example.com:443/cb?code=1", true),
            ("https://app.example.com", "https://app.example.com/?code=1#_=_", true),
            ("http://127.0.0.1:8080/cb", "http://127.0.0.1:8080/cb?code=1", true),
            ("com.example.app:/cb", "com.example.app:/cb?code=1", true),
            ("com.example.app:/cb", "com.example.app:///cb?code=1", true),
            ("http://127.0.0.1:8080/cb", "http://127.0.0.1:8081/cb?code=1", false),
            ("http://127.0.0.1:8080/cb", "http://localhost:8080/cb?code=1", false),
            ("https://app.example.com/cb", "http://app.example.com/cb", false),
            ("https://app.example.com/cb", "https://app.example.com/cb/", false),
            ("https://app.example.com/cb", "https://app.example.com/CB", false),
            ("https://app.example.com/cb", "https://app.example.com/a/../cb", false),
            ("https://app.example.com/cb", "https://app.example.com/%63b", false),
            ("https://app.example.com/cb", "https://app.example.com.evil.example/cb", false),
            ("https://app.example.com/cb", "https://evil.example@app.example.com/cb", false),
            ("https://app.example.com/cb", "https://app.example.com:99999999999999999999/cb", false),
            ("https://app.example.com/cb", "https://app.example.com?/cb", false),
            ("com.example.app:/cb", "com.example.other:/cb", false),
            ("com.example.app:/cb", "com.example.app://cb", false),
        ])
    func compares(redirectURI: String, callback: String, isSame: Bool) {
        #expect((RedirectURI(of: redirectURI) == RedirectURI(of: callback)) == isSame)
    }
}
