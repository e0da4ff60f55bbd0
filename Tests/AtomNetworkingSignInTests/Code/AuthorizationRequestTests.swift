import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited)
struct AuthorizationRequestTests {
    private let server = CodeServer()
    private let redirectURI = CodeServer.redirectURI

    private func items(of request: AuthorizationCodeRequest) -> [QueryItem] {
        QueryItem.items(
            percentEncodedQuery: URLComponents(string: request.url.absoluteString)?.percentEncodedQuery ?? "")
    }

    @Test("The address of the page has each parameter once")
    func hasEachParameter() async throws {
        var client = try server.client(scopes: ["openid", "email"])
        client.resources = ["https://api.example.com/a b", "https://files.example.com"]
        client.parameters = ["prompt": "login", "login_hint": "ann+1@example.com"]
        let request = try await client.authorizationRequest(redirectURI: redirectURI)

        #expect(request.url.absoluteString.hasPrefix("https://auth.example.com/authorize?response_type=code&"))
        #expect(
            items(of: request) == [
                "response_type": "code", "client_id": "app", "redirect_uri": redirectURI, "state": request.state,
                "code_challenge": AuthorizationCodeRequest.codeChallenge(for: request.codeVerifier),
                "code_challenge_method": "S256", "scope": "openid email",
                "resource": "https://api.example.com/a b", "resource": "https://files.example.com",
                "nonce": request.nonce ?? "", "prompt": "login", "login_hint": "ann+1@example.com",
            ])
        #expect(request.redirectURI == redirectURI)
        #expect(request.scopes == ["openid", "email"])
        #expect(server.wire.requests.isEmpty)
    }

    @Test("The code challenge is that of RFC 7636, appendix B")
    func challengeIsThatOfTheRFC() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        #expect(
            AuthorizationCodeRequest.codeChallenge(for: verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test("State, nonce and verifier have 256 bits each, of the generator, and are new for each request")
    func secretsAreNew() async throws {
        let client = try server.client()
        var secrets: Set<String> = []
        for _ in 0..<20 {
            let request = try await client.authorizationRequest(redirectURI: redirectURI)
            let own = [request.state, try #require(request.nonce), request.codeVerifier]
            #expect(own.allSatisfy { $0.utf8.count == 43 && Base64URL.decode($0)?.count == 32 })
            secrets.formUnion(own)
        }
        #expect(secrets.count == 60)

        let first = try await client.authorizationRequest(redirectURI: redirectURI, scopes: nil) { "a-secret" }
        #expect([first.state, first.nonce, first.codeVerifier] == ["a-secret", "a-secret", "a-secret"])
        #expect(!"\(first)\(String(reflecting: first))".contains(first.state))
    }

    @Test(
        "There is a nonce only where an ID token is asked for",
        arguments: [
            (["openid"], true), (["email", "openid"], true), (["openid email"], true), (["email"], false), ([], false),
        ]
    )
    func nonce(scopes: [String], isThere: Bool) async throws {
        let request = try await server.client(scopes: []).authorizationRequest(redirectURI: redirectURI, scopes: scopes)
        #expect((request.nonce != nil) == isThere)
        #expect(items(of: request).contains { $0.name == "nonce" } == isThere)
        #expect(items(of: request).contains { $0.name == "scope" } == !scopes.isEmpty)
    }

    @Test("The page's own query is kept")
    func keepsQuery() async throws {
        let client = try server.client { $0.authorizationEndpoint = "https://auth.example.com/go?tenant=a%20b&x" }
        let request = try await client.authorizationRequest(redirectURI: redirectURI)
        #expect(request.url.absoluteString.hasPrefix("https://auth.example.com/go?tenant=a%20b&x&response_type=code&"))
    }

    @Test(
        "The app can't replace a parameter of the client",
        arguments: [
            "response_type", "client_id", "client_secret", "redirect_uri", "scope", "state", "nonce", "code_challenge",
            "code_challenge_method", "resource", "dpop_jkt", "request", "request_uri", "response_mode",
        ])
    func refusesOwnParameters(name: String) async throws {
        var client = try server.client { $0.pushedAuthorizationRequestEndpoint = $0.tokenEndpoint }
        client.parameters = [QueryItem(name: name, value: "mine")]
        let error = await #expect(throws: AtomError.self) {
            _ = try await client.authorizationRequest(redirectURI: redirectURI)
        }
        guard case .requestable(.unsupportedConfiguration(let violation)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(violation.subject == name)
        client.parameters = QueryItem.items(percentEncodedQuery: "st%61te=mine")
        await #expect(throws: AtomError.self) { _ = try await client.authorizationRequest(redirectURI: redirectURI) }
        #expect(server.wire.requests.isEmpty)
    }

    @Test("A callback in the query may be asked for")
    func allowsQueryMode() async throws {
        var client = try server.client()
        client.parameters = ["response_mode": "query"]
        let request = try await client.authorizationRequest(redirectURI: redirectURI)
        #expect(items(of: request).last == QueryItem(name: "response_mode", value: "query"))
    }

    @Test("PKCE is never left out, nor weakened")
    func refusesDowngrade() async throws {
        for methods in [[], ["plain"], ["s256"]] {
            let client = try server.client { $0.codeChallengeMethods = methods }
            let error = await #expect(throws: AtomError.self) {
                _ = try await client.authorizationRequest(redirectURI: redirectURI)
            }
            #expect(error?.signInError == .unsupported("PKCE with S256"))
        }
        for methods in [nil, ["plain", "S256"]] {
            let client = try server.client { $0.codeChallengeMethods = methods }
            let request = try await client.authorizationRequest(redirectURI: redirectURI)
            #expect(items(of: request).contains(QueryItem(name: "code_challenge_method", value: "S256")))
        }
    }

    @Test("A server without a page, or without what it requires, is refused")
    func refusesServers() async throws {
        let changes: [(inout AuthorizationServer) -> Void] = [
            { $0.authorizationEndpoint = nil }, { $0.requiresPushedRequests = true },
        ]
        for change in changes {
            let client = try server.client(change)
            let error = await #expect(throws: AtomError.self) {
                _ = try await client.authorizationRequest(redirectURI: redirectURI)
            }
            guard case .unsupported = error?.signInError else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        for address in ["http://auth.example.com/authorize", "https://auth.example.com/a#b", "auth.example.com", ""] {
            let client = try server.client { $0.authorizationEndpoint = address }
            let error = await #expect(throws: AtomError.self) {
                _ = try await client.authorizationRequest(redirectURI: redirectURI)
            }
            guard case .requestable(.invalidURL) = error else {
                Issue.record("\(address): \(String(describing: error))")
                continue
            }
        }
    }

    @Test("A pushed request has all parameters, and the page only two")
    func pushes() async throws {
        for basic in [true, false] {
            let server = CodeServer()
            server.wire.on(.post, "/par") { _ in
                .json(text: #"{"request_uri": "urn:ietf:params:oauth:request_uri:a&b", "expires_in": 60}"#, status: 201)
            }
            var client = try server.client(secret: "aSecret") {
                $0.authorizationEndpoint = "https://auth.example.com/go?tenant=1"
                $0.pushedAuthorizationRequestEndpoint = try? AuthorizationEndpoint("https://auth.example.com/par")
                $0.requiresPushedRequests = true
            }
            client.usesClientSecretBasic = basic
            client.resources = ["https://api.example.com"]
            client.parameters = ["prompt": "login"]
            let request = try await client.authorizationRequest(redirectURI: redirectURI)

            #expect(
                request.url.absoluteString
                    == "https://auth.example.com/go?tenant=1&client_id=app"
                    + "&request_uri=urn%3Aietf%3Aparams%3Aoauth%3Arequest_uri%3Aa%26b")
            let pushed = try #require(server.wire.requests.first)
            let own: [QueryItem] = [
                "response_type": "code", "client_id": "app", "redirect_uri": redirectURI, "state": request.state,
                "code_challenge": AuthorizationCodeRequest.codeChallenge(for: request.codeVerifier),
                "code_challenge_method": "S256", "scope": "openid email", "resource": "https://api.example.com",
                "nonce": request.nonce ?? "", "prompt": "login",
            ]
            #expect(pushed.formItems == own + (basic ? [] : ["client_secret": "aSecret"]))
            #expect((pushed["Authorization"] != nil) == basic)
        }
    }

    @Test("A pushed request that is refused, or has no address, makes no page and shows no secret")
    func pushFails() async throws {
        let answers: [@Sendable (RecordedRequest) -> ScriptedResponse] = [
            { .json(text: #"{"error": "invalid_request", "error_description": "\#($0.text)"}"#, status: 400) },
            { .json(text: #"{"request_uri": 5, "\#($0.form("state") ?? "")": 1}"#, status: 201) },
            { .text($0.text, status: 500) },
        ]
        for answer in answers {
            let server = CodeServer()
            let secrets = Guarded<[String]>([])
            server.wire.on(.post, "/par") { request in
                secrets.withLock {
                    $0 = ["state", "nonce", "code_challenge", "client_secret"].compactMap { request.form($0) }
                }
                return answer(request)
            }
            var client = try server.client(secret: "aSecretOfTheClient") {
                $0.pushedAuthorizationRequestEndpoint = try? AuthorizationEndpoint("https://auth.example.com/par")
            }
            client.usesClientSecretBasic = false
            let error = try #require(
                await #expect(throws: AtomError.self) {
                    _ = try await client.authorizationRequest(redirectURI: redirectURI)
                })
            let sent = secrets.withLock { $0 }
            #expect(sent.count == 4)
            #expect(secretsShown(by: error, of: sent) == [])
        }
    }
}
