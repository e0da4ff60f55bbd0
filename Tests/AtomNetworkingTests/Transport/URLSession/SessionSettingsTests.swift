import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.limited) struct SessionSettingsTests {
    @Test func theAppConfiguresTheSessionOfAllRequestsAndThatOfEachRefresh() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let count = Guarded(0)
        let transport = URLSessionTransport { session in
            count.withLock { $0 += 1 }
            session.httpAdditionalHeaders = ["X-App": "ours"]
        }
        let atom = Atom(.forTest(over: transport))
        for _ in 0..<2 { _ = await atom.outcome(of: server.endpoint()) }
        #expect(count.withLock { $0 } == 1)
        #expect(server.requests.map { $0["X-App"] } == ["ours", "ours"])

        let target = try TargetURL(
            base: BaseURL(scheme: .http, host: "127.0.0.1", port: Int(server.port)), path: URLPath("/fresh"))
        let request = TransportRequest(
            method: "GET", target: target, headerFields: HeaderFields(), body: nil, idleTimeout: .seconds(30),
            needsFreshConnection: true)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            _ = transport.start(request) { event in
                switch event {
                case .finished, .failed: continuation.resume()
                default: break
                }
            }
        }
        #expect(count.withLock { $0 } == 2)
        #expect(server.requests.last?["X-App"] == "ours")
    }

    @Test func whatTheSDKDoesItselfStaysAsItNeedsIt() {
        let made = SessionConfiguration.ephemeral.urlSessionConfiguration { session in
            session.httpCookieAcceptPolicy = .always
            session.httpShouldSetCookies = true
            session.urlCache = .shared
            session.requestCachePolicy = .returnCacheDataElseLoad
            session.timeoutIntervalForRequest = 1
            session.timeoutIntervalForResource = 1
            session.httpMaximumConnectionsPerHost = 3
        }
        #expect(made.httpCookieAcceptPolicy == .never && !made.httpShouldSetCookies)
        #expect(made.urlCache == nil && made.urlCredentialStorage == nil)
        #expect(made.requestCachePolicy == .reloadIgnoringLocalCacheData)
        #expect(made.timeoutIntervalForRequest > 1e6 && made.timeoutIntervalForResource > 1e6)
        #expect(made.httpMaximumConnectionsPerHost == 3)
    }

    @Test func aTransportWithABackgroundSessionSendsNothing() async throws {
        let server = try LoopbackServer { _ in .json("{}") }
        defer { server.stop() }
        let isConfigured = Guarded(false)
        let transport = URLSessionTransport(configuration: .background("sync")) { _ in
            isConfigured.withLock { $0 = true }
        }
        let outcome = await Atom(.forTest(over: transport)).outcome(of: server.endpoint())
        guard case .failure(.requestable(.unsupportedConfiguration)) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(outcome.error?.delivery == .notSent)
        #expect(server.connectionCount == 0 && !isConfigured.withLock { $0 })
    }

    @Test(
        "Challenges of the connection are the system's or the app's, and those of a request are rejected",
        arguments: [
            (NSURLAuthenticationMethodHTTPBasic, false), (NSURLAuthenticationMethodHTTPDigest, false),
            (NSURLAuthenticationMethodDefault, false), (NSURLAuthenticationMethodNTLM, false),
            (NSURLAuthenticationMethodNegotiate, false), ("NSURLAuthenticationMethodServerTrust", true),
            ("NSURLAuthenticationMethodClientCertificate", true),
        ])
    func challenges(method: String, isOfConnection: Bool) {
        #expect(
            ChallengeDisposition.reply(to: method, isProxy: false)
                == (isOfConnection ? .performDefaultHandling : .rejectProtectionSpace))
        #expect(ChallengeDisposition.reply(to: method, isProxy: true) == .performDefaultHandling)
    }
}
