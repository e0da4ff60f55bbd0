import Testing

@testable import AtomCommands

@Suite struct LatenciesTests {
    private func percentiles(_ latencies: Latencies) -> [Duration?] {
        [1, 500, 900, 950, 990, 999, 1000].map { latencies.percentile(perMille: $0) }
    }

    @Test func nothingHasNoPercentile() {
        let none = Latencies()
        #expect(percentiles(none).allSatisfy { $0 == nil })
        #expect(none.minimum == nil && none.mean == nil && none.maximum == nil)
        #expect(none.buckets().isEmpty)
    }

    @Test func oneIsEveryPercentile() {
        let one = Latencies([.milliseconds(7)])
        #expect(percentiles(one).allSatisfy { $0 == .milliseconds(7) })
        #expect(one.minimum == .milliseconds(7) && one.mean == .milliseconds(7) && one.maximum == .milliseconds(7))
    }

    @Test func ofTwoTheFirstIsTheMedian() {
        let two = Latencies([.milliseconds(30), .milliseconds(10)])
        #expect(two.percentile(perMille: 500) == .milliseconds(10))
        #expect(two.percentile(perMille: 501) == .milliseconds(30))
        #expect(two.percentile(perMille: 900) == .milliseconds(30))
        #expect(two.mean == .milliseconds(20))
    }

    @Test func ofAHundredThePercentileIsTheRank() {
        let hundred = Latencies((1...100).reversed().map { .milliseconds($0) })
        #expect(percentiles(hundred) == [1, 50, 90, 95, 99, 100, 100].map { .milliseconds($0) })
        #expect(hundred.minimum == .milliseconds(1) && hundred.maximum == .milliseconds(100))
        #expect(hundred.mean == .microseconds(50_500))
    }

    @Test func ofAThousandOneIsAboveTheLastPercentile() {
        let thousand = Latencies((1...1000).map { .milliseconds($0) })
        #expect(percentiles(thousand) == [1, 500, 900, 950, 990, 999, 1000].map { .milliseconds($0) })
    }

    @Test func equalLatenciesAreEachCounted() {
        let ties = Latencies([1, 1, 1, 1, 1, 1, 2, 2, 2, 9].map { .milliseconds($0) })
        #expect(percentiles(ties) == [1, 1, 2, 9, 9, 9, 9].map { .milliseconds($0) })
    }

    @Test func aMillionLatenciesHaveTheirPercentiles() {
        let million = Latencies((1...1_000_000).map { .nanoseconds($0) })
        #expect(million.percentile(perMille: 999) == .nanoseconds(999_000))
        #expect(million.mean == .nanoseconds(500_000) + .nanoseconds(1) / 2)
    }

    // MARK: Buckets

    @Test func bucketsHaveRoundBounds() {
        let buckets = Latencies((10...109).map { .microseconds($0) }).buckets()
        #expect(buckets.map(\.lower) == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100].dropFirst().map { $0 * 1000 })
        #expect(buckets.allSatisfy { $0.count == 10 && $0.upper == $0.lower + 10_000 })
    }

    @Test func aSlowOneDoesNotWidenTheBuckets() {
        let latencies = Latencies((0..<990).map { .microseconds(1000 + $0) } + .init(repeating: .seconds(9), count: 10))
        let buckets = latencies.buckets()
        #expect(buckets.dropLast().map(\.count) == .init(repeating: 100, count: 9) + [90])
        #expect(buckets.last == .init(lower: 2_000_000, upper: nil, count: 10))
        #expect(buckets.reduce(0) { $0 + $1.count } == latencies.count)
    }

    @Test func equalLatenciesShareABucket() {
        let buckets = Latencies(.init(repeating: .microseconds(5003), count: 4)).buckets()
        #expect(buckets == [.init(lower: 5_000_000, upper: 5_100_000, count: 4)])
        #expect(Latencies([.zero]).buckets() == [.init(lower: 0, upper: 1, count: 1)])
    }

    @Test(arguments: [1, 7, 99, 1234, 1_000_003, 999_999_999_999])
    func thereAreFewBuckets(_ factor: Int) {
        let buckets = Latencies((1...100).map { .nanoseconds($0 * $0 * factor) }).buckets()
        #expect((5...12).contains(buckets.count))
        #expect(buckets.reduce(0) { $0 + $1.count } == 100)
    }

    @Test func evenAnAbsurdLatencyIsCounted() {
        let latencies = Latencies([.seconds(Int64.max), .seconds(-5), .zero])
        #expect(latencies.buckets().reduce(0) { $0 + $1.count } == 3)
    }

    // MARK: Texts

    @Test func aLatencyIsShownInItsUnit() {
        let text = LatencyText(usesSymbols: true)
        #expect(text.text(.zero) == "0 ns")
        #expect(text.text(.nanoseconds(999)) == "999 ns")
        #expect(text.text(.nanoseconds(1240)) == "1.24 µs")
        #expect(text.text(.microseconds(812)) == "812 µs")
        #expect(text.text(.nanoseconds(999_400)) == "999 µs")
        #expect(text.text(.nanoseconds(999_900)) == "1.00 ms")
        #expect(text.text(.microseconds(9_994)) == "9.99 ms")
        #expect(text.text(.microseconds(9_996)) == "10.0 ms")
        #expect(text.text(.microseconds(99_960)) == "100 ms")
        #expect(text.text(.milliseconds(64_200)) == "64.2 s")
        #expect(LatencyText(usesSymbols: false).text(.microseconds(812)) == "812 us")
    }

    @Test func theBoundsOfBucketsShareAUnit() {
        let buckets = [
            Latencies.Bucket(lower: 900_000, upper: 1_000_000, count: 1),
            Latencies.Bucket(lower: 1_000_000, upper: 1_100_000, count: 1),
            Latencies.Bucket(lower: 1_100_000, upper: nil, count: 1),
        ]
        #expect(LatencyText(usesSymbols: true).labels(of: buckets) == ["0.9–1.0 ms", "1.0–1.1 ms", "≥ 1.1 ms"])
        let plain = LatencyText(usesSymbols: false)
        #expect(plain.labels(of: buckets) == ["0.9-1.0 ms", "1.0-1.1 ms", "from 1.1 ms"])
        let small = [Latencies.Bucket(lower: 1_002_050, upper: 1_002_100, count: 1)]
        #expect(plain.labels(of: small) == ["1.00205-1.00210 ms"])
        #expect(plain.labels(of: []).isEmpty)
    }
}
