import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Tokens that are bound to a key: a proof goes with each request that is signed with one, and with each refresh.
@Suite(.limited) struct TokenProofTests {
    /// Counts its proofs, and takes a nonce from the responses.
    private final class FakeProof: TokenProof {
        let keyThumbprint: String
        private let state = Guarded((count: 0, nonce: "-", heard: [Int]()))

        init(_ keyThumbprint: String = "key") { self.keyThumbprint = keyThumbprint }

        /// The statuses of the responses that it has heard of.
        var heard: [Int] { state.withLock { $0.heard } }

        func sign(_ request: inout SignableRequest) throws {
            let (count, nonce) = state.withLock { state in
                state.count += 1
                return (state.count, state.nonce)
            }
            let scheme = request.headerFields["Authorization"].map { String($0) } ?? "none"
            try request.setHeader("DPoP", to: "\(count) \(nonce) \(request.method) \(request.target.path) \(scheme)")
        }

        func received(_ response: AtomResponse) -> Bool {
            state.withLock { state in
                state.heard.append(response.statusCode ?? 0)
                if let nonce = response.headerFields["DPoP-Nonce"] { state.nonce = nonce }
            }
            let isAsked = response.challenges.contains { $0["error"] == "use_dpop_nonce" }
            return isAsked || response.data.range(of: Data("use_dpop_nonce".utf8)) != nil
        }
    }

