import AtomNetworking
import Foundation

/// Many requests at once and what became of each, on one clock.
struct SessionRound: Sendable {
    /// Which way a request took.
    enum Fate: Sendable, Equatable {
        /// Sent with the old token, before the new one had come.
        case direct
        /// Kept until the refresh was over.
        case waited
        /// Answered with 401, kept, and sent once more.
        case sentAgain
        /// Came after the refresh.
        case afterwards
    }

    struct Request: Sendable {
        let number: Int
        let resumedAt: Double
        let endedAt: Double
        let attempts: [WireTap.Record]
        let error: AtomError?
        var fate = Fate.direct
    }

    let requests: [Request]
    let refreshes: [WireTap.Record]
    /// Numbers of requests in the order in which they went to the transport.
    let dispatched: [Int]
    let startedAt: Double
    let endedAt: Double

    init(requests: [Request], records: [WireTap.Record], startedAt: Double, endedAt: Double) {
        refreshes = records.filter { $0.requestID == nil }
        dispatched = records.compactMap { $0.requestID.flatMap(Int.init) }
        self.startedAt = startedAt
        self.endedAt = endedAt
        let refresh = refreshes.first
        self.requests = requests.map { request in
            var request = request
            request.fate = Self.fate(of: request, refresh: refresh)
            return request
        }
    }

    private static func fate(of request: Request, refresh: WireTap.Record?) -> Fate {
        if request.attempts.count > 1 { return .sentAgain }
        let newTokenCameAt = refresh?.endedAt ?? .infinity
        guard let first = request.attempts.first, first.startedAt >= newTokenCameAt else { return .direct }
        return request.resumedAt < newTokenCameAt ? .waited : .afterwards
    }

    /// How many answers were 401.
    var refused: Int { refusals.count }

    /// Those who waited, in the order in which they were sent.
    private var released: [Int] {
        let waited = Set(requests.filter { $0.fate == .waited }.map(\.number))
        return dispatched.filter { waited.contains($0) }
    }

    /// Whether those who waited were sent in the order in which they had come.
    var isReleasedInOrder: Bool {
        released == released.sorted()
    }

    /// When those attempts were sent that were answered with 401.
    var refusals: [Double] {
        requests.flatMap { $0.attempts.filter { $0.status == 401 }.map(\.startedAt) }
    }

    var releaseSummary: String? {
        let released = released
        guard let first = released.first, let last = released.last else { return "nobody waited" }
        return released.count < 4
            ? released.map(String.init).joined(separator: ", ")
            : "\(first), \(released[1]), \(released[2]) … \(last)"
    }
}

// MARK: - Running one

extension SessionRound {
    /// Resumes numbered requests, in order, and waits for all of them.
    ///
    /// The completion form is the one that is admitted before it returns, so
    /// that the order of these calls is the order of the requests.
    static func run(
        _ count: Int, every pause: Double, airline: Airline, milliseconds: Int, atom: Atom, tap: WireTap,
        stopwatch: Stopwatch
    ) async -> SessionRound {
        let noted = tap.records.count
        let (outcomes, outcome) = AsyncStream.makeStream(of: Outcome.self)
        let startedAt = stopwatch.seconds
        var resumedAt: [Double] = []
        for number in 1...count {
            if pause > 0 { await stopwatch.sleep(until: startedAt + pause * Double(number - 1)) }
            resumedAt.append(stopwatch.seconds)
            let endpoint = AccountEndpoint.miles(airline, number: number, milliseconds: milliseconds)
            atom.enqueue(endpoint).resume(expecting: Miles.self) { result in
                outcome.yield(Outcome(number: number, endedAt: stopwatch.seconds, result: result))
            }
        }
        var ended: [Int: Outcome] = [:]
        for await outcome in outcomes {
            ended[outcome.number] = outcome
            if ended.count == count { break }
        }
        let records = tap.records(after: noted)
        let attempts = Dictionary(grouping: records.filter { $0.requestID != nil }) { $0.requestID ?? "" }
        let requests = (1...count).map { number in
            Request(
                number: number, resumedAt: resumedAt[number - 1],
                endedAt: ended[number]?.endedAt ?? stopwatch.seconds, attempts: attempts[String(number)] ?? [],
                error: ended[number].map(\.error) ?? .unexpected)
        }
        return SessionRound(requests: requests, records: records, startedAt: startedAt, endedAt: stopwatch.seconds)
    }

    private struct Outcome: Sendable {
        let number: Int
        let endedAt: Double
        let error: AtomError?

        init(number: Int, endedAt: Double, result: Result<Miles, AtomError>) {
            self.number = number
            self.endedAt = endedAt
            switch result {
            case .failure(let error): self.error = error
            // The answer to another request would be the worst of errors.
            case .success(let miles): error = miles.number == String(number) ? nil : .unexpected
            }
        }
    }
}
