import AirlineServer
import AtomNetworking
import Tracing

/// What an app does with the airline: the requests that are observed.
struct Visit {
    let server: AirlineServer
    let configuration: ServiceConfiguration

    func run() async {
        await step("look at flights") { try await atom().enqueue(endpoint("/flights")).resume() }
        await step("follow a redirect") { try await atom().enqueue(endpoint("/redirect")).resume() }
        await step("ask a busy server") {
            try await atom().enqueue(endpoint("/busy/desk", query: ["times": "2"])).resume()
        }
        await step("use a revoked token") {
            let tokens = try await Atom().enqueue(SignIn(port: server.port)).resume(expecting: TokenCredential.self)
            let atom = try signedIn(tokens)
            server.expireAccessTokens()
            return try await atom.enqueue(endpoint("/account", isSigned: true)).resume()
        }
    }

    /// A request for which nobody listens any more.
    func callNobody() async {
        await step("call nobody") { try await atom().enqueue(endpoint("/flights")).resume() }
    }

    /// Runs a step in a span of the app's own, the parent of its requests.
    private func step(_ name: String, _ work: () async throws -> AtomResponse) async {
        print("\n== \(name)")
        let outcome: String = await withSpan(name) { _ in
            do {
                let response = try await work()
                return response.statusCode.map { "HTTP \($0)" } ?? "no status"
            } catch {
                return "\(error)"
            }
        }
        print("   \(outcome)")
    }

    private func atom() -> Atom { Atom(serviceConfiguration: configuration) }

    private func signedIn(_ tokens: TokenCredential) throws(AtomError) -> Atom {
        var configuration = configuration
        configuration.authenticationMethod = .bearer(
            try AuthorizationEndpoint(
                scheme: .http, host: server.host, port: Int(server.port), path: AirlineServer.tokenPath),
            ClientCredential(id: OAuthClient.publicExample.id), InMemoryTokenCredentialStore(tokens))
        return Atom(serviceConfiguration: configuration)
    }

    private func endpoint(_ path: String, query: [QueryItem]? = nil, isSigned: Bool = false) -> AirlineEndpoint {
        AirlineEndpoint(port: server.port, pathText: path, queryItems: query, requiresAuthorization: isSigned)
    }
}

struct AirlineEndpoint: Requestable {
    let port: UInt16
    let pathText: String
    let queryItems: [QueryItem]?
    let requiresAuthorization: Bool

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(scheme: .http, host: "127.0.0.1", port: Int(port)) }
    func path() throws(AtomError) -> URLPath { try URLPath(pathText) }
}

/// The sign-in: user name and password for tokens.
struct SignIn: Requestable {
    let port: UInt16

    var method: HTTPMethod { .post }
    var requiresAuthorization: Bool { false }
    var body: RequestBody? {
        .form([
            "grant_type": "password", "username": "ada", "password": "lovelace",
            "client_id": OAuthClient.publicExample.id,
        ])
    }

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(scheme: .http, host: "127.0.0.1", port: Int(port)) }
    func path() throws(AtomError) -> URLPath { try URLPath(AirlineServer.tokenPath) }
}
