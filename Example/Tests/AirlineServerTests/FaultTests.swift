import AirlineServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct FaultTests {
    @Test func theTokenEndpointIsUnavailableForTheNextCalls() async throws {
        try await withServer { server, client in
            let tokens = try await client.signIn()
            server.updateFaults {
                $0.unavailable = 2
                $0.retryAfter = 7
            }
            for _ in 1...2 {
                let answer = try await client.refresh(tokens.refresh)
                #expect(answer.status == 503)
                #expect(answer.header("Retry-After") == "7")
            }
            // Nothing was processed, so the refresh token is still valid.
            #expect(try await client.refresh(tokens.refresh).status == 200)
            #expect(server.counters.tokenRequestsUnavailable == 2)
            #expect(server.counters.refreshes == 1)
            #expect(server.counters.reuseDetected == 0)
        }
    }

    @Test func withoutRetryAfterNoneIsSent() async throws {
        try await withServer { server, client in
            server.updateFaults { $0.unavailable = 1 }
            let answer = try await client.token("grant_type=client_credentials")
            #expect(answer.status == 503)
            #expect(answer.header("Retry-After") == nil)
        }
    }

    @Test func aLostAnswerHasRotatedTheToken() async throws {
        try await withServer { server, client in
            let tokens = try await client.signIn()
            server.updateFaults { $0.lostAnswers = 1 }
            await #expect(throws: (any Error).self) { try await client.refresh(tokens.refresh) }
            #expect(server.counters.refreshes == 1)
            #expect(server.counters.answersLost == 1)
            #expect(server.faults.lostAnswers == 0)

            #expect(try await client.refresh(tokens.refresh).text("error") == "invalid_grant")
            #expect(server.counters.reuseDetected == 1)
            #expect(try await client.get("/account", token: tokens.access).status == 401)
        }
    }

    @Test func theGracePeriodSavesAClientWhoseAnswerWasLost() async throws {
        let time = ManualTime()
        try await withServer(configuration { $0.gracePeriod = 30 }, time: time) { server, client in
            let tokens = try await client.signIn()
            server.updateFaults { $0.lostAnswers = 1 }
            await #expect(throws: (any Error).self) { try await client.refresh(tokens.refresh) }
            time.advance(by: 5)
            let again = try await client.refresh(tokens.refresh).tokens()
            #expect(try await client.get("/account", token: again.access).status == 200)
            #expect(try await client.refresh(again.refresh).status == 200)
            #expect(server.counters.reuseDetected == 0)
        }
    }

    @Test func aSilentServerNeverAnswersAndCanStillBeStopped() async throws {
        let server = try await AirlineServer.start()
        let client = AirlineClient(server: server)
        let tokens = try await client.signIn()
        server.updateFaults {
            $0.lostAnswers = 1
            $0.lossStyle = .silence
        }
        let call = Task { try await client.refresh(tokens.refresh).status }
        while server.counters.answersLost == 0 { await Task.yield() }
        await server.stop()
        // The stop ended it, not a response.
        await #expect(throws: (any Error).self) { try await call.value }
        #expect(server.counters.refreshes == 1)
    }

    @Test func theTokenEndpointCanBeSlow() async throws {
        try await withServer { server, client in
            server.updateFaults { $0.delayMilliseconds = 120 }
            let start = DispatchTime.now().uptimeNanoseconds
            let answer = try await client.token("grant_type=client_credentials")
            #expect(answer.status == 200)
            #expect(DispatchTime.now().uptimeNanoseconds - start >= 120_000_000)
            // Everything else is as fast as before, and concurrent calls are
            // counted as such.
            async let one = client.token("grant_type=client_credentials").status
            async let two = client.token("grant_type=client_credentials").status
            #expect(try await [one, two] == [200, 200])
            #expect(server.counters.peakConcurrentTokenRequests == 2)
        }
    }
}
