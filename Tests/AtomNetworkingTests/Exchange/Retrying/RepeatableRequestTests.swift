import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Which requests are sent again", .limited)
struct RepeatableRequestTests {
    @Test(
        "A method that isn't idempotent is sent again only if it wasn't sent",
        arguments: [HTTPMethod.post(Data("x".utf8)), .patch(Data("x".utf8)), .token("LOCK")])
    func unsafeMethods(method: HTTPMethod) async throws {
        let service = RetryFixture()
        let lost = service.call(method: method)
        try service.last.fail(.networkConnectionLost)
        #expect(await lost.error()?.attempts.count == 1)
        let busy = service.call(method: method)
        try service.last.answer(status: 503)
        #expect(await busy.error()?.attempts.count == 1)
        #expect(service.count == 2)
        let unsent = service.call(method: method)
        try service.last.fail(.cannotConnectToHost, delivery: .notSent)
        service.time.advance(by: .milliseconds(25))
        #expect(service.count == 4)
        try service.last.answer()
        #expect(await unsent.status() == 200)
    }

    @Test(
        "Safe and idempotent methods are sent again (RFC 9110 §9.2.2, RFC 10008)",
        arguments: [HTTPMethod.get, .head, .options, .token("TRACE"), .put(Data("x".utf8)), .delete, .token("QUERY")])
    func idempotentMethods(method: HTTPMethod) async throws {
        let service = RetryFixture()
        let call = service.call(method: method)
        try service.last.fail(.networkConnectionLost)
        service.time.advance(by: .milliseconds(25))
        #expect(try service.last.request.method == method.name && service.count == 2)
        #expect(try service.last.request.body == method.body)
        try service.last.answer()
        #expect(await call.status() == 200)
    }

    @Test("What an endpoint declares idempotent is sent again")
    func declared() async throws {
        let service = RetryFixture()
        let call = service.call(method: .post(Data("x".utf8)), idempotency: .declared)
        try service.last.fail(.networkConnectionLost)
        service.time.advance(by: .milliseconds(25))
        try service.last.answer()
        #expect(await call.status() == 200)
        #expect(service.transport.requests.allSatisfy { !$0.headerFields.contains("Idempotency-Key") })
    }

    @Test("A key is made on request: one for each resume, the same in each attempt")
    func keys() async throws {
        let service = RetryFixture()
        var keys: [String?] = []
        for _ in 0..<2 {
            let call = service.call(method: .post(Data("x".utf8)), idempotency: .byKey)
            try service.last.answer(status: 503)
            service.time.advance(by: .milliseconds(25))
            try service.last.answer()
            #expect(await call.status() == 200)
        }
        keys = service.transport.requests.map { $0.headerFields["Idempotency-Key"] }
        #expect(keys.count == 4 && keys[0] == keys[1] && keys[2] == keys[3] && keys[0] != keys[2])
        #expect(keys.allSatisfy { UUID(uuidString: $0 ?? "") != nil })
    }

