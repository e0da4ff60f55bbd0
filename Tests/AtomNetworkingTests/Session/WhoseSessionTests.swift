import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// A session belongs to the person who signed in last, in whatever process.
@Suite("A session is one person's", .limited)
struct WhoseSessionTests {
    // MARK: Two people and a store

    @Test("The credential that another process has put back is refreshed, not the one that was there meanwhile")
    func putBackByAnotherProcess() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 10))
        let session = try SessionFixture(store: disk)
        try await session.answered("/first", token: "A0")
        session.time.advance(by: .seconds(10))
        disk.stored = .issued(5)
        try await session.answered("/second", token: "A5")
        disk.stored = .issued(0, life: 10)
        let call = session.call("/third")
        await session.transport.exchange(2).answer(status: 401)
        let refresh = await session.refresh()
        #expect(refresh.form["refresh_token"] == "R0", "the store holds it, and nobody has spent it")
        refresh.grant(1)
        _ = await session.transport.exchange(4)
        #expect(session.sent.last?.token == "A1")
        session.sent.last?.answer()
        #expect(await call.status() == 200)
        #expect(disk.writes.count == 1)
        #expect(disk.stored?.refreshToken == "R1")
    }

    @Test("A sign-in of this process is replaced by a credential that another process puts back")
    func putBackAfterSigningInHere() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk)
        try await session.answered("/first", token: "A0")
        try await session.atom.signIn(with: .issued(5))
        disk.stored = .issued(0)
        let call = session.call("/second")
        let sent = await session.transport.exchange(1)
        #expect(sent.token == "A5", "nobody has read the store yet")
        sent.answer(status: 401)
        _ = await session.transport.exchange(2)
        #expect(session.sent.last?.token == "A0")
        session.sent.last?.answer()
        #expect(await call.status() == 200)
        #expect(session.refreshes.isEmpty)
    }

    @Test("A provider is not asked for a person whose credential is not in the store any more")
    func putBackWithAProvider() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let login = ScriptedLogin()
        let session = try SessionFixture(store: disk, provider: login)
        try await session.answered("/first", token: "A0")
        try await session.atom.signIn(with: .issued(5))
        disk.stored = .issued(0)
        let call = session.call("/second")
        await session.transport.exchange(1).answer(status: 401)
        _ = await session.transport.exchange(2)
        #expect(session.sent.last?.token == "A0")
        session.sent.last?.answer()
        #expect(await call.status() == 200)
        #expect(login.count == 0)
    }

    @Test("A credential that the app saves to its store during a refresh is not overwritten", arguments: [nil, 5])
    func savedDuringARefresh(next: Int?) async throws {
        let store = InMemoryTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: store)
        let call = session.call()
        let refresh = await session.refresh()
        try await store.save(next.map { .issued($0) })
        refresh.grant(1)
        if next == nil {
            guard case .authentication(.signedOut) = await call.error() else { throw Unexpected("not signed out") }
            #expect(session.sent.isEmpty)
            #expect(try await store.load() == nil)
        } else {
            _ = await session.transport.exchange(1)
            #expect(session.sent.last?.token == "A5")
            session.sent.last?.answer()
            #expect(await call.status() == 200)
            #expect(try await store.load() == .issued(5))
        }
    }

    @Test("A refresh that gives its place to a sign-in leaves nothing that another process would send")
    func refreshGivesItsPlaceToASignIn() async throws {
        let disk = ExchangeRecorder(.issued(0, life: 0))
        let session = try SessionFixture(store: disk)
        let call = session.call("/first")
        let refresh = await session.refresh()
        try await session.atom.signIn(with: .issued(5))
        // An exchange has its result under the store's lock.
        #expect(disk.results.value == ["R5"])
        guard case .authentication(.signedOut)? = await call.outcome().error else { throw Unexpected("not told") }
        refresh.grant(1)
    }

    // MARK: Two people and a variable

    @Test("A request that waits for a slot is signed with what the app's variable holds when it gets one")
    func variableDuringAWaitForASlot() async throws {
        let session = try SessionFixture(exchangesPerOrigin: 1)
        let calls = (1...2).map { session.call("/\($0)") }
        let first = await session.transport.exchange(0)
        #expect(first.token == "A0")
        session.tokens.put(.issued(5))
        first.answer()
        let second = await session.transport.exchange(1)
        #expect(second.token == "A5")
        second.answer()
        for call in calls { #expect(await call.status() == 200) }
    }

    @Test("When the app's variable changes between two people, the session follows")
    func backAndForth() async throws {
        let session = try SessionFixture(lifetime: 10)
        let first = session.tokens.tokenCredential
        try await session.answered("/first", token: "A0")
        session.time.advance(by: .seconds(10))
        session.tokens.put(.issued(5))
        try await session.answered("/second", token: "A5")
        session.tokens.put(first)
        let call = session.call("/third")
        let refresh = await session.refresh()
        #expect(refresh.form["refresh_token"] == "R0")
        refresh.grant(1)
        _ = await session.transport.exchange(3)
        #expect(session.sent.last?.token == "A1")
        session.sent.last?.answer()
        #expect(await call.status() == 200)
        #expect(session.tokens.writes.count == 1)
    }

    @Test("The result of a refresh is kept when somebody else has signed in, and used when the first person is back")
    func successorIsKept() async throws {
        let session = try SessionFixture(lifetime: 0)
        let first = session.tokens.tokenCredential
        let waiting = session.call("/first")
        let refresh = await session.refresh()
        session.tokens.put(.issued(5))
        refresh.grant(1)
        _ = await session.transport.exchange(1)
        #expect(session.sent.last?.token == "A5")
        session.sent.last?.answer()
        #expect(await waiting.status() == 200)
        session.tokens.put(first)
        let call = session.call("/second")
        _ = await session.transport.exchange(2)
        #expect(session.sent.last?.token == "A1", "what the first one's refresh token has come to")
        session.sent.last?.answer()
        #expect(await call.status() == 200)
        #expect(session.tokens.writes.map(\.refreshToken) == ["R1"], "it is stored before it is used")
        #expect(session.refreshes.count == 1)
    }

    // MARK: Signing in and out

    @Test("After a sign-out here, another process may sign in with the same refresh token")
    func sameRefreshToken() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk)
        try await session.atom.loadSession()
        try await session.atom.signOut()
        disk.stored = TokenCredential(accessToken: "A7", expiresAt: .distantFuture, refreshToken: "R0")
        let call = session.call()
        _ = await session.transport.exchange(0)
        #expect(session.sent.last?.token == "A7")
        session.sent.last?.answer()
        #expect(await call.status() == 200)
    }

    @Test("A sign-in with a credential that was just refreshed does not put a spent token into the store")
    func signInWhileItsSuccessorIsStored() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        disk.holdWrites()
        let session = try SessionFixture(store: disk)
        let call = session.call()
        await session.refresh().grant(1)
        let actor = try #require(session.atom.manager.session)
        #expect(await eventually { actor.gate.with { $0.isStoring } })
        let atom = session.atom
        let signing = Task { try await atom.signIn(with: .issued(0, life: 0)) }
        guard case .authentication(.signedOut) = await call.error() else { throw Unexpected("not told") }
        disk.releaseWrites()
        try await signing.value
        #expect(disk.stored?.refreshToken == "R1")
        #expect(!disk.writes.contains(.issued(0, life: 0)))
    }

    @Test("Two sign-ins during a refresh end with the successor of the second one's refresh token")
    func signedInTwiceDuringARefresh() async throws {
        let disk = RecordingTokenCredentialStore(.issued(0, life: 0))
        let session = try SessionFixture(store: disk)
        _ = session.call("/before")
        let refresh = await session.refresh()
        try await session.atom.signIn(with: .issued(5))
        try await session.atom.signIn(with: .issued(0, life: 0))
        let call = session.call("/after")
        #expect(session.sent.last?.token == "A0", "whoever signs in with it says that it is good")
        session.sent.last?.answer(status: 401)
        refresh.grant(1)
        _ = await session.transport.exchange(2)
        #expect(session.sent.last?.token == "A1")
        session.sent.last?.answer()
        #expect(await call.status() == 200)
        #expect(disk.stored?.refreshToken == "R1")
        #expect(session.refreshes.count == 1)
    }

    @Test(
        "A credential that is issued for a session that was signed out meanwhile is revoked, also by a service that can",
        arguments: [false, true])
    func revokedAfterSignOut(byAnother: Bool) async throws {
        let revocation = try AuthorizationEndpoint(host: "auth.example.com", path: "/revoke")
        let store = RecordingTokenCredentialStore(.issued(0, life: 0))
        let refreshing = try SessionFixture(
            store: store, bearer: { if !byAnother { $0.revocationEndpoint = revocation } })
        let leaving =
            byAnother
            ? try SessionFixture(store: store, time: refreshing.time, bearer: { $0.revocationEndpoint = revocation })
            : refreshing
        let call = refreshing.call()
        let refresh = await refreshing.refresh()
        try await leaving.atom.signOut()
        guard case .authentication(.signedOut) = await call.error() else { throw Unexpected("not told") }
        let index = byAnother ? 0 : 1
        let first = await leaving.transport.exchange(index)
        #expect(first.form["token"] == "R0")
        first.answer()
        refresh.grant(1)
        #expect(await leaving.transport.exchange(index + 1).form["token"] == "R1")
    }

    @Test("The setter of a refresh that overlaps a sign-out does not bring its tokens back")
    func overlappingSetters() async throws {
        let session = try SessionFixture(lifetime: 0)
        let atom = session.atom
        let signedOut = Locked(false)
        session.tokens.onWrite { written in
            // The app signs out while the refresh's setter runs, and the setter is last.
            guard written.refreshToken == "R1", !signedOut.value else { return }
            signedOut.set(true)
            session.tokens.put(.empty)
            let actor = atom.manager.session
            _ = actor?.gate.with { $0.signedOut() }
            actor?.gate.with { $0.wasSet(.empty) }
            session.tokens.put(written)
        }
        _ = session.call()
        await session.refresh().grant(1)
        #expect(await eventually { session.tokens.writes.last == .empty })
        #expect(session.tokens.tokenCredential == .empty)
        #expect(session.sent.isEmpty)
    }

    // MARK: Streams

    /// How one person follows another.
    enum Change: CaseIterable, Sendable {
        case signOut, signIn, both, emptiedVariable, otherVariable

        var isOfVariable: Bool { self == .emptiedVariable || self == .otherVariable }

        func happen(in session: SessionFixture) async throws {
            if self == .signOut || self == .both { try await session.atom.signOut() }
            if self == .signIn || self == .both { try await session.atom.signIn(with: .issued(5)) }
            if self == .emptiedVariable { session.tokens.put(.empty) }
            if self == .otherVariable { session.tokens.put(.issued(5)) }
        }
    }

    @Test("A stream isn't reconnected for the next person", arguments: Change.allCases, [true, false])
    func reconnection(change: Change, isPausing: Bool) async throws {
        let session = try SessionFixture()
        let stream = session.stream()
        let exchange = await session.sendsEvent(0, to: stream)
        if !isPausing { try await change.happen(in: session) }
        exchange.send(.finished)
        if isPausing {
            #expect(await session.time.waitForAlarm(within: .seconds(5)))
            try await change.happen(in: session)
            // The app's variable is read when the pause is over.
            if change.isOfVariable { session.time.advance(by: .seconds(5)) }
        }
        guard case .authentication(.signedOut)? = await stream.value else { throw Unexpected("not signed out") }
        #expect(session.transport.exchanges.count == 1)
    }

    @Test("An open stream delivers nothing to the next person", arguments: Change.allCases)
    func openStream(change: Change) async throws {
        let session = try SessionFixture()
        let stream = session.stream(reconnecting: false)
        let exchange = await session.sendsEvent(0, to: stream)
        try await change.happen(in: session)
        exchange.send(.data(Data("data: b\n\n".utf8)))
        guard case .authentication(.signedOut)? = await stream.value else { throw Unexpected("not signed out") }
        #expect(exchange.isCancelled)
    }

    @Test(
        "Nothing more of a part that has arrived is read for the next person", arguments: Change.allCases,
        ["lines", "values", "events"])
    func partOfTheOneBefore(change: Change, kind: String) async throws {
        let session = try SessionFixture()
        let service = session.atom.enqueue(PathEndpoint())
        let reading = Task { () -> (Int, AtomError?) in
            var count = 0
            func read<Stream: AsyncSequence>(_ stream: Stream) async throws {
                for try await _ in stream {
                    count += 1
                    if count == 1 { try await change.happen(in: session) }
                }
            }
            do {
                switch kind {
                case "lines": try await read(service.lines())
                case "values": try await read(service.jsonLines(of: Int.self))
                default: try await read(service.serverSentEvents())
                }
                return (count, nil)
            } catch { return (count, error as? AtomError) }
        }
        let exchange = await session.transport.exchange(0)
        let text = kind == "events" ? "data: 1\n\n" : "1\n"
        exchange.send(
            .response(TransportResponse(statusCode: 200, headerFields: SessionFixture.events)),
            .data(Data(String(repeating: text, count: 100).utf8)), .finished)
        let (count, error) = await reading.value
        #expect(count == 1)
        guard case .authentication(.signedOut)? = error else { throw Unexpected("\(String(describing: error))") }
    }

    @Test("An open stream ends at a sign-in or a sign-out, also while the server is silent", arguments: [true, false])
    func silentStream(isReconnecting: Bool) async throws {
        for change in Change.allCases where !change.isOfVariable {
            let session = try SessionFixture()
            let stream = session.stream(reconnecting: isReconnecting)
            let exchange = await session.sendsEvent(0, to: stream)
            try await change.happen(in: session)
            try #require(await eventually { exchange.isCancelled })
            guard case .authentication(.signedOut(.answered))? = await stream.value else {
                throw Unexpected("not signed out")
            }
            #expect(session.sent.count == 1)
            #expect(session.atom.manager.session?.gate.memberCount == 0)
        }
    }

    @Test(
        "A reconnection on the wire or waiting for its turn ends at a sign-in or a sign-out",
        arguments: [true, false])
    func reconnectingStream(isWaiting: Bool) async throws {
        for change in Change.allCases where !change.isOfVariable {
            let session = try SessionFixture(exchangesPerOrigin: 1)
            let stream = session.stream()
            let exchange = await session.sendsEvent(0, to: stream)
            if isWaiting {
                _ = session.call("/other")
                _ = await session.transport.exchange(1)
            }
            exchange.send(.finished)
            #expect(await session.time.waitForAlarm(within: .seconds(5)))
            session.time.advance(by: .seconds(5))
            #expect(
                await eventually {
                    isWaiting ? session.atom.manager.slots.counts == (1, 1) : session.sent.count == 2
                })
            try await change.happen(in: session)
            guard case .authentication(.signedOut(.answered))? = await stream.value else {
                throw Unexpected("not signed out")
            }
            #expect(session.sent.count == 2 && session.sent[1].isCancelled == !isWaiting)
            #expect(session.atom.manager.session?.gate.memberCount == 0)
        }
    }

    @Test(
        "What is left of a part isn't delivered after a sign-out",
        arguments: ["lines", "values", "events"], [true, false])
    func restOfAPart(kind: String, isComplete: Bool) async throws {
        let session = try SessionFixture()
        let (atom, service) = (session.atom, session.atom.enqueue(PathEndpoint()))
        let task = Task { () -> (Int, AtomError?) in
            var count = 0
            func read<Stream: AsyncSequence>(_ stream: Stream) async throws {
                for try await _ in stream {
                    count += 1
                    try await atom.signOut()
                }
            }
            do {
                switch kind {
                case "lines": try await read(service.lines())
                case "values": try await read(service.jsonLines(of: Int.self))
                default: try await read(service.serverSentEvents())
                }
                return (count, nil)
            } catch { return (count, error as? AtomError) }
        }
        let exchange = await session.transport.exchange(0)
        exchange.send(.response(TransportResponse(statusCode: 200, headerFields: SessionFixture.events)))
        let text = kind == "events" ? "data: 1\n\n" : "1\n"
        exchange.send(.data(Data((text + text).utf8)))
        if isComplete { exchange.send(.finished) }
        let (count, error) = await task.value
        #expect(count == 1)
        guard case .authentication(.signedOut)? = error else { throw Unexpected("not signed out") }
        #expect(atom.manager.session?.gate.memberCount == 0)
    }

    @Test("A stream whose person changes while it waits for a refresh sends nothing")
    func refreshingStream() async throws {
        let session = try SessionFixture(lifetime: 10)
        let stream = session.stream()
        await session.endsAfterExpiry(stream)
        let refresh = await session.refresh()
        try await session.atom.signIn(with: .issued(5))
        guard case .authentication(.signedOut)? = await stream.value else { throw Unexpected("not signed out") }
        refresh.grant(1)
        #expect(session.sent.count == 1)
    }

    @Test("A provider isn't asked for a stream of somebody who has signed out")
    func providerForStream() async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(.issued(0)), provider: login)
        let stream = session.stream()
        let exchange = await session.sendsEvent(0, to: stream)
        exchange.send(.finished)
        #expect(await session.time.waitForAlarm(within: .seconds(5)))
        try await session.atom.signOut()
        session.time.advance(by: .seconds(5))
        guard case .authentication(.signedOut)? = await stream.value else { throw Unexpected("not signed out") }
        #expect(login.count == 0)
        #expect(session.sent.count == 1)
    }

    @Test(
        "A stream outlives refreshes, also one that fails for now",
        arguments: [(503, ""), (520, ""), (501, ""), (403, ""), (404, ""), (400, "temporarily_unavailable")])
    func refreshedStream(status: Int, code: String) async throws {
        let session = try SessionFixture(lifetime: 10)
        let stream = session.stream()
        await session.endsAfterExpiry(stream)
        await session.refresh().answer(#"{"error":"\#(code)"}"#, status: status)
        #expect(await session.time.waitForAlarm(within: .seconds(10)))
        session.time.advance(by: .seconds(10))
        await session.refresh(1).grant(1)
        let again = await session.transport.exchange(3)
        #expect(again.token == "A1")
        #expect(again.request.headerFields["Last-Event-ID"] == "1")
        again.send(.response(TransportResponse(statusCode: 204)), .finished)
        #expect(await stream.value == nil)
    }

    @Test("A refresh that only the app's developers can mend ends a stream", arguments: ["invalid_client", ""])
    func refusedRefresh(code: String) async throws {
        let session = try SessionFixture(lifetime: 10)
        let stream = session.stream()
        await session.endsAfterExpiry(stream)
        let refresh = await session.refresh()
        if code.isEmpty {
            refresh.fail(.serverCertificateUntrusted, delivery: .notSent)
        } else {
            refresh.answer(#"{"error":"\#(code)"}"#, status: 400)
        }
        guard case .authentication(.refreshFailed)? = await stream.value else { throw Unexpected("not failed") }
        #expect(session.sent.count == 1)
    }

    @Test(
        "A stream that begins with a token of another process is that person's, also if it is refreshed before the head",
        arguments: [false, true])
    func adoptedStream(isRefreshed: Bool) async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk)
        try await session.answered("/first", token: "A0")
        disk.stored = .issued(5)
        let stream = session.stream()
        await session.transport.exchange(1).answer(status: 401)
        #expect(await session.transport.exchange(2).token == "A5")
        if isRefreshed {
            let other = session.call("/other")
            await session.transport.exchange(3).answer(status: 401)
            await session.refresh().grant(6)
            await session.transport.exchange(5).answer()
            #expect(await other.status() == 200)
        }
        await session.sendsEvent(2, to: stream).send(.finished)
        #expect(await session.time.waitForAlarm(within: .seconds(5)))
        session.time.advance(by: .seconds(5))
        let again = await session.transport.exchange(isRefreshed ? 6 : 3)
        #expect(again.token == (isRefreshed ? "A6" : "A5"))
        again.send(.response(TransportResponse(statusCode: 204)), .finished)
        #expect(await stream.value == nil)
    }

    @Test("A stream that another origin sends is theirs who were sent there", arguments: [false, true])
    func redirectedStream(isTakenOver: Bool) async throws {
        let session = try SessionFixture()
        let stream = session.stream(reconnecting: false)
        let first = await session.transport.exchange(0)
        if isTakenOver {
            session.tokens.put(.issued(5))
            let call = session.call("/other")
            await session.transport.exchange(1).answer()
            #expect(await call.status() == 200)
        }
        first.answer(status: 307, headers: [("Location", "https://events.example.org/")])
        let exchange = await session.transport.exchange(isTakenOver ? 2 : 1)
        #expect(exchange.token == nil)
        exchange.send(
            .response(TransportResponse(statusCode: 200, headerFields: SessionFixture.events)),
            .data(Data("data: a\n\n".utf8)), .finished)
        let failure = await stream.value
        if isTakenOver {
            guard case .authentication(.signedOut)? = failure else { throw Unexpected("\(failure as Any)") }
        }
        #expect(stream.count == (isTakenOver ? 0 : 1))
    }

    @Test("An unsigned stream is nobody's")
    func unsignedStream() async throws {
        let session = try SessionFixture()
        let stream = session.stream(signed: false)
        let exchange = await session.sendsEvent(0, to: stream)
        try await session.atom.signOut()
        exchange.send(.data(Data("id: 2\ndata: b\n\n".utf8)), .finished)
        #expect(await session.time.waitForAlarm(within: .seconds(5)))
        session.time.advance(by: .seconds(5))
        let again = await session.transport.exchange(1)
        #expect(again.request.headerFields["Last-Event-ID"] == "2")
        again.send(.response(TransportResponse(statusCode: 204)), .finished)
        #expect(await stream.value == nil)
    }

    @Test("An unsigned stream that began without cookies goes on without those of who comes next")
    func streamWithoutCookies() async throws {
        let session = try SessionFixture()
        let stream = session.stream(signed: false)
        await session.sendsEvent(0, to: stream).send(.finished)
        #expect(await session.time.waitForAlarm(within: .seconds(5)))
        try await session.atom.signOut()
        try await session.atom.signIn(with: .issued(5))
        let call = session.call(signed: false)
        await session.transport.exchange(1).answer(headers: [("Set-Cookie", "sid=b")])
        #expect(await call.status() == 200)
        session.time.advance(by: .seconds(5))
        let again = await session.transport.exchange(2)
        #expect(again.request.headerFields["Cookie"] == nil)
        #expect(again.request.headerFields["Last-Event-ID"] == "1")
        again.send(.response(TransportResponse(statusCode: 204)), .finished)
        #expect(await stream.value == nil)
    }

    @Test("An unsigned stream with the service's cookies is theirs who got them", arguments: [true, false])
    func cookieStream(somebodyElseComes: Bool) async throws {
        let session = try SessionFixture()
        await session.getsCookie("a", 0)
        let stream = session.stream(signed: false)
        let exchange = await session.sendsEvent(1, to: stream)
        #expect(exchange.request.headerFields["Cookie"] == "sid=a")
        exchange.send(.finished)
        #expect(await session.time.waitForAlarm(within: .seconds(5)))
        if somebodyElseComes {
            try await session.atom.signOut()
            try await session.atom.signIn(with: .issued(5))
        }
        await session.getsCookie("b", 2)
        session.time.advance(by: .seconds(5))
        if somebodyElseComes {
            guard case .authentication(.signedOut)? = await stream.value else { throw Unexpected("not signed out") }
            #expect(session.transport.exchanges.count == 3)
        } else {
            let again = await session.transport.exchange(3)
            #expect(again.request.headerFields["Cookie"] == "sid=b")
            again.send(.response(TransportResponse(statusCode: 204)), .finished)
            #expect(await stream.value == nil)
        }
    }

    @Test("An unsigned stream redirected to a server that gets no cookies is still theirs who got them")
    func redirectedCookieStream() async throws {
        let session = try SessionFixture()
        await session.getsCookie("a", 0)
        let stream = session.stream(signed: false)
        let first = await session.transport.exchange(1)
        #expect(first.request.headerFields["Cookie"] == "sid=a")
        first.answer(status: 307, headers: [("Location", "https://events.example.org/")])
        let exchange = await session.sendsEvent(2, to: stream)
        #expect(exchange.request.headerFields["Cookie"] == nil)
        exchange.send(.finished)
        #expect(await session.time.waitForAlarm(within: .seconds(5)))
        try await session.atom.signOut()
        try await session.atom.signIn(with: .issued(5))
        session.time.advance(by: .seconds(5))
        guard case .authentication(.signedOut)? = await stream.value else { throw Unexpected("not signed out") }
        #expect(session.transport.exchanges.count == 3)
    }

    // MARK: Links

    /// How a link is sent.
    enum Way: CaseIterable, Sendable {
        case plain, shared, stream, download
    }

    @Test("A link is sent for nobody but whose response it came in", arguments: Change.allCases, Way.allCases)
    func link(change: Change, way: Way) async throws {
        let session = try SessionFixture()
        let first = try await session.page("/1", token: "A0")
        let second = try await session.page(LinkedEndpoint("/2", in: first), token: "A0")
        try await change.happen(in: session)
        for response in [first, second] {
            let error = try await session.error(of: LinkedEndpoint("/3", in: response), way)
            guard case .authentication(.signedOut(.notSent))? = error else { throw Unexpected("\(error as Any)") }
        }
        #expect(session.transport.exchanges.count == 2, "neither for the next person, nor unsigned")
        // Who asks to send it without a credential knows what it is for.
        var unsigned = try LinkedEndpoint("/4", in: second)
        unsigned.requiresAuthorization = false
        _ = try await session.page(unsigned, token: nil)
    }

    @Test("A link to another origin that the app has named isn't sent for the next person", arguments: [false, true])
    func linkOfNamedOrigins(isRedirected: Bool) async throws {
        let names = ["api.example.com", "files.example.org"]
        let session = try SessionFixture(
            bearer: { bearer in
                let origins = names.compactMap { try? BaseURL(host: $0) }
                bearer.allowedOrigins = .only(origins)
            })
        let call = session.call("/1")
        let exchange = await session.transport.exchange(0)
        if isRedirected {
            exchange.answer(status: 307, headers: [("Location", "https://files.example.org/1")])
            await session.transport.exchange(1).answer()
        } else {
            exchange.answer()
        }
        let response = try await call.outcome().get()
        let link = try LinkedEndpoint("https://files.example.org/2", in: response)
        _ = try await session.page(link, token: "A0")
        try await session.atom.signOut()
        try await session.atom.signIn(with: .issued(5))
        guard case .authentication(.signedOut(.notSent))? = try await session.error(of: link, .plain) else {
            throw Unexpected("sent")
        }
    }

    @Test("A link of whoever has signed in again is refused, too: it is another sign-in")
    func linkOfTheSamePerson() async throws {
        let session = try SessionFixture(store: InMemoryTokenCredentialStore(.issued(0)))
        let response = try await session.page("/1", token: "A0")
        try await session.atom.signOut()
        try await session.atom.signIn(with: .issued(0))
        let error = try await session.error(of: LinkedEndpoint("/2", in: response), .plain)
        guard case .authentication(.signedOut(.notSent))? = error else { throw Unexpected("\(error as Any)") }
    }

    @Test("A link outlives refreshes, before it is sent and after a 401")
    func linkAfterRefreshes() async throws {
        let session = try SessionFixture(lifetime: 10)
        let response = try await session.page("/1", token: "A0")
        session.time.advance(by: .seconds(10))
        let call = session.atom.call(try LinkedEndpoint("/2", in: response))
        await session.refresh().grant(1)
        let second = await session.transport.exchange(2)
        #expect(second.token == "A1")
        second.answer(status: 401)
        await session.refresh(1).grant(2)
        let again = await session.transport.exchange(4)
        #expect(again.token == "A2")
        again.answer()
        _ = try await session.page(LinkedEndpoint("/3", in: try await call.outcome().get()), token: "A2")
        _ = try await session.page(LinkedEndpoint("/4", in: response), token: "A2")
    }

    @Test("A link belongs to whoever signed the attempt that brought it, not to who was there before or after")
    func linkOfTheLastAttempt() async throws {
        let session = try SessionFixture()
        let call = session.call("/1")
        let first = await session.transport.exchange(0)
        session.tokens.put(.issued(5))
        first.answer(status: 401)
        let second = await session.transport.exchange(1)
        #expect(second.token == "A5")
        second.answer()
        let theirs = try await call.outcome().get()
        _ = try await session.page(LinkedEndpoint("/2", in: theirs), token: "A5")

        let late = session.call("/3")
        let exchange = await session.transport.exchange(3)
        session.tokens.put(.issued(6))
        _ = try await session.page("/4", token: "A6")
        exchange.answer()
        let error = try await session.error(of: LinkedEndpoint("/5", in: try await late.outcome().get()), .plain)
        guard case .authentication(.signedOut(.notSent))? = error else { throw Unexpected("\(error as Any)") }
    }

    @Test("Another process's credential may be anybody's: a link isn't sent with it", arguments: [false, true])
    func linkAfterATakeover(isRead: Bool) async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk)
        let response = try await session.page("/1", token: "A0")
        disk.stored = .issued(5)
        if isRead {
            let other = session.call("/other")
            await session.transport.exchange(1).answer(status: 401)
            await session.transport.exchange(2).answer()
            #expect(await other.status() == 200)
        }
        let call = session.atom.call(try LinkedEndpoint("/2", in: response))
        if !isRead {
            let sent = await session.transport.exchange(1)
            #expect(sent.token == "A0", "nobody has read the store yet")
            sent.answer(status: 401)
        }
        guard case .authentication(.signedOut)? = await call.error() else { throw Unexpected("not refused") }
        #expect(session.transport.exchanges.count == (isRead ? 3 : 2))
    }

    @Test("A link that pauses before it is sent again is refused when its person has gone", arguments: Change.allCases)
    func pausingLink(change: Change) async throws {
        let session = try SessionFixture(change: { $0.retryPolicy = .standard })
        let response = try await session.page("/1", token: "A0")
        let call = session.atom.call(try LinkedEndpoint("/2", in: response))
        await session.transport.exchange(1).answer(status: 503, headers: [("Retry-After", "5")])
        #expect(await session.time.waitForAlarm(within: .seconds(5)))
        try await change.happen(in: session)
        session.time.advance(by: .seconds(5))
        guard case .authentication(.signedOut)? = await call.error() else { throw Unexpected("not refused") }
        #expect(session.transport.exchanges.count == 2)
    }

    @Test("A link of one person shares no exchange with requests that are anybody's")
    func sharedLink() async throws {
        let session = try SessionFixture()
        let response = try await session.page("/1", token: "A0")
        var links = try (1...2).map { _ in try LinkedEndpoint("/2", in: response) }
        for index in links.indices { links[index].sharesIdenticalRequests = true }
        var own = try LinkedEndpoint(
            "https://api.example.com/2",
            in: AtomResponse(
                statusCode: 200, url: URL(string: "https://api.example.com/")))
        own.sharesIdenticalRequests = true
        let calls = (links + [own]).map { session.atom.call($0) }
        for index in 1...2 { await session.transport.exchange(index).answer() }
        for call in calls { #expect(await call.status() == 200) }
        #expect(session.transport.exchanges.count == 3)
    }

    // MARK: Downloads

    @Test("A download replaces no file of the next person", arguments: Change.allCases, [false, true])
    func download(change: Change, isResumable: Bool) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("report")
        let session = try SessionFixture()
        let slow = session.download(to: file, isResumable: isResumable)
        let exchange = await session.transport.exchange(0)
        exchange.beginsFile("abc")
        try await change.happen(in: session)
        if !change.isOfVariable {
            guard case .authentication(.signedOut(.answered))? = await slow.error() else {
                throw Unexpected("not ended at once")
            }
            #expect(exchange.isCancelled)
        }
        let isAnybodyThere = change != .signOut && change != .emptiedVariable
        if isAnybodyThere {
            let fast = session.download(to: file, isResumable: false)
            let other = await session.transport.exchange(1)
            #expect(other.token == "A5")
            other.answer("theirs")
            #expect(await fast.status() == 200)
        }
        exchange.send(.data(Data("def".utf8)), .finished)
        guard case .authentication(.signedOut(.answered))? = await slow.error() else { throw Unexpected("not told") }
        let partial = isResumable ? ["report.partial", "report.partial.json"] : []
        #expect(await eventually { folder.names == (isAnybodyThere ? ["report"] : []) + partial })
        if isAnybodyThere { #expect(try Data(contentsOf: file) == Data("theirs".utf8)) }
        #expect(session.atom.manager.session?.gate.memberCount == 0)
    }

    @Test("A download whose person has gone before its head begins no file", arguments: Change.allCases)
    func downloadBeforeItsHead(change: Change) async throws {
        let folder = try TransferFolder()
        let session = try SessionFixture()
        let call = session.download(to: try folder.file("report"), isResumable: true)
        let exchange = await session.transport.exchange(0)
        try await change.happen(in: session)
        exchange.beginsFile("abcdef")
        exchange.send(.finished)
        guard case .authentication(.signedOut(.answered))? = await call.error() else { throw Unexpected("not told") }
        #expect(folder.names == [])
        #expect(session.atom.manager.session?.gate.memberCount == 0)
    }

    @Test(
        "A download whose person has gone leaves what the next one's has written",
        arguments: [Change.both, .otherVariable])
    func downloadBesideAPartialFile(change: Change) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("report")
        let session = try SessionFixture()
        let slow = session.download(to: file, isResumable: true)
        let exchange = await session.transport.exchange(0)
        try await change.happen(in: session)
        let theirs = session.download(to: file, isResumable: true)
        let other = await session.transport.exchange(1)
        #expect(other.token == "A5")
        other.beginsFile("abc")
        other.send(.failed(TransportFailure(URLError(.networkConnectionLost))))
        #expect(await theirs.error() != nil)
        #expect(folder.names == ["report.partial", "report.partial.json"])
        exchange.beginsFile("xyz")
        exchange.send(.finished)
        guard case .authentication(.signedOut(.answered))? = await slow.error() else { throw Unexpected("not told") }
        #expect(folder.names == ["report.partial", "report.partial.json"])
        let again = session.download(to: file, isResumable: true)
        #expect(await session.transport.exchange(2).request.headerFields["If-Range"] == "\"v\"")
        again.cancel()
    }

    @Test("After another process's credential, a download replaces only what was there", arguments: [false, true])
    func downloadAfterATakeover(isWritten: Bool) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("report", Data("old".utf8))
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk)
        let slow = session.download(to: file, isResumable: false)
        let exchange = await session.transport.exchange(0)
        exchange.beginsFile("abc")
        let tenure = session.atom.manager.tenure
        disk.stored = .issued(5)
        let other = session.call("/other")
        await session.transport.exchange(1).answer(status: 401)
        await session.transport.exchange(2).answer()
        #expect(await other.status() == 200)
        #expect(!session.atom.manager.tenure.isUnbroken(since: tenure))
        #expect(session.atom.manager.gate?.isUnchanged(since: tenure) == true, "each element of a stream asks for it")
        if isWritten { try Data("theirs".utf8).write(to: file) }
        exchange.send(.data(Data("def".utf8)), .finished)
        if isWritten {
            guard case .authentication(.signedOut)? = await slow.error() else { throw Unexpected("not refused") }
        } else {
            #expect(await slow.status() == 200)
        }
        #expect(try Data(contentsOf: file) == Data((isWritten ? "theirs" : "abcdef").utf8))
        #expect(folder.names == ["report"])
    }

    @Test("A download outlives a refresh, and one that nobody signs is nobody's", arguments: [false, true])
    func downloadThatGoesOn(isSigned: Bool) async throws {
        let folder = try TransferFolder()
        let file = try folder.file("report")
        let session = try SessionFixture(lifetime: 10)
        let call = session.download(to: file, isResumable: false, signed: isSigned)
        let exchange = await session.transport.exchange(0)
        exchange.beginsFile("abc")
        if isSigned {
            session.time.advance(by: .seconds(10))
            let other = session.call("/other")
            await session.refresh().grant(1)
            await session.transport.exchange(2).answer()
            #expect(await other.status() == 200)
        } else {
            try await session.atom.signOut()
        }
        exchange.send(.data(Data("def".utf8)), .finished)
        #expect(await call.status() == 200)
        #expect(try Data(contentsOf: file) == Data("abcdef".utf8))
        #expect(session.atom.manager.session?.gate.memberCount == 0)
    }
}

