import ArgumentParser

/// The options that send one request many times.
struct RepeatOptions: ParsableArguments {
    /// A latency takes 16 bytes, so this is what bounds the memory.
    static let mostRequests = 1_000_000
    /// Each one is a task.
    static let mostAtOnce = 10_000

    @Option(
        name: .customLong("repeat"),
        help: .init(
            "Send the request this many times, and print counts and latencies instead of responses.",
            valueName: "number"))
    var count: Int?

    @Option(help: .init("With --repeat, the largest number of requests at once (default: 1)", valueName: "number"))
    var concurrency: Int?

    func validate() throws {
        guard let count else {
            guard concurrency == nil else { throw ValidationError("--concurrency requires --repeat.") }
            return
        }
        guard (1...Self.mostRequests).contains(count) else {
            throw ValidationError("--repeat must be from 1 to \(Self.mostRequests).")
        }
        guard (1...Self.mostAtOnce).contains(concurrency ?? 1) else {
            throw ValidationError("--concurrency must be from 1 to \(Self.mostAtOnce).")
        }
    }

    /// How the request is repeated; `nil` if it is sent once.
    var repetition: Repetition? {
        count.map { Repetition(requests: $0, concurrency: min(concurrency ?? 1, $0)) }
    }
}
