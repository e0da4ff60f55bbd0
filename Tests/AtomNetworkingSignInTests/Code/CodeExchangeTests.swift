import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited)
struct CodeExchangeTests {
    private let server = CodeServer()
    private let redirectURI = CodeServer.redirectURI

    @Test("A code is exchanged with the verifier of its request")
    func exchanges() async throws {
        var client = try server.client { $0.sendsIssuerInCallback = true }
        client.resources = ["https://api.example.com"]
        let request = try await client.authorizationRequest(redirectURI: redirectURI)
        let callback = try #require(
            URL(string: "\(try server.approve(request))&iss=https%3A%2F%2Fauth.example.com#_=_"))
        let tokens = try await client.credential(for: request, callback: callback)

        #expect(tokens.accessToken == "an-access-token")
        #expect(tokens.refreshToken == "a-refresh-token")
        #expect(tokens.expiresAt == server.wire.clock.date + 3_600)
        #expect(tokens.scope == "openid email")
        #expect(tokens.keyThumbprint == nil)
        #expect(try IDToken(tokens.idToken ?? "").subject == "ann")
        let sent = try #require(server.wire.requests.first)
        let code = try #require(URLComponents(string: callback.absoluteString)?.queryItems?.first?.value)
        #expect(
            sent.formItems == [
                "grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI,
                "code_verifier": request.codeVerifier, "resource": "https://api.example.com", "client_id": "app",
            ])
        #expect(sent["Accept"] == "application/json")
        #expect(sent["Authorization"] == nil)
    }

    @Test("A plus sign in a callback is a space, and what is encoded is decoded once")
    func decodesForms() async throws {
        let client = try server.client(scopes: [])
        let request = try await client.authorizationRequest(redirectURI: redirectURI)
        let text = "\(redirectURI)?st%61te=\(request.state)&code=a+b%2Bc%2541&other"
        await #expect(throws: AtomError.self) {
            _ = try await client.credential(for: request, callback: try #require(URL(string: text)))
        }
        #expect(server.wire.requests.map { $0.form("code") } == ["a b+c%41"])
    }

    @Test("A code that is used again is refused by the server, and the error shows no secret")
    func replay() async throws {
        let client = try server.client()
        let request = try await client.authorizationRequest(redirectURI: redirectURI)
        let callback = try server.approve(request)
        _ = try await client.credential(for: request, callback: callback)
        let error = try #require(
            await #expect(throws: AtomError.self) {
                _ = try await client.credential(for: request, callback: callback)
            })
        #expect(error.signInError == .refused(OAuthError(code: "invalid_grant", explanation: "wrong: … …")))
        #expect(error.delivery == .answered)
        let code = try #require(server.wire.requests.last?.form("code"))
        #expect(secretsShown(by: error, of: [code, request.codeVerifier, request.state]) == [])
    }

    @Test("A stolen code is of no use with another verifier")
    func stolenCode() async throws {
        let client = try server.client()
        let request = try await client.authorizationRequest(redirectURI: redirectURI)
        let code = try #require(
            URLComponents(string: try server.approve(request).absoluteString)?.queryItems?.first?.value)
        // The thief begins a sign-in of its own, and puts the code into its callback.
        let other = try await client.authorizationRequest(redirectURI: redirectURI)
        let callback = try CodeServer.callback(["code": code, "state": other.state])
        let error = await #expect(throws: AtomError.self) {
            _ = try await client.credential(for: other, callback: callback)
        }
        guard case .refused(let refusal) = error?.signInError else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(refusal.code == "invalid_grant")
    }

    @Test("An ID token that nobody has asked for is checked, too")
    func unaskedIDToken() async throws {
        let client = try server.client(scopes: ["email"])
        let request = try await client.authorizationRequest(redirectURI: redirectURI)
        server.changeClaims { $0["aud"] = "other" }
        let callback = try server.approve(request)
        let error = await #expect(throws: AtomError.self) {
            _ = try await client.credential(for: request, callback: callback)
        }
        guard case .invalidIDToken? = error?.signInError else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("An ID token of another sign-in, or none, is refused")
    func checksIDToken() async throws {
        let client = try server.client()
        let changes: [(String, @Sendable (inout [String: Any]) -> Void)] = [
            ("nonce", { $0["nonce"] = "other" }), ("nonce", { $0["nonce"] = nil }),
            ("iss", { $0["iss"] = "https://evil.example" }), ("aud", { $0["aud"] = "other" }),
            ("exp", { $0["exp"] = 1 }), ("sub", { $0["sub"] = nil }),
        ]
        for (claim, change) in changes {
            server.changeClaims(change)
            let request = try await client.authorizationRequest(redirectURI: redirectURI)
            let callback = try server.approve(request)
            let error = await #expect(throws: AtomError.self) {
                _ = try await client.credential(for: request, callback: callback)
            }
            guard case .invalidIDToken(let reason) = error?.signInError else {
                Issue.record("\(claim): \(String(describing: error))")
                continue
            }
            #expect(reason.contains(claim))
            #expect(error?.delivery == .answered)
        }

        let request = try await client.authorizationRequest(redirectURI: redirectURI)
        let wire = ScriptedTransport([.json(text: #"{"access_token": "a", "token_type": "Bearer"}"#)])
        var other = client
        wire.install(in: &other.configuration)
        let callback = try server.approve(request)
        let error = await #expect(throws: AtomError.self) {
            _ = try await other.credential(for: request, callback: callback)
        }
        guard case .invalidIDToken = error?.signInError else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("Whatever is done to a callback, it brings tokens only with the state, the code and the server's name")
    func fuzz() async throws {
        var generator = SeededGenerator(seed: 20_26)
        let client = try server.client(scopes: [])
        let pieces = [
            "&", "=", "?", "#", "%", "%00", "%26", "+", "/", ":", "state", "code", "error", "iss", "access_denied",
            "é", "\u{0}", " ", "&state=", "&code=", "&error=a", "&iss=https://auth.example.com", "@", "//", "[", "]",
        ]
        var (taken, refused) = (0, 0)
        for round in 0..<1_000 {
            let request = try await client.authorizationRequest(redirectURI: redirectURI)
            let right = try server.approve(request).absoluteString
            var text = Array(right.unicodeScalars)
            for _ in 0..<(round % 10 == 0 ? 0 : Int.random(in: 1...3, using: &generator)) where !text.isEmpty {
                let place = Int.random(in: 0..<text.count, using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: text.remove(at: place)
                case 1:
                    text.insert(
                        contentsOf: pieces.randomElement(using: &generator)?.unicodeScalars.map { $0 } ?? [], at: place)
                case 2: text[place] = Unicode.Scalar(UInt8.random(in: 0x21...0x7E, using: &generator))
                case 3: text.removeSubrange(place..<min(place + 10, text.count))
                default: text.append(contentsOf: text[place...])
                }
            }
            var changed = String.UnicodeScalarView()
            changed.append(contentsOf: text)
            guard let callback = URL(string: String(changed)) else { continue }
            do {
                _ = try await client.credential(for: request, callback: callback)
                taken += 1
                let items = callback.query(percentEncoded: true)?.split(separator: "&").map(String.init) ?? []
                let code = server.wire.requests.last?.form("code") ?? ""
                #expect(items.filter { $0 == "state=\(request.state)" }.count == 1, "\(callback)")
                #expect(items.contains("code=\(code)"), "\(callback)")
                #expect(!items.contains { $0.hasPrefix("error=") || $0 == "error" }, "\(callback)")
                #expect(callback.absoluteString.hasPrefix("\(redirectURI)?") || callback.path() == "/callback")
            } catch {
                refused += 1
                #expect(error.signInError != nil)
                #expect(secretsShown(by: error, of: [request.state, request.codeVerifier]) == [])
            }
        }
        #expect(taken > 100 && refused > 300, "\(taken) taken, \(refused) refused")
    }
}
