import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("The pages of a list", .limited)
struct PagesTests {
    /// A page with the URL as Foundation's type.
    private struct URLPage: Model {
        let items: [Int]
        let next: URL?
    }

    /// A search whose cursor is in the body.
    private struct Search: Requestable {
        var cursor: Int?

        var method: HTTPMethod { .post }
        var body: RequestBody? { .json(["text": "AS", "cursor": cursor.map { "\($0)" } ?? "", "order": "up"]) }

        func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    }

    private static func paths(_ fixture: SharingFixture) -> [String] {
        fixture.transport.exchanges.map { $0.request.pathAndQuery }
    }

    // MARK: One after the other

    @Test("Nothing is asked for before it is wanted", arguments: PageNaming.allCases)
    func lazy(naming: PageNaming) async throws {
        let fixture = SharingFixture { $0.answerPage(of: 3) }
        let pages = naming.pages(fixture.atom)
        var iterator = pages.makeAsyncIterator()
        #expect(fixture.count == 0)
        for number in 1...3 {
            #expect(try await iterator.next()?.items == [number])
            #expect(fixture.count == number)
        }
        for _ in 0..<2 { #expect(try await iterator.next() == nil) }
        #expect(Self.paths(fixture) == ["/list/1", "/list/2", "/list/3"])
    }

    @Test("A loop reads all pages, and each loop reads them anew", arguments: PageNaming.allCases)
    func loop(naming: PageNaming) async throws {
        let fixture = SharingFixture { $0.answerPage(of: 3) }
        let pages = naming.pages(fixture.atom)
        for round in 1...2 {
            var items: [Int] = []
            for try await page in pages { items += page.items }
            #expect(items == [1, 2, 3])
            #expect(fixture.count == 3 * round)
        }
    }

    @Test("The closure may be written behind the call, in a loop, and as a key path")
    func spellings() async throws {
        let fixture = SharingFixture { $0.answerPage(of: 2) }
        let atom = fixture.atom
        var items: [Int] = []
        for try await page in atom.pages(of: ListEndpoint(), next: { (page: NumberPage) in page.next }) {
            items += page.items
        }
        for try await page in atom.pages(of: ListEndpoint(), next: \NumberPage.next) { items += page.items }
        for try await page in atom.pages(of: ListEndpoint(), next: \URLPage.next) { items += page.items }
        let urls = atom.pages(of: ListEndpoint(), maximumPages: 5) { (page: URLPage) in page.next }
        for try await page in urls { items += page.items }
        let endpoints = atom.pages(of: ListEndpoint()) { (page: DecodedResponse<NumberPage>, last: ListEndpoint) in
            guard page.response.headerFields.contains("Link") else { return nil }
            return last.following(page.model)
        }
        for try await page in endpoints { items += page.model.items }
        for try await page in atom.pages(of: ListEndpoint(), as: DecodedResponse<NumberPage>.self) {
            #expect(page.response.statusCode == 200)
            items += page.model.items
        }
        #expect(items == [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2])
    }

    @Test("The URL of the next page may be relative to that of its page")
    func relative() async {
        let answers = ["3?a=1", "?a=2", "https://api.example.com/list/x", "//api.example.com/y", nil]
        let fixture = SharingFixture { exchange in
            let index = ["/list/1", "/list/3?a=1", "/list/3?a=2", "/list/x", "/y"].firstIndex(
                of: exchange.request.pathAndQuery)
            exchange.answerPage([], next: index.flatMap { answers[$0] })
        }
        for naming in [PageNaming.link, .field] {
            let (pages, error) = await naming.pages(fixture.atom).all()
            #expect(pages.count == 5 && error == nil)
        }
    }

    @Test(
        "A link that starts from something else is not the page's",
        arguments: [("#part", 2), ("/list/1", 2), ("/other", 1), ("https://example.org/list/1", 1)])
    func anchor(anchor: String, count: Int) async {
        let fixture = SharingFixture { exchange in
            let isFirst = exchange.request.path == "/list/1"
            let link = "</list/2>; rel=next; anchor=\"\(anchor)\""
            exchange.answer(#"{"items":[]}"#, headers: isFirst ? [("Link", link)] : [])
        }
        let (pages, error) = await PageNaming.field.pages(fixture.atom).all()
        #expect(pages.count == count && error == nil)
    }

    @Test("A cursor may be in the body of the request")
    func cursorInABody() async {
        let fixture = SharingFixture { exchange in
            let isFirst = exchange.request.text.contains(#""cursor":"""#)
            exchange.answerPage([isFirst ? 1 : 2], next: isFirst ? "7" : nil)
        }
        let pages = fixture.atom.pages(of: Search()) { (page: NumberPage, _) in
            page.next.flatMap { Int($0) }.map { Search(cursor: $0) }
        }
        let (all, error) = await pages.all()
        #expect(all.flatMap(\.items) == [1, 2] && error == nil)
        #expect(fixture.transport.exchanges.allSatisfy { $0.request.method == "POST" })
    }

    @Test("Two iterators know nothing of each other", arguments: PageNaming.allCases)
    func twoIterators(naming: PageNaming) async throws {
        let fixture = SharingFixture { $0.answerPage(of: 2) }
        let pages = naming.pages(fixture.atom)
        var (first, second) = (pages.makeAsyncIterator(), pages.makeAsyncIterator())
        #expect(try await first.next()?.items == [1])
        #expect(try await second.next()?.items == [1])
        #expect(try await first.next()?.items == [2])
        #expect(try await first.next() == nil)
        #expect(try await second.next()?.items == [2])
        #expect(fixture.count == 4)
    }

    // MARK: A request like any other

    @Test("After a 401 in the middle, the page is asked for with the next token", arguments: PageNaming.allCases)
    func refresh(naming: PageNaming) async throws {
        let session = try SessionFixture()
        let first = await Self.step(naming.pages(session.atom).makeAsyncIterator(), session, 0) { exchange in
            #expect(exchange.token == "A0")
            exchange.answerPage(of: 3)
        }
        let second = first.iterator.asking()
        await session.transport.exchange(1).answer(status: 401)
        await session.refresh().grant(1)
        let again = await session.transport.exchange(3)
        #expect(again.token == "A1" && again.request.path == "/list/2")
        again.answerPage(of: 3)
        let third = await Self.step(await second.value.iterator, session, 4) { exchange in
            #expect(exchange.token == "A1")
            exchange.answerPage(of: 3)
        }
        #expect(try third.outcome.get()?.items == [3])
    }

    private static func step(
        _ iterator: Pages<NumberPage>.Iterator, _ session: SessionFixture, _ index: Int,
        _ answer: (ScriptedExchange) -> Void
    ) async -> Pages<NumberPage>.Iterator.Step {
        let asking = iterator.asking()
        answer(await session.transport.exchange(index))
        return await asking.value
    }

    @Test("Pages of endpoints that share are shared", arguments: PageNaming.allCases)
    func shared(naming: PageNaming) async throws {
        let session = try SessionFixture()
        let pages = naming.pages(session.atom, of: ListEndpoint(sharesIdenticalRequests: true))
        var iterators = [pages.makeAsyncIterator(), pages.makeAsyncIterator()]
        for index in 0..<2 {
            let asking = iterators.map { $0.asking() }
            #expect(await session.atom.hasSharers(2))
            await session.transport.exchange(index).answerPage(of: 2)
            iterators = []
            for task in asking {
                let step = await task.value
                #expect(try step.outcome.get()?.items == [index + 1])
                iterators.append(step.iterator)
            }
        }
        #expect(session.transport.exchanges.count == 2)
    }

    @Test("What the endpoint says of its requests holds for each page")
    func settings() async throws {
        let session = try SessionFixture()
        let endpoint = RecordingEndpoint(
            path: "/list/1", method: .post,
            headerItems: ["Accept-Language": "de", "X-Key": "k", "If-None-Match": "\"v\"", "Content-Language": "de"],
            body: .data(Data("x".utf8)), timeout: ServiceTimeout(request: 7, resource: 9),
            acceptableStatusCodes: 200...404)
        let pages = session.atom.pages(of: endpoint) { (page: NumberPage) in page.next }
        let first = await Self.step(pages.makeAsyncIterator(), session, 0) {
            $0.answerPage([1], next: "/list/2", status: 404)
        }
        let second = await Self.step(first.iterator, session, 1) { exchange in
            let request = exchange.request
            #expect(request.method == "GET" && request.body == nil && exchange.token == "A0")
            #expect(request["Accept-Language"] == "de" && request["X-Key"] == "k")
            #expect(request["If-None-Match"] == nil && request["Content-Language"] == nil)
            #expect(request.transportRequest.idleTimeout == .seconds(7))
            exchange.answerPage([2], next: "https://files.example.org/3", status: 404)
        }
        let third = await Self.step(second.iterator, session, 2) { exchange in
            #expect(exchange.token == nil && exchange.request["X-Key"] == nil, "another origin gets no secret")
            #expect(exchange.request["Accept-Language"] == "de")
            exchange.answerPage([3], next: "https://api.example.com/list/4", status: 404)
        }
        let fourth = await Self.step(third.iterator, session, 3) { exchange in
            #expect(exchange.token == nil && exchange.request["X-Key"] == nil, "it may not say where they go")
            exchange.answerPage([4], status: 404)
        }
        #expect(try fourth.outcome.get()?.items == [4])
    }

    @Test("A redirect to another origin says nothing about the next page's credential")
    func redirected() async throws {
        let session = try SessionFixture()
        let endpoint = ListEndpoint(headerItems: ["X-Key": "k"])
        let asking = PageNaming.link.pages(session.atom, of: endpoint).makeAsyncIterator().asking()
        await session.transport.exchange(0).redirect(to: "https://files.example.org/1")
        await session.transport.exchange(1).redirect(to: "https://api.example.com/1")
        await session.transport.exchange(2).answerPage([1], next: "/2")
        let second = await Self.step(await asking.value.iterator, session, 3) { exchange in
            #expect(exchange.token == nil && exchange.request["X-Key"] == nil)
            exchange.answerPage([2])
        }
        #expect(try second.outcome.get()?.items == [2])
    }

    // MARK: Ends

    @Test("A list that leads back to a page ends with an error", arguments: [1, 2, 3])
    func repeated(back: Int) async throws {
        let fixture = SharingFixture { exchange in
            let number = Int(exchange.request.path.split(separator: "/").last ?? "") ?? 0
            exchange.answerPage([number], next: "/list/\(number == 3 ? back : number + 1)")
        }
        for naming in [PageNaming.link, .field] {
            let before = fixture.count
            let (pages, error) = await naming.pages(fixture.atom).all()
            #expect(pages.flatMap(\.items) == [1, 2, 3])
            guard case .transfer(let failure)? = error else { throw Unexpected("\(error as Any)") }
            #expect(failure.reason == .repeatedPage && failure.delivery == .answered)
            #expect(error?.description.contains("/list/\(back)") == true)
            #expect(error?.request?.url == "https://api.example.com/list/3")
            #expect(fixture.count == before + 3, "it isn't sent")
        }
    }

    @Test("A cursor that comes again ends the list, also in a body whose keys have no order")
    func repeatedCursor() async throws {
        for _ in 0..<20 {
            let fixture = SharingFixture { $0.answerPage([], next: "7") }
            let pages = fixture.atom.pages(of: Search()) { (page: NumberPage, _) in
                page.next.flatMap { Int($0) }.map { Search(cursor: $0) }
            }
            let (all, error) = await pages.all()
            #expect(all.count == 2)
            guard case .transfer(let failure)? = error else { throw Unexpected("\(error as Any)") }
            #expect(failure.reason == .repeatedPage)
        }
    }

    @Test("A cursor in a header field tells pages apart")
    func cursorInAField() async {
        let fixture = SharingFixture { exchange in
            let number = exchange.request["X-Cursor"].flatMap { Int($0) } ?? 1
            exchange.answerPage([number], next: number < 4 ? "\(number + 1)" : nil)
        }
        let pages = fixture.atom.pages(of: ListEndpoint()) { (page: NumberPage, last) in
            var next = last
            next.headerItems = page.next.map { [HeaderItem(name: "X-Cursor", value: $0)] }
            return page.next == nil ? nil : next
        }
        let (all, error) = await pages.all()
        #expect(all.flatMap(\.items) == [1, 2, 3, 4] && error == nil)
    }

    @Test("A list with more pages than allowed ends with an error, and one with as many doesn't", arguments: 0...4)
    func maximum(limit: Int) async throws {
        let fixture = SharingFixture { $0.answerPage(of: 3) }
        let pages = fixture.atom.pages(of: ListEndpoint(), maximumPages: limit) { (page: NumberPage) in page.next }
        let (all, error) = await pages.all()
        #expect(all.count == min(limit, 3) && fixture.count == all.count)
        guard limit < 3 else { return #expect(error == nil) }
        guard case .transfer(let failure)? = error else { throw Unexpected("\(error as Any)") }
        #expect(failure.reason == .tooLarge)
    }

    @Test("An error ends the list, and a copy from before asks for the same page again", arguments: PageNaming.allCases)
    func failure(naming: PageNaming) async throws {
        let fails = Locked(true)
        let fixture = SharingFixture { exchange in
            if exchange.request.path == "/list/2", fails.value { return exchange.answer(status: 500) }
            exchange.answerPage(of: 3)
        }
        var iterator = naming.pages(fixture.atom).makeAsyncIterator()
        _ = try await iterator.next()
        for _ in 0..<2 {
            var copy = iterator
            let error = await #expect(throws: AtomError.self) { try await copy.next() }
            #expect(error?.response?.statusCode == 500)
            #expect(try await copy.next() == nil)
        }
        fails.set(false)
        for number in 2...3 { #expect(try await iterator.next()?.items == [number]) }
        #expect(try await iterator.next() == nil)
        #expect(fixture.count == 5)
    }

    @Test("What is wrong with the next page is told when that is wanted")
    func wrongNext() async throws {
        let fixture = SharingFixture { $0.answerPage([1], next: "ftp://api.example.com/2") }
        for naming in [PageNaming.link, .field] {
            let (pages, error) = await naming.pages(fixture.atom).all()
            #expect(pages.count == 1)
            guard case .requestable(.invalidURL)? = error else { throw Unexpected("\(error as Any)") }
        }
        let pages = fixture.atom.pages(of: ListEndpoint()) { (page: NumberPage) throws -> String? in
            throw Unexpected("\(page.items)")
        }
        let (all, error) = await pages.all()
        #expect(all.count == 1)
        guard case .requestable(.endpointFailed(_, let cause))? = error else { throw Unexpected("\(error as Any)") }
        #expect(cause is Unexpected)
        #expect(fixture.count == 3)
    }

    @Test("A page that can't be decoded ends the list")
    func undecodable() async throws {
        let fixture = SharingFixture { $0.answer("[]") }
        let (pages, error) = await PageNaming.link.pages(fixture.atom).all()
        #expect(pages.isEmpty)
        guard case .decoder? = error else { throw Unexpected("\(error as Any)") }
    }

    @Test("A cancelled task cancels the page that it waits for, and asks for no other", arguments: PageNaming.allCases)
    func cancelled(naming: PageNaming) async throws {
        let fixture = SharingFixture()
        let asking = naming.pages(fixture.atom).makeAsyncIterator().asking()
        let exchange = await fixture.transport.exchange(0)
        asking.cancel()
        let step = await asking.value
        #expect(exchange.isCancelled)
        #expect(throws: AtomError.self) { try step.outcome.get() }
        guard case .failure(.cancelled) = step.outcome else { throw Unexpected("\(step.outcome)") }
        var iterator = step.iterator
        #expect(try await iterator.next() == nil)

        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await naming.pages(fixture.atom).all()
        }
        guard case (_, .cancelled(.notSent)?) = await late.value else { throw Unexpected("sent") }
        #expect(fixture.count == 1)
    }

    @Test("Neither pages nor their iterators show anything")
    func redacted() {
        let fixture = SharingFixture()
        let pages = PageNaming.link.pages(fixture.atom, of: ListEndpoint(headerItems: ["X-Key": "secret"]))
        for text in ["\(pages)", "\(pages.makeAsyncIterator())", String(reflecting: pages)] {
            #expect(!text.contains("secret"))
        }
        var dumped = ""
        dump(pages.makeAsyncIterator(), to: &dumped)
        #expect(!dumped.contains("secret"))
    }
}
