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
