import AtomNetworking

extension Tour {
    /// Asks for the same thing five times, while the server is still working on the first one.
    mutating func shareRequests() async throws {
        struct Wait: Model { let waitedMilliseconds: Int }
        let atom = atom()
        for (shares, expected, text) in [
            (true, 1, "five identical requests are one request at the airline's server"),
            (false, 5, "without the endpoint's consent they are five"),
        ] {
            let endpoint = DiagnosticEndpoint.slow(airline, milliseconds: 300, shares: shares)
            let before = server.counters.requests
            // With completions, because five tasks could begin long after each other.
            let (results, continuation) = AsyncStream.makeStream(of: Bool.self)
            for _ in 0..<5 {
                atom.enqueue(endpoint).resume(expecting: Wait.self) {
                    continuation.yield((try? $0.get())?.waitedMilliseconds == 300)
                }
            }
            let responses = await results.prefix(5).reduce(0) { $0 + ($1 ? 1 : 0) }
            let requests = server.counters.requests - before
            checklist.check(
                requests == expected && responses == 5, text,
                detail: "\(requests) request\(requests == 1 ? "" : "s"), \(responses) responses")
        }
    }
}
