import AirlineServer
import FlyingFox
import Foundation

/// A clock that only the test advances.
final class ManualTime: @unchecked Sendable {
    private let lock = NSLock()
    private var seconds: TimeInterval = 0

    var clock: ServerClock {
        ServerClock { [self] in lock.withLock { seconds } }
    }

    func advance(by interval: TimeInterval) {
        lock.withLock { seconds += interval }
    }
}

struct Answer {
    let status: Int
    let headers: HTTPHeaders
    let body: Data

    func header(_ name: String) -> String? {
        headers[HTTPHeader(name)]
    }

    func json() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: body) as? [String: Any] ?? [:]
    }

    func text(_ key: String) throws -> String? {
        try json()[key] as? String
    }
}

struct Tokens {
    let access: String
    let refresh: String
}

/// A client with a new connection for each request.
struct AirlineClient {
    let server: AirlineServer

    func send(
        _ method: String,
        _ path: String,
        headers: [String: String] = [:],
        body: Data = Data()
    ) async throws -> Answer {
        let parts = path.split(separator: "?", maxSplits: 1)
        let query = (parts.count > 1 ? parts[1].split(separator: "&") : []).map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1).map(String.init)
            return HTTPRequest.QueryItem(name: halves[0], value: halves.count > 1 ? halves[1] : "")
        }
        let request = HTTPRequest(
            method: HTTPMethod(method),
            version: .http11,
            path: String(parts[0]),
            query: query,
            headers: Dictionary(uniqueKeysWithValues: headers.map { (HTTPHeader($0), $1) }),
            body: body
        )
        var client = HTTPClient()
        let response = try await client.sendHTTPRequest(request, to: .inet(ip4: server.host, port: server.port))
        return Answer(
            status: response.statusCode.code,
            headers: response.headers,
            body: try await response.bodyData
        )
    }

    func get(_ path: String, token: String? = nil) async throws -> Answer {
        try await send("GET", path, headers: token.map { ["Authorization": "Bearer \($0)"] } ?? [:])
    }

    func post(_ path: String, json: String = "{}", headers: [String: String] = [:]) async throws -> Answer {
        let headers = headers.merging(["Content-Type": "application/json"]) { given, _ in given }
        return try await send("POST", path, headers: headers, body: Data(json.utf8))
    }

    /// Posts a form that is already encoded.
    func post(_ path: String, form: String, headers: [String: String] = [:]) async throws -> Answer {
        let headers = headers.merging(["Content-Type": "application/x-www-form-urlencoded"]) { given, _ in given }
        return try await send("POST", path, headers: headers, body: Data(form.utf8))
    }
}

extension AirlineClient {
    static let credentials = "client_id=atom-example&client_secret=example-secret"

    /// Calls the token endpoint as the confidential example client.
    func token(_ form: String) async throws -> Answer {
        try await post("/oauth/token", form: "\(form)&\(Self.credentials)")
    }

    func refresh(_ token: String) async throws -> Answer {
        try await self.token("grant_type=refresh_token&refresh_token=\(token)")
    }

    func signIn() async throws -> Tokens {
        try await token("grant_type=password&username=ada&password=lovelace").tokens()
    }
}

extension Answer {
    struct NoTokens: Error {
        let status: Int
        let body: String
    }

    func tokens() throws -> Tokens {
        guard status == 200, let access = try text("access_token"), let refresh = try text("refresh_token") else {
            throw NoTokens(status: status, body: String(decoding: body, as: UTF8.self))
        }
        return Tokens(access: access, refresh: refresh)
    }
}

/// Runs a body with a server, and stops the server afterwards.
func withServer(
    _ configuration: ServerConfiguration = ServerConfiguration(),
    time: ManualTime? = nil,
    _ body: (AirlineServer, AirlineClient) async throws -> Void
) async throws {
    let server = try await AirlineServer.start(configuration, clock: time?.clock ?? .monotonic())
    do {
        try await body(server, AirlineClient(server: server))
    } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}

/// A configuration with a changed policy.
func configuration(_ change: (inout TokenPolicy) -> Void) -> ServerConfiguration {
    var configuration = ServerConfiguration()
    change(&configuration.policy)
    return configuration
}
