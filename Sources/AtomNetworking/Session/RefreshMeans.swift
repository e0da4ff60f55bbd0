/// How a request's service gets another credential.
///
/// Services that share a session may differ in it: the request that starts a refresh decides.
enum RefreshMeans: Sendable {
    case refreshToken
    /// With the client's own credentials: nobody signs such a session out elsewhere.
    case clientCredentials
    /// From the app's provider.
    case provider
    /// With the refresh token, and from the app's provider if there is none that the server accepts.
    case refreshTokenOrProvider

    /// What an app has configured.
    init(_ bearer: BearerAuthentication) {
        self =
            switch bearer.refresh {
            case .provider: .provider
            case .endpoint(_, let client) where client.grantType == .clientCredentials,
                .endpointOrProvider(_, let client, _) where client.grantType == .clientCredentials:
                .clientCredentials
            case .endpoint: .refreshToken
            case .endpointOrProvider: .refreshTokenOrProvider
            }
    }

    /// Whether it works without a refresh token.
    var acquires: Bool { self != .refreshToken }

    /// Whether a token without a refresh token is renewed before it expires.
    var acquiresEarly: Bool { self == .clientCredentials || self == .provider }

    /// Whether it is of no use any more after this other means has failed for good.
    func ends(with failed: RefreshMeans) -> Bool {
        self == failed || (self == .refreshTokenOrProvider && failed == .provider)
    }
}

/// The limits and delays of a session's refreshes.
struct RefreshPolicy: Sendable {
    var leeway: Duration = .seconds(30)
    var fruitlessLimit = 3
    var fruitlessWindow: Duration = .seconds(30)
    var backOffBase: Duration = .milliseconds(500)
    var backOffCap: Duration = .seconds(30)
    /// How long the next refresh waits for the answer to one whose time is over: a server may take a refresh token once.
    var overdueWait: Duration = .seconds(10)
    /// The thumbprint of the key that proves who uses a token; `nil` for none.
    var keyThumbprint: String?

    /// How long to wait after a number of fruitless refreshes: no longer than brings the limit within the window.
    func pause(afterFruitless count: Int) -> Duration {
        min(backOff(afterFailures: count, random: 1), fruitlessWindow / fruitlessLimit)
    }

    /// Whether nothing is known to bind the tokens to another key, without which no server takes them.
    func canProve(_ credential: TokenCredential) -> Bool {
        credential.keyThumbprint.map { $0 == keyThumbprint } ?? true
    }

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
            fruitlessWindow: bearer.fruitlessRefreshWindow.bounded, keyThumbprint: bearer.proof?.keyThumbprint)
    }
}
