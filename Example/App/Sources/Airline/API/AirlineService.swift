import AtomNetworking
import AtomNetworkingSignIn
import Foundation

/// How the app talks to its server.
public struct AirlineService {
    /// Where the server sends the browser after a sign-in, as it is registered there.
    public nonisolated static let redirectURI = "com.example.airline:/signed-in"

    let base: BaseURL
    let atom: Atom
    /// Signs a member in, when a request needs it or a button says so.
    let signIn: SignIn

    /// - Parameters:
    ///   - base: The address of the server.
    ///   - client: The app at its authorization server.
    ///   - browser: Shows the server's page.
    ///   - store: Where the tokens are kept.
    ///   - change: Changes the configuration, for tests.
    public init(
        base: BaseURL, client: OAuthClient, browser: any AuthorizationBrowser, store: any TokenCredentialStore,
        _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) {
        let signIn = SignIn(client, browser: browser, store: store)
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(client.authentication(store: store, signIn: signIn)))
        // A request that waits for the page waits for a person.
        configuration.timeout = ServiceTimeout(request: 30, resource: 900)
        change(&configuration)
        self.base = base
        self.signIn = signIn
        atom = Atom(serviceConfiguration: configuration)
    }
}

extension OAuthClient {
    /// The app at the airline's authorization server.
    public static func airline(at base: BaseURL) throws(AtomError) -> OAuthClient {
        // Constants: an app starts offline, too, and `AuthorizationServer.discover(_:)` would need the network.
        var server = try AuthorizationServer(
            issuer: "\(base)", authorizationEndpoint: "\(base)/oauth/authorize", tokenEndpoint: "\(base)/oauth/token")
        server.revocationEndpoint = try AuthorizationEndpoint(base: base, path: "/oauth/revoke")
        return OAuthClient(server: server, id: "atom-app", scopes: ["openid", "profile"])
    }
}
