import AtomNetworking
import AtomNetworkingSignIn

/// A server of another project, as its file in `servers` configures it.
struct Server: Sendable {
    let issuer: String
    var clientID = "app"
    var secret: String?
    var scopes = ["openid", "notes"]
    /// What answers with a token that has these scopes.
    let resource: String
    /// What answers with one that has the scope `files` besides.
    var more: String?
    /// Where the callback goes: a fixed one for servers that compare it.
    var callbackPort = 0
    /// What its metadata doesn't say.
    var deviceClientID: String?
    var deviceEndpoint: String?
    /// The time between two requests for tokens, where two of one second are the same.
    var pause = Duration.zero
    var checks = Check.all
    /// What it fails by what it is: the check's name, and the reason.
    var exceptions: [String: String] = [:]

    /// The servers by their names.
    static func all(port: Int) -> [String: Server] {
        let origin = "http://127.0.0.1:\(port)"
        let noPushing = ["pushed request": "it takes none"]
        let noProof = ["token bound to a key": "it doesn't know DPoP"]
        let noDevice = [
            "sign-in on another device": "it has none", "sign-in on another device, declined": "it has none",
        ]
        let noMetadata = ["protected resource": "it has no metadata of resources"]
        let oneResource = ["signing in for more": "it has one resource"]

        let toolkit = Server(
            issuer: origin, resource: "\(origin)/notes", more: "\(origin)/files", deviceClientID: "device",
            deviceEndpoint: "\(origin)/device-authorization/",
            exceptions: [noPushing, noProof].joined())
        let authlib = Server(
            issuer: "\(origin)/tenant", resource: "\(origin)/notes", more: "\(origin)/files",
            exceptions: [noPushing, noProof, noMetadata, ["signing in for more": "its 403 has no challenge"]].joined())
        let canaille = Server(
            issuer: origin, secret: "difference-engine", scopes: ["openid", "profile"],
            resource: "\(origin)/oauth/userinfo", callbackPort: port + 1, pause: .seconds(1),
            exceptions: [noPushing, noProof, noDevice, noMetadata, oneResource].joined())
        let mock = Server(
            issuer: origin, secret: "any", scopes: ["openid", "email"], resource: "\(origin)/userinfo",
            exceptions: [
                noPushing, noProof, noDevice, noMetadata, oneResource,
                [
                    "code with another verifier": "it ignores PKCE",
                    "spent refresh token": "it never changes one",
                    "sign-out with revocation": "it revokes nothing",
                    "declined": "its callback has no state then (against RFC 6749 §4.1.2.1)",
                ],
            ].joined())
        var glewlwyd = Server(
            issuer: "\(origin)/api/oidc", secret: "difference-engine", resource: "\(origin)/api/oidc/userinfo",
            callbackPort: port + 1,
            exceptions: [
                "protected resource": "it has no metadata of resources",
                "declined": "its page has no answer for it",
                "sign-in on another device, declined": "its page has no answer for it",
                "session that somebody else has ended": "its 400 doesn't say why (against RFC 6749 §5.2)",
                "signing in for more": "it has one resource",
            ])
        let pushing = glewlwyd
        glewlwyd.exceptions["pushed request"] = "it takes none where it wants nonces"

        return [
            "django_toolkit": toolkit, "authlib_flask": authlib, "canaille_sqlite": canaille, "provider_mock": mock,
            "glewlwyd_oidc": pushing, "glewlwyd_oidc-nonce": glewlwyd,
            "mcp_sdk": Server(
                issuer: origin, resource: "\(origin)/mcp", callbackPort: port + 1, checks: Check.modelContextProtocol,
                exceptions: ["Model Context Protocol, signing in for more": "its challenge names no scope"]),
        ]
    }
}

extension [[String: String]] {
    fileprivate func joined() -> [String: String] { reduce(into: [:]) { $0.merge($1) { $1 } } }
}

// What an app would write.
extension Server {
    func discovered() async throws -> AuthorizationServer {
        var server = try await AuthorizationServer.discover(issuer)
        if let deviceEndpoint { server.deviceAuthorizationEndpoint = try AuthorizationEndpoint(deviceEndpoint) }
        return server
    }

    func client(proof: DPoP? = nil) async throws -> OAuthClient {
        var client = OAuthClient(server: try await discovered(), id: clientID, secret: secret, scopes: scopes)
        client.proof = proof
        return client
    }

    func deviceClient() async throws -> OAuthClient {
        OAuthClient(server: try await discovered(), id: deviceClientID ?? clientID, secret: secret, scopes: scopes)
    }

    /// The redirect URI of sign-ins without a browser.
    var redirectURI: String { "http://127.0.0.1:\(callbackPort == 0 ? 49_152 : callbackPort)/callback" }
}