    private static let nonceChallenge = [("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#), ("DPoP-Nonce", "n1")]

    private static func credential(
        _ number: Int, life: Double = 3_600, type: String? = "DPoP", key: String? = "key"
    ) -> TokenCredential {
        let plain = TokenCredential.issued(number, life: life)
        return TokenCredential(
            accessToken: plain.accessToken, expiresAt: plain.expiresAt, refreshToken: plain.refreshToken,
            tokenType: type, keyThumbprint: key)
    }

    private func session(_ proof: FakeProof, _ credential: TokenCredential) throws -> SessionFixture {
        try SessionFixture(store: InMemoryTokenCredentialStore(credential), bearer: { $0.proof = proof })
    }

    private static func grant(_ exchange: ScriptedExchange, _ number: Int, type: String = "DPoP") {
        exchange.answer(
            #"{"access_token":"A\#(number)","token_type":"\#(type)","expires_in":3600,"#
                + #""refresh_token":"R\#(number)"}"#)
    }

    @Test func aProofGoesWithEachRequestThatIsSignedWithABoundToken() async throws {
        let session = try session(FakeProof(), Self.credential(0))
        let call = session.call()
        let exchange = await session.transport.exchange(0)
        #expect(exchange.request.headerFields["Authorization"] == "DPoP A0")
        #expect(exchange.request.headerFields["DPoP"] == "1 - GET /x DPoP A0")
        exchange.answer()
        #expect(await call.status() == 200)
    }

    @Test func aBearerTokenAndAnUnsignedRequestNeedNone() async throws {
        let session = try session(FakeProof(), Self.credential(0, type: nil, key: nil))
        var calls = [session.call()]
        let signed = await session.transport.exchange(0)
        #expect(signed.request.headerFields["Authorization"] == "Bearer A0")
        calls.append(session.call("/y", signed: false))
        let unsigned = await session.transport.exchange(1)
        for exchange in [signed, unsigned] {
            #expect(exchange.request.headerFields["DPoP"] == nil)
            exchange.answer()
        }
        for call in calls { #expect(await call.status() == 200) }
    }

    @Test func aServerThatWantsItsNonceGetsItOnceAndTheTokenStaysGood() async throws {
        let proof = FakeProof()
        let session = try session(proof, Self.credential(0))
        let call = session.call()
        await session.transport.exchange(0).answer(status: 401, headers: Self.nonceChallenge)
        let second = await session.transport.exchange(1)
        #expect(second.request.headerFields["DPoP"] == "2 n1 GET /x DPoP A0")
        second.answer(status: 401, headers: Self.nonceChallenge)
        #expect(await call.error()?.response?.statusCode == 401, "not for ever")
        #expect(session.refreshes.isEmpty)
        let next = session.call()
        await session.transport.exchange(2).answer()
        #expect(await next.status() == 200)
        #expect(proof.heard == [401, 401, 200])
    }

    @Test func a401ThatMeansTheTokenIsStillRefreshedForAfterwards() async throws {
        let session = try session(FakeProof(), Self.credential(0))
        let call = session.call()
        await session.transport.exchange(0).answer(status: 401, headers: Self.nonceChallenge)
        await session.transport.exchange(1).answer(status: 401)
        let refresh = await session.refresh()
        #expect(refresh.request.headerFields["DPoP"] == "3 n1 POST /token none")
        Self.grant(refresh, 1)
        let third = await session.transport.exchange(3)
        #expect(third.request.headerFields["Authorization"] == "DPoP A1")
        #expect(third.request.headerFields["DPoP"] == "4 n1 GET /x DPoP A1")
        third.answer()
        #expect(await call.status() == 200)
    }

    @Test func afterARefreshAServerMayWantItsNonceOnceMore() async throws {
        let session = try session(FakeProof(), Self.credential(0))
        let call = session.call()
        await session.transport.exchange(0).answer(status: 401, headers: Self.nonceChallenge)
        await session.transport.exchange(1).answer(status: 401)
        Self.grant(await session.refresh(), 1)
        await session.transport.exchange(3).answer(status: 401, headers: Self.nonceChallenge)
        await session.transport.exchange(4).answer()
        #expect(await call.status() == 200)
        #expect(session.refreshes.count == 1)
    }

    @Test func aBoundCredentialIsNotUsedWithoutItsKey() async throws {
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(Self.credential(0)))
        #expect(await session.call().error()?.situation == .signInRequired)
        #expect(session.transport.exchanges.isEmpty)
    }

    @Test func aTokenEndpointThatWantsItsNonceGetsItOnce() async throws {
        let store = InMemoryTokenCredentialStore(Self.credential(0, life: 0))
        let proof = FakeProof()
        let session = try SessionFixture(store: store, bearer: { $0.proof = proof })
        let call = session.call()
        await session.refresh().answer(
            #"{"error":"use_dpop_nonce"}"#, status: 400, headers: [("DPoP-Nonce", "n2")])
        let second = await session.refresh(1)
        #expect(second.request.headerFields["DPoP"] == "2 n2 POST /token none")
        #expect(second.form["refresh_token"] == "R0")
        Self.grant(second, 1)
        await session.transport.exchange(2).answer()
        #expect(await call.status() == 200)
        let stored = try await store.load()
        #expect(stored?.keyThumbprint == "key")
        #expect(stored?.tokenType == "DPoP")
    }

    @Test func aTokenEndpointThatGoesOnAskingHasFailed() async throws {
        let session = try session(FakeProof(), Self.credential(0, life: 0))
        let call = session.call()
        for index in 0...1 {
            await session.refresh(index).deny("use_dpop_nonce")
        }
        guard case .authentication(.refreshFailed(let cause as OAuthError, _, _)) = await call.error() else {
            Issue.record("the refresh has failed")
            return
        }
        #expect(cause.code == "use_dpop_nonce")
        #expect(session.refreshes.count == 2)
    }

    @Test func aBearerTokenInPlaceOfABoundOneIsRefused() async throws {
        let session = try session(FakeProof(), Self.credential(0, life: 0))
        let call = session.call()
        Self.grant(await session.refresh(), 1, type: "Bearer")
        let error = await call.error()
        #expect(error?.description.contains("another type than DPoP") == true, "\(String(describing: error))")
        #expect(session.sent.isEmpty)
    }

    @Test func aCredentialOfAnotherKeyIsNotUsed() async throws {
        let session = try session(FakeProof("new"), Self.credential(0, key: "old"))
        #expect(await session.call().error()?.situation == .signInRequired)
        #expect(session.transport.exchanges.isEmpty)
        guard case .signedOut = session.atom.sessionState else {
            Issue.record("nobody is signed in")
            return
        }
    }

    @Test func aProofThatCanNotBeMadeFailsTheRequestAndNothingIsSent() async throws {
        struct BrokenKey: Error {}
        struct Broken: TokenProof {
            let keyThumbprint = "key"
            func sign(_ request: inout SignableRequest) throws { throw BrokenKey() }
            func received(_ response: AtomResponse) -> Bool { false }
        }
        let session = try SessionFixture(
            store: InMemoryTokenCredentialStore(Self.credential(0)), bearer: { $0.proof = Broken() })
        guard case .authentication(.notSigned(let cause, _)) = await session.call().error() else {
            Issue.record("the request could not be signed")
            return
        }
        #expect(cause is BrokenKey)
        #expect(session.transport.exchanges.isEmpty)
    }

    @Test func aProofOfARefreshThatCanNotBeMadeFailsTheRefresh() async throws {
        struct BrokenKey: Error {}
        struct Broken: TokenProof {
            let keyThumbprint = "key"
            func sign(_ request: inout SignableRequest) throws { throw BrokenKey() }
            func received(_ response: AtomResponse) -> Bool { false }
        }
        let session = try SessionFixture(
            store: InMemoryTokenCredentialStore(Self.credential(0, life: 0)), bearer: { $0.proof = Broken() })
        guard case .authentication(.refreshFailed(_, _, _)) = await session.call().error() else {
            Issue.record("the refresh could not be sent")
            return
        }
        #expect(session.transport.exchanges.isEmpty)
    }
}

/// Somebody signs in for more, and the session goes on.
@Suite(.limited) struct SignInForMoreTests {
    private let more = TokenCredential.issued(7)

    private func refusedResponse(_ session: SessionFixture, at index: Int) async throws -> AtomResponse {
        let call = session.call()
        await session.transport.exchange(index).answer(status: 403)
        return try #require(await call.error()?.response)
    }

    @Test func theSessionGoesOnWithTheNewTokens() async throws {
        let store = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: store)
        let response = try await refusedResponse(session, at: 0)
        try await session.atom.signIn(with: more, continuing: response)
        #expect(store.writes.map(\.?.accessToken) == ["A7"])
        let call = session.call()
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A7")
        exchange.answer()
        #expect(await call.status() == 200)
    }

    @Test func aVariableIsSet() async throws {
        let session = try SessionFixture()
        let response = try await refusedResponse(session, at: 0)
        try await session.atom.signIn(with: more, continuing: response)
        #expect(session.tokens.tokenCredential == more)
        let call = session.call()
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A7")
        exchange.answer()
        #expect(await call.status() == 200)
    }

    @Test func itWaitsForARefreshThatHasTheStore() async throws {
        let store = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: store)
        let response = try await refusedResponse(session, at: 0)
        let waiting = session.call()
        await session.transport.exchange(1).answer(status: 401)
        let refresh = await session.refresh()
        async let signedIn: Void = session.atom.signIn(with: more, continuing: response)
        refresh.grant(1)
        let retry = await session.transport.exchange(3)
        retry.answer()
        #expect(await waiting.status() == 200)
        try await signedIn
        #expect(store.writes.map(\.?.accessToken) == ["A1", "A7"])
        let call = session.call()
        let exchange = await session.transport.exchange(4)
        #expect(exchange.token == "A7")
        exchange.answer()
        #expect(await call.status() == 200)
    }

    @Test func aRefreshOfAVariableIsDropped() async throws {
        let session = try SessionFixture()
        let response = try await refusedResponse(session, at: 0)
        let waiting = session.call()
        await session.transport.exchange(1).answer(status: 401)
        let refresh = await session.refresh()
        try await session.atom.signIn(with: more, continuing: response)
        let retry = await session.transport.exchange(3)
        #expect(retry.token == "A7")
        retry.answer()
        #expect(await waiting.status() == 200)
        refresh.grant(1)
        let call = session.call()
        let exchange = await session.transport.exchange(4)
        #expect(exchange.token == "A7")
        exchange.answer()
        #expect(await call.status() == 200)
        #expect(session.tokens.tokenCredential == more)
    }

    @Test func requestsWaitUntilTheTokensAreStored() async throws {
        let store = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: store)
        let response = try await refusedResponse(session, at: 0)
        store.holdWrites()
        let signedIn = Task { try await session.atom.signIn(with: more, continuing: response) }
        #expect(await eventually { session.atom.manager.session?.gate.with { $0.isStoring } == true })
        let waiting = session.call()
        #expect(session.sent.count == 1)
        store.releaseWrites()
        try await signedIn.value
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A7")
        exchange.answer()
        #expect(await waiting.status() == 200)
    }

    @Test func twoInARowAreBothStored() async throws {
        let store = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: store)
        let response = try await refusedResponse(session, at: 0)
        async let first: Void = session.atom.signIn(with: more, continuing: response)
        async let second: Void = session.atom.signIn(with: .issued(8), continuing: response)
        _ = try await (first, second)
        #expect(store.stored == session.atom.manager.session?.gate.with { $0.held?.credential })
        #expect(store.writes.count == 2)
    }

