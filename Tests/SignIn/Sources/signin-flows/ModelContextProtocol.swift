import AtomNetworking
import AtomNetworkingSignIn
import Foundation

// How a client of the Model Context Protocol signs in (its specification, "Authorization"): it knows one URL, and finds
// the rest.

extension Check {
    static let modelContextProtocol = [
        Check("Model Context Protocol") { server in
            let app = App(server, try await client(for: server.resource, redirectURI: server.redirectURI))
            let answer = try await app.atom.enqueue(initialize(server.resource)).resume(expecting: Answer.self)
            guard answer.result.serverInfo.name == "Notes" else { throw Problem("another server answers") }
            try await app.atom.signOut(waitingForRevocation: true)
        },
        Check("Model Context Protocol, signing in for more") { server in
            var client = try await client(for: server.resource, redirectURI: server.redirectURI)
            client.scopes = ["profile"]
            let app = App(server, client)
            try await app.signIn.withStepUp(of: app.atom) {
                try await app.atom.enqueue(initialize(server.resource)).resume()
            }
        },
    ]

    /// A client for a server that says who signs people in.
    private static func client(for url: String, redirectURI: String) async throws -> OAuthClient {
        guard let location = URL(string: url) else { throw Problem("\(url) is no URL") }

        // 1. The server's 401 says where its metadata is, and that says who issues tokens (RFC 9728).
        var refusal: AtomResponse?
        do throws(AtomError) {
            try await Atom().enqueue(initialize(url)).resume()
        } catch {
            refusal = error.response
        }
        let resource = try await ProtectedResource.discover(for: location, response: refusal)
        guard let issuer = resource.authorizationServers.first else { throw Problem("nobody issues tokens") }

        // 2. The authorization server has endpoints, and one where clients register themselves (RFC 8414, RFC 7591).
        let server = try await AuthorizationServer.discover(issuer)
        guard let endpoint = server.registrationEndpoint else { throw Problem("clients can't register themselves") }
        let registration = Registration(
            name: "Notes for the terminal", redirectURIs: [redirectURI], authenticationMethod: "client_secret_post")
        let registered = try await Atom().enqueue(
            URLEndpoint(endpoint, method: .post, body: .json(registration))
        ).resume(expecting: RegisteredClient.self)

        // 3. The token is for this server only (RFC 8707).
        var client = OAuthClient(
            server: server, id: registered.id, secret: registered.secret, scopes: resource.scopes ?? [])
        client.resources = [resource.resource]
        client.usesClientSecretBasic = false
        return client
    }

    private static func initialize(_ url: String) throws(AtomError) -> URLEndpoint {
        try URLEndpoint(
            url, method: .post,
            headerItems: [HeaderItem(name: "Accept", value: "application/json, text/event-stream")],
            body: .json(Initialize()))
    }
}

private struct Initialize: Encodable {
    struct Parameters: Encodable {
        let protocolVersion = "2025-06-18"
        let capabilities: [String: String] = [:]
        let clientInfo = ["name": "signin-flows", "version": "1"]
    }

    let jsonrpc = "2.0"
    let id = 1
    let method = "initialize"
    let params = Parameters()
}

private struct Answer: Decodable {
    struct Result: Decodable {
        struct Server: Decodable { let name: String }

        let serverInfo: Server
    }

    let result: Result
}

/// What a client says of itself (RFC 7591 §2).
private struct Registration: Encodable {
    private enum CodingKeys: String, CodingKey {
        case name = "client_name"
        case redirectURIs = "redirect_uris"
        case authenticationMethod = "token_endpoint_auth_method"
    }

    let name: String
    let redirectURIs: [String]
    let authenticationMethod: String
}

/// What the server makes of it (RFC 7591 §3.2.1).
private struct RegisteredClient: Decodable {
    private enum CodingKeys: String, CodingKey {
        case id = "client_id"
        case secret = "client_secret"
    }

    let id: String
    let secret: String?
}
