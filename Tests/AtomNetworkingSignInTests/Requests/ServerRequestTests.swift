import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited)
struct ServerRequestTests {
    private static let tokens = #"{"access_token": "an-access-token", "token_type": "Bearer"}"#

    private func client(
        _ wire: ScriptedTransport, id: String = "app", secret: String? = nil, scopes: [String] = []
    ) throws -> OAuthClient {
        let server = try AuthorizationServer(
            issuer: "https://auth.example.com", tokenEndpoint: "https://auth.example.com/token?tenant=1")
        var client = OAuthClient(server: server, id: id, secret: secret, scopes: scopes)
        wire.install(in: &client.configuration)
        return client
    }

    private func failure(
        _ client: OAuthClient, _ grant: [QueryItem] = ["grant_type": "urn:x"]
    ) async throws -> AtomError {
        try #require(await #expect(throws: AtomError.self) { _ = try await client.credential(grant: grant) })
    }

    @Test("A secret is sent in the Authorization field, form-encoded, or in the body")
    func authenticates() async throws {
        let (id, secret) = ("my app+é", "a+b&c=d%e:f ü€")
        let wire = ScriptedTransport([.json(text: Self.tokens).times(3)])
        var client = try client(wire, id: id, secret: secret)
        #expect(client.usesClientSecretBasic)
        _ = try await client.credential(grant: ["grant_type": "urn:x"])
        client.usesClientSecretBasic = false
        _ = try await client.credential(grant: ["grant_type": "urn:x"])
        _ = try await self.client(wire, id: id).credential(grant: ["grant_type": "urn:x"])
        try wire.verify()

        let field = try #require(wire.requests[0]["Authorization"])
        let decoded = try #require(Data(base64Encoded: String(field.dropFirst(6))))
        #expect(field.hasPrefix("Basic "))
        #expect(
            String(decoding: decoded, as: UTF8.self)
                == "my+app%2B%C3%A9:a%2Bb%26c%3Dd%25e%3Af+%C3%BC%E2%82%AC")
        #expect(wire.requests[0].formItems == ["grant_type": "urn:x"])
        #expect(wire.requests[1]["Authorization"] == nil)
        #expect(wire.requests[1].formItems == ["grant_type": "urn:x", "client_id": id, "client_secret": secret])
        #expect(wire.requests[2]["Authorization"] == nil)
        #expect(wire.requests[2].formItems == ["grant_type": "urn:x", "client_id": id])
        for request in wire.requests {
            #expect(request.method == "POST")
            #expect(request.pathAndQuery == "/token?tenant=1")
            #expect(request["Accept"] == "application/json")
            #expect(request["Content-Type"] == "application/x-www-form-urlencoded")
        }
    }

    @Test(
        "Basic is used unless the server names only other methods",
        arguments: [
            (nil, true), (["client_secret_basic"], true), (["client_secret_post", "client_secret_basic"], true),
            (["client_secret_post"], false), (["none"], false), ([], false),
        ] as [([String]?, Bool)])
    func choosesMethod(methods: [String]?, usesBasic: Bool) throws {
        var server = try AuthorizationServer(
            issuer: "https://auth.example.com", tokenEndpoint: "https://auth.example.com/token")
        server.tokenEndpointAuthenticationMethods = methods
        #expect(OAuthClient(server: server, id: "app", secret: "s").usesClientSecretBasic == usesBasic)
    }

    @Test("A grant gets the client's scopes and resources, unless it has its own")
    func grants() async throws {
        let wire = ScriptedTransport([.json(text: Self.tokens).times(2)])
        var client = try client(wire, scopes: ["a", "b"])
        client.resources = ["https://api.example.com", "https://files.example.com"]
        let first = try await client.credential(grant: ["grant_type": "password", "username": "ann", "password": "x"])
        let second = try await client.credential(grant: ["grant_type": "urn:x", "scope": "c", "resource": "urn:r"])

        #expect(first.scope == "a b")
        #expect(second.scope == "c")
        #expect(
            wire.requests[0].formItems == [
                "grant_type": "password", "username": "ann", "password": "x", "scope": "a b",
                "resource": "https://api.example.com", "resource": "https://files.example.com", "client_id": "app",
            ])
        #expect(
            wire.requests[1].formItems == [
                "grant_type": "urn:x", "scope": "c", "resource": "urn:r", "client_id": "app",
            ])
    }

    @Test("A grant without its type, or with the client's own parameters, is refused before anything is sent")
    func refusesGrants() async throws {
        let client = try client(ScriptedTransport())
        let grants: [[QueryItem]] = [
            [], ["scope": "a"], ["grant_type": "a", "grant_type": "b"], ["grant_type": "a", "client_id": "b"],
            ["grant_type": "a", "client_secret": "b"],
        ]
        for grant in grants {
            let error = try await failure(client, grant)
            guard case .requestable(.invalidBody) = error else {
                Issue.record("\(error)")
                continue
            }
        }
    }

    @Test("Nothing is sent to a token endpoint over plain HTTP, but on this device")
    func refusesPlainHTTP() async throws {
        let wire = ScriptedTransport([.json(text: Self.tokens)])
        var client = try client(wire)
        var server = client.server
        server.tokenEndpoint = try AuthorizationEndpoint("http://auth.example.com/token?a=b")
        var other = OAuthClient(server: server, id: "app")
        other.configuration = client.configuration
        let error = try await failure(other)
        guard case .requestable(.originNotAllowed) = error else {
            Issue.record("\(error)")
            return
        }
        server.tokenEndpoint = try AuthorizationEndpoint("http://127.0.0.1:8080/token")
        client = OAuthClient(server: server, id: "app")
        client.configuration = other.configuration
        _ = try await client.credential(grant: ["grant_type": "urn:x"])
        #expect(wire.requests.map(\.target.absoluteString) == ["http://127.0.0.1:8080/token"])
    }

    @Test("What the app adds to its own requests isn't added to these")
    func takesNothingElse() async throws {
        struct Meddler: RequestAdapter, RequestSigner, AtomPlugin {
            func adapt(_ request: inout RequestDescription, of endpoint: any Requestable) throws {
                request.headerItems += ["X-Adapter": "1"]
            }
            func sign(_ request: inout SignableRequest) throws { try request.setHeader("X-Signer", to: "1") }
            func send(_ requestable: any Requestable, next: NextHandler) async throws(AtomError) -> AtomResponse {
                .success
            }
        }
        let cookie = HeaderItem(name: "Set-Cookie", value: "a=b")
        let wire = ScriptedTransport([.json(text: Self.tokens, headerItems: [cookie]).times(2)])
        var client = try client(wire)
        client.configuration.authenticationMethod = .basic(BasicCredential(password: "p", username: "u"))
        client.configuration.headerItems = ["X-API-Key": "key"]
        client.configuration.adapters = [Meddler()]
        client.configuration.signers = [Meddler()]
        client.configuration.plugins = [Meddler()]
        client.configuration.cache = ResponseCache(memory: 1 << 20)
        for _ in 0..<2 { _ = try await client.credential(grant: ["grant_type": "urn:x"]) }
        for request in wire.requests {
            #expect(
                Set(request.headerFields.map { $0.name.lowercased() }) == ["accept", "content-type"],
                "\(request.headerFields.map(\.name))")
        }
        #expect(wire.requests.count == 2)
    }

    @Test("A redirect isn't followed, and no failure is retried")
    func sendsOnce() async throws {
        for status in [301, 302, 307, 308] {
            let wire = ScriptedTransport([.redirect(to: "https://evil.example/", status: status)])
            let error = try await failure(client(wire))
            #expect(error.response?.statusCode == status)
            #expect(wire.requests.count == 1)
        }
        let wire = ScriptedTransport([.status(503, headerItems: ["Retry-After": "0"])])
        var client = try client(wire)
        client.configuration.retryPolicy = .standard
        let error = try await failure(client)
        guard case .response(let response) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(response.statusCode == 503)
        #expect(wire.requests.count == 1)
    }

    @Test("A server's error is read from any status", arguments: [200, 400, 401, 403, 429, 500])
    func readsErrors(status: Int) async throws {
        let body = #"{"error": "invalid_client", "error_description": 5, "error_uri": "https://a.example/?b=c"}"#
        let error = try await failure(client(ScriptedTransport([.json(text: body, status: status)])))
        let refusal = OAuthError(code: "invalid_client", uri: "https://a.example/?b=…")
        #expect(error.signInError == .refused(refusal))
        #expect(error.delivery == .answered)
    }

    @Test("A status without a server's error stays what it is", arguments: [304, 400, 401, 404, 500])
    func keepsStatuses(status: Int) async throws {
        for body in ["", "{}", #"{"error": ""}"#, #"{"error": {"code": 5}}"#, "<html>", "[]"] {
            let error = try await failure(client(ScriptedTransport([.json(text: body, status: status)])))
            guard case .response(let response) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(response.statusCode == status)
        }
    }

    @Test("A 401 isn't announced as one of a session")
    func isNotAnnounced() async throws {
        let announced = Guarded(0)
        let queue = DispatchQueue(label: "ServerRequestTests")
        let token = NotificationCenter.default.addObserver(
            forName: Atom.didFailToAuthorizeRequest, object: nil, queue: nil
        ) { notification in
            let error = notification.userInfo?["error"] as? AtomError
            if error?.response?.headerFields["X-Test"] == "isNotAnnounced" { announced.withLock { $0 += 1 } }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let wire = ScriptedTransport([.status(401, headerItems: ["X-Test": "isNotAnnounced"])])
        var client = try client(wire)
        client.configuration.dispatchQueue = queue
        _ = try await failure(client)
        await withCheckedContinuation { done in queue.async { done.resume() } }
        #expect(announced.withLock { $0 } == 0)
    }

    @Test("An error shows nothing of what was sent, however the server repeats it")
    func showsNoSecret() async throws {
        let (secret, code) = ("s3cr3t&+ü", "c0de")
        let grant: [QueryItem] = [
            "grant_type": "urn:x", "code": code, "code_verifier": "verifier", "password": "pässword",
            "assertion": "assertion-1", "custom": "customary", "client_assertion": "theAssertion",
        ]
        let secrets = [secret, code, "verifier", "pässword", "assertion-1", "customary", "theAssertion"]
        for (isBasic, status) in [(true, 400), (false, 200), (true, 500), (false, 401)] {
            let answers: [@Sendable (RecordedRequest) -> ScriptedResponse] = [
                { request in
                    let text = request.formItems.map(\.value).joined(separator: " ") + " \(secret) \(request.text)"
                    let members = ["error": text, "error_description": text, "error_uri": "https://a.example/\(text)"]
                    return .json(members, status: status)
                },
                { .text("\($0.formItems.map(\.value)) \(secret)", status: max(status, 400)) },
                {
                    .json(
                        ["detail": "\($0.formItems.map(\.value)) \(secret)", "title": secret], status: max(status, 400))
                },
                { .json(["access_token": 5, secret: 5, code: 5, "\($0.formItems.map(\.value))": 5]) },
            ]
            for answer in answers {
                let wire = ScriptedTransport()
                wire.on("/token", answer: answer)
                var client = try client(wire, secret: secret)
                client.usesClientSecretBasic = isBasic
                let error = try await failure(client, grant)
                #expect(secretsShown(by: error, of: secrets) == [])
            }
        }
        #expect("\(try client(ScriptedTransport(), secret: secret).clientCredential)".contains(secret) == false)

        // Too short to look like a token.
        let wire = ScriptedTransport()
        wire.on("/token") { request in
            .json(["error": "invalid_client", "error_description": request["Authorization"] ?? ""], status: 401)
        }
        let error = try await failure(client(wire, secret: "pw1"))
        #expect(error.signInError == .refused(OAuthError(code: "invalid_client", explanation: "Basic …")))
    }

    @Test("A response of more than 1 MiB isn't read")
    func limitsSize() async throws {
        let body = #"{"access_token": "a", "padding": ""# + String(repeating: "a", count: 1 << 20) + #""}"#
        let error = try await failure(client(ScriptedTransport([.json(text: body)])))
        guard case .session(let cause) = error else {
            Issue.record("\(error)")
            return
        }
        #expect((cause as? URLError)?.code == .dataLengthExceedsMaximum)
    }

    @Test(
        "Without a proof only a bearer token is taken",
        arguments: [
            (#""token_type": "Bearer""#, true), (#""token_type": "bEARER""#, true), (#""scope": "a""#, true),
            (#""token_type": """#, true), (#""token_type": null"#, true), (#""token_type": "DPoP""#, false),
            (#""token_type": "mac""#, false), (#""token_type": 5"#, false),
        ])
    func tokenTypes(member: String, isTaken: Bool) async throws {
        let wire = ScriptedTransport([.json(text: #"{"access_token": "a", \#(member)}"#)])
        let client = try client(wire)
        if isTaken {
            #expect(try await client.credential(grant: ["grant_type": "urn:x"]).accessToken == "a")
        } else {
            guard case .invalidTokenResponse = try await failure(client).signInError else {
                Issue.record("taken: \(member)")
                return
            }
        }
    }

    @Test(
        "A response without a token can't be used",
        arguments: ["", "[]", "{}", "<html>", #"{"access_token": ""}"#, #"{"access_token": 5}"#, "null", "\u{0}"])
    func withoutToken(body: String) async throws {
        let error = try await failure(client(ScriptedTransport([.json(text: body)])))
        guard case .invalidTokenResponse = error.signInError else {
            Issue.record("\(error)")
            return
        }
        #expect(error.delivery == .answered)
    }

    @Test("The scope is what the server says, or else what was asked for; the thumbprint is never the server's")
    func scopes() async throws {
        let wire = ScriptedTransport([
            .json(text: #"{"access_token": "a", "scope": "b", "jkt": "x", "expires_in": "60"}"#),
            .json(text: #"{"access_token": "a"}"#).times(2),
        ])
        let tokens = try await client(wire, scopes: ["a", "b"]).credential(grant: ["grant_type": "urn:x"])
        #expect(tokens.scope == "b")
        #expect(tokens.keyThumbprint == nil)
        #expect(tokens.expiresAt == wire.clock.date + 60)
        #expect(try await client(wire, scopes: ["a", "b"]).credential(grant: ["grant_type": "urn:x"]).scope == "a b")
        #expect(try await client(wire).credential(grant: ["grant_type": "urn:x"]).scope == nil)
    }

    @Test("A cancelled sign-in is cancelled")
    func cancels() async throws {
        let wire = ScriptedTransport([.never])
        let client = try client(wire)
        let task = Task { try await client.credential(grant: ["grant_type": "urn:x"]) }
        _ = await wire.exchange(0)
        task.cancel()
        let error = await #expect(throws: AtomError.self) { _ = try await task.value }
        #expect(error?.isCancelled == true)
    }

    @Test("A service is signed as the client says")
    func authentication() throws {
        var client = try client(ScriptedTransport(), secret: "s")
        client.resources = ["https://api.example.com", "https://files.example.com"]
        let bearer = client.authentication(store: InMemoryTokenCredentialStore())
        #expect(bearer.usesClientSecretBasic)
        #expect(bearer.parameters == ["resource": "https://api.example.com", "resource": "https://files.example.com"])
        #expect(bearer.revocationEndpoint == nil)
        #expect(bearer.proof == nil)
        guard case .endpoint(let endpoint, let credential) = bearer.refresh else {
            Issue.record("no endpoint")
            return
        }
        #expect(endpoint == client.server.tokenEndpoint)
        #expect(credential == ClientCredential(id: "app", secret: "s"))
    }
}
