import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("The pause before another attempt", .limited)
struct RetryPauseTests {
    @Test("A pause holds no slot")
    func slots() async throws {
        let service = RetryFixture(exchangesPerOrigin: 1)
        let pausing = service.call("/first")
        let waiting = service.call("/second")
        #expect(service.count == 1)
        try service.last.answer(status: 503)
        #expect(try service.count == 2 && service.last.request.target.url?.path == "/second")
        service.time.advance(by: .milliseconds(25))
        #expect(service.count == 2)
        try service.last.answer()
        #expect(try service.count == 3 && service.last.request.target.url?.path == "/first")
        try service.last.answer()
        #expect(await pausing.status() == 200)
        #expect(await waiting.status() == 200)
        #expect(service.atom.manager.slots.counts == (0, 0))
    }

    @Test("A cancellation ends a pause at once")
    func cancelled() async throws {
        let service = RetryFixture()
        let answered = service.call()
        try service.last.answer(status: 503)
        answered.cancel()
        #expect(await answered.error()?.delivery == .answered)
        let lost = service.call()
        try service.last.fail(.networkConnectionLost)
        lost.cancel()
        #expect(await lost.error()?.delivery == .maybeSent)
        let unsent = service.call()
        try service.last.fail(.cannotConnectToHost, delivery: .notSent)
        unsent.cancel()
        #expect(await unsent.error()?.delivery == .notSent)
        let stalled = service.call()
        try service.last.send(.response(TransportResponse(statusCode: 200)))
        service.time.advance(by: .seconds(10))
        stalled.cancel()
        #expect(await stalled.error()?.isCancelled == true)
        #expect(await stalled.error()?.delivery == .answered)
        service.time.advance(by: .seconds(30))
        #expect(service.count == 4 && service.deadlines == 0)
        #expect(service.quotaSpent == 0, "no attempt was made with what was paid")
    }

    @Test("A pause costs nothing if its attempt is never made", arguments: ["in the lane", "in the session's queue"])
    func unused(place: String) async throws {
        let isSigned = place != "in the lane"
        let session = try SessionFixture(exchangesPerOrigin: 1, change: { $0.retryPolicy = .standard })
        for number in 0..<100 {
            let call = session.call("/\(number)", signed: isSigned)
            let sent = try #require(session.sent.last)
            if isSigned { session.tokens.put(.issued(number, life: 0)) }
            sent.answer(status: 503)
            let other = isSigned ? nil : session.call("/other", signed: false)
            session.time.advance(by: .seconds(1))
            #expect(call.count == 0)
            call.cancel()
            #expect(await call.error()?.isCancelled == true)
            if isSigned { session.tokens.put(.issued(number + 1_000)) }
            session.sent.last?.answer()
            _ = await other?.outcome()
        }
        #expect(session.atom.manager.quotas.spent(at: Origin(scheme: .https, host: "api.example.com", port: 443)) == 0)
    }

    @Test("A pause costs nothing without a network")
    func offline() async throws {
        let service = RetryFixture()
        let call = service.call()
        for count in 1...3 {
            try #require(service.count == count)
            try service.last.fail(.notConnectedToInternet, delivery: .notSent)
            service.time.advance(by: .seconds(1))
        }
        #expect(await call.error()?.isConnectivityFailure == true)
        #expect(service.quotaSpent == 0)
    }

    @Test("A pause counts towards the whole time of the request")
    func deadline() async throws {
        let service = RetryFixture(chance: 0.999)
        let call = service.call()
        service.time.advance(by: .seconds(9))
        try service.last.answer(status: 503, headers: [("Retry-After", "15")])
        service.time.advance(by: .seconds(15))
        #expect(service.count == 2)
        // 24 of 30 seconds have passed; the idle time alone would last until 34.
        service.time.advance(by: .seconds(6))
        let error = try #require(await call.error())
        #expect(error.attempts == [.status(503), .connection(.timedOut)] && error.delivery == .maybeSent)
    }

