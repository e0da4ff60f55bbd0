import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@Suite(.limited)
struct IdleTests {
    private static let titles = (0..<2_000).map { "Title \($0)" }

    @MainActor
    @Test func aViewModelHasItsResults() async throws {
        let (atom, wire) = Atom.scripted(.json(Page(titles: Self.titles)))
        let model = ListModel(atom: atom)
        model.appear()
        #expect(model.state == .loading)
        await wire.idle()
        #expect(model.state == .loaded([Page(titles: Self.titles)]))
        #expect(wire.requests.map(\.pathAndQuery) == ["/page?n=0"])
        #expect(wire.isIdle)
    }

    /// How many of so many runs at the same time fail.
    private func failures(of runs: Int, _ run: @escaping @Sendable (Int) async -> Bool) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<runs { group.addTask { await run(number) } }
            var failures = 0
            for await isRight in group where !isRight { failures += 1 }
            return failures
        }
    }

    /// Many tests at the same time, each of which would fail if `idle` returned
    /// too soon.
    @Test("Many view models at once all have their pages when idle returns") func viewModelStorm() async throws {
        #expect(await failures(of: SideBySide.count) { await Self.loadsThreePages($0) } == 0)
    }

    @MainActor
    private static func loadsThreePages(_ number: Int) async -> Bool {
        let pages = (0..<3).map { Page(number: $0, titles: Array(titles.prefix(number))) }
        let (atom, wire) = Atom.scripted(.json(pages[0]), .json(pages[1]), .json(pages[2]))
        let model = ListModel(atom: atom, pages: 3)
        model.appear()
        await wire.idle()
        return model.state == .loaded(pages) && wire.requests.count == 3
    }

    /// A layer between the model and the service, which isn't isolated.
    struct Repository {
        let atom: Atom

        func page() async throws -> [String] {
            let first = try await atom.enqueue(PageEndpoint()).resume(expecting: Page.self)
            let second = try await atom.enqueue(PageEndpoint(number: 1)).resume(expecting: Page.self)
            return first.titles + second.titles
        }
    }

    @MainActor
    final class RepositoryModel {
        var titles: [String] = []

        func load(_ repository: Repository) {
            Task { self.titles = (try? await repository.page()) ?? [] }
        }
    }

    @Test("Many models at once all get what a repository off the main actor loads")
    func repositoryStorm() async throws {
        #expect(await failures(of: SideBySide.count) { await Self.loadsFromARepository($0) } == 0)
    }

    @MainActor
    private static func loadsFromARepository(_ number: Int) async -> Bool {
        let (atom, wire) = Atom.scripted(.json(Page(titles: ["\(number)"])), .json(Page(titles: ["b"])))
        let model = RepositoryModel()
        model.load(Repository(atom: atom))
        // Nothing tells when code that isn't on the main actor has gone on.
        return await wire.idle(until: { model.titles == ["\(number)", "b"] })
    }

    @MainActor
    @Test("View models one after the other have their pages or their failure when idle returns")
    func oneAfterTheOtherToo() async throws {
        for number in 0..<SideBySide.count {
            let (atom, wire) = Atom.scripted(.json(Page(titles: Self.titles)), .failure(.timedOut))
            let model = ListModel(atom: atom, pages: 1 + number % 2)
            model.appear()
            await wire.idle()
            #expect(model.state == (number % 2 == 0 ? .loaded([Page(titles: Self.titles)]) : .failed))
            try? wire.verify()
        }
    }

    @MainActor
    @Test func completionsHaveBeenCalled() async throws {
        final class Counter: @unchecked Sendable {
            private let lock = NSLock()
            private var value = 0
            var count: Int { lock.withLock { value } }
            func add() { lock.withLock { value += 1 } }
        }
        for _ in 0..<SideBySide.count {
            let counter = Counter()
            let (atom, wire) = Atom.scripted(.json(Page(titles: Self.titles)).always) {
                $0.dispatchQueue = DispatchQueue(label: "completions")
            }
            atom.enqueue(Call()).resume(expecting: Page.self, completion: { _ in counter.add() })
            atom.enqueue(Call()).resume { _ in counter.add() }
            atom.enqueue(Call()).resume(expecting: Page.self, onMainActor: { _ in counter.add() })
            atom.enqueue(Call()).resume(onMainActor: { _ in counter.add() })
            atom.enqueue(Call(route: "no path")).resume { _ in counter.add() }
            await wire.idle()
            #expect(counter.count == 5)
        }
    }

    @MainActor
    @Test func itReturnsForWhatNeverEnds() async throws {
        let (atom, wire) = Atom.scripted(.never, .json(Page()))
        let model = ListModel(atom: atom)
        model.appear()
        await wire.idle()
        #expect(model.state == .loading)
        let other = ListModel(atom: atom)
        other.appear()
        await wire.idle()
        #expect(other.state == .loaded([Page()]))
        #expect(model.state == .loading)
    }

    @MainActor
    @Test func itWaitsForTheFirstRequest() async throws {
        let (atom, wire) = Atom.scripted(.json(Page()))
        // So many turns take their time beside all other tests.
        wire.clock.patience = .seconds(120)
        let model = ListModel(atom: atom)
        let idle = Task { await wire.idle() }
        for _ in 0..<50 { await Task.yield() }
        model.appear()
        await idle.value
        #expect(model.state == .loaded([Page()]))
    }

    @Test func aCancelledTaskDoesntWait() async {
        let (_, wire) = Atom.scripted()
        let task = Task { await wire.idle() }
        task.cancel()
        await task.value
        #expect(wire.requests.isEmpty)
    }

    @MainActor
    @Test func anEndpointThatIsRefusedCountsToo() async throws {
        final class Model {
            var error: AtomError?
        }
        let (atom, wire) = Atom.scripted()
        let model = Model()
        Task {
            do throws(AtomError) {
                try await atom.enqueue(Call(route: "no path")).resume()
            } catch {
                model.error = error
            }
        }
        await wire.idle()
        #expect(model.error != nil)
        #expect(wire.requests.isEmpty)
    }

    @MainActor
    @Test func itWaitsForACallThatAcceptsEventsToo() async throws {
        final class Model { var count = 0 }
        let model = Model()
        for _ in 0..<20 {
            let (atom, wire) = Atom.scripted(.json(Page(titles: Self.titles)))
            Task {
                let call = Call(headerItems: ["Accept": "application/json, text/event-stream"])
                model.count = try await atom.enqueue(call).resume(expecting: Page.self).titles.count
            }
            await wire.idle()
            #expect(model.count == 2_000)
            model.count = 0
        }
    }

    @MainActor
    @Test(arguments: [nil, "application/json, Text/Event-Stream"])
    func aStreamOfEventsThatGoesOnCountsToo(accept: String?) async throws {
        final class Model { var heard: [String] = [] }
        let model = Model()
        let (atom, wire) = Atom.scripted(
            .events(["a"], ending: .failure(.networkConnectionLost)),
            .events(["b"], ending: .failure(.networkConnectionLost)), .events(["c"], ending: .never))
        let call = Call(headerItems: accept.map { ["Accept": $0] })
        let task = Task {
            for try await event in try await atom.enqueue(call).serverSentEvents(reconnection: .automatic()) {
                model.heard.append(event.data)
            }
        }
        await wire.idle()
        #expect(model.heard == ["a"])
        for heard in [["a", "b"], ["a", "b", "c"]] {
            await wire.clock.waitForAlarm(within: .seconds(10))
            wire.clock.advance(by: .seconds(10))
            await wire.idle()
            #expect(model.heard == heard)
        }
        task.cancel()
        await wire.idle()
    }

    /// Counts events and results.
    private final class Tally: RequestObserver {
        private let lock = NSLock()
        // Accessed only under `lock`.
        nonisolated(unsafe) private var ends = 0
        nonisolated(unsafe) private var results = 0

        var counts: [Int] { lock.withLock { [ends, results] } }

        func observe(_ event: RequestEvent) {
            switch event.kind {
            case .finished, .refused: lock.withLock { ends += 1 }
            default: break
            }
        }

        func heard() { lock.withLock { results += 1 } }
    }

    @MainActor
    @Test func itWorksBesideTheTestsOwnObserversAndHandler() async throws {
        struct Endpoint: Requestable {
            func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "") }
        }
        let tally = Tally()
        let (atom, wire) = Atom.scripted(.json(Page(titles: Self.titles)), .json(Page())) {
            $0.observers = [tally]
            $0.resultHandler = { tally.heard() }
        }
        let model = ListModel(atom: atom, pages: 2)
        model.appear()
        await wire.idle()
        #expect(model.state == .loaded([Page(titles: Self.titles), Page()]))
        #expect(wire.isIdle)
        let refused = Task { try await atom.enqueue(Endpoint()).resume() }
        await wire.idle()
        await #expect(throws: AtomError.self) { try await refused.value }
        #expect(tally.counts == [3, 3])
    }

    @MainActor
    @Test func anEventIDThatIsRefusedCountsToo() async throws {
        let tally = Tally()
        let (atom, wire) = Atom.scripted {
            $0.observers = [tally]
            $0.resultHandler = { tally.heard() }
        }
        let task = Task { _ = try await atom.enqueue(Call()).serverSentEvents(lastEventID: "a\nb") }
        await wire.idle()
        await #expect(throws: AtomError.self) { try await task.value }
        #expect(tally.counts == [1, 1] && wire.requests.isEmpty)
    }

    // MARK: In vain

    private func scripted(_ answers: ScriptedResponse, _ reports: Reports) -> (atom: Atom, wire: ScriptedTransport) {
        let script = Atom.scripted(
            answers, signedIn: true, configure: { $0.retryPolicy = .standard }, onProblem: { reports.add($0) })
        script.wire.clock.patience = .milliseconds(50)
        return script
    }

    @Test func thePauseOfARetryIsNamed() async throws {
        let reports = Reports()
        let (atom, wire) = scripted(.status(503), reports)
        let task = Task { try await atom.enqueue(Call()).resume() }
        await wire.idle()
        #expect(reports.all.isEmpty)
        await wire.idle()
        let text = try #require(reports.all.first?.description)
        #expect(text.contains("idle() waits until a request has come, has gone on or has ended, and nothing has"))
        // For how long is chance, and may be written with an exponent.
        #expect(text.contains("GET https://api.example.com/x pauses for "))
        #expect(text.contains("The clock has alarms in "))
        #expect(reports.all.first?.place?.hasPrefix("AtomNetworkingTestingTests/IdleTests.swift:") == true)
        #expect(wire.problems == reports.all.flatMap(\.findings))
        try wire.verify()
        task.cancel()
        _ = await task.result
    }

    @Test func aRequestThatWaitsForTheTestIsNamed() async throws {
        let reports = Reports()
        let (atom, wire) = scripted(.never, reports)
        let task = Task { try await atom.enqueue(Call()).resume() }
        for _ in 0..<2 { await wire.idle() }
        #expect(
            reports.all.first?.description.contains("Request 1, GET https://api.example.com/x (never), has no end.")
                == true)
        task.cancel()
        _ = await task.result
    }

    @Test func aRefreshThatIsHeldIsNamed() async throws {
        let reports = Reports()
        let (atom, wire) = scripted(.status(204), reports)
        wire.authorizationServer.revokeAccessTokens()
        wire.authorizationServer.holdRefreshes()
        let task = Task { try await atom.enqueue(Call()).resume() }
        for _ in 0..<2 { await wire.idle() }
        let text = try #require(reports.all.first?.description)
        #expect(text.contains("waits for the session") && text.contains("A refresh waits for its answer."))
        wire.authorizationServer.releaseRefreshes()
        _ = try await task.value
        #expect(reports.all.count == 1)
    }

    @Test func anExchangeThatIsNotStartedIsNamed() async throws {
        let reports = Reports()
        let (atom, wire) = scripted(.status(204), reports)
        try await atom.enqueue(Call()).resume()
        #expect(await wire.exchange(1).request.host == "authorization.test")
        let text = try #require(reports.all.first?.description)
        #expect(text.contains("exchange(1) waits for request 2, and nothing has happened for 0.05 seconds."))
        #expect(text.contains("No request is open; there were 1."))
    }

    @Test func anAlarmThatIsNotSetIsNamed() async throws {
        let reports = Reports()
        let clock = ManualClock(onProblem: { reports.add($0) })
        clock.patience = .milliseconds(50)
        let alarm = clock.makeAlarm {}
        alarm.set(clock.now + .seconds(30))
        #expect(await !clock.waitForAlarm(within: .seconds(1)))
        let text = try #require(reports.all.first?.description)
        #expect(text.contains("waitForAlarm waits for an alarm within 1.0 seconds, and none is set for 0.05 seconds."))
        #expect(text.contains("The clock has alarms in 30.0 seconds."))
    }
}
