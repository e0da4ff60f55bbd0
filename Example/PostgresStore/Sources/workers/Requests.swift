import AirlineServer
import AtomNetworking

/// The sign-in: user name and password for tokens.
struct SignIn: Requestable {
    let port: UInt16

    var method: HTTPMethod { .post }
    var requiresAuthorization: Bool { false }

    var body: RequestBody? {
        .form([
            "grant_type": "password", "username": "ada", "password": "lovelace",
            "client_id": OAuthClient.confidentialExample.id,
            "client_secret": OAuthClient.confidentialExample.secret ?? "",
        ])
    }

    func baseURL() throws(AtomError) -> BaseURL {
        try BaseURL(scheme: .http, host: "127.0.0.1", port: Int(port))
    }

    func path() throws(AtomError) -> URLPath { try URLPath(AirlineServer.tokenPath) }
}

/// A member's miles; the response repeats the number.
struct MilesRequest: Requestable {
    let port: UInt16
    let number: String

    var queryItems: [QueryItem]? { ["number": number, "milliseconds": "20"] }

    func baseURL() throws(AtomError) -> BaseURL {
        try BaseURL(scheme: .http, host: "127.0.0.1", port: Int(port))
    }

    func path() throws(AtomError) -> URLPath { try URLPath("/account/miles") }
}

/// The server's response to a ``MilesRequest``.
struct Miles: Model {
    let number: String?
}