extension ScriptedExchange {
    /// Sends a head for a file of six bytes that can be gone on with, and the first of them.
    fileprivate func beginsFile(_ part: String) {
        let fields = HeaderFields([.init(name: "ETag", value: "\"v\""), .init(name: "Content-Length", value: "6")])
        send(.response(TransportResponse(statusCode: 200, headerFields: fields)), .data(Data(part.utf8)))
    }
}

extension SessionFixture {
    /// The response to the next request, which is signed with this token.
    fileprivate func page(_ endpoint: any Requestable, token: String?) async throws -> AtomResponse {
        let count = transport.exchanges.count
        let call = atom.call(endpoint)
        let exchange = await transport.exchange(count)
        #expect(exchange.token == token)
        exchange.answer()
        return try await call.outcome().get()
    }

    fileprivate func page(_ path: String, token: String?) async throws -> AtomResponse {
        try await page(PathEndpoint(pathText: path), token: token)
    }

    fileprivate func download(to file: URL, isResumable: Bool, signed: Bool = true) -> Call {
        let call = Call()
        let service = atom.enqueue(PathEndpoint(requiresAuthorization: signed))
        call.keep(service.download(to: file, isResumable: isResumable) { call.heard($0) })
        return call
    }

    /// How a link fails.
    fileprivate func error(of link: LinkedEndpoint, _ way: WhoseSessionTests.Way) async throws -> AtomError? {
        var link = link
        link.sharesIdenticalRequests = way == .shared
        let service = atom.enqueue(link)
        switch way {
        case .plain, .shared: return await atom.call(link).error()
        case .stream:
            do throws(AtomError) {
                _ = try await service.bytes()
                return nil
            } catch { return error }
        case .download:
            let folder = try TransferFolder()
            let file = try folder.file("x")
            do throws(AtomError) {
                try await service.download(to: file)
                return nil
            } catch { return error }
        }
    }

