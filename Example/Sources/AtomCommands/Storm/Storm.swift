import AirlineServer
import AtomNetworking
import Foundation

/// Many requests with one session whose token keeps expiring.
struct Storm: Sendable {
    var requests: Int
    var concurrency: Int
    var tokenLifetime: Double
    /// The delay of each response of the server, those to refreshes included.
    var workMilliseconds = 0
    /// How often the server ends all access tokens without telling anybody.
    var expireEvery: Double?

    /// Runs until all requests have an outcome, or the task is cancelled.
    ///
    /// - Throws: An error if the storm can't be started.
    func run(observers: [any RequestObserver] = []) async throws -> StormReport {
        var policy = TokenPolicy()
        policy.accessTokenLifetime = tokenLifetime
        policy.delayMilliseconds = workMilliseconds
        return try await AirlineServer.run(policy) { try await run(at: $0, observers) }
    }

    private func run(at server: AirlineServer, _ observers: [any RequestObserver]) async throws -> StormReport {
        let airline = try Airline(server)
        let tokens = try await Atom().enqueue(SignInEndpoint(airline: airline)).resume(expecting: TokenCredential.self)
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(
                try airline.authorizationEndpoint(), .example, InMemoryTokenCredentialStore(tokens)),
            timeout: ServiceTimeout(request: 60, resource: 60))
        configuration.observers = observers
        let atom = Atom(serviceConfiguration: configuration)
        let expiring = expireEvery.map { seconds in
            Task {
                while !Task.isCancelled {
                    try? await Task.sleep(for: .seconds(seconds))
                    server.expireAccessTokens()
                }
            }
        }
        let stopwatch = Stopwatch()
        var report = StormReport(requests: requests)
        await withTaskGroup(of: Result<Double, AtomError>?.self) { group in
            func send(_ number: Int) {
                let endpoint = AccountEndpoint.miles(airline, number: number, milliseconds: workMilliseconds)
                group.addTask { await Self.send(endpoint, number, with: atom) }
            }
            for number in 1...concurrency { send(number) }
            var next = concurrency + 1
            while let result = await group.next() {
                report.note(result)
                guard next <= requests, !Task.isCancelled else { continue }
                send(next)
                next += 1
            }
        }
        expiring?.cancel()
        report.seconds = stopwatch.seconds
        report.server = server.counters
        return report
    }

    /// How long a request took; `nil` if it got the response to another one, which would be the worst error.
    private static func send(
        _ endpoint: AccountEndpoint, _ number: Int, with atom: Atom
    ) async -> Result<Double, AtomError>? {
        let stopwatch = Stopwatch()
        switch await atom.outcome(of: endpoint, expecting: Miles.self) {
        case .success(let miles): return miles.number == String(number) ? .success(stopwatch.seconds) : nil
        case .failure(let error): return .failure(error)
        }
    }
}

/// The result of a storm.
struct StormReport: Sendable {
    let requests: Int
    /// Responses that belonged to another request.
    private(set) var mixedUp = 0
    /// Counts by description.
    private(set) var failures: [String: Int] = [:]
    private var latencies: [Double] = []
    var seconds = 0.0
    var server = Counters()

    init(requests: Int) {
        self.requests = requests
    }

    var answered: Int { latencies.count }

    var isAsExpected: Bool { answered == requests && server.reuseDetected == 0 }

    mutating func note(_ result: Result<Double, AtomError>?) {
        switch result {
        case .success(let seconds): latencies.append(seconds)
        case .failure(let error): failures[error.description, default: 0] += 1
        case nil: mixedUp += 1
        }
    }

    func show(on terminal: Terminal) {
        func mark(_ count: Int, _ isGood: Bool) -> String { terminal.styled("\(count)", isGood ? .green : .red) }
        let ascending = latencies.sorted()
        func percentile(_ share: Double) -> String {
            guard !ascending.isEmpty else { return "-" }
            let rank = max(Int((share * Double(ascending.count)).rounded(.up)), 1)
            return ResponsePrinter.duration(ascending[rank - 1])
        }
        var table = Table("Storm", .right(""))
        table.add("requests", "\(requests)")
        table.add("answered", mark(answered, answered == requests))
        if mixedUp > 0 { table.add("answers mixed up", mark(mixedUp, false)) }
        table.add("refreshes", "\(server.refreshes)")
        table.add("tokens issued", "\(server.tokensIssued)")
        table.add("invalid tokens received", "\(server.apiRequestsWithDeadToken)")
        table.add("refresh tokens used twice", mark(server.reuseDetected, server.reuseDetected == 0))
        table.add("time", ResponsePrinter.duration(seconds))
        table.add("latency p50", percentile(0.5))
        table.add("latency p99", percentile(0.99))
        terminal.print(table)
        for (description, count) in failures.sorted(by: { $0.value > $1.value }).prefix(5) {
            terminal.print(terminal.styled("\(count) ×", .red) + " " + description)
        }
    }
}
