import Foundation
import Testing

@testable import AtomNetworking

@Suite("The request for a new access token", .limited)
struct TokenRequestTests {
    private static let old = TokenCredential(
        accessToken: "expired-access", expiresAt: .distantPast, refreshToken: "r+&=% ü")

    private static func bearer(id: String, secret: String?) throws -> BearerAuthentication {
        BearerAuthentication(
            endpoint: try AuthorizationEndpoint(host: "auth.example.com", path: "/oauth/token"),
            client: ClientCredential(id: id, secret: secret), writable: RecordingTokens(old))
    }

    private static func text(_ request: PreparedRequest) -> String {
        String(decoding: request.body?.data ?? Data(), as: UTF8.self)
    }

    @Test("A form with everything encoded is posted to the endpoint, by default with client and secret in the body")
    func post() throws {
        let bearer = try Self.bearer(id: "app id", secret: "s+e&c=r%e t/ß")
        let request = try #require(TokenRequest.token(replacing: Self.old, with: bearer, timeout: .seconds(7)))
        #expect(request.method == "POST")
        #expect(request.target.absoluteString == "https://auth.example.com/oauth/token")
        #expect(
            Self.text(request)
                == "grant_type=refresh_token&refresh_token=r%2B%26%3D%25+%C3%BC"
                + "&client_id=app+id&client_secret=s%2Be%26c%3Dr%25e+t%2F%C3%9F")
        #expect(request.headerFields["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(request.headerFields["Accept"] == "application/json")
        #expect(request.headerFields["Authorization"] == nil)
        #expect(request.timeouts.total == .seconds(7))
        #expect(request.timeouts.idle == .seconds(7))
    }

    @Test(
        "The query of an endpoint is kept, and its values aren't shown",
        arguments: [GrantType.refreshToken, .clientCredentials])
    func query(grantType: GrantType) throws {
        let endpoint = try AuthorizationEndpoint(
            host: "Login.example.com", port: 8443, path: "/oauth/token",
            queryItems: [QueryItem(name: "p", value: "b2c ü"), QueryItem(name: "p", value: "a&b")])
        let store = InMemoryTokenCredentialStore()
        var bearer = BearerAuthentication(
            endpoint: endpoint, client: ClientCredential(grantType: grantType, id: "app", secret: "s"), store: store)
        bearer.parameters = ["scope": "x"]
        let request = try #require(TokenRequest.token(replacing: Self.old, with: bearer, timeout: .seconds(1)))
        let address = "https://login.example.com:8443/oauth/token?p=b2c%20%C3%BC&p=a%26b"
        #expect(request.target.absoluteString == address)
        #expect(Self.text(request).hasSuffix("&scope=x") && !Self.text(request).contains("b2c"))
        for shown in ["\(endpoint)", String(reflecting: endpoint), "\(request)"] { #expect(!shown.contains("b2c")) }
        #expect("\(endpoint)" == "https://login.example.com:8443/oauth/token?p=…&p=…")
        bearer.revocationEndpoint = endpoint
        let revocation = try #require(TokenRequest.revocation(of: Self.old, with: bearer, timeout: .seconds(1)))
        #expect(revocation.target.absoluteString == address)
        #expect(endpoint != (try AuthorizationEndpoint(host: "login.example.com", port: 8443, path: "/oauth/token")))
    }

    @Test("With client_secret_basic both halves are form-encoded before they are joined")
    func basic() throws {
        var bearer = try Self.bearer(id: "a:b+c", secret: "s+e&c=r%e:t ü")
        bearer.usesClientSecretBasic = true
        let request = try #require(TokenRequest.token(replacing: Self.old, with: bearer, timeout: .seconds(1)))
        let value = try #require(request.headerFields["Authorization"])
        let joined = try #require(Data(base64Encoded: String(value.dropFirst("Basic ".count))))
        #expect(String(decoding: joined, as: UTF8.self) == "a%3Ab%2Bc:s%2Be%26c%3Dr%25e%3At+%C3%BC")
        #expect(Self.text(request) == "grant_type=refresh_token&refresh_token=r%2B%26%3D%25+%C3%BC")
    }

    @Test(
        "A public client sends only its identifier",
        arguments: [false, true])
    func publicClient(usesBasic: Bool) throws {
        var bearer = try Self.bearer(id: "app", secret: nil)
        bearer.usesClientSecretBasic = usesBasic
        let request = try #require(TokenRequest.token(replacing: Self.old, with: bearer, timeout: .seconds(1)))
        #expect(Self.text(request).hasSuffix("&client_id=app"))
        #expect(!Self.text(request).contains("secret"))
        #expect(request.headerFields["Authorization"] == nil)
    }

    @Test("Extra parameters come last, encoded, in their order")
    func parameters() throws {
        var bearer = try Self.bearer(id: "app", secret: nil)
        bearer.parameters = [
            QueryItem(name: "scope", value: "a b"), QueryItem(name: "audience", value: "https://x.example/?a=1&b=2"),
            QueryItem(name: "resource", value: "one"), QueryItem(name: "resource", value: "two"),
        ]
        let request = try #require(TokenRequest.token(replacing: Self.old, with: bearer, timeout: .seconds(1)))
        #expect(
            Self.text(request)
                .hasSuffix(
                    "&scope=a+b&audience=https%3A%2F%2Fx.example%2F%3Fa%3D1%26b%3D2&resource=one&resource=two"))
    }

    @Test("The access token is not sent, and the request is not signed, not redirected and not queued")
    func nothingElse() throws {
        let bearer = try Self.bearer(id: "app", secret: "s")
        let request = try #require(TokenRequest.token(replacing: Self.old, with: bearer, timeout: .seconds(1)))
        #expect(!Self.text(request).contains("expired-access"))
        #expect(request.headerFields.allSatisfy { !$0.value.contains("expired-access") })
        #expect(!request.requiresAuthorization)
        #expect(request.purpose == .token)
        #expect(request.acceptableStatusCodes.contains(401))
    }

    @Test("A client's own credentials need no token (RFC 6749 §4.4.2)")
    func clientCredentials() throws {
        let bearer = BearerAuthentication(
            endpoint: try AuthorizationEndpoint(host: "auth.example.com", path: "/oauth/token"),
            client: ClientCredential(grantType: .clientCredentials, id: "app", secret: "s"),
            store: InMemoryTokenCredentialStore())
        for credential in [nil, Self.old] {
            let request = try #require(
                TokenRequest.token(replacing: credential, with: bearer, timeout: .seconds(1)))
            #expect(Self.text(request) == "grant_type=client_credentials&client_id=app&client_secret=s")
        }
    }

    @Test("Without a credential there is nothing to refresh with, and a provider has no endpoint")
    func nothingToAskWith() throws {
        let bearer = try Self.bearer(id: "app", secret: nil)
        #expect(TokenRequest.token(replacing: nil, with: bearer, timeout: .seconds(1)) == nil)
    }

    @Test("A revocation names the refresh token, or else the access token (RFC 7009 §2.1)")
    func revocation() throws {
        var bearer = try Self.bearer(id: "app", secret: "s")
        #expect(TokenRequest.revocation(of: Self.old, with: bearer, timeout: .seconds(1)) == nil)
        bearer.revocationEndpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/revoke")
        bearer.parameters = [QueryItem(name: "audience", value: "x")]
        let request = try #require(TokenRequest.revocation(of: Self.old, with: bearer, timeout: .seconds(1)))
        #expect(request.target.absoluteString == "https://auth.example.com/revoke")
        #expect(
            Self.text(request)
                == "token=r%2B%26%3D%25+%C3%BC&token_type_hint=refresh_token&client_id=app&client_secret=s")
        let last = TokenCredential(accessToken: "a", expiresAt: .distantFuture, refreshToken: "")
        let other = try #require(TokenRequest.revocation(of: last, with: bearer, timeout: .seconds(1)))
        #expect(Self.text(other).hasPrefix("token=a&token_type_hint=access_token"))
        #expect(TokenRequest.revocation(of: .empty, with: bearer, timeout: .seconds(1)) == nil)
    }
}