    fileprivate static let events = HeaderFields([.init(name: "Content-Type", value: "text/event-stream")])

    /// A response sets the cookie `sid`, over the exchange with this number.
    fileprivate func getsCookie(_ value: String, _ index: Int) async {
        let call = call(signed: false)
        await transport.exchange(index).answer(headers: [("Set-Cookie", "sid=\(value)")])
        #expect(await call.status() == 200)
    }

    /// A stream of events that is read to its end.
    fileprivate func stream(signed: Bool = true, reconnecting: Bool = true) -> ReadStream {
        ReadStream(
            atom.enqueue(PathEndpoint(requiresAuthorization: signed)),
            reconnection: reconnecting ? .automatic() : .never)
    }

    /// Sends a head and an event over the exchange with this number, and waits
    /// until the event has been read.
    fileprivate func sendsEvent(_ index: Int, to stream: ReadStream) async -> ScriptedExchange {
        let exchange = await transport.exchange(index)
        exchange.send(
            .response(TransportResponse(statusCode: 200, headerFields: Self.events)),
            .data(Data("id: 1\ndata: a\n\n".utf8)))
        #expect(await eventually { stream.count == 1 })
        return exchange
    }

    /// Ends the first response of a stream when the token of ten seconds has
    /// expired, which it has then whenever the reconnection asks for it, and
    /// lets the pause before that pass.
    fileprivate func endsAfterExpiry(_ stream: ReadStream) async {
        let exchange = await sendsEvent(0, to: stream)
        time.advance(by: .seconds(10))
        exchange.send(.finished)
        #expect(await time.waitForAlarm(within: .seconds(5)))
        time.advance(by: .seconds(5))
    }

