import Foundation
import Testing

@testable import AtomNetworking

/// Signers add to each attempt, directly before it.
@Suite(.limited) struct RequestSignerTests {
    /// A signer that a test writes in place.
    private struct Signer: RequestSigner {
        let add: @Sendable (inout SignableRequest) throws -> Void

        func sign(_ request: inout SignableRequest) throws { try add(&request) }
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String { "key-5318008" }
    }

    /// Adds what it sees of the request.
    private static let seal = Signer { request in
        let credential = request.headerFields["Authorization"] ?? "none"
        let target = request.target.absoluteString
        try request.setHeader("X-Seal", to: "\(request.attempt) \(request.method) \(target) \(credential)")
    }

    private func atom(_ session: SessionFixture, _ signers: Signer..., limit: Int? = nil) -> Atom {
        var configuration = session.configuration
        configuration.signers = signers
        configuration.maximumExchangesPerOrigin = limit
        return Atom(configuration, time: session.time)
    }

    private func call(_ atom: Atom, _ path: String = "/x", signed: Bool = true) -> Call {
        let call = Call()
        call.keep(
            atom.enqueue(PathEndpoint(pathText: path, requiresAuthorization: signed)).resume { call.heard($0) })
        return call
    }

    private func seals(_ session: SessionFixture) -> [String?] {
        session.sent.map { $0.request.headerFields["X-Seal"] }
    }

    @Test func theySeeTheRequestAsItIsSentAndEachOther() async throws {
        let session = try SessionFixture()
        let atom = atom(
            session, Self.seal,
            Signer { request in
                #expect(request.body?.data == Data(#"["12A"]"#.utf8))
                #expect(request.requiresAuthorization)
                #expect(request.date == session.time.date)
                #expect(request.headerFields["Content-Type"] == "application/json")
                #expect(request.headerFields["X-Seal"]?.hasSuffix("Bearer A0") == true)
                try request.setHeader("x-seal", to: "second")
                try request.setHeader("Cookie", to: "own")
            })
        struct Booking: Requestable {
            var method: HTTPMethod { .post }
            var body: RequestBody? { .json(["12A"]) }
            func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
        }
        let resumed = Task { try await atom.enqueue(Booking()).resume() }
        let sent = await session.transport.exchange(0)
        #expect(sent.request.headerFields.values(for: "X-Seal") == ["second"], "it is replaced, not repeated")
        #expect(sent.request.headerFields["Cookie"] == "own")
        sent.answer()
        _ = try await resumed.value
    }

