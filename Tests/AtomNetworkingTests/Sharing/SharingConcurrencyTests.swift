import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("Sharing on many threads", .limited)
struct SharingConcurrencyTests {
    @Test("Thousands join and leave: everybody is told once, and nothing is left")
    func everybodyIsTold() async throws {
        let transport = ScriptedTransport.held(exchangesPerOrigin: 6) { exchange in
            DispatchQueue.global().async {
                switch Int.random(in: 0..<8) {
                case 0: exchange.fail(.networkConnectionLost)
                default: exchange.answer("{}")
                }
            }
        }
        var configuration = ServiceConfiguration(
            dispatchQueue: .global(), timeout: ServiceTimeout(request: 100, resource: 100))
        configuration.transport = transport
        let atom = Atom(serviceConfiguration: configuration)
        let storm = CallerStorm(4_000)
        async let begun: Void = storm.begin { atom.enqueue(SharedEndpoint(pathText: "/\($0 % 3)")) }
        // Half of all callers, while the others start.
        for number in stride(from: 0, to: storm.count, by: 2) { storm.cancel(number) }
        await begun
        await storm.end()
        let tally = storm.tally
        #expect(tally.lost == 0 && tally.toldTwice == 0 && tally.cancelledUnasked == 0)
        #expect(tally.answered + tally.cancelled + tally.failed == storm.count)
        #expect(tally.answered > 0 && tally.cancelled > 0)
        #expect(await eventually { atom.manager.slots.counts == (0, 0) && atom.manager.deadlines.count == 0 })
        #expect(atom.sharing.counts == (0, 0))
        #expect(transport.exchanges.count < storm.count, "\(transport.exchanges.count) exchanges")
    }

    @Test("Nobody gets an answer from before a sign-in that has returned")
    func signIns() async throws {
        let session = try SessionFixture(script: { exchange in
            DispatchQueue.global().async { exchange.answer(exchange.token ?? "none") }
        })
        let latest = Locked(0)
        let stale = Locked(0)
        let answers = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 1...100 {
                    try? await session.atom.signIn(with: .issued(number))
                    latest.set(number)
                    await Task.yield()
                }
            }
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<400 {
                        let before = latest.value
                        guard let response = try? await session.atom.enqueue(SharedEndpoint()).resume(),
                            let number = Int(response.body.dropFirst())
                        else { continue }
                        answers.with { $0 += 1 }
                        if number < before { stale.with { $0 += 1 } }
                    }
                }
            }
        }
        #expect(stale.value == 0)
        #expect(answers.value > 0)
        #expect(session.atom.sharing.counts == (0, 0))
    }
}
