import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Which responses mean that the token is dead, and which errors end the session.
@Suite(.limited) struct TokenRejectionTests {
    private static let expired = "https://api.example.com/problems/token-expired"

    /// What a server sends instead of a 401.
    private struct Answer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var status = 403
        var headers: [(String, String)] = []
        var body = ""
        var rules: [TokenRejection] = []

        func send(by exchange: ScriptedExchange) { exchange.answer(body, status: status, headers: headers) }
    }

    private static func problem(_ type: String, status: Int = 400) -> Answer {
        Answer(
            testDescription: "a problem of the type \(type)", status: status,
            headers: [("Content-Type", "application/problem+json; charset=utf-8")],
            body: #"{"type":"\#(type)","title":"No"}"#, rules: [.problem(type: expired)])
    }

    private static let rejections = [
        Answer(
            testDescription: "a 403 with invalid_token",
            headers: [("WWW-Authenticate", #"Bearer realm="x", error="invalid_token""#)]),
        Answer(testDescription: "a status", status: 419, rules: [.status(440), .status(419)]),
        Answer(
            testDescription: "a header field", status: 400, headers: [("x-token", "Expired")],
            rules: [.headerField("X-Token", value: "expired")]),
        Answer(
            testDescription: "a success with a header field", status: 200, headers: [("X-Token-Expired", "1")],
            rules: [.headerField("x-token-expired")]),
        Answer(
            testDescription: "a redirect to a login page", status: 302, headers: [("Location", "/login")],
            rules: [.headerField("Location", value: "/login")]),
        problem(expired),
    ]

    @Test(
        "A token is refreshed for what means that it is dead, and the request is sent once more",
        arguments: rejections)
    private func isRefreshedFor(answer: Answer) async throws {
        let session = try SessionFixture(bearer: { $0.tokenRejections = answer.rules })
        let call = session.call()
        answer.send(by: session.sent[0])
        await session.refresh().grant(1)
        let second = await session.transport.exchange(2)
        #expect(second.token == "A1")
        second.answer("fine")
        #expect(await call.outcome().response?.data == Data("fine".utf8))
        #expect(session.refreshes.count == 1)
    }

    @Test("What means that a token is dead is the outcome of a second attempt", arguments: rejections)
    private func secondIsTheOutcome(answer: Answer) async throws {
        let session = try SessionFixture(bearer: { $0.tokenRejections = answer.rules })
        let call = session.call()
        answer.send(by: session.sent[0])
        await session.refresh().grant(1)
        answer.send(by: await session.transport.exchange(2))
        // A redirect is followed then.
        if answer.status == 302 { await session.transport.exchange(3).answer(status: 404) }
        #expect(await call.outcome().response?.statusCode == (answer.status == 302 ? 404 : answer.status))
        #expect(session.refreshes.count == 1)
    }

    @Test(
        "Anything else is the outcome at once",
        arguments: [
            Answer(testDescription: "a 403"),
            Answer(
                testDescription: "too small a scope",
                headers: [("WWW-Authenticate", #"Bearer error="insufficient_scope", scope="seats""#)]),
            Answer(testDescription: "another status", status: 420, rules: [.status(419)]),
            Answer(
                testDescription: "another value", status: 400, headers: [("X-Token", "fine")],
                rules: [.headerField("X-Token", value: "expired")]),
            problem("about:blank"),
            Answer(
                testDescription: "a problem that isn't JSON", status: 400,
                headers: [("Content-Type", "application/problem+json")], body: "<html>",
                rules: [.problem(type: expired)]),
            Answer(
                testDescription: "JSON that isn't a problem", status: 400,
                headers: [("Content-Type", "application/json")], body: #"{"type":"\#(expired)"}"#,
                rules: [.problem(type: expired)]),
            problem(expired, status: 500),
        ])
    private func isTheOutcome(answer: Answer) async throws {
        let session = try SessionFixture(bearer: { $0.tokenRejections = answer.rules })
        let call = session.call()
        answer.send(by: session.sent[0])
        let error = await call.error()
        #expect(error?.response?.statusCode == answer.status)
        #expect(error?.response?.data == Data(answer.body.utf8))
        #expect(session.refreshes.isEmpty)
        #expect(session.atom.manager.slots.counts == (0, 0))
    }

    @Test func anUnsignedRequestIsNotJudged() async throws {
        let session = try SessionFixture(bearer: { $0.tokenRejections = [.status(419)] })
        let call = session.call(signed: false)
        session.sent[0].answer(status: 419)
        #expect(await call.error()?.response?.statusCode == 419)
        #expect(session.refreshes.isEmpty)
    }

    @Test func withoutARefreshTokenTheCallerGetsTheResponseWithItsBody() async throws {
        let store = RecordingTokenCredentialStore(
            TokenCredential(accessToken: "A0", expiresAt: .distantFuture, refreshToken: ""))
        let session = try SessionFixture(store: store, bearer: { $0.tokenRejections = [.problem(type: Self.expired)] })
        let call = session.call()
        let answer = Self.problem(Self.expired)
        answer.send(by: await session.transport.exchange(0))
        let error = await call.error()
        #expect(error?.response?.statusCode == 400)
        #expect(error?.response?.data == Data(answer.body.utf8))
    }

    @Test func aProblemThatSaysNothingOfTheTokenAcceptsIt() async throws {
        let session = try SessionFixture(
            lifetime: 0, bearer: { $0.tokenRejections = [.problem(type: Self.expired)] })
        let call = session.call()
        await session.refresh().grant(1)
        let exchange = await session.transport.exchange(1)
        #expect(session.atom.manager.session?.gate.with { $0.held?.isUnproven } == true)
        Self.problem("about:blank").send(by: exchange)
        #expect(await call.error()?.response?.statusCode == 400)
        #expect(session.atom.manager.session?.gate.with { $0.held?.isUnproven } == false)
    }

    @Test func aSecondProblemOfTheTokenDoesNotAcceptIt() async throws {
        let session = try SessionFixture(bearer: { $0.tokenRejections = [.problem(type: Self.expired)] })
        let call = session.call()
        let answer = Self.problem(Self.expired)
        answer.send(by: session.sent[0])
        await session.refresh().grant(1)
        answer.send(by: await session.transport.exchange(2))
        #expect(await call.error()?.response?.statusCode == 400)
        #expect(session.atom.manager.session?.gate.with { $0.held?.isUnproven } == true, "it counts as fruitless")
    }

    @Test func aProblemThatIsReadForTheTokenKeepsItsWordsForPeople() async throws {
        let session = try SessionFixture(bearer: { $0.tokenRejections = [.problem(type: Self.expired)] })
        let call = session.call()
        session.sent[0].answer(
            #"{"type":"about:blank","title":"No","detail":"Row 7 is full."}"#, status: 422,
            headers: [("Content-Type", "application/problem+json")])
        #expect(await call.error()?.serverMessage == "Row 7 is full.")
        #expect(session.atom.manager.slots.counts == (0, 0))
    }

    @Test(
        "A rule can be tested with a response",
        arguments: rejections.filter { !$0.rules.isEmpty })
    private func canBeTested(answer: Answer) {
        let fields = HeaderFields(answer.headers.map { HeaderItem(name: $0.0, value: $0.1) })
        let response = AtomResponse(
            data: Data(answer.body.utf8), statusCode: answer.status, headerFields: fields)
        #expect(answer.rules.contains { $0.matches(response) })
        #expect(!answer.rules.contains { $0.matches(AtomResponse(statusCode: 204)) })
    }

    // MARK: The token endpoint

    @Test func aCodeThatTheAppNamesEndsTheSession() async throws {
        let session = try SessionFixture(lifetime: 0, bearer: { $0.sessionEndingErrors = ["bad_refresh_token"] })
        let call = session.call()
        await session.refresh().answer(#"{"error":"bad_refresh_token","error_description":"It is bad."}"#)
        guard case .authentication(.refreshRejected(let error, _)) = await call.error() else {
            throw Unexpected("\(String(describing: await call.error()))")
        }
        #expect(error.code == "bad_refresh_token")
        guard case .ended = session.atom.sessionState else { throw Unexpected("\(session.atom.sessionState)") }
    }

    @Test func aCodeThatNobodyNamesLeavesTheUserSignedIn() async throws {
        let session = try SessionFixture(lifetime: 0)
        let call = session.call()
        await session.refresh().answer(#"{"error":"bad_refresh_token"}"#)
        guard case .authentication(.refreshFailed) = await call.error() else {
            throw Unexpected("\(String(describing: await call.error()))")
        }
        guard case .signedIn = session.atom.sessionState else { throw Unexpected("\(session.atom.sessionState)") }
    }

    @Test("A token type is refused unless the app names it", arguments: [true, false])
    func tokenType(isNamed: Bool) async throws {
        let session = try SessionFixture(
            lifetime: 0, bearer: { if isNamed { $0.tokenTypes = ["user access token"] } })
        let call = session.call()
        await session.refresh().answer(
            #"{"access_token":"A1","token_type":"User Access Token","expires_in":7200,"refresh_token":"R1"}"#)
        guard isNamed else {
            guard case .authentication(.refreshFailed(let cause, _, _)) = await call.error() else {
                throw Unexpected("\(String(describing: await call.error()))")
            }
            #expect("\(cause)".contains("BearerAuthentication.tokenTypes"))
            return
        }
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A1")
        exchange.answer()
        #expect(await call.status() == 200)
    }
}
