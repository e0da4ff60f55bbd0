import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("What retries add to a server's load", .limited)
struct RetryLoadTests {
    private static let count = TestExtent.isWhole ? 10_000 : 1_000

    @Test(
        "Thousands of requests at a dead host are retried at most 35 times in all",
        arguments: [RetryPolicy.standard, .none])
    func deadHost(policy: RetryPolicy) async throws {
        let service = RetryFixture(policy, exchangesPerOrigin: 6) { $0.fail(.cannotConnectToHost, delivery: .notSent) }
        let calls = (0..<Self.count).map { _ in service.call() }
        service.time.advance(by: .seconds(60))
        for call in calls { #expect(await call.error()?.delivery == .notSent) }
        #expect(service.count == Self.count + 35)
        #expect(service.deadlines == 0 && service.atom.manager.slots.counts == (0, 0))
    }

    @Test("Thousands of requests at a closed port make at most 35 more connections")
    func closedPort() async throws {
        let port = try RefusingPort()
        defer { withExtendedLifetime(port) {} }
        let endpoint = port.endpoint()
        let started = Locked(0)
        let time = ManualClock()
        let atom = Atom.forTest(over: .platformDefault, time: time) {
            $0.retryPolicy = .standard
            $0.isLogEnabled = true
            $0.logHandler = { line in if line.contains("] →") { started.with { $0 += 1 } } }
        }
        let errors = await time.skippingPauses(upTo: .seconds(1)) {
            await withTaskGroup(of: AtomError?.self) { group in
                for _ in 0..<Self.count { group.addTask { await atom.outcome(of: endpoint).error } }
                return await group.reduce(into: [AtomError?]()) { $0.append($1) }
            }
        }
        #expect(errors.allSatisfy { $0?.delivery == .notSent })
        #expect((Self.count + 1...Self.count + 35).contains(started.value), "\(started.value)")
    }

    @Test("A success gives back what its retry has cost, or one if there was none")
    func givenBack() async throws {
        let service = RetryFixture()
        let lost = service.call()
        try service.last.fail(.networkConnectionLost)
        #expect(service.quotaSpent == 14)
        service.time.advance(by: .milliseconds(25))
        try service.last.answer(status: 429)
        #expect(service.quotaSpent == 19)
        service.time.advance(by: .seconds(1))
        try service.last.answer()
        #expect(await lost.status() == 200 && service.quotaSpent == 14)
        let good = service.call()
        try service.last.answer()
        #expect(await good.status() == 200 && service.quotaSpent == 13)
        let missing = service.call()
        try service.last.answer(status: 404)
        #expect(await missing.error() != nil && service.quotaSpent == 13)
    }

    @Test("What can't be paid for isn't sent again")
    func unpaid() async throws {
        let service = RetryFixture(RetryPolicy(quota: 14))
        let first = service.call()
        try service.last.answer(status: 503)
        let second = service.call()
        try service.last.answer(status: 503)
        #expect(await second.error()?.attempts == [.status(503)])
        service.time.advance(by: .milliseconds(25))
        try service.last.answer()
        #expect(await first.status() == 200 && service.quotaSpent == 0)
    }
}