    @Test func whoHasSignedInElsewhereIsNotWrittenOver() async throws {
        let store = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: store)
        let response = try await refusedResponse(session, at: 0)
        try await store.save(.issued(3))
        await #expect(throws: AtomError.self) { try await session.atom.signIn(with: more, continuing: response) }
        #expect(store.stored == .issued(3))
        let call = session.call()
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A3")
        exchange.answer()
        #expect(await call.status() == 200)
    }

    @Test func whatCanNotBeStoredIsUsedAndSaidSo() async throws {
        let store = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: store)
        let response = try await refusedResponse(session, at: 0)
        store.saveError = DiskFailure()
        do {
            try await session.atom.signIn(with: more, continuing: response)
            Issue.record("it isn't stored")
        } catch {
            guard case .authentication(.credentialNotStored) = error else {
                Issue.record("\(error)")
                return
            }
        }
        let call = session.call()
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A7")
        exchange.answer()
        #expect(await call.status() == 200)
    }

    @Test(arguments: [
        #"Bearer error="insufficient_user_authentication", acr_values="gold""#,
        #"Bearer error="insufficient_scope", scope="a""#,
    ])
    func a401ThatDemandsMoreCondemnsNoToken(challenge: String) async throws {
        let session = try SessionFixture()
        let call = session.call()
        await session.transport.exchange(0).answer(status: 401, headers: [("WWW-Authenticate", challenge)])
        #expect(await call.error()?.response?.statusCode == 401)
        #expect(session.refreshes.isEmpty)
        let next = session.call()
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A0")
        exchange.answer()
        #expect(await next.status() == 200)
    }

    @Test func afterASignOutOrAnotherSignInNothingIsKept() async throws {
        let store = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: store)
        let response = try await refusedResponse(session, at: 0)
        try await session.atom.signOut()
        await #expect(throws: AtomError.self) { try await session.atom.signIn(with: more, continuing: response) }
        #expect(store.stored == nil)
        try await session.atom.signIn(with: .issued(3))
        do {
            try await session.atom.signIn(with: more, continuing: response)
            Issue.record("it is somebody else's session")
        } catch {
            #expect(error.description == AtomError.authentication(.signedOut(delivery: .notSent)).description)
        }
        #expect(store.stored == .issued(3))
    }

    @Test func aResponseOfNoSessionIsRefused() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0)))
        _ = try await session.atom.loadSession()
        await #expect(throws: AtomError.self) {
            try await session.atom.signIn(with: more, continuing: AtomResponse(statusCode: 403))
        }
        let call = session.call(signed: false)
        await session.transport.exchange(0).answer(status: 403)
        let response = try #require(await call.error()?.response)
        await #expect(throws: AtomError.self) { try await session.atom.signIn(with: more, continuing: response) }
    }

    @Test func aStreamGoesOn() async throws {
        let session = try SessionFixture(store: RecordingTokenCredentialStore(.issued(0)))
        let response = try await refusedResponse(session, at: 0)
        let opening = Task { try await session.atom.enqueue(PathEndpoint(pathText: "/s")).bytes() }
        let exchange = await session.transport.exchange(1)
        exchange.send(.response(TransportResponse(statusCode: 200)))
        exchange.send(.data(Data("a".utf8)))
        let stream = try await opening.value
        try await session.atom.signIn(with: more, continuing: response)
        exchange.send(.data(Data("b".utf8)))
        exchange.send(.finished)
        var bytes = Data()
        for try await part in stream { bytes += part }
        #expect(bytes == Data("ab".utf8))
    }
}
