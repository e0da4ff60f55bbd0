import AirlineServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct TokenEndpointTests {
    @Test func aPasswordBuysTokens() async throws {
        try await withServer { server, client in
            let answer = try await client.token("grant_type=password&username=ada&password=lovelace")
            #expect(answer.status == 200)
            #expect(try answer.text("token_type") == "Bearer")
            #expect(try answer.json()["expires_in"] as? Int == 3600)
            #expect(try answer.text("scope") == "bookings flights profile")
            #expect(answer.header("Cache-Control") == "no-store")
            #expect(answer.header("Pragma") == "no-cache")
            let tokens = try answer.tokens()
            let account = try await client.get("/account", token: tokens.access)
            #expect(account.status == 200)
            #expect(try account.text("name") == "ada")
            #expect(server.counters.signIns == 1)
            #expect(server.counters.tokensIssued == 1)
            #expect(server.counters.apiRequestsAccepted == 1)
        }
    }

    @Test func clientCredentialsBuyNoRefreshToken() async throws {
        try await withServer { _, client in
            let answer = try await client.token("grant_type=client_credentials&scope=flights")
            #expect(answer.status == 200)
            #expect(try answer.json()["refresh_token"] == nil)
            #expect(try answer.text("scope") == "flights")
        }
    }

    @Test(arguments: [
        ("", "invalid_request"),
        ("grant_type=", "invalid_request"),
        ("grant_type=magic", "unsupported_grant_type"),
        ("grant_type=password&username=ada", "invalid_request"),
        ("grant_type=password&username=ada&password=wrong", "invalid_grant"),
        ("grant_type=password&username=ada&username=ada&password=lovelace", "invalid_request"),
        ("grant_type=password&username=ada&password=lovelace&scope=moon", "invalid_scope"),
        ("grant_type=refresh_token", "invalid_request"),
        ("grant_type=refresh_token&refresh_token=rt-unknown", "invalid_grant"),
        ("grant_type=password&username=ada&password=%zz", "invalid_request"),
    ])
    func whatCannotBeGrantedIsRefused(form: String, code: String) async throws {
        try await withServer { server, client in
            let answer = try await client.token(form)
            #expect(answer.status == 400)
            #expect(try answer.text("error") == code)
            #expect(try answer.text("error_description") != nil)
            #expect(answer.header("Cache-Control") == "no-store")
            #expect(server.counters.tokenRequestsRefused == 1)
            #expect(server.counters.tokensIssued == 0)
        }
    }

    @Test func onlyAFormThatIsPostedIsRead() async throws {
        try await withServer { _, client in
            let json = try await client.post("/oauth/token", json: "{\"grant_type\":\"password\"}")
            #expect(json.status == 400)
            #expect(try json.text("error") == "invalid_request")
            let get = try await client.get("/oauth/token?grant_type=client_credentials")
            #expect(get.status == 405)
            #expect(get.header("Allow") == "POST")
        }
    }

    @Test(arguments: zip(TokenPolicy.ExpiryStyle.allCases, ["1.5", "1.5", nil, nil]))
    func expiryIsToldInTheStyleThatWasChosen(style: TokenPolicy.ExpiryStyle, expiresIn: String?) async throws {
        let configuration = configuration {
            $0.accessTokenLifetime = 1.5
            $0.expiryStyle = style
            $0.dateOffset = 86_400
        }
        try await withServer(configuration) { _, client in
            let json = try await client.token("grant_type=client_credentials").json()
            #expect(json["expires_in"].map { "\($0)" } == expiresIn)
            #expect((json["expires_in"] is String) == (style == .string))
            let expiresAt = json["expires_at"] as? Double
            #expect((expiresAt != nil) == (style == .unixTime))
            if let expiresAt {
                #expect(abs(expiresAt - Date().timeIntervalSince1970 - 86_401.5) < 60)
            }
        }
    }

    @Test func aBearerTokenAtTheTokenEndpointIsNoticed() async throws {
        try await withServer { server, client in
            let tokens = try await client.signIn()
            let answer = try await client.post(
                "/oauth/token",
                form: "grant_type=refresh_token&refresh_token=\(tokens.refresh)&\(AirlineClient.credentials)",
                headers: ["Authorization": "Bearer \(tokens.access)"]
            )
            #expect(answer.status == 200)
            #expect(server.counters.bearerTokensAtTokenEndpoint == 1)
        }
    }
}
