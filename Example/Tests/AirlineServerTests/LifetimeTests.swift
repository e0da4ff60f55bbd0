import AirlineServer
import Testing

@Suite(.timeLimit(.minutes(5))) struct LifetimeTests {
    @Test func anAccessTokenExpiresToTheFractionOfASecond() async throws {
        let time = ManualTime()
        try await withServer(configuration { $0.accessTokenLifetime = 1.5 }, time: time) { server, client in
            let tokens = try await client.signIn()
            time.advance(by: 1.25)
            #expect(try await client.get("/account", token: tokens.access).status == 200)
            time.advance(by: 0.25)
            let expired = try await client.get("/account", token: tokens.access)
            #expect(expired.status == 401)
            #expect(
                expired.header("WWW-Authenticate")
                    == "Bearer realm=\"airline\", error=\"invalid_token\", "
                    + "error_description=\"The access token expired\""
            )
            #expect(server.counters.apiRequestsAccepted == 1)
            #expect(server.counters.apiRequestsWithExpiredToken == 1)
            #expect(server.counters.apiRequestsWithDeadToken == 1)
            #expect(server.counters.apiRequestsWithRejectedToken == 0)

            // The client has already got a 401 for this token.
            _ = try await client.get("/account", token: tokens.access)
            #expect(server.counters.apiRequestsWithRejectedToken == 1)
            // The refresh token still works.
            let refreshed = try await client.refresh(tokens.refresh).tokens()
            #expect(try await client.get("/account", token: refreshed.access).status == 200)
        }
    }

    @Test func aRefreshTokenCanExpireToo() async throws {
        let time = ManualTime()
        try await withServer(configuration { $0.refreshTokenLifetime = 60 }, time: time) { server, client in
            let tokens = try await client.signIn()
            time.advance(by: 60)
            let answer = try await client.refresh(tokens.refresh)
            #expect(try answer.text("error") == "invalid_grant")
            // This doesn't count as theft.
            #expect(server.counters.reuseDetected == 0)
            #expect(try await client.get("/account", token: tokens.access).status == 200)
        }
    }

    @Test func aRequestWithoutATokenIsNotToldThatItsTokenIsBad() async throws {
        try await withServer { server, client in
            let unsigned = try await client.get("/account")
            #expect(unsigned.status == 401)
            #expect(unsigned.header("WWW-Authenticate") == "Bearer realm=\"airline\"")
            let unknown = try await client.get("/account", token: "at-made-up")
            #expect(unknown.header("WWW-Authenticate")?.contains("error=\"invalid_token\"") == true)
            #expect(server.counters.apiRequestsUnsigned == 1)
            #expect(server.counters.apiRequestsWithUnknownToken == 1)
            #expect(server.counters.apiRequestsWithDeadToken == 0)
        }
    }
}
