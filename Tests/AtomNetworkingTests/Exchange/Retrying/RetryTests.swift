import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("What fails for now is sent again", .limited)
struct RetryTests {
    @Test("After a 503 there is a pause, then another attempt, and its response is the caller's")
    func answered() async throws {
        let service = RetryFixture()
        let call = service.call()
        try service.last.answer("no", status: 503)
        service.time.advance(by: .milliseconds(24))
        #expect(service.count == 1)
        service.time.advance(by: .milliseconds(1))
        #expect(service.count == 2)
        try service.last.answer("yes")
        #expect(try await call.outcome().get().data == Data("yes".utf8))
        #expect(call.count == 1 && service.deadlines == 0)
    }

    @Test("After three attempts the error says what each met")
    func attempts() async throws {
        let service = RetryFixture()
        let call = service.call("/secret-free?", method: .get)
        #expect(await call.error()?.attempts == [])

        let failing = service.call()
        try service.last.answer(status: 503)
        service.time.advance(by: .milliseconds(25))
        try service.last.fail(.networkConnectionLost)
        service.time.advance(by: .milliseconds(50))
        try service.last.answer(#"{"code": "busy"}"#, status: 502)
        let error = try #require(await failing.error())
        #expect(service.count == 3)
        #expect(error.attempts == [.status(503), .connection(.networkConnectionLost), .status(502)])
        guard case .response(let response) = error else { throw Unexpected("\(error)") }
        #expect(response.statusCode == 502)
        #expect(try error.decodeIfPresent(as: [String: String].self) == ["code": "busy"])
        #expect(error.description.contains("There were 3 attempts; before the last one: HTTP 503 Service Unavailable"))
        #expect(error.description.contains("The connection was lost"))
        #expect(error.errorUserInfo["NSDebugDescription"] as? String == error.description)
        #expect(error.request?.attempts == 3 && error.request?.url == "https://api.example.com/x")
        #expect(error.request?.duration == .milliseconds(75))
    }

    @Test("A lost connection stays a URLError, with what the attempts before met")
    func connections() async throws {
        let service = RetryFixture()
        let call = service.call()
        try service.last.answer(status: 429)
        service.time.advance(by: .milliseconds(500))
        try service.last.fail(.cannotConnectToHost, delivery: .notSent)
        service.time.advance(by: .milliseconds(50))
        try service.last.fail(.timedOut)
        let error = try #require(await call.error())
        guard case .session(let cause as URLError) = error else { throw Unexpected("\(error)") }
        #expect(cause.code == .timedOut && error.delivery == .maybeSent)
        #expect(error.attempts == [.status(429), .connection(.cannotConnectToHost), .connection(.timedOut)])
        let archived = try NSKeyedArchiver.archivedData(
            withRootObject: (cause.userInfo["AtomNetworking.attempts"] as? [Int]) ?? [], requiringSecureCoding: true)
        #expect(!archived.isEmpty)
    }

    @Test(
        "What can't have reached the server is sent again without a policy: once, and at once",
        arguments: [
            HTTPMethod.get, .post(Data("x".utf8)),
        ])
    func unsent(method: HTTPMethod) async throws {
        let service = RetryFixture(.none)
        let call = service.call(method: method)
        try service.last.fail(.cannotConnectToHost, delivery: .notSent)
        #expect(service.count == 2)
        #expect(try service.last.request.body == method.body)
        try service.last.fail(.cannotConnectToHost, delivery: .notSent)
        let error = try #require(await call.error())
        #expect(service.count == 2 && error.delivery == .notSent)
        #expect(error.attempts == [.connection(.cannotConnectToHost), .connection(.cannotConnectToHost)])
    }

    @Test(
        "What the server has not processed is sent again, whatever the method and the policy, and costs nothing",
        arguments: [RetryPolicy.none, .standard])
    func unprocessed(policy: RetryPolicy) async throws {
        let service = RetryFixture(policy)
        let call = service.call(method: .post(Data("x".utf8)))
        try service.last.refuse()
        #expect(service.count == 2, "the first time at once")
        var pause = 25
        for count in 3...11 {
            try service.last.refuse()
            #expect(service.count == count - 1)
            service.time.advance(by: .milliseconds(pause - 1))
            #expect(service.count == count - 1)
            service.time.advance(by: .milliseconds(1))
            #expect(service.count == count)
            pause = min(2 * pause, 500)
        }
        #expect(service.quotaSpent == 0)
        // From here on it is what any failure is that was not sent.
        for count in 12...(policy == .none ? 12 : 13) {
            try service.last.refuse()
            service.time.advance(by: .milliseconds(50))
            #expect(service.count == count)
        }
        try service.last.refuse()
        let error = try #require(await call.error())
        #expect(error.delivery == .notSent && error.attempts.count == service.count)
        #expect(service.deadlines == 0)
    }

    @Test("What was not processed is no attempt for the policy")
    func unprocessedBetween() async throws {
        let service = RetryFixture()
        let call = service.call()
        for pause in [25, 50] {
            try service.last.refuse()
            service.time.advance(by: .milliseconds(50))
            try service.last.answer(status: 503)
            service.time.advance(by: .milliseconds(pause))
        }
        #expect(service.count == 5)
        try service.last.answer()
        #expect(await call.status() == 200)
    }

    @Test("A refresh that the server has not processed is sent again")
    func unprocessedRefresh() async throws {
        let session = try SessionFixture(lifetime: 0)
        let call = session.call()
        await session.refresh().refuse()
        await session.refresh(1).grant(1)
        await session.transport.exchange(2).answer()
        #expect(await call.status() == 200)
    }

    @Test("Without a policy nothing else is sent again")
    func none() async throws {
        let service = RetryFixture(.none)
        let busy = service.call()
        try service.last.answer(status: 503)
        #expect(await busy.error()?.attempts == [.status(503)])
        let lost = service.call()
        try service.last.fail(.networkConnectionLost)
        #expect(await lost.error()?.attempts == [.connection(.networkConnectionLost)])
        let untrusted = service.call()
        try service.last.fail(.serverCertificateUntrusted, delivery: .notSent)
        #expect(await untrusted.error()?.delivery == .notSent)
        #expect(service.count == 3)
    }

    @Test("An endpoint's own policy counts, and not the service's")
    func ownPolicy() async throws {
        let patient = RetryFixture(.none)
        // A 2xx that the endpoint doesn't accept is one, too.
        let unready = patient.call(policy: RetryPolicy(statusCodes: [202]), codes: 200...200)
        try patient.last.answer(status: 202)
        patient.time.advance(by: .milliseconds(25))
        try patient.last.answer()
        #expect(await unready.status() == 200)
        let call = patient.call(policy: RetryPolicy(statusCodes: [418]))
        try patient.last.answer(status: 418)
        patient.time.advance(by: .milliseconds(25))
        try patient.last.answer()
        #expect(await call.status() == 200)
        let service = RetryFixture(.standard)
        let once = service.call(policy: RetryPolicy.none)
        try service.last.answer(status: 503)
        #expect(await once.error() != nil && service.count == 1)
    }

    @Test("A status that the endpoint accepts is no failure")
    func acceptable() async throws {
        let service = RetryFixture()
        let call = service.call(codes: 200...503)
        try service.last.answer(status: 503)
        #expect(await call.status() == 503 && service.count == 1)
    }

    @Test("A redirect is followed, and what fails then is sent to where it led")
    func redirected() async throws {
        let service = RetryFixture()
        let call = service.call()
        try service.last.redirect(to: "/elsewhere")
        try service.last.answer(status: 503)
        service.time.advance(by: .milliseconds(25))
        #expect(service.transport.requests.map { $0.target.url?.path } == ["/x", "/elsewhere", "/elsewhere"])
        try service.last.answer()
        #expect(await call.status() == 200)
    }

    @Test("A response that breaks off in memory is sent for again")
    func brokenOff() async throws {
        let service = RetryFixture()
        let call = service.call()
        try service.last.send(.response(TransportResponse(statusCode: 200)))
        try service.last.send(.data(Data("half".utf8)))
        try service.last.fail(.networkConnectionLost)
        service.time.advance(by: .milliseconds(25))
        try service.last.answer("whole")
        #expect(try await call.outcome().get().data == Data("whole".utf8))
    }

    @Test("A stream is sent for again before its head, and never after")
    func streams() async throws {
        let service = RetryFixture()
        async let opening = service.atom.enqueue(RecordingEndpoint()).bytes()
        await service.transport.exchange(0).answer(status: 503)
        service.time.advance(by: .milliseconds(25))
        let exchange = await service.transport.exchange(1)
        exchange.send(.response(TransportResponse(statusCode: 200)))
        exchange.send(.data(Data("a".utf8)))
        var bytes = try await opening.makeAsyncIterator()
        #expect(try await bytes.next() == Data("a".utf8))
        exchange.fail(.networkConnectionLost)
        await #expect(throws: AtomError.self) { try await bytes.next() }
        service.time.advance(by: .seconds(20))
        #expect(service.count == 2)
    }

    @Test("Silence is a reason, and its attempt is stopped")
    func silence() async throws {
        let service = RetryFixture(exchangesPerOrigin: 1)
        let call = service.call()
        let silent = try service.last
        service.time.advance(by: .seconds(10))
        #expect(silent.isCancelled && service.count == 1)
        service.time.advance(by: .milliseconds(25))
        #expect(service.count == 2)
        try service.last.answer()
        #expect(await call.status() == 200)
        #expect(service.atom.manager.slots.counts == (0, 0))
    }

    @Test("The log has a line for each attempt that is sent again")
    func log() async throws {
        let service = RetryFixture()
        let call = service.call("/x?token=hush")
        _ = await call.outcome()
        let busy = service.call()
        try service.last.answer(status: 503)
        service.time.advance(by: .milliseconds(25))
        try service.last.fail(.networkConnectionLost)
        service.time.advance(by: .milliseconds(50))
        try service.last.answer()
        _ = await busy.outcome()
        let again = service.lines.value.compactMap { line in
            line.contains("to be sent again") ? line.split(separator: "] ").last.map(String.init) : nil
        }
        #expect(
            again == [
                "↻ GET https://api.example.com/x: HTTP 503 Service Unavailable, to be sent again in 0.025 seconds",
                "↻ GET https://api.example.com/x: The connection was lost, to be sent again in 0.05 seconds",
            ])
    }
}
