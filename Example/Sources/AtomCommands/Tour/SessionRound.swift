import AtomNetworking
import Foundation

/// Many concurrent requests and their results, on one clock.
struct SessionRound: Sendable {
    /// How a request was sent.
    enum Fate: Sendable, Equatable {
        /// Sent with the old token, before the new one arrived.
        case direct
        /// Waited until the end of the refresh.
        case waited
        /// Got a 401, waited, and was sent once more.
        case sentAgain
        /// Started after the refresh.
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
    /// The numbers of the requests in the order in which the transport got
    /// them.
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

    /// The number of 401 responses.
    var refused: Int { refusals.count }

    /// The requests that waited, in the order in which they were sent.
    private var released: [Int] {
        let waited = Set(requests.filter { $0.fate == .waited }.map(\.number))
        return dispatched.filter { waited.contains($0) }
    }

    /// Whether the waiting requests were sent in the order of their arrival.
    var isReleasedInOrder: Bool {
        released == released.sorted()
    }

    /// When the attempts that got a 401 were sent.
    var refusals: [Double] {
        requests.flatMap { $0.attempts.filter { $0.status == 401 }.map(\.startedAt) }
    }

    var releaseSummary: String? {
        let released = released
        guard let first = released.first, let last = released.last else { return "no request waited" }
        return released.count < 4
            ? released.map(String.init).joined(separator: ", ")
            : "\(first), \(released[1]), \(released[2]) … \(last)"
    }
}

// MARK: - Running one

extension SessionRound {
    /// Resumes numbered requests, in order, and waits for all of them.
    ///
    /// The completion form admits a request before it returns, so the order of
    /// these calls is the order of the requests.
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
            // A response to another request would be the worst error.
            case .success(let miles): error = miles.number == String(number) ? nil : .unexpected
            }
        }
    }
}
