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
    ///   - prompt: Asked when the server has ended the session; without it, the
    ///     session has ended then.
    ///   - change: Changes the configuration, for tests.
    public init(
        base: BaseURL, store: any TokenCredentialStore, signIn prompt: LoginPrompt? = nil,
        _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) throws(AtomError) {
        func endpoint(_ path: String) throws(AtomError) -> AuthorizationEndpoint {
            try AuthorizationEndpoint(base: base, path: path)
        }
        var bearer = BearerAuthentication(
            endpoint: try endpoint("/oauth/token"), client: ClientCredential(id: Self.clientID), store: store,
            signIn: prompt)
        bearer.revocationEndpoint = try endpoint("/oauth/revoke")
        // A refresh may take as long as a request may, unless this says less.
        bearer.deadline = .seconds(30)
        var configuration = ServiceConfiguration(authenticationMethod: .bearer(bearer))
        // A request that waits for the prompt waits for a person.
        configuration.timeout = ServiceTimeout(request: 30, resource: 900)
        change(&configuration)
        self.base = base
        atom = Atom(serviceConfiguration: configuration)
    }
}
