import AirlineServer
import AtomNetworking

/// A request to the airline's server.
struct AirlineEndpoint: Requestable {
    let port: UInt16
    let text: String
    var queryItems: [QueryItem]?
    var body: RequestBody?

    var method: HTTPMethod { body == nil ? .get : .post }
    var requiresAuthorization: Bool { body == nil }

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(scheme: .http, host: "127.0.0.1", port: Int(port)) }
    func path() throws(AtomError) -> URLPath { try URLPath(text) }

    /// User name and password for tokens.
    static func signIn(port: UInt16) -> AirlineEndpoint {
        let client = RegisteredClient.confidentialExample
        return AirlineEndpoint(
            port: port, text: AirlineServer.tokenPath,
            body: .form([
                "grant_type": "password", "username": "ada", "password": "lovelace", "client_id": client.id,
                "client_secret": client.secret,
            ]))
    }

    /// A member's miles; the response repeats the number.
    static func miles(port: UInt16, number: String) -> AirlineEndpoint {
        AirlineEndpoint(port: port, text: "/account/miles", queryItems: ["number": number, "milliseconds": "20"])
    }
}

/// The response for a member's miles.
struct Miles: Model {
    let number: String?
}
