import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Retries on many threads", .limited)
struct RetryConcurrencyTests {
    /// Answers on any thread: busy, lost, unsent, or well.
    private static let server: ScriptedTransport.Script = { exchange in
        DispatchQueue.global().async {
            switch Int.random(in: 0..<6) {
            case 0: exchange.answer(status: 503)
            case 1: exchange.answer(status: 429, headers: [("Retry-After", "0")])
            case 2: exchange.fail(.networkConnectionLost)
            case 3: exchange.fail(.cannotConnectToHost, delivery: .notSent)
            default: exchange.answer("{}")
            }
        }
    }

    @Test("Callers leave and people sign out while requests pause: everybody is told once, and nothing is left")
    func everybodyIsTold() async throws {
        let tokens = RecordingTokens(
            TokenCredential(accessToken: "A", expiresAt: .distantFuture, refreshToken: "R"))
        let bearer = BearerAuthentication(
            endpoint: try AuthorizationEndpoint(host: "auth.example.com", path: "/token"),
            client: ClientCredential(grantType: .refreshToken, id: "client"), writable: tokens)
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(bearer), dispatchQueue: .global(),
            timeout: ServiceTimeout(request: 600, resource: 600), isLogEnabled: true)
        let retries = Locked(0)
        configuration.logHandler = { line in
            if line.contains("to be sent again") { retries.with { $0 += 1 } }
        }
        let transport = ScriptedTransport.held(exchangesPerOrigin: 6, script: Self.server)
        configuration.transport = transport
        configuration.retryPolicy = RetryPolicy(
            maximumAttempts: 4, baseDelay: .milliseconds(2), throttledBaseDelay: .milliseconds(4), cost: 0,
            throttledCost: 0)
        let atom = Atom(serviceConfiguration: configuration)

        let calls = (0..<400).map { _ in Call() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<10 {
                    try? await atom.signIn(
                        with: TokenCredential(
                            accessToken: "A\(number)", expiresAt: .distantFuture, refreshToken: "R\(number)"))
                    if number % 3 == 1 { try? await atom.signOut() }
                }
            }
            for (number, call) in calls.enumerated() {
                group.addTask {
                    let endpoint = PathEndpoint(requiresAuthorization: number % 4 != 0)
                    call.keep(atom.enqueue(endpoint).resume { call.heard($0) })
                    if number % 5 == 0 { call.cancel() }
                }
            }
        }
        for call in calls { _ = await call.outcome() }
        #expect(await eventually { atom.manager.slots.counts == (0, 0) && atom.manager.deadlines.count == 0 })
        #expect(atom.manager.session?.gate.memberCount == 0)
        #expect(calls.allSatisfy { $0.count == 1 })
        #expect(retries.value > 0)
    }
}