    @Test func eachSendingIsSignedAnew() async throws {
        let session = try SessionFixture()
        let call = call(atom(session, Self.seal))
        session.sent[0].answer(status: 401)
        await session.refresh().grant(1)
        let second = await session.transport.exchange(2)
        second.redirect(307, to: "/y")
        let third = await session.transport.exchange(3)
        third.answer()
        #expect(await call.status() == 200)
        #expect(
            seals(session) == [
                "1 GET https://api.example.com/x Bearer A0", "2 GET https://api.example.com/x Bearer A1",
                "3 GET https://api.example.com/y Bearer A1",
            ])
        #expect(session.refreshes[0].request.headerFields["X-Seal"] == nil, "the SDK's own request")
    }

    @Test func aTokenThatIsRejectedWhileASignerRunsIsNotSent() async throws {
        let session = try SessionFixture()
        let isAnswered = Guarded(false)
        let atom = atom(
            session,
            Signer { request in
                guard request.target.path == "/b", isAnswered.isSetNow() else { return }
                session.sent[0].answer(status: 401)
            })
        let calls = [call(atom, "/a"), call(atom, "/b")]
        await session.refresh().grant(1)
        _ = await session.transport.exchange(3)
        #expect(session.sent.map(\.token) == ["A0", "A1", "A1"])
        for exchange in session.sent.dropFirst() { exchange.answer() }
        for call in calls { #expect(await call.status() == 200) }
    }

    @Test func nothingFollowsARedirectElsewhere() async throws {
        let session = try SessionFixture()
        let call = call(atom(session, Self.seal))
        session.sent[0].redirect(to: "https://storage.example/file")
        let foreign = await session.transport.exchange(1)
        #expect(foreign.request.headerFields["X-Seal"] == nil)
        foreign.redirect(to: "https://api.example.com/back")
        let back = await session.transport.exchange(2)
        #expect(back.request.headerFields["X-Seal"] == nil, "it has left the origin")
        back.answer()
        #expect(await call.status() == 200)
    }

    @Test func aLinkToAnotherOriginIsNotSigned() async throws {
        let session = try SessionFixture { $0.answer() }
        let atom = atom(session, Self.seal)
        let response = try await atom.enqueue(PathEndpoint()).resume()
        try await atom.enqueue(LinkedEndpoint("/next", in: response)).resume()
        try await atom.enqueue(LinkedEndpoint("https://storage.example/file", in: response)).resume()
        #expect(seals(session).map { $0 != nil } == [true, true, false])
    }

    @Test func anEndpointWithoutAuthorizationIsSignedWithoutACredential() async throws {
        let session = try SessionFixture { $0.answer() }
        let asked = Guarded<Bool?>(nil)
        let atom = atom(session, Self.seal, Signer { request in asked.withLock { $0 = request.requiresAuthorization } })
        #expect(await call(atom, signed: false).status() == 200)
        #expect(seals(session) == ["1 GET https://api.example.com/x none"])
        #expect(asked.withLock { $0 } == false)
    }

    @Test(arguments: [true, false])
    func theServicesOwnCredentialStays(signed: Bool) async throws {
        let session = try SessionFixture { $0.answer() }
        let atom = atom(session, Signer { try $0.setHeader("authorization", to: "AWS4-HMAC-SHA256 x") })
        let call = call(atom, signed: signed)
        guard signed else {
            #expect(await call.status() == 200)
            #expect(session.sent[0].request.headerFields["Authorization"] == "AWS4-HMAC-SHA256 x")
            return
        }
        let error = try #require(await call.error())
        guard case .authentication(.notSigned(cause: AtomError.requestable(.invalidHeader), .notSent)) = error else {
            throw Unexpected("\(error)")
        }
        #expect(session.sent.isEmpty)
    }

    @Test(arguments: [("Host", "a"), ("Content-Length", "1"), ("X Key", "a"), ("X-Key", "a\r\nb")])
    func whatTheyAddIsChecked(name: String, value: String) async throws {
        let session = try SessionFixture { $0.answer() }
        let error = try #require(
            await call(atom(session, Signer { try $0.setHeader(name, to: value) })).error())
        guard case .authentication(.notSigned(cause: AtomError.requestable(.invalidHeader), _)) = error else {
            throw Unexpected("\(error)")
        }
        #expect(session.sent.isEmpty)
    }

    @Test func aFailureGivesTheSlotBackAndSaysHowFarTheRequestGot() async throws {
        let session = try SessionFixture(exchangesPerOrigin: 1)
        let fails = Guarded(true)
        let atom = atom(session, Signer { _ in if fails.withLock({ $0 }) { throw Failure() } }, limit: 1)
        let first = try #require(await call(atom).error())
        guard case .authentication(.notSigned(cause: is Failure, .notSent)) = first else {
            throw Unexpected("\(first)")
        }
        #expect(!"\(first) \(first.localizedDescription)".contains("5318008"), "its text may be a secret")
        #expect(first.description == "GET https://api.example.com/x: a signer of the app failed: Failure.")
        #expect(atom.manager.slots.counts == (0, 0))

        fails.withLock { $0 = false }
        let second = call(atom)
        fails.withLock { $0 = true }
        session.sent[0].redirect(to: "/y")
        let error = try #require(await second.error())
        guard case .authentication(.notSigned(cause: is Failure, .answered)) = error else {
            throw Unexpected("\(error)")
        }
        #expect(atom.manager.slots.counts == (0, 0))
    }

    @Test func aCancellationWhileItSignsSendsNothing() async throws {
        let session = try SessionFixture(exchangesPerOrigin: 1)
        let waiting = Call()
        let atom = atom(
            session, Signer { request in if request.target.absoluteString.hasSuffix("/second") { waiting.cancel() } },
            limit: 1)
        let first = call(atom, "/first")
        waiting.keep(atom.enqueue(PathEndpoint(pathText: "/second")).resume { waiting.heard($0) })
        let third = call(atom, "/third")
        session.sent[0].answer()
        #expect(await first.status() == 200)
        guard case .cancelled(.notSent)? = await waiting.error() else { throw Unexpected("not cancelled") }
        let last = await session.transport.exchange(1)
        #expect(session.sentPaths == ["/first", "/third"])
        last.answer()
        #expect(await third.status() == 200)
        #expect(atom.manager.slots.counts == (0, 0))
    }

    @Test func thousandRequestsStartInTheOrderOfTheirCallsAlsoOverARefresh() async throws {
        let session = try SessionFixture(lifetime: 0)
        var configuration = session.configuration
        configuration.signers = [Self.seal, Signer { try $0.setHeader("X-Second", to: "2") }]
        configuration.adapters = [Numbering()]
        let atom = Atom(configuration, time: session.time)
        let calls = (0..<500).map { call(atom, "/\($0)") }
        await session.refresh().grant(1)
        let more = (500..<1_000).map { call(atom, "/\($0)") }
        _ = await session.transport.exchange(1_000)
        #expect(session.sentPaths == (0..<1_000).map { "/\($0)" })
        #expect(session.sent.allSatisfy { $0.request.headerFields["X-Path"] == $0.request.target.url?.path })
        #expect(session.sent.allSatisfy { $0.request.headerFields["X-Seal"]?.hasSuffix("Bearer A1") == true })
        for exchange in session.sent { exchange.answer() }
        for call in calls + more { #expect(await call.status() == 200) }
    }

    private struct Numbering: RequestAdapter {
        func adapt(_ request: inout RequestDescription, of endpoint: any Requestable) {
            request.setHeader("X-Path", to: request.path.description)
        }
    }
}