    @Test("A pause is as long as the server asks, in seconds or as a date")
    func serverDelay() async throws {
        let dates = [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", "Sun, 06 Nov 1994 08:49:44 GMT")]
        for headers in [[("Retry-After", "7")], dates] {
            let service = RetryFixture()
            let call = service.call()
            try service.last.answer(status: 503, headers: headers)
            service.time.advance(by: .milliseconds(6_999))
            #expect(service.count == 1)
            service.time.advance(by: .milliseconds(1))
            try service.last.answer()
            #expect(await call.status() == 200)
        }
    }

    @Test("A pause has its usual length if the server names a time in the past")
    func serverDelayInThePast() async throws {
        for value in ["-5", "0", "Sun, 06 Nov 1994 08:49:37 GMT"] {
            let service = RetryFixture()
            let call = service.call()
            try service.last.answer(status: 503, headers: [("Retry-After", value)])
            service.time.advance(by: .milliseconds(499))
            #expect(service.count == 1, "\(value)")
            service.time.advance(by: .milliseconds(1))
            try service.last.answer()
            #expect(await call.status() == 200, "\(value)")
        }
    }

    @Test("A pause beyond the deadline doesn't begin, and the error says when to come back")
    func tooLong() async throws {
        let service = RetryFixture()
        let call = service.call()
        try service.last.answer("later", status: 429, headers: [("Retry-After", "120")])
        let error = try #require(await call.error())
        #expect(service.count == 1 && error.attempts == [.status(429)])
        #expect(error.retryAt == service.time.date.addingTimeInterval(120))
        #expect(error.description.contains("Another attempt makes sense after"))
        #expect(service.quotaSpent == 0)
    }

    @Test("The time to come back is in every error with a Retry-After, and in no other")
    func retryAt() async throws {
        let service = RetryFixture(.none)
        let busy = service.call()
        try service.last.answer(status: 503, headers: [("Retry-After", "5")])
        #expect(await busy.error()?.retryAt == service.time.date.addingTimeInterval(5))
        let missing = service.call()
        try service.last.answer(status: 404)
        #expect(await missing.error()?.retryAt == nil)
        let date = Date(timeIntervalSince1970: 1)
        #expect(AtomError.authentication(.tooManyRefreshes(retryAt: date, delivery: .notSent)).retryAt == date)
        #expect(AtomError.unexpected.retryAt == nil && AtomError.unexpected.attempts == [])
    }

    // MARK: The session

    private func session() throws -> (SessionFixture, Atom) {
        let session = try SessionFixture(timeout: ServiceTimeout(request: 100, resource: 100))
        var configuration = session.configuration
        configuration.retryPolicy = .standard
        return (session, Atom(configuration, time: session.time, random: { 0.5 }))
    }

    private func call(_ atom: Atom, _ path: String = "/x") -> Call {
        let call = Call()
        call.keep(atom.enqueue(PathEndpoint(pathText: path)).resume { call.heard($0) })
        return call
    }

    @Test("A sign-out ends it at once, and nothing is sent for whoever comes next", arguments: [true, false])
    func signedOut(somebodySignsIn: Bool) async throws {
        let (session, atom) = try session()
        let pausing = call(atom)
        session.sent[0].answer(status: 503)
        #expect(pausing.count == 0)
        if somebodySignsIn {
            let next = TokenCredential(
                accessToken: "B", expiresAt: session.time.date.addingTimeInterval(3_600), refreshToken: "S")
            try await atom.signIn(with: next)
        } else {
            try await atom.signOut()
        }
        guard case .authentication(.signedOut(.answered)) = await pausing.error() else {
            throw Unexpected("\(await pausing.outcome())")
        }
        session.time.advance(by: .seconds(100))
        #expect(session.sent.count == 1)
    }

    @Test("Those who pause are told in the order of their admission, and no other request")
    func order() async throws {
        let (session, atom) = try session()
        // It has paused, and is on the wire again.
        let over = call(atom)
        session.sent[0].answer(status: 503)
        session.time.advance(by: .milliseconds(25))
        let told = Locked<[Int]>([])
        for number in 0..<20 {
            atom.enqueue(PathEndpoint()).resume { _ in told.with { $0.append(number) } }
        }
        let unsigned = Call()
        unsigned.keep(
            atom.enqueue(PathEndpoint(requiresAuthorization: false)).resume { unsigned.heard($0) })
        for exchange in session.sent[2...] { exchange.answer(status: 503) }
        #expect(session.sent.count == 23)
        try await atom.signOut()
        #expect(await eventually { told.value == Array(0..<20) })
        #expect(over.count == 0 && unsigned.count == 0)
        session.time.advance(by: .milliseconds(25))
        #expect(session.sent.count == 24)
        session.sent[23].answer()
        #expect(await unsigned.status() == 200)
        session.sent[1].answer()
        #expect(await over.status() == 200)
    }

    @Test("Each attempt is signed anew")
    func signedAnew() async throws {
        let (session, atom) = try session()
        let pausing = call(atom)
        session.sent[0].answer(status: 503, headers: [("Retry-After", "20")])
        let rejected = call(atom, "/other")
        session.sent[1].answer(status: 401)
        await session.refresh().grant(1)
        await session.transport.exchange(3).answer()
        #expect(await rejected.status() == 200)
        session.time.advance(by: .seconds(20))
        _ = await session.transport.exchange(4)
        #expect(session.sent.map(\.token) == ["A0", "A0", "A1", "A1"])
        session.sent[3].answer()
        #expect(await pausing.status() == 200)
    }

    @Test("The retry after a 401 isn't one of the policy's attempts")
    func unauthorized() async throws {
        let (session, atom) = try session()
        let call = call(atom)
        session.sent[0].answer(status: 503)
        session.time.advance(by: .milliseconds(25))
        session.sent[1].answer(status: 401)
        await session.refresh().grant(1)
        await session.transport.exchange(3).answer(status: 503)
        session.time.advance(by: .milliseconds(50))
        await session.transport.exchange(4).answer(status: 503)
        #expect(await call.error()?.attempts == [.status(503), .status(503), .status(503)])
        #expect(session.sent.count == 4 && session.refreshes.count == 1)
    }

    @Test("A refresh is never sent again by the policy")
    func refreshes() async throws {
        let (session, atom) = try session()
        let call = call(atom)
        session.sent[0].answer(status: 401)
        await session.refresh().fail(.cannotConnectToHost, delivery: .notSent)
        #expect(await call.error()?.isAccessTokenRefreshFailure == true)
        session.time.advance(by: .milliseconds(100))
        #expect(session.refreshes.count == 1)
    }
}