    @Test("A key of the endpoint's own is kept, and is enough")
    func ownKey() async throws {
        for idempotency in [Idempotency.byKey, nil] {
            let service = RetryFixture()
            let call = service.call(
                method: .post(Data("x".utf8)), headers: [HeaderItem(name: "idempotency-key", value: "mine")],
                idempotency: idempotency)
            try service.last.answer(status: 503)
            service.time.advance(by: .milliseconds(25))
            try service.last.answer()
            #expect(await call.status() == 200)
            #expect(service.transport.requests.map { $0.headerFields["Idempotency-Key"] } == ["mine", "mine"])
            #expect(
                service.transport.requests.allSatisfy {
                    $0.headerFields.count { $0.name.lowercased() == "idempotency-key" } == 1
                })
        }
    }

    @Test("After a redirect that changed the method, the new method counts")
    func changedMethod() async throws {
        let service = RetryFixture()
        let call = service.call(method: .post(Data("x".utf8)))
        try service.last.redirect(303, to: "/done")
        try service.last.answer(status: 503)
        service.time.advance(by: .milliseconds(25))
        #expect(service.transport.requests.map(\.method) == ["POST", "GET", "GET"])
        try service.last.answer()
        #expect(await call.status() == 200)
    }

    @Test("A key stays with its server: elsewhere it protects nothing")
    func keyAfterRedirect() async throws {
        let service = RetryFixture()
        let call = service.call(method: .post(Data("x".utf8)), idempotency: .byKey)
        try service.last.redirect(307, to: "https://other.example.com/")
        #expect(try !service.last.request.headerFields.contains("Idempotency-Key"))
        try service.last.answer(status: 503)
        #expect(await call.error()?.attempts == [.status(503)])
    }

    @Test("A body that can be read once is sent again only if it wasn't read")
    func spentBodies() async throws {
        func body() -> RequestBody {
            .stream(contentType: "text/plain", length: 1, isRepeatable: false) {
                AsyncStream {
                    $0.yield(Data("x".utf8))
                    $0.finish()
                }
            }
        }
        let service = RetryFixture()
        let spent = service.call(method: .put, body: body())
        guard let stream = try service.last.request.transportRequest.body, stream.data == nil else {
            Issue.record("the body isn't a stream")
            return
        }
        let reader = stream.makeReader()
        try withUnsafeTemporaryAllocation(byteCount: 8, alignment: 1) { _ = try reader.read(into: $0) }
        try service.last.fail(.networkConnectionLost)
        #expect(await spent.error()?.attempts.count == 1)
        #expect(service.count == 1)

        let unread = service.call(method: .put, body: body())
        try service.last.fail(.cannotConnectToHost, delivery: .notSent)
        service.time.advance(by: .milliseconds(25))
        #expect(service.count == 3)
        try service.last.answer()
        #expect(await unread.status() == 200)
    }

    @Test("A body that failed to be read is no reason to try again")
    func failedBody() async throws {
        let service = RetryFixture()
        let call = service.call(method: .put(Data("x".utf8)))
        let failure = TransferError(.bodyFailed, "The file could not be read.", delivery: .maybeSent)
        try service.last.send(.failed(TransportFailure(AtomError.transfer(failure))))
        #expect(await call.error()?.delivery == .maybeSent && service.count == 1)
    }

    @Test("A body that could not be read again says nothing of the attempt before")
    func failedBodyOfAnotherAttempt() async throws {
        let service = RetryFixture()
        let call = service.call(method: .put(Data("x".utf8)))
        try service.last.fail(.networkConnectionLost)
        service.time.advance(by: .milliseconds(50))
        #expect(service.count == 2)
        let failure = TransferError(.bodyFailed, "The disk is full.", delivery: .notSent)
        try service.last.send(.failed(TransportFailure(AtomError.transfer(failure), delivery: .notSent)))
        #expect(await call.error()?.delivery == .maybeSent)
    }

    @Test("An endpoint's policy and idempotency count, and are nil where it says nothing")
    func members() throws {
        struct Plain: Requestable {
            var retryPolicy: RetryPolicy? { RetryPolicy(statusCodes: [500]) }
            var idempotency: Idempotency? { .declared }
            var method: HTTPMethod { .post(Data("x".utf8)) }
            func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
        }
        let request = try PreparedRequest(Plain(), timeout: ServiceTimeout())
        #expect(request.retrying?.policy == RetryPolicy(statusCodes: [500]))
        #expect(request.retrying?.idempotency == .declared)
        let plain: any Requestable = Plain()
        #expect(plain.retryPolicy == RetryPolicy(statusCodes: [500]) && plain.idempotency == .declared)
        let bare = try PreparedRequest(PathEndpoint(), timeout: ServiceTimeout())
        #expect(bare.retrying == nil)
        #expect(PathEndpoint().retryPolicy == nil && PathEndpoint().idempotency == nil)
    }

    @Test("A link's own policy and idempotency count too")
    func links() async throws {
        let service = RetryFixture(.none)
        let response = AtomResponse(statusCode: 200, url: URL(string: "https://api.example.com/list"))
        var link = try LinkedEndpoint("/next", in: response)
        link.method = .post(Data("x".utf8))
        link.retryPolicy = .standard
        link.idempotency = .byKey
        let call = Call()
        call.keep(service.atom.enqueue(link).resume { call.heard($0) })
        try service.last.answer(status: 503)
        service.time.advance(by: .milliseconds(25))
        try service.last.answer()
        #expect(await call.status() == 200)
        #expect(try service.last.request.headerFields.contains("Idempotency-Key"))
    }
}
