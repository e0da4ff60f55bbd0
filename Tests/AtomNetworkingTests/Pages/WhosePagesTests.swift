import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("The pages of a list are one person's", .limited)
struct WhosePagesTests {
    typealias Change = WhoseSessionTests.Change
    typealias Iterator = Pages<NumberPage>.Iterator

    /// When the person changes.
    enum Moment: CaseIterable, Sendable {
        case beforeThePage, onTheWire
    }

    /// Reads the next page, which the exchange with this number answers.
    private static func read(_ iterator: inout Iterator, _ session: SessionFixture, _ index: Int) async throws {
        let asking = iterator.asking()
        await session.transport.exchange(index).answerPage(of: 9)
        let step = await asking.value
        #expect(try step.outcome.get() != nil)
        iterator = step.iterator
    }

    private static func begun(_ naming: PageNaming, _ session: SessionFixture) async throws -> Iterator {
        var iterator = naming.pages(session.atom).makeAsyncIterator()
        try await read(&iterator, session, 0)
        return iterator
    }

    // MARK: Between pages and on the way

    @Test("Between two pages", arguments: PageNaming.allCases, Change.allCases)
    func between(naming: PageNaming, change: Change) async throws {
        let session = try SessionFixture()
        let iterator = try await Self.begun(naming, session)
        try await change.happen(in: session)
        var (outcome, rest) = await iterator.asking().value
        #expect(outcome.isSignedOut, "\(outcome)")
        #expect(try await rest.next() == nil)
        #expect(session.transport.exchanges.count == 1)
        // Another one is the next person's.
        guard change != .signOut, change != .emptiedVariable else { return }
        var next = naming.pages(session.atom).makeAsyncIterator()
        try await Self.read(&next, session, 1)
        #expect(session.sent.last?.token == "A5")
    }

    @Test("On the wire, also on that of the first page", arguments: PageNaming.allCases, Change.allCases)
    func onTheWire(naming: PageNaming, change: Change) async throws {
        for index in 0...1 {
            let session = try SessionFixture()
            var iterator = naming.pages(session.atom).makeAsyncIterator()
            if index == 1 { try await Self.read(&iterator, session, 0) }
            let asking = iterator.asking()
            let exchange = await session.transport.exchange(index)
            try await change.happen(in: session)
            exchange.answerPage(of: 9)
            let step = await asking.value
            guard case .failure(.authentication(let error)) = step.outcome else { throw Unexpected("\(step.outcome)") }
            #expect(error.delivery == .answered)
            #expect(step.outcome.isSignedOut)
            #expect(error.reach.request?.url == "https://api.example.com/list/\(index + 1)")
        }
    }

    @Test("In the queue of the session", arguments: PageNaming.allCases, Change.allCases)
    func queued(naming: PageNaming, change: Change) async throws {
        let session = try SessionFixture(lifetime: 100)
        let iterator = try await Self.begun(naming, session)
        session.time.advance(by: .seconds(100))
        let asking = iterator.asking()
        let refresh = await session.refresh()
        try await change.happen(in: session)
        refresh.grant(1)
        #expect(await asking.value.outcome.isSignedOut)
        #expect(session.sent.count == 1)
    }

    @Test("In the lane of the origin", arguments: PageNaming.allCases, Change.allCases)
    func inALane(naming: PageNaming, change: Change) async throws {
        let session = try SessionFixture(exchangesPerOrigin: 1)
        let iterator = try await Self.begun(naming, session)
        let other = session.call("/other")
        let exchange = await session.transport.exchange(1)
        let asking = iterator.asking()
        #expect(await eventually { session.atom.manager.slots.counts.waiting == 1 })
        try await change.happen(in: session)
        exchange.answer()
        #expect(await asking.value.outcome.isSignedOut)
        #expect(await other.status() == 200)
        #expect(session.sent.count == 2)
    }

    @Test("In the pause before another attempt", arguments: PageNaming.allCases, Change.allCases)
    func pausing(naming: PageNaming, change: Change) async throws {
        let session = try SessionFixture(change: { $0.retryPolicy = .standard })
        let iterator = try await Self.begun(naming, session)
        let asking = iterator.asking()
        await session.transport.exchange(1).answer(status: 503, headers: [("Retry-After", "5")])
        #expect(await session.time.waitForAlarm(within: .seconds(5)))
        try await change.happen(in: session)
        session.time.advance(by: .seconds(5))
        #expect(await asking.value.outcome.isSignedOut)
        #expect(session.transport.exchanges.count == 2)
    }

