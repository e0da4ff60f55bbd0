import AirlineServer
import AtomNetworking
import Foundation

/// Many requests with one session, a number of them concurrently.
struct Storm: Sendable {
    struct Plan: Sendable {
        var requests: Int
        var concurrency: Int
        var tokenLifetime: Double
        var workMilliseconds = 0
        var revokeEvery: Double?
        var user = NameAndSecret.exampleUser
        var client = NameAndSecret.exampleClient
        var timeout = 60.0
        /// Whether the report has a timeline.
        var recordsTimeline = false
    }

    let plan: Plan
    let airline: Airline

    /// Runs until all requests are answered, have failed, or the task is cancelled.
    ///
    /// - Parameter advance: Called after each request, on any thread.
    /// - Throws: An error if the storm can't be started.
    func run(_ advance: @escaping @Sendable () -> Void) async throws(AtomError) -> StormReport {
        let plain = Atom(serviceConfiguration: ServiceConfiguration(timeout: timeout))
        let policy = try await plain.enqueue(AdminEndpoint.policy(airline)).resume(expecting: TokenPolicy.self)
        try await plain.enqueue(AdminEndpoint.setTokenLifetime(airline, seconds: plan.tokenLifetime)).resume()
        let result = await outcome { () async throws(AtomError) in
            try await storm(beside: plain, advance)
        }
        // Also after Ctrl-C, when requests of this task would be cancelled at
        // once.
        let airline = airline
        await Task {
            _ = try? await plain.enqueue(
                AdminEndpoint.setTokenLifetime(airline, seconds: policy.accessTokenLifetime)
            ).resume()
        }.value
        return try result.get()
    }

    private func storm(
        beside plain: Atom, _ advance: @escaping @Sendable () -> Void
    ) async throws(AtomError) -> StormReport {
        let before = try await plain.enqueue(AdminEndpoint.counters(airline)).resume(expecting: Counters.self)
        let tokens = try await signIn(with: plain)
        let tally = StormTally(total: plan.requests)
        let stopwatch = Stopwatch()
        let tap = plan.recordsTimeline ? StormTap(requests: plan.requests, stopwatch) : nil
        let atom = try atom(tokens, over: tap)
        let revoker = revoker(with: plain)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<plan.concurrency {
                group.addTask { await send(until: tally, with: atom, stopwatch, tap, advance) }
            }
        }
        let seconds = stopwatch.seconds
        revoker?.cancel()
        let airline = airline
        let after = await Task {
            try? await plain.enqueue(AdminEndpoint.counters(airline)).resume(expecting: Counters.self)
        }.value
        var report = tally.report(seconds: seconds, counters: after.map { $0.since(before) })
        report.timeline = tap?.timeline(until: seconds)
        return report
    }

    private var timeout: ServiceTimeout { ServiceTimeout(request: plan.timeout, resource: plan.timeout) }

    private func signIn(with plain: Atom) async throws(AtomError) -> TokenCredential {
        try await plain.enqueue(
            SignInEndpoint.password(airline, user: plan.user, client: plan.client)
        ).resume(expecting: TokenCredential.self)
    }

    private func atom(_ tokens: TokenCredential, over transport: (any Transport)?) throws(AtomError) -> Atom {
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(
                try airline.authorizationEndpoint(),
                ClientCredential(id: plan.client.name, secret: plan.client.secret),
                TokenBox(tokens)),
            timeout: timeout)
        if let transport { configuration.transport = transport }
        return Atom(serviceConfiguration: configuration)
    }

    /// One of the concurrent senders, which sends one request after the other.
    private func send(
        until tally: StormTally, with atom: Atom, _ stopwatch: Stopwatch, _ tap: StormTap?,
        _ advance: @Sendable () -> Void
    ) async {
        while !Task.isCancelled, let number = tally.nextNumber() {
            let start = stopwatch.seconds
            tap?.begin(number, at: start)
            let endpoint = AccountEndpoint.miles(airline, number: number, milliseconds: plan.workMilliseconds)
            let result = await outcome { () async throws(AtomError) in
                try await atom.enqueue(endpoint).resume(expecting: Miles.self)
            }
            let end = stopwatch.seconds
            tally.note(result, of: number, seconds: end - start)
            tap?.end(number, at: end, .init(result, of: number))
            advance()
        }
    }

    private func revoker(with plain: Atom) -> Task<Void, Never>? {
        guard let seconds = plan.revokeEvery else { return nil }
        let airline = airline
        return Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(seconds))
                _ = try? await plain.enqueue(AdminEndpoint.revokeAccessTokens(airline)).resume()
            }
        }
    }
}

extension Counters {
    /// The difference from an earlier count.
    fileprivate func since(_ before: Counters) -> StormReport.ServerSide {
        StormReport.ServerSide(
            refreshes: refreshes - before.refreshes,
            tokensIssued: tokensIssued - before.tokensIssued,
            deadTokens: apiRequestsWithDeadToken - before.apiRequestsWithDeadToken,
            reuseDetected: reuseDetected - before.reuseDetected,
            peakConcurrentRefreshes: peakConcurrentTokenRequests)
    }
}
