import AtomNetworking

/// How fast a transfer is, and how long it will take.
///
/// It is a pure value: the time is an argument. It looks at the last seconds
/// only, so that it follows a connection that becomes faster or slower.
struct TransferRate: Sendable {
    private struct Sample {
        var seconds: Double
        var completed: Int64
    }

    /// How far it looks back, in seconds.
    static let window = 5.0

    /// A shorter time says too little.
    private static let shortest = 0.2

    private var samples: [Sample] = []
    private var first: Sample?

    init() {}

    /// Notes a progress; the time never runs backwards.
    ///
    /// What an earlier download has left doesn't count, because the first
    /// progress is the beginning. A smaller number than before is a new
    /// beginning: the body is sent again.
    mutating func note(_ completed: Int64, at seconds: Double) {
        if let last = samples.last, completed < last.completed {
            samples = []
            first = nil
        }
        let sample = Sample(seconds: seconds, completed: completed)
        if first == nil { first = sample }
        samples.append(sample)
        // The sample before the window stays, so that the window is covered.
        while samples.count > 2, samples[1].seconds <= seconds - Self.window { samples.removeFirst() }
    }

    /// The speed in the last seconds; `nil` if too little is known.
    var bytesPerSecond: Double? { Self.speed(from: samples.first, to: samples.last) }

    /// The speed from the beginning to now; `nil` if too little is known.
    var averageBytesPerSecond: Double? { Self.speed(from: first, to: samples.last) }

    /// The seconds until everything is there at the present speed; `nil` if that
    /// can't be known.
    func secondsLeft(of total: Int64?) -> Double? {
        guard let total, let completed = samples.last?.completed, let bytesPerSecond, bytesPerSecond > 0 else {
            return nil
        }
        return Double(max(total - completed, 0)) / bytesPerSecond
    }

    private static func speed(from start: Sample?, to end: Sample?) -> Double? {
        guard let start, let end, end.seconds - start.seconds >= shortest else { return nil }
        return Double(end.completed - start.completed) / (end.seconds - start.seconds)
    }
}