    @Test("After another process has stored tokens, which may be anybody's", arguments: PageNaming.allCases)
    func takeover(naming: PageNaming) async throws {
        let disk = RecordingTokenCredentialStore(.issued(0))
        let session = try SessionFixture(store: disk)
        let iterator = try await Self.begun(naming, session)
        disk.stored = .issued(5)
        let asking = iterator.asking()
        let exchange = await session.transport.exchange(1)
        #expect(exchange.token == "A0", "nobody has read the store yet")
        exchange.answer(status: 401)
        #expect(await asking.value.outcome.isSignedOut)
        #expect(session.transport.exchanges.count == 2)
    }

    @Test("A page of one person is no other person's, though both share", arguments: PageNaming.allCases)
    func shared(naming: PageNaming) async throws {
        let session = try SessionFixture()
        let endpoint = ListEndpoint(sharesIdenticalRequests: true)
        var first = naming.pages(session.atom, of: endpoint).makeAsyncIterator()
        try await Self.read(&first, session, 0)
        let theirs = first.asking()
        let old = await session.transport.exchange(1)
        try await session.atom.signIn(with: .issued(5))
        var second = naming.pages(session.atom, of: endpoint).makeAsyncIterator()
        try await Self.read(&second, session, 2)
        let ours = second.asking()
        let new = await session.transport.exchange(3)
        #expect(old.token == "A0" && new.token == "A5")
        old.answerPage(of: 9)
        new.answerPage(of: 9)
        #expect(await theirs.value.outcome.isSignedOut)
        #expect(try await ours.value.outcome.get()?.items == [2])
    }

    @Test(
        "A link to another origin, which goes unsigned, isn't followed for the next person", arguments: Moment.allCases)
    func foreign(moment: Moment) async throws {
        let session = try SessionFixture()
        let asking = PageNaming.link.pages(session.atom).makeAsyncIterator().asking()
        await session.transport.exchange(0).answerPage([1], next: "https://files.example.org/2")
        let iterator = await asking.value.iterator
        if moment == .beforeThePage { try await session.atom.signOut() }
        let second = iterator.asking()
        if moment == .onTheWire {
            let exchange = await session.transport.exchange(1)
            #expect(exchange.token == nil)
            try await session.atom.signOut()
            exchange.answerPage([2])
        }
        #expect(await second.value.outcome.isSignedOut)
        #expect(session.transport.exchanges.count == (moment == .onTheWire ? 2 : 1))
    }

    // MARK: Pages that aren't signed

    @Test("Unsigned pages are of whose cookies they are sent with", arguments: Moment.allCases, [false, true])
    func cookies(moment: Moment, signsOut: Bool) async throws {
        for naming in PageNaming.allCases { try await cookies(naming, moment, signsOut: signsOut) }
    }

    private func cookies(_ naming: PageNaming, _ moment: Moment, signsOut: Bool) async throws {
        let session = try SessionFixture()
        let login = session.call("/login", signed: false)
        await session.transport.exchange(0).answer(headers: [("Set-Cookie", "sid=a; Path=/")])
        #expect(await login.status() == 200)
        let pages = naming.pages(session.atom, of: ListEndpoint(requiresAuthorization: false))
        var iterator = pages.makeAsyncIterator()
        try await Self.read(&iterator, session, 1)
        #expect(session.sent.last?.request["Cookie"] == "sid=a")
        func leave() async throws {
            if signsOut { try await session.atom.signOut() } else { session.atom.removeCookies() }
        }
        if moment == .beforeThePage { try await leave() }
        let asking = iterator.asking()
        if moment == .onTheWire {
            let exchange = await session.transport.exchange(2)
            try await leave()
            exchange.answerPage(of: 9)
        }
        #expect(await asking.value.outcome.isSignedOut)
        #expect(session.sent.count == (moment == .onTheWire ? 3 : 2))
    }

    @Test("Unsigned pages without cookies are nobody's, and go on", arguments: PageNaming.allCases, Change.allCases)
    func nobodys(naming: PageNaming, change: Change) async throws {
        let session = try SessionFixture()
        var iterator = naming.pages(session.atom, of: ListEndpoint(requiresAuthorization: false)).makeAsyncIterator()
        try await Self.read(&iterator, session, 0)
        try await change.happen(in: session)
        try await Self.read(&iterator, session, 1)
        let asking = iterator.asking()
        let exchange = await session.transport.exchange(2)
        try await change.happen(in: session)
        exchange.answerPage(of: 9)
        #expect(try await asking.value.outcome.get()?.items == [3])
    }

    @Test("Whoever signs in for the first page reads all of them", arguments: PageNaming.allCases)
    func signInForTheFirstPage(naming: PageNaming) async throws {
        let login = ScriptedLogin()
        let session = try SessionFixture(provider: login)
        let asking = naming.pages(session.atom).makeAsyncIterator().asking()
        await login.form(0).finish(.success(.issued(1)))
        await session.transport.exchange(0).answerPage(of: 9)
        var iterator = await asking.value.iterator
        try await Self.read(&iterator, session, 1)
        #expect(session.sent.map(\.token) == ["A1", "A1"])
    }

