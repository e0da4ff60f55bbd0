import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

/// Exchanges that the test answers by hand.
@Suite(.limited)
struct ScriptedExchangeTests {
    /// Shows what was found for the text that was typed last.
    @MainActor
    final class SearchModel {
        private(set) var results: [String] = []
        private let atom: Atom
        private var typed = 0

        init(atom: Atom) { self.atom = atom }

        func type(_ number: Int) {
            typed = number
            Task {
                let page = try? await atom.enqueue(PageEndpoint(number: number)).resume(expecting: Page.self)
                if let page, typed == number { results = page.titles }
            }
        }
    }

    @MainActor
    @Test func twoAnswersComeInTheOtherOrder() async throws {
        let (atom, wire) = Atom.scripted(.held.times(2))
        let model = SearchModel(atom: atom)
        model.type(1)
        let first = await wire.exchange(0)
        model.type(2)
        let second = await wire.exchange(1)
        #expect([first, second].map { $0.request.query("n") } == ["1", "2"])
        await wire.idle()
        #expect(model.results.isEmpty)

        second.answer(.json(Page(titles: ["second"])))
        await wire.idle()
        #expect(model.results == ["second"])
        first.answer(.json(Page(titles: ["first"])))
        await wire.idle()
        #expect(model.results == ["second"])
        #expect(first.isOver && second.isOver && wire.isIdle)
        try wire.verify()
    }

