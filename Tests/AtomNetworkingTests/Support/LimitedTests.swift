import Foundation
import Testing

@Suite("A test's place and limit", .limited)
struct LimitedTests {
    @Test("Few run side by side, and all have their turn")
    func places() async {
        let places = Limited.Places(3)
        let running = Locked((now: 0, most: 0, all: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await places.take()
                    running.with { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.all + 1) }
                    await Task.yield()
                    running.with { $0.now -= 1 }
                    places.giveBack()
                }
            }
        }
        #expect(running.value.most <= 3)
        #expect(running.value.all == 100)
    }

    @Test("What takes longest goes first of those that wait")
    func longestFirst() async {
        let places = Limited.Places(1)
        await places.take()
        let order = Locked<[String]>([])
        await withTaskGroup(of: Void.self) { group in
            for (index, name) in ["a", "b", "long"].enumerated() {
                group.addTask {
                    await places.take(isFirst: name == "long")
                    order.with { $0.append(name) }
                    places.giveBack()
                }
                while places.waitingCount <= index { await Task.yield() }
            }
            places.giveBack()
        }
        #expect(order.value == ["long", "a", "b"])
    }

    @Test("A test that hangs is cancelled, and says what it awaited")
    func hangs() async throws {
        let problem = await #expect(throws: Limited.Overdue.self) {
            try await Limited.run("This test", within: .seconds(3_600)) {
                await Limited.awaiting("the end", at: #_sourceLocation) {
                    Limited.run?.expire()
                    #expect(Task.isCancelled)
                }
            }
        }
        let text = try #require(problem).description
        #expect(text.hasPrefix("This test hasn't ended within 3600.0 seconds. It awaits the end at "), "\(text)")
        #expect(text.contains("LimitedTests.swift:"), "\(text)")
    }

    #if os(Linux)
        @Test("What ignores that it is cancelled ends with the process")
        func ignoresItsCancellation() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                // The threads of this process are of no interest.
                for number in [SIGILL, SIGTRAP] { signal(number, SIG_DFL) }
                try await Limited.run("This test", within: .milliseconds(10), more: .milliseconds(10)) {
                    await Signal().wait(seconds: nil)
                }
            }
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Nor has its cancellation ended it."), "\(text)")
        }
    #endif
}
