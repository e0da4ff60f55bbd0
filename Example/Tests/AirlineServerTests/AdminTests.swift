import AirlineServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct AdminTests {
    @Test func accessTokensExpireOnRequest() async throws {
        try await withServer { server, client in
            let tokens = try await client.signIn()
            let answer = try await client.post("/admin/expire-access-tokens")
            #expect(try answer.json()["expired"] as? Int == 1)
            #expect(server.expireAccessTokens() == 0)
            #expect(try await client.get("/account", token: tokens.access).status == 401)
            #expect(server.counters.apiRequestsWithExpiredToken == 1)
            #expect(try await client.refresh(tokens.refresh).status == 200)
        }
    }

    @Test func accessTokensAreRevokedOnRequest() async throws {
        try await withServer { server, client in
            let tokens = try await client.signIn()
            let answer = try await client.post("/admin/revoke-access-tokens")
            #expect(try answer.json()["revoked"] as? Int == 1)
            #expect(try await client.get("/account", token: tokens.access).status == 401)
            #expect(server.counters.apiRequestsWithRevokedToken == 1)
            #expect(try await client.refresh(tokens.refresh).status == 200)
        }
    }

    @Test func familiesAreRevokedOnRequest() async throws {
        try await withServer { server, client in
            let tokens = try await client.signIn()
            #expect(try await client.post("/admin/revoke-families").json()["revoked"] as? Int == 1)
            #expect(server.revokeFamilies() == 0)
            #expect(try await client.get("/account", token: tokens.access).status == 401)
            #expect(try await client.refresh(tokens.refresh).text("error") == "invalid_grant")
        }
    }

    @Test func switchesAreSetOverHTTP() async throws {
        try await withServer { server, client in
            let faults = try await client.post(
                "/admin/token-endpoint",
                json: #"{"unavailable": 1, "retryAfter": 3, "lossStyle": "silence"}"#
            )
            #expect(faults.status == 200)
            #expect(server.faults.unavailable == 1)
            #expect(server.faults.retryAfter == 3)
            #expect(server.faults.lossStyle == .silence)
            #expect(server.faults.delayMilliseconds == 0)
            _ = try await client.post("/admin/token-endpoint", json: #"{"retryAfter": null}"#)
            #expect(server.faults.retryAfter == nil)
            #expect(server.faults.unavailable == 1)

            _ = try await client.post("/admin/policy", json: #"{"accessTokenLifetime": 0.25, "gracePeriod": 2}"#)
            #expect(server.policy.accessTokenLifetime == 0.25)
            #expect(server.policy.gracePeriod == 2)
            #expect(server.policy.rotatesRefreshTokens)
        }
    }

    @Test func absurdSwitchesHarmNobody() async throws {
        try await withServer { server, client in
            server.updatePolicy { $0.accessTokenLifetime = 1e300 }
            for offset in [1e300, -1e300] {
                server.updatePolicy { $0.dateOffset = offset }
                let answer = try await client.token("grant_type=client_credentials")
                #expect(answer.status == 200)
            }
            server.updateFaults {
                $0.delayMilliseconds = .min
                $0.unavailable = .min
            }
            let answer = try await client.token("grant_type=client_credentials")
            #expect(answer.status == 200)
        }
    }

    @Test(arguments: [
        (#"{"unavailible": 1}"#, 422),
        (#"{"unavailable": "much"}"#, 422),
        ("[]", 400),
        ("", 400),
    ])
    func aMisspeltSwitchIsRefused(json: String, status: Int) async throws {
        try await withServer { server, client in
            let answer = try await client.post("/admin/token-endpoint", json: json)
            #expect(answer.status == status)
            #expect(server.faults == TokenEndpointFaults())
        }
    }

    @Test func theCountersAreTheSameInsideAndOverHTTP() async throws {
        try await withServer { server, client in
            let tokens = try await client.signIn()
            _ = try await client.get("/account", token: tokens.access)
            let answer = try await client.get("/admin/counters")
            var counters = try JSONDecoder().decode(Counters.self, from: answer.body)
            #expect(counters == server.counters)
            #expect(counters.requests == 3)
            #expect(counters.tokenRequests == 1)

            #expect(try await client.post("/admin/counters/reset").status == 204)
            counters = server.counters
            #expect(counters.requests == 0)
            #expect(counters.apiRequestsAccepted == 0)
            // The session continues.
            #expect(try await client.get("/account", token: tokens.access).status == 200)
        }
    }

    @Test func aResetForgetsEverything() async throws {
        try await withServer { server, client in
            let tokens = try await client.signIn()
            server.updatePolicy { $0.accessTokenLifetime = 1 }
            server.updateFaults { $0.delayMilliseconds = 1 }
            _ = try await client.post("/bookings", json: #"{"flight":"AS100","seat":"5A","passenger":"Ada"}"#)
            #expect(try await client.post("/admin/reset").status == 204)
            #expect(server.policy == TokenPolicy())
            #expect(server.faults == TokenEndpointFaults())
            #expect(try await client.get("/account", token: tokens.access).status == 401)
            #expect(
                try await client.post("/bookings", json: #"{"flight":"AS100","seat":"5A","passenger":"Ada"}"#).status
                    == 201
            )
        }
    }

    @Test func theLogTellsWhatHappenedAndNoToken() async throws {
        let time = ManualTime()
        try await withServer(time: time) { server, client in
            let first = try await client.signIn()
            time.advance(by: 2)
            let second = try await client.refresh(first.refresh).tokens()
            _ = try await client.send(
                "GET",
                "/account",
                headers: ["Authorization": "Bearer \(second.access)", "X-Request-ID": "seven"]
            )
            _ = try await client.refresh(first.refresh)

            let events = server.events()
            #expect(
                events.map(\.kind) == [
                    .signedIn, .request, .refreshed, .request, .request, .reuseDetected, .familyRevoked, .request,
                ]
            )
            #expect(events.map(\.number) == Array(1...8))
            #expect(events.compactMap(\.arrival) == [1, 2, 3, 4])
            #expect(events[2].startedAt == 2)
            #expect(events[4].requestID == "seven")
            #expect(events[4].token == 2)
            #expect(events[4].status == 200)

            let answer = try await client.get("/admin/events?after=6")
            let later = try JSONDecoder().decode([ServerEvent].self, from: answer.body)
            #expect(later == Array(events.suffix(2)))
            let text = String(decoding: try await client.get("/admin/events").body, as: UTF8.self)
            for secret in [first.access, first.refresh, second.access, second.refresh, "lovelace", "example-secret"] {
                #expect(!text.contains(secret))
            }
        }
    }
}
