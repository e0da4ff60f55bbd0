import Testing

@testable import AtomNetworking

@Suite("What retries may cost", .limited)
struct RetryQuotasTests {
    private let origin = Origin(scheme: .https, host: "api.example.com", port: 443)

    @Test("A quota pays for a retry exactly when botocore's does")
    func decisions() throws {
        let draws = try BotocoreDraws()
        let quotas = RetryQuotas()
        var chances = SeededChances(seed: 2)
        var lastCost: Int?
        #expect(draws.decisions.count == 10_000)
        for (draw, expected) in draws.decisions.enumerated() {
            let chance = chances.next()
            if chance < 0.5 {
                let cost = chance < 0.1 ? 5 : 14
                let isPaid = quotas.pay(cost, of: 500, at: origin)
                if isPaid { lastCost = cost }
                #expect(expected == (isPaid ? "y" : "n"), "draw \(draw)")
            } else {
                quotas.giveBack(lastCost ?? 1, at: origin)
                lastCost = nil
                #expect(expected == "s")
            }
        }
    }

    @Test("A dead host costs as many retries as with botocore")
    func deadHost() throws {
        let quotas = RetryQuotas()
        let paid = (0..<10_000).count { _ in quotas.pay(14, of: 500, at: origin) }
        #expect(try paid == BotocoreDraws().retriesAtDeadHost)
    }

    @Test("Each server has a quota of its own, and nobody gets back more than was spent")
    func origins() {
        let quotas = RetryQuotas()
        let other = Origin(scheme: .https, host: "api.example.com", port: 8443)
        #expect(quotas.pay(10, of: 10, at: origin))
        #expect(!quotas.pay(1, of: 10, at: origin))
        #expect(quotas.pay(10, of: 10, at: other))
        quotas.giveBack(100, at: origin)
        quotas.giveBack(3, at: other)
        #expect(quotas.spent(at: origin) == 0 && quotas.spent(at: other) == 7)
        #expect(!quotas.pay(11, of: 10, at: origin))
        #expect(quotas.pay(.max, of: .max, at: origin))
        #expect(!quotas.pay(.max, of: .max, at: origin))
        #expect(quotas.pay(0, of: 0, at: Origin(scheme: .http, host: "a", port: 80)))
    }

    @Test("A limited number of servers is remembered")
    func bounded() {
        let quotas = RetryQuotas()
        for port in 1...5_000 { #expect(quotas.pay(1, of: 1, at: Origin(scheme: .http, host: "a", port: port))) }
        let remembered = (1...5_000).count { quotas.spent(at: Origin(scheme: .http, host: "a", port: $0)) > 0 }
        #expect((1...1_000).contains(remembered))
    }
}
