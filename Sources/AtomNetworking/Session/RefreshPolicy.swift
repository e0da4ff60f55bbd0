/// The limits and delays of a session's refreshes.
struct RefreshPolicy: Sendable {
    var leeway: Duration = .seconds(30)
    var fruitlessLimit = 3
    var fruitlessWindow: Duration = .seconds(30)
    var backOffBase: Duration = .milliseconds(500)
    var backOffCap: Duration = .seconds(30)

    /// How long to wait after a number of failures in a row: zero after the
    /// first, then full jitter below a ceiling that doubles each time.
    ///
    /// - Parameter random: A number in 0..<1.
    func backOff(afterFailures failures: Int, random: Double) -> Duration {
        guard failures > 1 else { return .zero }
        return .backOff(base: backOffBase, doublings: failures - 2, cap: backOffCap, chance: random)
    }
}

extension RefreshPolicy {
    /// What an app has configured, within bounds.
    init(_ bearer: BearerAuthentication) {
        self.init(
            leeway: bearer.leeway.bounded, fruitlessLimit: max(bearer.fruitlessRefreshLimit, 1),
            fruitlessWindow: bearer.fruitlessRefreshWindow.bounded)
    }
}
