import AirlineServer
import Testing

@Suite(.timeLimit(.minutes(5))) struct RevocationTests {
    private func revoke(_ token: String, as credentials: String, with client: AirlineClient) async throws -> Answer {
        try await client.post("/oauth/revoke", form: "token=\(token)&\(credentials)")
    }

    @Test func aRevokedRefreshTokenTakesItsFamilyWithIt() async throws {
        try await withServer { server, client in
            let tokens = try await client.signIn()
            #expect(try await revoke(tokens.refresh, as: AirlineClient.credentials, with: client).status == 200)
            #expect(try await client.get("/account", token: tokens.access).status == 401)
            #expect(try await client.refresh(tokens.refresh).text("error") == "invalid_grant")
            #expect(server.counters.familiesRevoked == 1)
            #expect(server.counters.reuseDetected == 0)
        }
    }

    @Test func aRevokedAccessTokenGoesAlone() async throws {
        try await withServer { server, client in
            let tokens = try await client.signIn()
            #expect(try await revoke(tokens.access, as: AirlineClient.credentials, with: client).status == 200)
            let answer = try await client.get("/account", token: tokens.access)
            #expect(answer.status == 401)
            #expect(answer.header("WWW-Authenticate")?.contains("was revoked") == true)
            #expect(try await client.refresh(tokens.refresh).status == 200)
            #expect(server.counters.apiRequestsWithRevokedToken == 1)
        }
    }

    @Test func anUnknownTokenIsAsGoodAsRevoked() async throws {
        try await withServer { _, client in
            let answer = try await revoke("made-up", as: AirlineClient.credentials, with: client)
            #expect(answer.status == 200)
        }
    }

    @Test func nobodyRevokesAnothersToken() async throws {
        try await withServer { _, client in
            let tokens = try await client.signIn()
            #expect(try await revoke(tokens.refresh, as: "client_id=atom-app", with: client).status == 400)
            #expect(try await revoke(tokens.refresh, as: "client_id=nobody", with: client).status == 401)
            #expect(try await client.refresh(tokens.refresh).status == 200)
        }
    }
}
