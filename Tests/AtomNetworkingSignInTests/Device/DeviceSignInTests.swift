import AtomNetworking
import AtomNetworkingSignIn
import AtomNetworkingTesting
import Foundation
import Testing

/// The sign-in on another device, over a scripted transport.
@Suite(.limited)
struct DeviceSignInTests {
    private static let authorization = ScriptedResponse.json(
        text: """
            {"device_code": "DEVICE-CODE", "user_code": "WDJB-MJHT", "verification_uri": "https://as.example/go",
            "expires_in": 60, "interval": 5}
            """)
    private static let tokens = ScriptedResponse.json(
        text: #"{"access_token": "ACCESS", "refresh_token": "REFRESH", "token_type": "Bearer", "expires_in": 3600}"#)

    private static func error(_ code: String) -> ScriptedResponse {
        .json(text: "{\"error\": \"\(code)\"}", status: 400)
    }

    /// A client whose server gives these responses, one after the other, and the wire to it.
    private func client(_ responses: ScriptedResponse...) throws -> (OAuthClient, ScriptedTransport) {
        var server = try AuthorizationServer(issuer: "https://as.example", tokenEndpoint: "https://as.example/token")
        server.deviceAuthorizationEndpoint = try AuthorizationEndpoint("https://as.example/device")
        let wire = ScriptedTransport(responses)
        var client = OAuthClient(server: server, id: "tool", scopes: ["mail", "files"])
        client.resources = ["https://api.example"]
        client.parameters = [QueryItem(name: "audience", value: "all")]
        wire.install(in: &client.configuration)
        return (client, wire)
    }

    /// Waits for the tokens, while the clock advances to each next request.
    private func finish(
        _ client: OAuthClient, _ wire: ScriptedTransport, pauses: Int
    ) async throws -> (result: Result<TokenCredential, any Error>, seconds: [Int64]) {
        let authorization = try await client.deviceAuthorization()
        let start = wire.clock.now
        let signIn = Task { try await client.credential(for: authorization) }
        for _ in 0..<pauses {
            await wire.clock.waitForAlarm(within: .seconds(59))
            wire.clock.advanceToNextAlarm()
            await wire.idle()
        }
        let result = await signIn.result
        return (result, wire.requests.dropFirst().map { start.duration(to: $0.time).components.seconds })
    }

    @Test("The first request says who asks for what")
    func request() async throws {
        let (client, wire) = try client(Self.authorization)
        let authorization = try await client.deviceAuthorization(scopes: ["mail"])
        #expect(authorization.userCode == "WDJB-MJHT")
        #expect(authorization.verificationURL.absoluteString == "https://as.example/go")
        #expect(authorization.expiresAt == wire.clock.date.addingTimeInterval(60))
        let sent = try #require(wire.requests.first)
        #expect(sent.method == "POST")
        #expect(sent.path == "/device")
        #expect(sent.form("client_id") == "tool")
        #expect(sent.form("scope") == "mail")
        #expect(sent.form("resource") == "https://api.example")
        #expect(sent.form("audience") == "all")
        try wire.verify()
    }

    @Test("The token endpoint is asked no faster than it allows, until somebody has finished")
    func polling() async throws {
        let (client, wire) = try client(
            Self.authorization, Self.error("authorization_pending"), Self.error("slow_down"),
            .failure(.networkConnectionLost), Self.error("authorization_pending"), Self.tokens)
        let (result, seconds) = try await finish(client, wire, pauses: 5)
        #expect(try result.get().accessToken == "ACCESS")
        #expect(seconds == [5, 10, 20, 40, 50])
        let sent = try #require(wire.requests.last)
        #expect(sent.path == "/token")
        #expect(sent.form("grant_type") == "urn:ietf:params:oauth:grant-type:device_code")
        #expect(sent.form("device_code") == "DEVICE-CODE")
        #expect(sent.form("client_id") == "tool")
        #expect(sent.form("resource") == "https://api.example")
        try wire.verify()
    }

    @Test("A person who refuses ends it")
    func declined() async throws {
        let (client, wire) = try client(Self.authorization, Self.error("access_denied"))
        let (result, _) = try await finish(client, wire, pauses: 1)
        let error = #expect(throws: AtomError.self) { try result.get() }
        #expect(error?.signInError == .declined)
        try wire.verify()
    }

    @Test("An ID token of another server is refused")
    func otherServer() async throws {
        let claims = #"{"iss": "https://evil.example", "sub": "1", "aud": "tool", "exp": 4000000000, "iat": 0}"#
        let parts = [#"{"alg": "RS256"}"#, claims, "signature"]
            .map { Data($0.utf8).base64EncodedString().trimmingCharacters(in: CharacterSet(charactersIn: "=")) }
        let (client, wire) = try client(
            Self.authorization,
            .json(
                text: """
                    {"access_token": "ACCESS", "token_type": "Bearer", "id_token": "\(parts.joined(separator: "."))"}
                    """))
        let (result, _) = try await finish(client, wire, pauses: 1)
        let error = #expect(throws: AtomError.self) { try result.get() }
        guard case .invalidIDToken = error?.signInError else {
            Issue.record("another error")
            return
        }
        try wire.verify()
    }

    @Test("Cancellation ends the wait at once")
    func cancellation() async throws {
        let (client, wire) = try client(Self.authorization)
        let authorization = try await client.deviceAuthorization()
        let signIn = Task { try await client.credential(for: authorization) }
        await wire.clock.waitForAlarm(within: .seconds(5))
        signIn.cancel()
        let error = await #expect(throws: AtomError.self) { try await signIn.value }
        #expect(error?.isCancelled == true)
        try wire.verify()
    }

    @Test("A code that has expired is not sent")
    func expired() async throws {
        let (client, wire) = try client(Self.authorization)
        let authorization = try await client.deviceAuthorization()
        wire.clock.advance(by: .seconds(60))
        let error = await #expect(throws: AtomError.self) { try await client.credential(for: authorization) }
        #expect(error?.signInError == .deviceCodeExpired)
        try wire.verify()
    }

    @Test("A server without the endpoint is one that doesn't offer it")
    func unsupported() async throws {
        let server = try AuthorizationServer(issuer: "https://as.example", tokenEndpoint: "https://as.example/token")
        let error = await #expect(throws: AtomError.self) {
            try await OAuthClient(server: server, id: "tool").deviceAuthorization()
        }
        #expect(error?.signInError == .unsupported("a sign-in on another device"))
    }
}
