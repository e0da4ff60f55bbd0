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
            var busy = endpoint("/busy/desk")
            busy.queryItems = ["times": "2"]
            return try await atom().enqueue(busy).resume()
        }
        await step("use a revoked token") {
            var signIn = endpoint(AirlineServer.tokenPath)
            signIn.method = .post
            signIn.body = .form([
                "grant_type": "password", "username": "ada", "password": "lovelace",
                "client_id": RegisteredClient.publicExample.id,
            ])
            let tokens = try await Atom().enqueue(signIn).resume(expecting: TokenCredential.self)
            var account = endpoint("/account")
            account.requiresAuthorization = true
            server.expireAccessTokens()
            return try await signedIn(tokens).enqueue(account).resume()
        }
        await server.stop()
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
            ClientCredential(id: RegisteredClient.publicExample.id), InMemoryTokenCredentialStore(tokens))
        return Atom(serviceConfiguration: configuration)
    }

    private func endpoint(_ path: String) -> AirlineEndpoint { AirlineEndpoint(server: server.baseURL, text: path) }
}

private struct AirlineEndpoint: Requestable {
    let server: String
    let text: String
    var method = HTTPMethod.get
    var queryItems: [QueryItem]?
    var body: RequestBody?
    var requiresAuthorization = false

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(string: server) }
    func path() throws(AtomError) -> URLPath { try URLPath(text) }
}
