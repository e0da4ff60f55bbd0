/// How a request's service gets another credential.
///
/// Services that share a session may differ in it: the request that starts a
/// refresh decides.
enum RenewalMeans: Sendable {
    /// With the refresh token.
    case refreshToken
    /// With the client's own credentials: nobody signs such a session out
    /// elsewhere.
    case clientCredentials
    /// From the app's provider.
    case provider

    /// Whether it works without a refresh token.
    var acquires: Bool { self != .refreshToken }
}

extension RenewalMeans {
    /// What an app has configured.
    init(_ bearer: BearerAuthentication) {
        self =
            switch bearer.renewal {
            case .provider: .provider
            case .endpoint(_, let client) where client.grantType == .clientCredentials: .clientCredentials
            case .endpoint: .refreshToken
            }
    }
}
