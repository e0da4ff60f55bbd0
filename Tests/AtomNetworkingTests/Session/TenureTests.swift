import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("Whose something is", .limited)
struct TenureTests {
    private static let session = Tenure(session: "one")

    private static func after(_ change: (inout Tenure) -> Void) -> Tenure {
        var tenure = session
        change(&tenure)
        return tenure
    }

    /// How a tenure answers about the one before a change, in the order of the questions.
    private static func answers(_ tenure: Tenure, before other: Tenure = session) -> [Bool] {
        [
            tenure.hasSameSigner(as: other), tenure.isSameSignIn(as: other), tenure.isUnbroken(since: other),
            tenure.isSamePerson(as: other), tenure.isAfterDeparture(since: other), tenure.hasSameCookies(as: other),
            tenure.mark == other.mark,
        ]
    }

    @Test("Each change is seen by the questions that it concerns, and by no other")
    func questions() {
        let answers = Self.answers
        #expect(answers(Self.session, Self.session) == [true, true, true, true, false, true, true])
        let signIn = Self.after { $0.signInChanges(personLeaves: false) }
        #expect(answers(signIn, Self.session) == [true, false, false, true, false, true, false])
        let departure = Self.after { $0.signInChanges(personLeaves: true) }
        #expect(answers(departure, Self.session) == [true, false, false, false, true, false, false])
        let takeover = Self.after { $0.tokenIsTakenOver() }
        #expect(answers(takeover, Self.session) == [true, true, false, true, false, true, false])
        let gone = Self.after { $0.personLeaves() }
        #expect(answers(gone, Self.session) == [true, true, true, false, true, false, true])
        let cookies = Self.after { $0.cookiesAreRemoved() }
        #expect(answers(cookies, Self.session) == [true, true, true, true, false, false, true])
        #expect(answers(Self.session.with(cookiesOf: cookies), cookies) == [true, true, true, true, false, true, true])
        #expect(answers(Tenure(session: "two"), Self.session) == [false, true, true, false, false, true, false])
        #expect(answers(.over, Self.session) == [false, false, false, false, false, false, false])
        #expect(Tenure(user: "a").hasSameSigner(as: Tenure(user: "a")))
        #expect(!Tenure(user: "a").hasSameSigner(as: Tenure(user: "b")))
        #expect(!Tenure.nobody.hasSameSigner(as: .anyone))
    }

    @Test("What was known by its cookies says so")
    func cookies() {
        #expect(!Self.session.isKnownByCookies)
        #expect(Self.session.known(byCookies: true).isKnownByCookies)
        #expect(!Self.session.known(byCookies: false).isKnownByCookies)
    }

    /// What a request may be for.
    enum Purpose: CaseIterable, Sendable {
        case response, link, download, stream
    }

    @Test("For whom a request is sent is one argument, whatever it is for", arguments: Purpose.allCases, [false, true])
    func oneArgument(purpose: Purpose, isOver: Bool) async throws {
        let folder = try TransferFolder()
        let session = try SessionFixture()
        let manager = session.atom.manager
        let first = session.call("/1")
        await session.transport.exchange(0).answer()
        let response = try await first.outcome().get()
        let tenure = try #require(response.tenure)
        if isOver {
            try await session.atom.signOut()
            try await session.atom.signIn(with: .issued(5))
        }
        let endpoint: any Requestable =
            purpose == .link ? try LinkedEndpoint("/2", in: response) : PathEndpoint(pathText: "/2")
        let request = try manager.prepare(endpoint)
        let (call, time) = (Call(), session.time)
        var destination: (any ResponseDestination)?
        switch purpose {
        case .response, .link: break
        case .download:
            let place = try DownloadPlace(try folder.file("file"), isResumable: true)
            destination = FileDownload(
                place, of: request, isResumable: true, identity: nil, limit: nil, progress: nil, time: time,
                session: manager.session)
        case .stream: destination = StreamedResponse(manager.session, after: nil, by: time, fields: [])
        }
        _ = manager.run(
            request, listener: .completion({ call.heard($0) }), destination: destination, of: tenure)
        if isOver {
            guard case .failure(.authentication(.signedOut(.notSent))) = await call.outcome() else {
                throw Unexpected("not refused")
            }
            #expect(session.transport.exchanges.count == 1)
        } else {
            let exchange = await session.transport.exchange(1)
            #expect(exchange.token == "A0")
            exchange.answer()
            _ = try await call.outcome().get()
        }
    }

    @Test("An unsigned link has the cookies of whose response it came in, and nobody else's")
    func unsignedLink() async throws {
        let session = try SessionFixture()
        let first = session.call("/1")
        await session.transport.exchange(0).answer()
        let theirs = try await first.outcome().get()
        try await session.atom.signOut()
        try await session.atom.signIn(with: .issued(5))
        let second = session.call("/2")
        await session.transport.exchange(1).answer(headers: [("Set-Cookie", "a=1; Path=/")])
        let own = try await second.outcome().get()
        for (index, response) in [theirs, own].enumerated() {
            var link = try LinkedEndpoint("/3", in: response)
            link.requiresAuthorization = false
            let call = session.atom.call(link)
            let exchange = await session.transport.exchange(2 + index)
            #expect(exchange.token == nil)
            #expect(exchange.request.headerFields["Cookie"] == (index == 0 ? nil : "a=1"))
            exchange.answer()
            _ = try await call.outcome().get()
        }
    }

    @Test(
        "A stream of an unsigned link doesn't go on with the cookies of whoever comes next", arguments: [false, true])
    func streamOfAnUnsignedLink(signsOut: Bool) async throws {
        let asked = Locked(0)
        let session = try SessionFixture { exchange in
            guard exchange.request.target.path == "/events" else { return }
            let count = asked.with { count in
                count += 1
                return count
            }
            // A connection that must not be made ends the stream.
            if count == 2 { exchange.answer(status: 204) }
        }
        let first = session.call("/1")
        await session.transport.exchange(0).answer(headers: [("Set-Cookie", "sid=a; Path=/")])
        var link = try LinkedEndpoint("/events", in: try await first.outcome().get())
        link.requiresAuthorization = false
        let service = session.atom.enqueue(link)
        let reading = Task { () -> AtomError? in
            do throws(AtomError) {
                var events = try await service.serverSentEvents(reconnection: .automatic()).makeAsyncIterator()
                while try await events.next() != nil {}
                return nil
            } catch {
                return error
            }
        }
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == nil && exchange.request.headerFields["Cookie"] == "sid=a")
        let fields = HeaderFields([HeaderItem(name: "Content-Type", value: "text/event-stream")])
        exchange.send(.response(TransportResponse(statusCode: 200, headerFields: fields)))
        if signsOut { try await session.atom.signOut() } else { session.atom.removeCookies() }
        exchange.send(.finished)
        #expect(await session.time.waitForAlarm(within: .seconds(5)))
        session.time.advance(by: .seconds(5))
        let error = await withTaskCancellationHandler {
            await reading.value
        } onCancel: {
            reading.cancel()
        }
        guard case .authentication(.signedOut)? = error else { throw Unexpected("\(error as Any)") }
        #expect(session.transport.exchanges.count == 2)
    }
}