    // MARK: Anywhere

    @Test("Wherever somebody goes, no page follows")
    func anywhere() async throws {
        for seed in 0..<UInt64(TestExtent.isWhole ? 600 : 60) {
            var generator = SeededGenerator(seed: seed)
            let naming = PageNaming.allCases.randomElement(using: &generator) ?? .link
            let change = Change.allCases.randomElement(using: &generator) ?? .signOut
            let moment = Moment.allCases.randomElement(using: &generator) ?? .onTheWire
            let last = Int.random(in: 2...8, using: &generator)
            let session = try SessionFixture()
            var iterator = naming.pages(session.atom).makeAsyncIterator()
            for index in 0..<last - 1 { try await Self.read(&iterator, session, index) }
            if moment == .beforeThePage { try await change.happen(in: session) }
            let asking = iterator.asking()
            if moment == .onTheWire {
                let exchange = await session.transport.exchange(last - 1)
                try await change.happen(in: session)
                exchange.answerPage(of: 9)
            }
            let step = await asking.value
            #expect(step.outcome.isSignedOut, "\(seed): \(naming), \(change), \(moment), page \(last)")
            #expect(session.transport.exchanges.count == (moment == .onTheWire ? last : last - 1), "\(seed)")
        }
    }
}

@Suite("The pages of two people on many threads", .limited)
struct PagesConcurrencyTests {
    /// Whose page it is.
    private struct SignedPage: Model {
        let token: String
        let next: String?
    }

    @Test("Nobody gets a page of another person", arguments: 0..<UInt64(TestExtent.isWhole ? 8 : 2))
    func storm(seed: UInt64) async throws {
        let session = try SessionFixture(script: { exchange in
            DispatchQueue.global().async {
                let number = Int(exchange.request.path.split(separator: "/").last ?? "") ?? 1
                let next = number < 6 ? "\"/list/\(number + 1)\"" : "null"
                exchange.answer(
                    #"{"token":"\#(exchange.token ?? "none")","next":\#(next)}"#,
                    headers: number < 6 ? [("Link", "<\(number + 1)>; rel=next")] : [])
            }
        })
        let latest = Locked(0)
        let (given, ended, foreign, stale) = (Locked(0), Locked(0), Locked(0), Locked(0))
        let hasChanged = Locked(false)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                var generator = SeededGenerator(seed: seed)
                for number in 1...150 {
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: try? await session.atom.signOut()
                    case 1: session.tokens.put(.issued(number))
                    default: try? await session.atom.signIn(with: .issued(number))
                    }
                    latest.set(number)
                    // Readers meet each change, at places of their own.
                    let before = given.value + ended.value
                    while given.value + ended.value == before, !Task.isCancelled { await Task.yield() }
                    for _ in 0..<Int.random(in: 0..<40, using: &generator) { await Task.yield() }
                }
                // The last readers find somebody.
                try? await session.atom.signIn(with: .issued(151))
                latest.set(151)
                hasChanged.set(true)
            }
            for reader in 0..<4 {
                group.addTask {
                    let endpoint = ListEndpoint(sharesIdenticalRequests: reader.isMultiple(of: 2))
                    let lists = [
                        session.atom.pages(of: endpoint) { (page: SignedPage) in page.next },
                        session.atom.pages(of: endpoint, as: SignedPage.self),
                        session.atom.pages(of: endpoint) { (page: SignedPage, last) in
                            page.next == nil
                                ? nil
                                : ListEndpoint(
                                    number: last.number + 1, sharesIdenticalRequests: last.sharesIdenticalRequests)
                        },
                    ]
                    var round = 0
                    repeat {
                        var (iterator, owner) = (lists[round % 3].makeAsyncIterator(), nil as String?)
                        round += 1
                        do throws(AtomError) {
                            while true {
                                let before = latest.value
                                guard let page = try await iterator.next() else { break }
                                given.with { $0 += 1 }
                                if let owner, owner != page.token { foreign.with { $0 += 1 } }
                                owner = page.token
                                if Int(page.token.dropFirst()) ?? 0 < before { stale.with { $0 += 1 } }
                            }
                        } catch {
                            ended.with { $0 += 1 }
                            // While nobody is signed in, nothing suspends, and the others need a thread.
                            await Task.yield()
                        }
                    } while !hasChanged.value || round < 30
                }
            }
        }
        #expect(foreign.value == 0)
        #expect(stale.value == 0)
        #expect(given.value > 0 && ended.value > 0, "\(given.value) pages, \(ended.value) ends")
        #expect(session.atom.sharing.counts == (0, 0))
    }
}
