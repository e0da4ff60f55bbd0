import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a test that advances the clock can rely on.
@Suite(.limited)
struct AdvancingTests {
    /// A service that is down twice; the model shows the page in the end.
    private static func down(
        delivery: ScriptedTransport.Delivery = .asynchronous
    ) -> (atom: Atom, wire: ScriptedTransport) {
        Atom.scripted(.status(503).times(2), .json(Page(number: 1)), delivery: delivery) {
            $0.retryPolicy = .standard
        }
    }

    @MainActor
    @Test(arguments: [ScriptedTransport.Delivery.asynchronous, .immediate])
    func aChainOfPausesAlwaysHasTheSameEnd(delivery: ScriptedTransport.Delivery) async throws {
        for _ in 0..<10 {
            let (atom, wire) = Self.down(delivery: delivery)
            let model = ListModel(atom: atom)
            model.appear()
            await wire.advance(by: .seconds(20))
            #expect(wire.requests.map(\.attempt) == [1, 2, 3])
            #expect(model.state == .loaded([Page(number: 1)]))
            try wire.verify()
        }
    }

    @MainActor
    @Test func eachAlarmOfAPauseIsAnAttempt() async throws {
        for _ in 0..<10 {
            let (atom, wire) = Self.down()
            let model = ListModel(atom: atom)
            model.appear()
            await wire.idle()
            for count in 2...3 {
                #expect(wire.requests.count == count - 1)
                wire.clock.advanceToNextAlarm()
                await wire.idle()
                #expect(wire.requests.count == count)
            }
            #expect(model.state == .loaded([Page(number: 1)]))
            try wire.verify()
        }
    }

    @Test func settlingEndsWithoutAnything() async throws {
        let (atom, wire) = Atom.scripted(.never) { $0.timeout = ServiceTimeout(request: 5, resource: 5) }
        await wire.settle()
        #expect(wire.requests.isEmpty)
        let call = Task { try await atom.enqueue(Call()).resume() }
        await wire.idle()
        await wire.advance(by: .seconds(4))
        await wire.settle()
        #expect(wire.requests.count == 1)
        await wire.advance(by: .seconds(1))
        let error = await #expect(throws: AtomError.self) { try await call.value }
        guard case .session(let cause)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect((cause as? URLError)?.code == .timedOut)
    }

    @Test func advancingByNothingOrBackChangesNoTime() async {
        let (_, wire) = Atom.scripted()
        let now = wire.clock.now
        await wire.advance(by: .seconds(-3))
        await wire.advance(by: .zero)
        #expect(wire.clock.now == now)
        await wire.advance(by: .seconds(3))
        #expect(now.duration(to: wire.clock.now) == .seconds(3))
    }

    /// Shows each event of a stream.
    @MainActor
    private final class Ticker {
        var headlines: [String] = []

        func follow(_ atom: Atom) -> Task<Void, any Error> {
            Task {
                for try await event in try await atom.enqueue(Call()).serverSentEvents() {
                    headlines.append(event.data)
                }
            }
        }
    }

    @MainActor
    @Test func aConditionMayBeWaitedFor() async throws {
        let texts = (0..<200).map(String.init)
        let (atom, wire) = Atom.scripted(.events(texts, ending: .never))
        let ticker = Ticker()
        let task = ticker.follow(atom)
        #expect(await wire.idle(until: { ticker.headlines.count == 200 }))
        #expect(ticker.headlines == texts)
        task.cancel()
        _ = await task.result
        try wire.verify()
    }

    @MainActor
    @Test func aConditionThatNeverHoldsIsGivenUp() async {
        let (_, wire) = Atom.scripted()
        wire.clock.patience = .milliseconds(100)
        var asked = 0
        let holds = await wire.idle(until: {
            asked += 1
            return false
        })
        #expect(!holds && asked > 1_000)
        #expect(await wire.idle(until: { true }))
    }

    @Test func aCancelledTestDoesNotWait() async {
        let (_, wire) = Atom.scripted()
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(await !wire.idle(until: { false }))
            await wire.advance(by: .seconds(1))
            await wire.idle()
        }.value
    }

    @Test func aProblemThatNobodyHasVerifiedNamesTheTest() {
        let problems = Reports()
        do {
            _ = Atom.scripted(.status(200), onProblem: { problems.add($0) })
        }
        #expect(problems.all.count == 1)
        #expect(
            problems.all.first?.description.hasPrefix("The script of AtomNetworkingTestingTests/AdvancingTests.swift:")
                == true)
    }
}
