import AirlineServer
import Testing

@Suite(.timeLimit(.minutes(5))) struct RotationTests {
    @Test func aRefreshReplacesBothTokens() async throws {
        try await withServer { server, client in
            let first = try await client.signIn()
            let second = try await client.refresh(first.refresh).tokens()
            #expect(second.access != first.access)
            #expect(second.refresh != first.refresh)
            #expect(try await client.get("/account", token: second.access).status == 200)
            // The old access token is valid until it expires, but is counted as
            // superseded.
            #expect(try await client.get("/account", token: first.access).status == 200)
            #expect(server.counters.apiRequestsWithSupersededToken == 1)
            #expect(server.counters.refreshes == 1)
            #expect(server.counters.tokensIssued == 2)
        }
    }

    @Test func aReusedRefreshTokenKillsTheFamily() async throws {
        try await withServer { server, client in
            let first = try await client.signIn()
            let other = try await client.signIn()
            let second = try await client.refresh(first.refresh).tokens()

            let reuse = try await client.refresh(first.refresh)
            #expect(reuse.status == 400)
            #expect(try reuse.text("error") == "invalid_grant")

            #expect(try await client.get("/account", token: second.access).status == 401)
            #expect(try await client.refresh(second.refresh).text("error") == "invalid_grant")
            #expect(server.counters.reuseDetected == 1)
            #expect(server.counters.familiesRevoked == 1)
            // Another sign-in has another family.
            #expect(try await client.get("/account", token: other.access).status == 200)
            #expect(try await client.refresh(other.refresh).status == 200)
        }
    }

    @Test func withinTheGracePeriodARepeatedRefreshTokenWorks() async throws {
        let time = ManualTime()
        try await withServer(configuration { $0.gracePeriod = 10 }, time: time) { server, client in
            let first = try await client.signIn()
            let second = try await client.refresh(first.refresh).tokens()
            time.advance(by: 9.9)
            let repeated = try await client.refresh(first.refresh).tokens()
            #expect(repeated.refresh == second.refresh)
            #expect(repeated.access != second.access)
            #expect(server.counters.refreshes == 1)
            #expect(server.counters.repeatedRefreshes == 1)
            #expect(server.counters.reuseDetected == 0)

            time.advance(by: 0.1)
            #expect(try await client.refresh(first.refresh).text("error") == "invalid_grant")
            #expect(server.counters.reuseDetected == 1)
            #expect(try await client.get("/account", token: repeated.access).status == 401)
        }
    }

    @Test func aTokenWhoseSuccessorWasUsedHasNoGrace() async throws {
        try await withServer(configuration { $0.gracePeriod = 10 }, time: ManualTime()) { server, client in
            let first = try await client.signIn()
            let second = try await client.refresh(first.refresh).tokens()
            let third = try await client.refresh(second.refresh).tokens()
            #expect(try await client.refresh(second.refresh).tokens().refresh == third.refresh)
            #expect(server.counters.reuseDetected == 0)

            #expect(try await client.refresh(first.refresh).text("error") == "invalid_grant")
            #expect(server.counters.reuseDetected == 1)
            #expect(server.counters.familiesRevoked == 1)
            #expect(try await client.refresh(third.refresh).text("error") == "invalid_grant")
        }
    }

    @Test func withoutRotationTheAnswerLeavesTheRefreshTokenOut() async throws {
        try await withServer(configuration { $0.rotatesRefreshTokens = false }) { server, client in
            let first = try await client.signIn()
            for _ in 1...2 {
                let answer = try await client.refresh(first.refresh)
                #expect(answer.status == 200)
                #expect(try answer.json()["refresh_token"] == nil)
            }
            #expect(server.counters.refreshes == 2)
        }
    }

    @Test func aRefreshCanRevokeTheAccessTokensBeforeIt() async throws {
        try await withServer(configuration { $0.refreshRevokesAccessTokens = true }) { server, client in
            let first = try await client.signIn()
            _ = try await client.refresh(first.refresh)
            #expect(try await client.get("/account", token: first.access).status == 401)
            #expect(server.counters.apiRequestsWithRevokedToken == 1)
            #expect(server.counters.apiRequestsWithSupersededToken == 1)
        }
    }

    @Test func aRefreshCanAskForLessButNotForMore() async throws {
        try await withServer { _, client in
            let signIn = "grant_type=password&username=ada&password=lovelace&scope=flights+profile"
            let tokens = try await client.token(signIn).tokens()
            let more = try await client.token(
                "grant_type=refresh_token&refresh_token=\(tokens.refresh)&scope=bookings"
            )
            #expect(try more.text("error") == "invalid_scope")
            let less = try await client.token("grant_type=refresh_token&refresh_token=\(tokens.refresh)&scope=flights")
            #expect(try less.text("scope") == "flights")
        }
    }

    @Test func ofManyRefreshesAtOnceOneWinsAndTheFamilyDies() async throws {
        try await withServer { server, client in
            let first = try await client.signIn()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 1...20 {
                    group.addTask { try await client.refresh(first.refresh).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 200 }.count == 1)
            #expect(server.counters.refreshes == 1)
            #expect(server.counters.reuseDetected == 1)
            #expect(server.counters.familiesRevoked == 1)
        }
    }
}
