import AtomNetworking

/// What happened when in a storm, in a bounded amount of memory.
///
/// It is a pure value that is told of each request. It keeps a sample of the
/// requests, and of all of them how many there were at once.
struct StormTimeline: Sendable, Equatable {
    /// What a request does for a time.
    enum Phase: Int, CaseIterable, Sendable {
        /// On the wire for the first time.
        case onWire
        /// On the wire once more, after a 401.
        case again
        /// Not on the wire: it waits for a connection or for a refresh.
        case waiting
    }

    enum Outcome: Sendable, Equatable {
        case answered
        case failed
        case cancelled
    }

    /// A time on the wire.
    struct Attempt: Sendable, Equatable {
        var start: Double
        /// `nil` if it was abandoned.
        var end: Double?
        var status: Int?
    }

    struct Request: Sendable, Equatable {
        var number: Int
        var start: Double
        var end: Double
        var attempts: [Attempt]
        var outcome: Outcome
    }

    struct Refresh: Sendable, Equatable {
        var start: Double
        var end: Double
        var isSuccessful: Bool
    }

    /// The largest number of requests that are kept.
    static let mostRows = 80
    /// The largest number of refreshes that are kept.
    static let mostRefreshes = 1000

    /// How many requests there are to be.
    let planned: Int
    /// The kept requests, in the order of their ends.
    private(set) var rows: [Request] = []
    /// The kept refreshes, in the order of their ends.
    private(set) var refreshes: [Refresh] = []
    /// How many requests there were at once.
    private(set) var load = StormLoad()
    private(set) var requestCount = 0
    private(set) var failedCount = 0
    private(set) var cancelledCount = 0
    private(set) var refusedCount = 0
    private(set) var refreshCount = 0
    /// The end of the storm, or of the last thing that happened.
    private(set) var end = 0.0

    init(planned: Int) {
        self.planned = planned
    }

    /// Of this many requests one is kept.
    var stride: Int { max((planned + Self.mostRows - 1) / Self.mostRows, 1) }

    mutating func note(_ request: Request) {
        requestCount += 1
        if request.outcome == .failed { failedCount += 1 }
        if request.outcome == .cancelled { cancelledCount += 1 }
        refusedCount += request.refusals.count
        end = max(end, request.end)
        for (phase, start, end) in request.phases { load.add(phase, from: start, to: end) }
        if (request.number - 1) % stride == 0, rows.count < Self.mostRows { rows.append(request) }
    }

    mutating func note(_ refresh: Refresh) {
        refreshCount += 1
        end = max(end, refresh.end)
        if refreshes.count < Self.mostRefreshes { refreshes.append(refresh) }
    }

    /// The storm was over at this time.
    mutating func close(at moment: Double) {
        end = max(end, moment)
    }
}

extension StormTimeline.Outcome {
    /// A response to another request would be the worst error.
    init(_ result: Result<Miles, AtomError>, of number: Int) {
        self =
            switch result {
            case .success(let miles): miles.number == String(number) ? .answered : .failed
            case .failure(.cancelled): .cancelled
            case .failure: .failed
            }
    }
}

extension StormTimeline.Request {
    /// What the request did, without gaps, until its answer was there.
    ///
    /// The time in which the answer is handed over belongs to no phase.
    var phases: [(phase: StormTimeline.Phase, start: Double, end: Double)] {
        var phases: [(StormTimeline.Phase, Double, Double)] = []
        var free = start
        var isAgain = false
        var isWaiting = true
        for attempt in attempts {
            let from = min(max(attempt.start, free), end)
            let to = min(max(attempt.end ?? end, from), end)
            if from > free { phases.append((.waiting, free, from)) }
            phases.append((isAgain ? .again : .onWire, from, to))
            isWaiting = attempt.status == 401
            isAgain = isAgain || isWaiting
            free = to
        }
        if isWaiting, end > free { phases.append((.waiting, free, end)) }
        return phases
    }

    /// When a 401 arrived.
    var refusals: [Double] {
        attempts.filter { $0.status == 401 }.map { min($0.end ?? end, end) }
    }

    /// The seconds in a phase.
    func seconds(_ phase: StormTimeline.Phase) -> Double {
        phases.filter { $0.phase == phase }.reduce(0) { $0 + $1.end - $1.start }
    }
}

/// How many requests were in each phase, averaged over intervals.
///
/// The intervals become longer with the storm, so that their number is bounded.
struct StormLoad: Sendable, Equatable {
    static let mostIntervals = 512

    /// The length of an interval in seconds.
    private(set) var interval = 0.001
    /// For each interval, the seconds that all requests together spent in each
    /// phase.
    private var spent: [[Double]] = []

    /// The number of intervals in which there was a request.
    var count: Int { spent.count }

    mutating func add(_ phase: StormTimeline.Phase, from start: Double, to end: Double) {
        guard start >= 0, start < end, end.isFinite else { return }
        while end > interval * Double(Self.mostIntervals) { merge() }
        let last = min(Int(end / interval), Self.mostIntervals - 1)
        while spent.count <= last { spent.append([0, 0, 0]) }
        for index in Int(start / interval)...last {
            let from = max(start, Double(index) * interval)
            let to = min(end, Double(index + 1) * interval)
            if to > from { spent[index][phase.rawValue] += to - from }
        }
    }

    /// Whether a request was in this phase at any time.
    func contains(_ phase: StormTimeline.Phase) -> Bool {
        spent.contains { $0[phase.rawValue] > 0 }
    }

    /// The average number of requests in a phase during an interval.
    ///
    /// - Parameter end: The end of the storm, which may be in the last interval.
    func average(_ phase: StormTimeline.Phase, during index: Int, until end: Double) -> Double {
        let length = min(interval, end - Double(index) * interval)
        return length > 0 ? spent[index][phase.rawValue] / length : 0
    }

    /// Two intervals become one.
    private mutating func merge() {
        interval *= 2
        spent = stride(from: 0, to: spent.count, by: 2).map { index in
            guard index + 1 < spent.count else { return spent[index] }
            return zip(spent[index], spent[index + 1]).map { $0 + $1 }
        }
    }
}
