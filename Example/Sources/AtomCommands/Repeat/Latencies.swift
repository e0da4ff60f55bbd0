/// How long many requests took.
///
/// It is a pure value: what was measured, in ascending order.
struct Latencies: Sendable, Equatable {
    private let ascending: [Duration]

    init(_ latencies: [Duration] = []) {
        ascending = latencies.sorted()
    }

    var count: Int { ascending.count }

    /// `nil` if nothing was measured.
    var minimum: Duration? { ascending.first }

    /// `nil` if nothing was measured.
    var maximum: Duration? { ascending.last }

    /// `nil` if nothing was measured.
    var mean: Duration? {
        ascending.isEmpty ? nil : ascending.reduce(.zero, +) / ascending.count
    }

    /// The smallest latency that this share of the requests didn't exceed, by
    /// nearest rank; `nil` if nothing was measured.
    ///
    /// - Parameter perMille: The share, from 1 to 1000: 999 is the percentile
    ///   99.9. A whole number, because in binary 0.999 × 1000 is more than 999.
    func percentile(perMille: Int) -> Duration? {
        guard !ascending.isEmpty else { return nil }
        // In 64 bits, because a large count times 1000 doesn't fit into 32.
        let rank = (Int64(ascending.count) * Int64(min(max(perMille, 1), 1000)) + 999) / 1000
        return ascending[Int(rank) - 1]
    }

    // MARK: Buckets

    /// The latencies from a bound to the next one.
    struct Bucket: Sendable, Equatable {
        /// In nanoseconds; this latency belongs to the bucket.
        var lower: Int64
        /// In nanoseconds; this latency belongs to the next bucket.
        ///
        /// `nil` if there is no upper bound.
        var upper: Int64?
        var count: Int
    }

    /// The latencies in buckets with round bounds, all equally wide: one to
    /// eleven of them, and one without an upper bound.
    ///
    /// The last one, for what is above the percentile 99, keeps a few very slow
    /// requests from pushing all others into the first bucket. It is left out if
    /// it is empty.
    func buckets() -> [Bucket] {
        guard let low = minimum?.wholeNanoseconds, let high = percentile(perMille: 990)?.wholeNanoseconds else {
            return []
        }
        // Differences of less than a hundredth are noise.
        let width = Self.roundWidth(atLeast: max((high - low) / 10, high / 100))
        let start = low / width * width
        let bounded = Int((high - start) / width) + 1
        var counts = [Int](repeating: 0, count: bounded + 1)
        for latency in ascending {
            let index = (latency.wholeNanoseconds - start) / width
            counts[Int(min(index, Int64(bounded)))] += 1
        }
        var buckets = counts.enumerated().map { index, count in
            let lower = start + Int64(index) * width
            return Bucket(lower: lower, upper: index < bounded ? lower + width : nil, count: count)
        }
        if buckets.last?.count == 0 { buckets.removeLast() }
        return buckets
    }

    /// 1, 2 or 5 times a power of ten.
    private static func roundWidth(atLeast width: Int64) -> Int64 {
        var power: Int64 = 1
        while power * 5 < width { power *= 10 }
        return [power, power * 2].first { $0 >= width } ?? power * 5
    }
}

extension Duration {
    /// At least zero, and less than a hundred years.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let whole = min(max(seconds, 0), 3_000_000_000)
        return max(whole * 1_000_000_000 + attoseconds / 1_000_000_000, 0)
    }
}
