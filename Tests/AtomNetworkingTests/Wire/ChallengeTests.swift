import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Foundation on Linux hangs forever on a Basic challenge, and traps on other
/// challenges when they are answered.
@Suite(.limited) struct ChallengeTests {
    @Test(
        "A 401 comes back at once with its body and its challenge",
        arguments: [
            #"Basic realm="x""#, "Basic", #"basic REALM=x, charset="UTF-8""#,
            #"Digest realm="x", nonce="1", qop="auth""#,
            "NTLM", "NTLM TlRMTVNTUAACAAAA", "Negotiate", #"Bearer realm="x", error="invalid_token""#,
            #"Bearer, Basic realm="x""#, #"Digest realm="a", nonce="b", Basic realm="x""#,
            #""\,,=,Basic realm="un"#, "Basic realm=", "=", ",", "", #"Basic realm="\"#,
        ], TransportUnderTest.all)
    func challenge(_ challenge: String, over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .challenge(challenge, body: Data("who are you?".utf8)) }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: transport).outcome(of: server.endpoint())

        #expect(outcome.error?.isAuthorizationFailure == true)
        #expect(outcome.error?.delivery == .answered)
        #expect(outcome.text == "who are you?")
        #expect(outcome.response?.headerFields["www-authenticate"] == challenge)
        #expect(server.requestCount == 1)
    }

    @Test(arguments: TransportUnderTest.all)
    func severalChallengeFieldsComeBackTogether(over transport: TransportUnderTest) async throws {
        let answer = LoopbackServer.Response.status(
            401, headers: [("WWW-Authenticate", "Bearer"), ("WWW-Authenticate", #"Basic realm="x""#)])
        let server = try LoopbackServer { _ in answer }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: transport).outcome(of: server.endpoint())
        let challenges = outcome.response?.headerFields.values(for: "WWW-Authenticate").joined(separator: ", ")
        #expect(challenges == #"Bearer, Basic realm="x""#)
        #expect(outcome.response?.challenges.map(\.scheme) == ["bearer", "basic"])
        #expect(outcome.response?.challenges.last?.realm == "x")
    }

    @Test(arguments: TransportUnderTest.all)
    func aChallengeToASignedRequestIsNotAnsweredASecondTime(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .challenge(#"Basic realm="x""#) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport) {
            $0.authenticationMethod = .basic(BasicCredential(password: "p", username: "u"))
        }
        let outcome = await atom.outcome(of: server.endpoint())
        #expect(outcome.response?.statusCode == 401)
        #expect(server.requests.map { $0["Authorization"] } == ["Basic dTpw"])
    }

    @Test(arguments: TransportUnderTest.all)
    func aLargeBodyOfA401ArrivesWhole(over transport: TransportUnderTest) async throws {
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0) })
        let server = try LoopbackServer { _ in .challenge(#"Basic realm="x""#, body: body) }
        defer { server.stop() }
        #expect(await Atom.forTest(over: transport).outcome(of: server.endpoint()).response?.data == body)
    }

    @Test(arguments: TransportUnderTest.all)
    func aChallengedHeadIsA401(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .challenge(#"Basic realm="x""#, body: Data("x".utf8)) }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: transport).outcome(of: server.endpoint(method: .head))
        #expect(outcome.response?.statusCode == 401)
        #expect(outcome.response?.data.isEmpty == true)
    }

    @Test(arguments: TransportUnderTest.all)
    func twentyChallengesAtOnceAllComeBack(over transport: TransportUnderTest) async throws {
        let server = try LoopbackServer { _ in .challenge(#"Basic realm="x""#, body: Data("no".utf8)) }
        defer { server.stop() }
        let atom = Atom.forTest(over: transport)
        let endpoint = server.endpoint()
        let texts = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<20 { group.addTask { await atom.outcome(of: endpoint).text } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts == Array(repeating: "no", count: 20))
    }

    @Test(arguments: [#"Basic realm="x""#, "NTLM", ""], TransportUnderTest.all)
    func a407ComesBackAsItIs(challenge: String, over transport: TransportUnderTest) async throws {
        let answer = LoopbackServer.Response.status(
            407, headers: [("Proxy-Authenticate", challenge)], body: Data("proxy".utf8))
        let server = try LoopbackServer { _ in answer }
        defer { server.stop() }
        let outcome = await Atom.forTest(over: transport).outcome(of: server.endpoint())
        #expect(outcome.response?.statusCode == 407)
        #expect(outcome.text == "proxy")
        #expect(outcome.error?.description.contains(": a proxy answered HTTP 407") == true)
    }
}
