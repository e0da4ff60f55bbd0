import AtomNetworkingTesting

/// What clients find out for themselves: the authorization server (RFC 8414), its keys, and the API (RFC 9728).
struct MetadataEndpoints {
    static let resourcePath = "/.well-known/oauth-protected-resource"
    private static let keysPath = "/oauth/keys"

    let state: Locked<ServerState>

    var routes: [String: Endpoint] {
        let server: Endpoint = { request in
            .encoding(Server(state.withLock(\.issuer)), freshFor: 300, askedBy: request, names: .convertToSnakeCase)
        }
        return [
            "GET /.well-known/oauth-authorization-server": server,
            "GET /.well-known/openid-configuration": server,
            "GET \(Self.resourcePath)": { request in
                .encoding(
                    Resource(state.withLock(\.issuer)), freshFor: 300, askedBy: request, names: .convertToSnakeCase)
            },
            "GET \(Self.keysPath)": { request in
                .encoding(["keys": [state.withLock(\.idTokens).publicKey]], freshFor: 300, askedBy: request)
            },
        ]
    }

    /// RFC 8414 §2, and what other RFCs add to it.
    private struct Server: Encodable {
        let issuer: String
        let authorizationEndpoint: String
        let tokenEndpoint: String
        let revocationEndpoint: String
        let pushedAuthorizationRequestEndpoint: String
        let deviceAuthorizationEndpoint: String
        let jwksURI: String
        let scopesSupported = Scope.allCases.map(\.rawValue)
        let responseTypesSupported = ["code"]
        let grantTypesSupported = [
            "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code", "password",
            "client_credentials",
        ]
        let subjectTypesSupported = ["public"]
        let idTokenSigningAlgValuesSupported = ["ES256"]
        let tokenEndpointAuthMethodsSupported = ["none", "client_secret_basic", "client_secret_post"]
        let codeChallengeMethodsSupported = ["S256"]
        let dpopSigningAlgValuesSupported = ["ES256"]
        let authorizationResponseIssParameterSupported = true

        init(_ issuer: String) {
            self.issuer = issuer
            authorizationEndpoint = issuer + AuthorizationEndpoints.path
            tokenEndpoint = issuer + AirlineServer.tokenPath
            revocationEndpoint = issuer + AirlineServer.revocationPath
            pushedAuthorizationRequestEndpoint = issuer + AuthorizationEndpoints.pushPath
            deviceAuthorizationEndpoint = issuer + DeviceEndpoints.path
            jwksURI = issuer + keysPath
        }
    }

    /// RFC 9728 §2.
    private struct Resource: Encodable {
        let resource: String
        let authorizationServers: [String]
        let scopesSupported = Scope.allCases.map(\.rawValue)
        let bearerMethodsSupported = ["header"]
        let dpopSigningAlgValuesSupported = ["ES256"]

        init(_ issuer: String) { (resource, authorizationServers) = (issuer, [issuer]) }
    }
}