    /// A request that is sent at once with this token, or as soon as the store
    /// was read, and answered.
    fileprivate func answered(_ path: String, token: String) async throws {
        let count = transport.exchanges.count
        let call = call(path)
        let exchange = await transport.exchange(count)
        #expect(exchange.token == token)
        exchange.answer()
        #expect(await call.status() == 200)
    }
}

/// Reads a stream of events to its end.
private final class ReadStream: Sendable {
    private let read = Guarded(0)
    private let task: Task<AtomError?, Never>

    init(_ service: Service, reconnection: Reconnection) {
        let read = read
        task = Task {
            do throws(AtomError) {
                var events = try await service.serverSentEvents(reconnection: reconnection).makeAsyncIterator()
                while try await events.next() != nil { read.withLock { $0 += 1 } }
                return nil
            } catch { return error }
        }
    }

    /// How many events have been read.
    var count: Int { read.withLock { $0 } }

    /// How it has ended; it is cancelled with the test, at its time limit.
    var value: AtomError? {
        get async {
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }
}

/// A store that keeps what its exchanges have come to.
private final class ExchangeRecorder: TokenCredentialStore {
    let results = Locked<[String]>([])
    private let stored: Locked<TokenCredential?>

    init(_ credential: TokenCredential) { stored = Locked(credential) }

    func load() async throws -> TokenCredential? { stored.value }
    func save(_ credential: TokenCredential?) async throws { stored.set(credential) }

    func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        let result = try await body(stored.value)
        results.with { $0.append(result?.refreshToken ?? "") }
        stored.set(result)
        return result
    }
}
