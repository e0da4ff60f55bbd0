/// The numbers by which a session is refreshed.
struct RefreshPolicy: Sendable {
    var leeway: Duration = .seconds(30)
    var fruitlessLimit = 3
    var fruitlessWindow: Duration = .seconds(30)
    var backOffBase: Duration = .milliseconds(500)
    var backOffCap: Duration = .seconds(30)

    /// How long to wait after a number of failures in a row: not at all after
    /// the first, then full jitter under a ceiling that doubles.
    ///
    /// - Parameter random: A number in 0..<1.
    func backOff(afterFailures failures: Int, random: Double) -> Duration {
        guard failures > 1 else { return .zero }
        var ceiling = backOffBase
        for _ in 2..<min(max(failures, 2), 32) where ceiling < backOffCap { ceiling *= 2 }
        return min(ceiling, backOffCap) * random
    }
}

/// How the service that a request belongs to gets another credential.
///
/// Services that share a session may differ in it: the request that sets a
/// refresh off decides.
enum RenewalMeans: Sendable {
    /// By the refresh token.
    case refreshToken
    /// As the client itself: nobody signs such a session out elsewhere.
    case clientCredentials
    /// By the app's provider.
    case provider

    /// Whether a credential can be had without a refresh token.
    var acquires: Bool { self != .refreshToken }
}
