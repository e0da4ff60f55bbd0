import AirlineServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct ClientAuthenticationTests {
    private let grant = "grant_type=password&username=ada&password=lovelace"

    private func basic(_ pair: String) -> [String: String] {
        ["Authorization": "Basic \(Data(pair.utf8).base64EncodedString())"]
    }

    @Test func aSecretIsTakenFromTheBodyAndFromTheHeader() async throws {
        try await withServer { _, client in
            let inBody = try await client.post("/oauth/token", form: "\(grant)&\(AirlineClient.credentials)")
            #expect(inBody.status == 200)
            let inHeader = try await client.post(
                "/oauth/token",
                form: grant,
                headers: basic("atom-example:example-secret")
            )
            #expect(inHeader.status == 200)
        }
    }

    @Test func aWrongSecretInTheHeaderIsChallenged() async throws {
        try await withServer { _, client in
            let answer = try await client.post("/oauth/token", form: grant, headers: basic("atom-example:wrong"))
            #expect(answer.status == 401)
            #expect(try answer.text("error") == "invalid_client")
            #expect(answer.header("WWW-Authenticate")?.hasPrefix("Basic ") == true)
        }
    }

    @Test(arguments: [
        "client_id=atom-example&client_secret=wrong",
        "client_id=atom-example",
        "client_id=nobody&client_secret=example-secret",
        "client_id=atom-app&client_secret=made-up",
        "client_secret=example-secret",
    ])
    func aWrongClientInTheBodyIsRefusedWithoutChallenge(client credentials: String) async throws {
        try await withServer { _, client in
            let answer = try await client.post("/oauth/token", form: "\(grant)&\(credentials)")
            #expect(answer.status == 401)
            #expect(try answer.text("error") == "invalid_client")
            #expect(answer.header("WWW-Authenticate") == nil)
        }
    }

    @Test func twoWaysAtOnceAreOneTooMany() async throws {
        try await withServer { _, client in
            let answer = try await client.post(
                "/oauth/token",
                form: "\(grant)&\(AirlineClient.credentials)",
                headers: basic("atom-example:example-secret")
            )
            #expect(answer.status == 400)
            #expect(try answer.text("error") == "invalid_request")
        }
    }

    @Test func anAppWithoutSecretSignsInAndRefreshes() async throws {
        try await withServer { _, client in
            let tokens = try await client.post("/oauth/token", form: "\(grant)&client_id=atom-app").tokens()
            let refreshed = try await client.post(
                "/oauth/token",
                form: "grant_type=refresh_token&refresh_token=\(tokens.refresh)&client_id=atom-app"
            )
            #expect(refreshed.status == 200)
            let asItself = try await client.post(
                "/oauth/token",
                form: "grant_type=client_credentials&client_id=atom-app"
            )
            #expect(try asItself.text("error") == "unauthorized_client")
        }
    }

    @Test func bothHalvesAreFormEncodedInTheHeader() async throws {
        var configuration = ServerConfiguration()
        configuration.clients = [OAuthClient(id: "fly:high", secret: "p+s &=%é")]
        try await withServer(configuration) { _, client in
            let encoded = "p%2Bs+%26%3D%25%C3%A9"
            let inHeader = try await client.post("/oauth/token", form: grant, headers: basic("fly%3Ahigh:\(encoded)"))
            #expect(inHeader.status == 200)
            let inBody = try await client.post(
                "/oauth/token",
                form: "\(grant)&client_id=fly%3Ahigh&client_secret=\(encoded)"
            )
            #expect(inBody.status == 200)
            let unencoded = try await client.post("/oauth/token", form: grant, headers: basic("fly:high:p+s &=%é"))
            #expect(unencoded.status == 401)
        }
    }

    @Test func anotherClientsRefreshTokenIsUnknown() async throws {
        try await withServer { server, client in
            let tokens = try await client.signIn()
            let answer = try await client.post(
                "/oauth/token",
                form: "grant_type=refresh_token&refresh_token=\(tokens.refresh)&client_id=atom-app"
            )
            #expect(try answer.text("error") == "invalid_grant")
            #expect(server.counters.reuseDetected == 0)
        }
    }
}
