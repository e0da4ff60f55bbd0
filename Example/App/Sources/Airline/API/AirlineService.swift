import AtomNetworking
import Foundation

/// How the app talks to its server.
public struct AirlineService {
    /// The app's name at the authorization server.
    nonisolated static let clientID = "atom-app"

    let base: BaseURL
    let atom: Atom

    /// - Parameters:
    ///   - base: The address of the server.
    ///   - store: Where the tokens are kept.
    ///   - change: Changes the configuration, for tests.
    public init(
        base: BaseURL, store: any TokenCredentialStore, _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) throws(AtomError) {
        func endpoint(_ path: String) throws(AtomError) -> AuthorizationEndpoint {
            try AuthorizationEndpoint(scheme: base.scheme, host: base.host, port: base.port, path: path)
        }
        var bearer = BearerAuthentication(
            endpoint: try endpoint("/oauth/token"), client: ClientCredential(id: Self.clientID), store: store)
        bearer.revocationEndpoint = try endpoint("/oauth/revoke")
        var configuration = ServiceConfiguration(authenticationMethod: .bearer(bearer))
        change(&configuration)
        self.base = base
        atom = Atom(serviceConfiguration: configuration)
    }
}