    @MainActor
    @Test func idleWaitsForWhatTheTestSends() async throws {
        for _ in 0..<SideBySide.count {
            let (atom, wire) = Atom.scripted(.held)
            let model = ListModel(atom: atom)
            model.appear()
            let exchange = await wire.exchange(0)
            exchange.send(.response(TransportResponse(statusCode: 200)))
            exchange.send(.data(Data(#"{"number":0,"#.utf8)), .data(Data(#""titles":[]}"#.utf8)))
            await wire.idle()
            #expect(model.state == .loading && !exchange.isOver && wire.isIdle)
            exchange.send(.finished)
            await wire.idle()
            #expect(model.state == .loaded([Page()]))
        }
    }

    @MainActor
    @Test func anAnswerByHandCanBeDelayedToo() async throws {
        let (atom, wire) = Atom.scripted(.held)
        let model = ListModel(atom: atom)
        model.appear()
        await wire.exchange(0).answer(.delayed(.seconds(2), .json(Page())))
        await wire.idle()
        #expect(model.state == .loading)
        wire.clock.advance(by: .seconds(2))
        await wire.idle()
        #expect(model.state == .loaded([Page()]))
    }

    @Test func ofSeveralAnswersThatWaitTheLastOneCounts() async throws {
        for _ in 0..<20 {
            let (atom, wire) = Atom.scripted(.held)
            async let first = atom.enqueue(Call()).resume()
            let exchange = await wire.exchange(0)
            exchange.answer(.delayed(.seconds(5), .status(201)))
            exchange.answer(.delayed(.seconds(10), .status(202)))
            await wire.settle()
            await wire.advance(by: .seconds(5))
            #expect(!exchange.isOver)
            await wire.advance(by: .seconds(5))
            #expect(try await first.statusCode == 202)
        }
    }

    @Test func itTakesThePlaceOfTheAnswerThatWasAwaited() async throws {
        let (atom, wire) = Atom.scripted(.delayed(.seconds(5), .status(500)), .never)
        async let first = atom.enqueue(Call()).resume()
        await wire.exchange(0).answer(.status(204))
        #expect(try await first.statusCode == 204)
        wire.clock.advance(by: .seconds(5))
        async let second = atom.enqueue(Call()).resume()
        await wire.exchange(1).answer(.status(205))
        #expect(try await second.statusCode == 205)
        try wire.verify()
    }

    @Test("A failure in the middle of a body ends its stream with an error")
    func aFailureInTheMiddleOfABody() async throws {
        let (atom, wire) = Atom.scripted(.held)
        async let stream = atom.enqueue(Call()).bytes()
        let exchange = await wire.exchange(0)
        exchange.send(.response(TransportResponse(statusCode: 200)), .data(Data("one".utf8)))
        var iterator = try await stream.makeAsyncIterator()
        #expect(try await iterator.next() == Data("one".utf8))
        exchange.fail(.networkConnectionLost)
        await #expect(throws: AtomError.self) { while try await iterator.next() != nil {} }
        #expect(exchange.isOver && !exchange.isCancelled)
    }

    @Test func aCancelledExchangeEndsAndHearsNothingMore() async throws {
        let (atom, wire) = Atom.scripted(.held)
        let task = Task { try await atom.enqueue(Call()).resume() }
        let exchange = await wire.exchange(0)
        #expect(!exchange.isCancelled && exchange.cancelCount == 0)
        task.cancel()
        await #expect(throws: AtomError.self) { try await task.value }
        #expect(exchange.isCancelled && exchange.cancelCount > 0)
        exchange.answer(.status(204))
        await wire.idle()
        #expect(exchange.isOver && wire.isIdle)
        try wire.verify()
    }

    @Test func anAnswerMayArriveAfterACancellation() async throws {
        let (atom, wire) = Atom.scripted(.held(endsOnCancel: false) { _ in })
        let task = Task { try await atom.enqueue(Call()).resume() }
        let exchange = await wire.exchange(0)
        task.cancel()
        await #expect(throws: AtomError.self) { try await task.value }
        await wire.idle()
        #expect(exchange.isCancelled && !exchange.isOver)
        exchange.answer(.status(204))
        await wire.idle()
        #expect(exchange.isOver)
    }

    @Test func onlyAnAnswerNobodyAskedForIsAProblem() async throws {
        let reports = Reports()
        let (atom, wire) = Atom.scripted(.held, .held, onProblem: { reports.add($0) })
        let task = Task { try await atom.enqueue(Call()).resume() }
        _ = await wire.exchange(0)
        var findings: [String] = []
        do { try wire.verify() } catch { findings = error.findings }
        #expect(findings == ["Nobody has asked for answer 2: held."])
        task.cancel()
        _ = await task.result
    }

    @Test func theClosureIsCalledInsideTheStart() async throws {
        let answer = ScriptedResponse.held { exchange in
            exchange.answer(exchange.request.path == "/x" ? .status(204) : .status(404))
        }
        let wire = ScriptedTransport([answer.always], delivery: .immediate)
        let request = try TransportRequest(base: BaseURL(host: "api.example.com"), path: URLPath("/x"))
        let events = Events()
        let exchange = wire.start(request) { events.add($0) }
        #expect(events.statusCode == 204)
        #expect(wire.exchanges.map(\.isOver) == [true])
        exchange.cancel()
        #expect(wire.exchanges[0].cancelCount == 1 && !wire.exchanges[0].isCancelled)
    }

    @Test func pausesAreRecordedIfTheyAreAllowed() async throws {
        for isAllowed in [true, false] {
            let (atom, wire) = Atom.scripted(.held { $0.canPause = isAllowed }, delivery: .immediate)
            async let stream = atom.enqueue(Call()).bytes()
            let exchange = await wire.exchange(0)
            exchange.send(.response(TransportResponse(statusCode: 200)))
            let part = Data(repeating: 1, count: 1 << 20)
            exchange.send(.data(part))
            #expect(exchange.pauseCalls == (isAllowed ? [.pause] : []))
            exchange.send(.finished)
            var count = 0
            for try await piece in try await stream { count += piece.count }
            #expect(count == part.count)
        }
    }

    @Test func aServerMayAnswerBeforeTheBodyHasArrived() async throws {
        let wire = ScriptedTransport([.status(413)], readsBodies: false)
        var configuration = ServiceConfiguration()
        wire.install(in: &configuration)
        let body = RequestBody.stream(contentType: "text/plain", length: nil, isRepeatable: false) {
            AsyncStream<Data> { _ in }
        }
        let service = Atom(serviceConfiguration: configuration).enqueue(Call(method: .put, body: body))
        do {
            try await service.resume()
            Issue.record("It was accepted")
        } catch {
            #expect(error.response?.statusCode == 413)
        }
        try wire.verify()
    }

    @Test func anUploadThatWaitsForItsProducerWaitsForTheTest() async throws {
        let (parts, producer) = AsyncStream<Data>.makeStream()
        let (atom, wire) = Atom.scripted(.status(204))
        let body = RequestBody.stream(contentType: "text/plain", length: nil, isRepeatable: false) { parts }
        let task = Task { try await atom.enqueue(Call(method: .put, body: body)).resume() }
        await wire.idle()
        #expect(wire.requests.count == 1)
        producer.yield(Data("a".utf8))
        await wire.settle()
        producer.finish()
        #expect(try await task.value.statusCode == 204)
        #expect(wire.requests.first?.text == "a")
        try wire.verify()
    }

    @Test func anAnswerByHandComesWhateverTheProducerDoes() async throws {
        let (parts, producer) = AsyncStream<Data>.makeStream()
        let (atom, wire) = Atom.scripted(.status(500), onProblem: { _ in })
        let body = RequestBody.stream(contentType: "text/plain", length: nil, isRepeatable: false) { parts }
        let task = Task { try await atom.enqueue(Call(method: .put, body: body)).resume() }
        await wire.idle()
        let exchange = try #require(wire.exchanges.first)
        exchange.answer(.delayed(.seconds(5), .status(201)))
        exchange.send(.sent(1))
        producer.yield(Data("a".utf8))
        producer.finish()
        _ = await wire.exchange(0)
        await wire.settle()
        #expect(!exchange.isOver && exchange.request.text == "a")
        await wire.advance(by: .seconds(5))
        #expect(try await task.value.statusCode == 201)
        #expect(throws: ScriptProblem.self) { try wire.verify() }
    }

    @Test(arguments: [ScriptedResponse.status(413), .failure(.networkConnectionLost)])
    func anUploadThatTheTestEndsLeavesNothingBehind(answer: ScriptedResponse) async throws {
        let (parts, producer) = AsyncStream<Data>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        producer.onTermination = { _ in end.finish() }
        let (secondAskedFor, asksForSecond) = AsyncStream<Void>.makeStream()
        weak var gone: ScriptedTransport?
        do {
            let (atom, wire) = Atom.scripted { $0.retryPolicy = RetryPolicy.none }
            gone = wire
            let body = RequestBody.stream(contentType: "text/plain") {
                NoticedParts(parts: parts, secondIsAskedFor: { asksForSecond.finish() })
            }
            let task = Task { try await atom.enqueue(Call(method: .put, body: body)).resume() }
            producer.yield(Data("a".utf8))
            // By then the wire has read the first part.
            for await _ in secondAskedFor {}
            try #require(wire.exchanges.first).answer(answer)
            await #expect(throws: AtomError.self) { try await task.value }
            // Whoever hears of the end finds what was read.
            #expect(wire.requests.first?.text == "a")
            #expect(await wire.exchange(0).isOver)
            // The producer hears that nobody wants more.
            for await _ in ends {}
            try wire.verify()
        }
        while gone != nil { await Task.yield() }
    }

    @Test func anUploadWhoseProducerFailsIsRecordedBeforeItsEnd() async throws {
        struct Empty: Error {}
        let (atom, wire) = Atom.scripted { $0.retryPolicy = RetryPolicy.none }
        let body = RequestBody.stream(contentType: "text/plain") {
            AsyncThrowingStream<Data, any Error> { producer in
                producer.yield(Data("a".utf8))
                producer.finish(throwing: Empty())
            }
        }
        for number in 0..<20 {
            await #expect(throws: AtomError.self) {
                try await atom.enqueue(Call(method: .put, body: body)).resume()
            }
            #expect(wire.requests.last?.text == "a" && wire.requests.count == number + 1)
        }
        try wire.verify()
    }

    @Test func anAnswerThatNobodyWantsAnyMoreIsSomethingToWaitFor() async throws {
        let (atom, wire) = Atom.scripted(.held)
        let task = Task { try await atom.enqueue(Call()).resume() }
        let exchange = await wire.exchange(0)
        task.cancel()
        await #expect(throws: AtomError.self) { try await task.value }
        await wire.idle()
        exchange.answer(.status(204))
        await wire.idle()
        exchange.send(.sent(1))
        await wire.idle()
        #expect(exchange.isCancelled && wire.isIdle)
        try wire.verify()
    }

    @Test func theProgressOfAnUploadIsWhatTheTestSays() async throws {
        let (atom, wire) = Atom.scripted(.held)
        let (reports, report) = AsyncStream<Int64>.makeStream()
        let call = Call(method: .put, body: .data(Data(count: 18), contentType: "text/plain"))
        async let done = atom.enqueue(call).resume(progress: { report.yield($0.completed) }, expecting: NoContent.self)
        let exchange = await wire.exchange(0)
        for _ in 1...2 {
            exchange.send(.sent(4))
            await wire.settle()
            wire.clock.advance(by: .milliseconds(34))
        }
        exchange.answer(.status(204))
        _ = try await done
        #expect(await reports.prefix(3).reduce(into: []) { $0.append($1) } == [4, 8, 18])
        try wire.verify()
    }

    @Test func anUploadThatIsCancelledLeavesNothingBehind() async throws {
        weak var forgotten: ScriptedTransport?
        do {
            let (atom, wire) = Atom.scripted()
            forgotten = wire
            let body = RequestBody.stream(contentType: "text/plain", length: nil, isRepeatable: false) {
                AsyncStream<Data> { _ in }
            }
            let task = Task { try await atom.enqueue(Call(method: .put, body: body)).resume() }
            await wire.idle()
            task.cancel()
            await #expect(throws: AtomError.self) { try await task.value }
            let exchange = await wire.exchange(0)
            #expect(exchange.isCancelled && exchange.isOver)
            // It wasn't a whole request, so it needs no answer.
            try wire.verify()
        }
        while forgotten != nil { await Task.yield() }
    }

    @Test func theNumberOfExchangesOfAnOriginIsKept() async throws {
        let wire = ScriptedTransport([.held.always], exchangesPerOrigin: 1)
        var configuration = ServiceConfiguration()
        wire.install(in: &configuration)
        let atom = Atom(serviceConfiguration: configuration)
        async let first = atom.enqueue(Call(route: "/1")).resume()
        let one = await wire.exchange(0)
        async let second = atom.enqueue(Call(route: "/2")).resume()
        await wire.idle()
        #expect(wire.exchanges.count == 1)
        one.answer(.status(204))
        await wire.exchange(1).answer(.status(204))
        #expect(try await (first.statusCode, second.statusCode) == (204, 204))
    }

    @Test func aCancelledTaskDoesNotWaitForAnExchange() async {
        let wire = ScriptedTransport()
        let task = Task { await wire.exchange(0) }
        task.cancel()
        let nobodys = await task.value
        nobodys.answer(.status(204))
        #expect(wire.exchanges.isEmpty && wire.requests.isEmpty)
    }

    /// What an exchange has sent.
    private final class Events: @unchecked Sendable {
        private let lock = NSLock()
        private var code: Int?

        var statusCode: Int? { lock.withLock { code } }

        func add(_ event: TransportEvent) {
            if case .response(let head) = event { lock.withLock { code = head.statusCode } }
        }
    }
}

/// Parts of a body; it says when the second one is asked for, and so the first
/// one has been taken.
private struct NoticedParts: AsyncSequence, Sendable {
    let parts: AsyncStream<Data>
    let secondIsAskedFor: @Sendable () -> Void

    struct AsyncIterator: AsyncIteratorProtocol {
        var parts: AsyncStream<Data>.AsyncIterator
        let secondIsAskedFor: @Sendable () -> Void
        var isFirst = true

        mutating func next() async -> Data? {
            if !isFirst { secondIsAskedFor() }
            isFirst = false
            return await parts.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parts: parts.makeAsyncIterator(), secondIsAskedFor: secondIsAskedFor)
    }
}
