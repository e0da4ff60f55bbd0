import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Refreshes over real connections.
@Suite(.limited) struct RefreshOnTheWireTests {
    @Test(arguments: TransportUnderTest.all)
    func aRefreshDoesNotWaitForAConnectionThatRequestsHold(over transport: TransportUnderTest) async throws {
        let server = try LoopbackAuthorizationServer()
        defer { server.stop() }
        let tokens = RecordingTokens(server.signIn())
        let atom = Atom(serviceConfiguration: try server.configuration(tokens: tokens, over: transport.make()))
        let gate = Gate()
        server.holdResources(until: gate)
        let held = CallerStorm(6)
        await held.begin { _ in atom.enqueue(server.endpoint("/held")) }
        await server.waitForRequestsInProgress(6)

        tokens.put(tokens.tokenCredential.expired)
        let refreshGate = Gate()
        server.holdRefreshes(until: refreshGate)
        let waiting = CallerStorm(1)
        await waiting.begin { _ in atom.enqueue(server.endpoint("/waiting")) }
        #expect(await server.waitForRequestsInProgress(7))
        refreshGate.open()
        gate.open()
        await held.end()
        await waiting.end()
        #expect(held.tally == CallerStorm.Tally(answered: 6))
        #expect(waiting.tally == CallerStorm.Tally(answered: 1))
        #expect(server.counts.refreshes == 1)
    }

    private static let tokenProblem = "https://example.com/problems/token"

    @Test(
        "What means that the token is dead is refreshed for once, however the server says it",
        arguments: TransportUnderTest.all,
        [
            .status(403, headers: [("WWW-Authenticate", #"Bearer realm="x", error="invalid_token""#)]),
            .status(419), .status(400, headers: [("X-Token", "expired")], body: Data("no".utf8)),
            .status(
                400, headers: [("Content-Type", "application/problem+json")],
                body: Data(#"{"type":"\#(tokenProblem)"}"#.utf8)),
        ] as [LoopbackServer.Response])
    func otherRejections(over transport: TransportUnderTest, rejection: LoopbackServer.Response) async throws {
        let server = try LoopbackAuthorizationServer(rejection: rejection)
        defer { server.stop() }
        let tokens = RecordingTokens(server.signIn())
        let atom = Atom(
            serviceConfiguration: try server.configuration(tokens: tokens, over: transport.make()) {
                $0.tokenRejections = [
                    .status(419), .headerField("x-token", value: "expired"), .problem(type: Self.tokenProblem),
                ]
            })
        server.revokeAccessTokens(afterAccepting: 0)
        let storm = CallerStorm(10)
        await storm.begin { _ in atom.enqueue(server.endpoint()) }
        await storm.end()
        #expect(storm.tally == CallerStorm.Tally(answered: 10))
        #expect(server.counts.refreshes == 1)
    }

    @Test(arguments: TransportUnderTest.all)
    func aCredentialForAnotherClientIsRefreshedAfterItsServersRefusal(
        over transport: TransportUnderTest
    ) async throws {
        let server = try LoopbackAuthorizationServer()
        defer { server.stop() }
        let tokens = RecordingTokens(server.signIn())
        let atom = Atom(serviceConfiguration: try server.configuration(tokens: tokens, over: transport.make()))
        var other = ServiceConfiguration(dispatchQueue: DispatchQueue(label: "completions"))
        other.transport = transport.make()
        let client = Atom(serviceConfiguration: other)
        let base = try server.endpoint().baseURL()
        let text = "http://\(base.host):\(base.port ?? 80)/other"
        let url = try #require(URL(string: text))
        func status(_ authorization: RequestAuthorization) async throws -> Int? {
            var endpoint = try URLEndpoint(text, headerItems: [authorization.headerItem])
            endpoint.acceptableStatusCodes = 200...499
            return try await client.enqueue(endpoint).resume().statusCode
        }
        let first = try await atom.authorization(for: url)
        #expect(try await status(first) == 200)
        server.revokeAccessTokens(afterAccepting: 0)
        #expect(try await status(first) == 401)
        let next = try #require(try await atom.authorization(for: url, after: first))
        #expect(try await status(next) == 200)
        #expect(server.counts.refreshes == 1)
    }

    @Test(arguments: TransportUnderTest.all)
    func aRefreshWhoseAnswerIsLostFailsAtOnceAndIsNotSentAgain(over transport: TransportUnderTest) async throws {
        let server = try LoopbackAuthorizationServer()
        defer { server.stop() }
        let tokens = RecordingTokens(server.signIn())
        let atom = Atom(serviceConfiguration: try server.configuration(tokens: tokens, over: transport.make()))
        // A first refresh leaves a connection open, which the next one could reuse.
        tokens.put(tokens.tokenCredential.expired)
        let first = CallerStorm(10)
        await first.begin { _ in atom.enqueue(server.endpoint()) }
        await first.end()
        #expect(first.tally == CallerStorm.Tally(answered: 10))

        server.loseAnswerOfNextRefresh()
        tokens.put(tokens.tokenCredential.expired)
        let gate = Gate()
        server.holdRefreshes(until: gate)
        let second = CallerStorm(10)
        await second.begin { _ in atom.enqueue(server.endpoint()) }
        // All ten wait for the refresh.
        try #require(await eventually { atom.manager.deadlines.count >= 11 })
        #expect(await server.waitForRequestsInProgress(1))
        gate.open()
        await second.end()
        #expect(second.tally == CallerStorm.Tally(failed: 10))
        #expect(second.errors.allSatisfy { $0.isAccessTokenRefreshFailure && $0.delivery == .notSent })
        let causes = second.errors.compactMap { error -> URLError.Code? in
            guard case .authentication(.refreshFailed(AtomError.session(let cause), _, _)) = error else { return nil }
            return (cause as? URLError)?.code
        }
        #expect(causes == Array(repeating: .networkConnectionLost, count: 10))
        #expect(server.counts.refreshes == 2)
        #expect(server.counts.reuses == 0)
    }
}

extension TokenCredential {
    /// The same tokens, expired.
    fileprivate var expired: TokenCredential {
        TokenCredential(accessToken: accessToken, expiresAt: .distantPast, refreshToken: refreshToken)
    }
}
