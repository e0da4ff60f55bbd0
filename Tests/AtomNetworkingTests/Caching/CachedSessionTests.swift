import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("A kept response is its person's", .limited)
struct CachedSessionTests {
    /// Whose credential is changed, and by whom.
    enum Change: String, CaseIterable, Sendable {
        case signIn, signOut, signOutAndIn, variable, emptiedVariable
    }

    private func session(
        _ cache: ResponseCache = ResponseCache(), lifetime: Double = 3_600, store: (any TokenCredentialStore)? = nil,
        time: ManualClock = ManualClock(), change: (inout ServiceConfiguration) -> Void = { _ in }
    ) throws -> SessionFixture {
        try SessionFixture(
            lifetime: lifetime, store: store, time: time,
            change: {
                $0.cache = cache
                change(&$0)
            })
    }

    private func make(_ change: Change, in session: SessionFixture) async throws {
        switch change {
        case .signIn: try await session.atom.signIn(with: .issued(5))
        case .signOut: try await session.atom.signOut()
        case .signOutAndIn:
            try await session.atom.signOut()
            try await session.atom.signIn(with: .issued(5))
        case .variable: session.tokens.put(.issued(5))
        case .emptiedVariable: session.tokens.put(.empty)
        }
    }

    @Test(
        "After a change of persons nothing is used that was signed, and what wasn't still is",
        arguments: Change.allCases)
    func changes(change: Change) async throws {
        let cache = ResponseCache()
        let session = try session(cache)
        let open = CachedEndpoint(pathText: "/open", requiresAuthorization: false)
        for endpoint in [CachedEndpoint(), open] {
            let call = session.atom.call(endpoint)
            try #require(session.sent.last).answerFresh("old")
            _ = await call.outcome()
        }
        #expect(cache.extent.count == 2)
        try await make(change, in: session)
        if ![.variable, .emptiedVariable].contains(change) { #expect(cache.extent.count == 1) }
        #expect(await session.atom.call(open).told().hasPrefix("old from the cache"))
        let after = session.atom.call(CachedEndpoint(caching: .whileCacheFresh(staleIfError: .seconds(1_000))))
        if [.signOut, .emptiedVariable].contains(change) {
            #expect(await after.error()?.delivery == .notSent)
        } else {
            try #require(session.sent.count == 3)
            #expect(session.sent[2].token == "A5" && session.sent[2].header("If-None-Match") == nil)
            session.sent[2].fail(.networkConnectionLost)
            #expect(await after.error()?.isConnectivityFailure == true)
        }
    }

    @Test("A response that comes when its person has gone is told, and not kept", arguments: Change.allCases)
    func late(change: Change) async throws {
        let cache = ResponseCache()
        let session = try session(cache)
        let call = session.atom.call(CachedEndpoint())
        try await make(change, in: session)
        session.sent[0].answerFresh("old")
        #expect(await call.told() == "old from the server")
        // The app's variable is only read when somebody asks.
        if [.variable, .emptiedVariable].contains(change) {
            let next = session.atom.call(CachedEndpoint())
            if change == .variable {
                try #require(session.sent.count == 2)
                #expect(session.sent[1].token == "A5")
            }
            next.cancel()
        } else {
            #expect(cache.extent.count == 0)
        }
    }

    @Test("Somebody who comes back finds nothing from before")
    func back() async throws {
        let session = try session()
        let first = session.tokens.tokenCredential
        for (number, credential) in [first, .issued(5), first].enumerated() {
            session.tokens.put(credential)
            let call = session.atom.call(CachedEndpoint())
            try #require(session.sent.count == number + 1)
            session.sent[number].answerFresh("\(number)")
            #expect(await call.told() == "\(number) from the server")
        }
    }

    @Test("Who comes by the app's variable leaves nothing of the one before, in memory or on the disk")
    func byTheVariable() async throws {
        let storage = ScriptedStorage()
        let cache = ResponseCache(storage: storage, keepsSignedResponses: true)
        let session = try session(cache)
        let call = session.atom.call(CachedEndpoint())
        #expect(await eventually { session.sent.count == 1 })
        session.sent[0].answerFresh("old")
        _ = await call.outcome()
        await cache.settle()
        #expect(storage.count == 1 && cache.extent.count == 1)
        session.tokens.put(.issued(5))
        let next = session.atom.call(CachedEndpoint(pathText: "/other"))
        await cache.settle()
        #expect(storage.count == 0 && cache.extent.count == 0)
        next.cancel()
    }

    @Test("A signed request doesn't get what was asked for unsigned, also with the same cookies")
    func unsigned() async throws {
        let session = try session()
        let login = session.atom.call(
            CachedEndpoint(pathText: "/login", requiresAuthorization: false, caching: .disabled))
        session.sent[0].answer(headers: [("Set-Cookie", "sid=1; Path=/")])
        _ = await login.outcome()
        let unsigned = session.atom.call(CachedEndpoint(requiresAuthorization: false))
        session.sent[1].answerFresh("anonymous")
        _ = await unsigned.outcome()
        let signed = session.atom.call(CachedEndpoint())
        try #require(session.sent.count == 3)
        session.sent[2].answerFresh("signed")
        #expect(await signed.told() == "signed from the server")
    }

    @Test("An unsigned change removes what was signed, too")
    func unsignedChange() async throws {
        let session = try session()
        let first = session.atom.call(CachedEndpoint())
        session.sent[0].answerFresh("old")
        _ = await first.outcome()
        let put = session.atom.call(
            CachedEndpoint(method: .put(Data("new".utf8)), requiresAuthorization: false, caching: .disabled))
        session.sent[1].answer("done")
        _ = await put.outcome()
        let after = session.atom.call(CachedEndpoint())
        #expect(session.sent.count == 3)
        after.cancel()
    }

    @Test("A response that varies by what a signer adds is not kept")
    func varyingBySigner() async throws {
        struct Signer: RequestSigner {
            func sign(_ request: inout SignableRequest) throws { try request.setHeader("X-Account", to: "1") }
        }
        let session = try session(change: { $0.signers = [Signer()] })
        for number in 0..<2 {
            let call = session.atom.call(CachedEndpoint())
            try #require(session.sent.count == number + 1)
            session.sent[number].answerFresh("one", headers: [("Vary", "X-Account")])
            #expect(await call.told() == "one from the server")
        }
    }

    @Test("What the app's signers add to an unsigned request may say who asks: it goes with the person")
    func signers() async throws {
        struct Signer: RequestSigner {
            func sign(_ request: inout SignableRequest) throws { try request.setHeader("X-User-Token", to: "alice") }
        }
        let session = try session(change: { $0.signers = [Signer()] })
        let endpoint = CachedEndpoint(requiresAuthorization: false)
        let first = session.atom.call(endpoint)
        session.sent[0].answerFresh("alice's")
        _ = await first.outcome()
        #expect(await session.atom.call(endpoint).told().hasPrefix("alice's from the cache"))
        try await session.atom.signIn(with: .issued(5))
        let next = session.atom.call(endpoint)
        try #require(session.sent.count == 2)
        next.cancel()
    }

    @Test("A proof adds nothing to an unsigned request, whose response is anybody's")
    func proof() async throws {
        struct Proof: TokenProof {
            let keyThumbprint = "key"
            func sign(_ request: inout SignableRequest) {}
            func received(_ response: AtomResponse) -> Bool { false }
        }
        let session = try SessionFixture(bearer: { $0.proof = Proof() }, change: { $0.cache = ResponseCache() })
        let endpoint = CachedEndpoint(requiresAuthorization: false)
        let call = session.atom.call(endpoint)
        try #require(session.sent.last).answerFresh("old")
        _ = await call.outcome()
        try await session.atom.signOut()
        #expect(await session.atom.call(endpoint).told().hasPrefix("old from the cache"))
    }

    @Test("A stale response of somebody who has gone stands in for nothing, and a 304 confirms nothing")
    func questionsAcrossPersons() async throws {
        for status in [304, 503] {
            let session = try session()
            let endpoint = CachedEndpoint(caching: .revalidatingWithService(staleIfError: .seconds(1_000)))
            let first = session.atom.call(endpoint)
            session.sent[0].answerFresh("old")
            _ = await first.outcome()
            let asked = session.atom.call(endpoint)
            #expect(session.sent[1].header("If-None-Match") == "\"1\"")
            try await session.atom.signIn(with: .issued(5))
            session.sent[1].answer(status: status, headers: [("ETag", "\"1\"")])
            if status == 304 {
                // It was asked for the old person, so that nothing is asked again for the new one.
                #expect(await asked.error()?.isSignedOut == true)
                #expect(session.sent.count == 2)
            } else {
                #expect(await asked.error()?.response?.statusCode == 503)
            }
        }
    }

    @Test("A refresh changes nothing of whose it is; a question waits for it, and is signed with the new token")
    func refresh() async throws {
        let session = try session()
        let first = session.atom.call(CachedEndpoint())
        session.sent[0].answerFresh("one")
        _ = await first.outcome()
        session.time.advance(by: .seconds(3_600))
        let second = session.atom.call(CachedEndpoint())
        #expect(session.sent.count == 1)
        await session.refresh().grant(1)
        _ = await session.transport.exchange(2)
        #expect(session.sent[1].token == "A1" && session.sent[1].header("If-None-Match") == "\"1\"")
        session.sent[1].answer(status: 304, headers: [("Cache-Control", "max-age=60")])
        #expect(await second.told().hasPrefix("one from the cache"))
        #expect(await session.atom.call(CachedEndpoint()).told().hasPrefix("one from the cache"))
    }

    @Test("A kept response is used while the token has expired, and while a refresh fails")
    func expired() async throws {
        let session = try session()
        let endpoint = CachedEndpoint(caching: .whileCacheFresh(staleIfError: .seconds(10_000)))
        let first = session.atom.call(endpoint)
        session.sent[0].answer("one", headers: [("Cache-Control", "max-age=4000")])
        _ = await first.outcome()
        session.time.advance(by: .seconds(3_900))
        #expect(await session.atom.call(endpoint).told().hasPrefix("one from the cache"))
        #expect(session.refreshes.isEmpty)
        session.time.advance(by: .seconds(200))
        let offline = session.atom.call(endpoint)
        await session.refresh().fail(.notConnectedToInternet, delivery: .notSent)
        #expect(await offline.told().hasSuffix("and stale"))
    }

    @Test("A link in a kept response is signed, as in the response itself")
    func links() async throws {
        let session = try session()
        let first = session.atom.call(CachedEndpoint())
        session.sent[0].answerFresh("one")
        _ = await first.outcome()
        let kept = try await session.atom.call(CachedEndpoint()).outcome().get()
        #expect(kept.source != .server)
        let link = try LinkedEndpoint("/next", in: kept)
        let next = session.atom.call(link)
        #expect(session.sent[1].token == "A0")
        next.cancel()
        try await session.atom.signIn(with: .issued(5))
        #expect(await session.atom.call(link).error()?.isSignedOut == true)
    }

    @Test("A 401 is refreshed for as ever, and the second response is kept")
    func unauthorized() async throws {
        let session = try session()
        let call = session.atom.call(CachedEndpoint())
        session.sent[0].answer(status: 401, headers: [("Cache-Control", "max-age=60")])
        await session.refresh().grant(1)
        _ = await session.transport.exchange(2)
        session.sent[1].answerFresh("one")
        #expect(await call.told() == "one from the server")
        #expect(await session.atom.call(CachedEndpoint()).told().hasPrefix("one from the cache"))
    }

    @Test("A final 401 to a question behind the callers' backs is announced once")
    func refusedBehindTheBack() async throws {
        let session = try session()
        let posted = Locked(0)
        let observer = NotificationCenter.default.addObserver(
            forName: Atom.didFailToAuthorizeRequest, object: nil, queue: nil
        ) { notification in
            guard let error = notification.userInfo?["error"] as? AtomError,
                error.request?.url == "https://api.example.com/behind"
            else { return }
            posted.with { $0 += 1 }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let endpoint = CachedEndpoint(
            pathText: "/behind", caching: .whileCacheFresh(staleWhileRevalidate: .seconds(1_000)))
        let first = session.atom.call(endpoint)
        session.sent[0].answerFresh("one")
        _ = await first.outcome()
        session.time.advance(by: .seconds(61))
        #expect(await session.atom.call(endpoint).told().hasSuffix("and stale"))
        session.sent[1].answer(status: 401)
        await session.refresh().grant(1)
        _ = await session.transport.exchange(3)
        session.sent[2].answer(status: 401)
        #expect(await eventually { posted.value == 1 })
    }

    @Test("The session's watch keeps nothing alive")
    func lifetime() async throws {
        weak var manager: RequestableQueueManager?
        weak var cache: ResponseCache?
        let tokens = RecordingTokens(.issued(1))
        let other = try SessionFixture(tokens: tokens)
        do {
            let kept = ResponseCache()
            let session = try SessionFixture(tokens: tokens, change: { $0.cache = kept })
            (manager, cache) = (session.atom.manager, kept)
            #expect(session.atom.manager.session === other.atom.manager.session)
            #expect(other.atom.manager.gate?.memberCount == 1)
        }
        #expect(manager == nil && cache == nil && other.atom.manager.gate?.memberCount == 0)
    }
}

extension AtomError {
    fileprivate var isSignedOut: Bool { if case .authentication(.signedOut) = self { true } else { false } }
}
