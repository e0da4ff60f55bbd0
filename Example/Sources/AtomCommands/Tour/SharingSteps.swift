import AirlineServer
import AtomNetworking
import Terminal

/// Asks for the same thing several times at once.
struct SharingSteps {
    let tour: Tour

    func run(_ checklist: inout Checklist) async {
        let atom = tour.atom()
        checklist.section("Share identical requests")
        let shared = await askFiveTimes(atom, shares: true)
        checklist.check(
            shared.requests == 1 && shared.responses == 5,
            "five identical requests are one request at the airline's server",
            detail: "\(Phrase.requests(shared.requests)), \(shared.responses) responses")
        let alone = await askFiveTimes(atom, shares: false)
        checklist.check(
            alone.requests == 5 && alone.responses == 5, "without the endpoint's consent they are five",
            detail: "\(Phrase.requests(alone.requests)), \(alone.responses) responses")
    }

    /// Five calls, while the server is still working on the first one.
    private func askFiveTimes(_ atom: Atom, shares: Bool) async -> (requests: Int, responses: Int) {
        struct Wait: Model { let waitedMilliseconds: Int }
        let endpoint = DiagnosticEndpoint.slow(tour.airline, milliseconds: 300, shares: shares)
        let before = tour.server.counters.requests
        let responses = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<5 {
                group.addTask { (try? await atom.enqueue(endpoint).resume(expecting: Wait.self)) != nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        return (tour.server.counters.requests - before, responses)
    }
}
