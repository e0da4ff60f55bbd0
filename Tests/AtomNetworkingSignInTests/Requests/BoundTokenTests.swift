import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

/// Requests with a proof (RFC 9449 §5, §8, §10).
@Suite(.limited)
struct BoundTokenTests {
    /// Its signature is right for nothing.
    private struct FakeKey: DPoPKey {
        let publicKey = Data([4] + [UInt8](repeating: 7, count: 64))
        func signature(for message: Data) throws -> Data { Data(repeating: 9, count: 64) }
    }

    private static let tokens = #"{"access_token": "a", "token_type": "dpop", "refresh_token": "r"}"#

    private func client(_ wire: ScriptedTransport) throws -> OAuthClient {
        let server = try AuthorizationServer(
            issuer: "https://auth.example.com", authorizationEndpoint: "https://auth.example.com/authorize",
            tokenEndpoint: "https://auth.example.com/token")
        var client = OAuthClient(server: server, id: "app")
        wire.install(in: &client.configuration)
        client.proof = try DPoP(key: FakeKey())
        return client
    }

    private func claims(of request: RecordedRequest) throws -> [String: Any] {
        let parts = try #require(request["DPoP"]).split(separator: ".")
        let json = Data(try #require(Base64URL.decode(parts[1])))
        return try #require(JSONSerialization.jsonObject(with: json) as? [String: Any])
    }

    private func refusesNonce(_ nonce: String) -> ScriptedResponse {
        .json(text: #"{"error": "use_dpop_nonce"}"#, status: 400, headerItems: ["DPoP-Nonce": nonce])
    }

    @Test("The page is told the key's thumbprint, and the token request carries a proof")
    func sendsProof() async throws {
        let wire = ScriptedTransport([.json(text: Self.tokens)])
        let client = try client(wire)
        let thumbprint = try #require(client.proof?.keyThumbprint)
        let request = try await client.authorizationRequest(redirectURI: "com.example.app:/cb")
        #expect(request.url.absoluteString.hasSuffix("&dpop_jkt=\(thumbprint)"))

        let callback = try #require(URL(string: "com.example.app:/cb?code=1&state=\(request.state)"))
        let tokens = try await client.credential(for: request, callback: callback)
        #expect(tokens.keyThumbprint == thumbprint)
        #expect(tokens.tokenType == "DPoP")
        let proof = try claims(of: wire.requests[0])
        #expect(proof["htu"] as? String == "https://auth.example.com/token")
        #expect(proof["htm"] as? String == "POST")
        #expect(proof["ath"] == nil)
        #expect(client.authentication(store: InMemoryTokenCredentialStore()).proof?.keyThumbprint == thumbprint)
    }

    @Test("A request is sent once more with the server's nonce")
    func repeatsWithNonce() async throws {
        let wire = ScriptedTransport([refusesNonce("n1"), .json(text: Self.tokens)])
        let client = try client(wire)
        let grant: [QueryItem] = ["grant_type": "urn:x", "code": "c"]
        #expect(try await client.credential(grant: grant).accessToken == "a")
        #expect(try wire.requests.map { try claims(of: $0)["nonce"] as? String } == [nil, "n1"])
        #expect(wire.requests[0].text == wire.requests[1].text)
    }

    @Test("A server that never has enough of its nonces is given two proofs")
    func repeatsOnce() async throws {
        let wire = ScriptedTransport([refusesNonce("n1"), refusesNonce("n2")])
        let client = try client(wire)
        let error = await #expect(throws: AtomError.self) {
            _ = try await client.credential(grant: ["grant_type": "urn:x"])
        }
        #expect(error?.signInError == .refused(OAuthError(code: "use_dpop_nonce")))
        #expect(wire.requests.count == 2)
    }

    @Test("A nonce that comes with tokens is in the next proof")
    func keepsNonce() async throws {
        let wire = ScriptedTransport([
            .json(text: Self.tokens, headerItems: ["DPoP-Nonce": "n1"]), .json(text: Self.tokens),
        ])
        let client = try client(wire)
        for _ in 0..<2 { _ = try await client.credential(grant: ["grant_type": "urn:x"]) }
        #expect(try wire.requests.map { try claims(of: $0)["nonce"] as? String } == [nil, "n1"])
    }

    @Test("A bearer token isn't taken for a bound one", arguments: ["Bearer", "", "mac"])
    func refusesBearerTokens(type: String) async throws {
        let wire = ScriptedTransport([.json(["access_token": "a", "token_type": type])])
        let client = try client(wire)
        let error = await #expect(throws: AtomError.self) {
            _ = try await client.credential(grant: ["grant_type": "urn:x"])
        }
        guard case .invalidTokenResponse = error?.signInError else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A server that names other algorithms only is refused")
    func refusesAlgorithms() async throws {
        let bound = try client(ScriptedTransport())
        var server = bound.server
        server.proofAlgorithms = ["RS256"]
        var other = OAuthClient(server: server, id: "app")
        other.proof = bound.proof
        let error = await #expect(throws: AtomError.self) {
            _ = try await other.authorizationRequest(redirectURI: "com.example.app:/cb")
        }
        #expect(error?.signInError == .unsupported("DPoP with ES256"))
    }
}
