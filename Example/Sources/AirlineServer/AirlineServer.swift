import AtomNetworkingTesting
import Foundation

/// An airline's API and its OAuth 2.0 authorization server, on 127.0.0.1.
///
/// Refresh tokens rotate, and one that is used twice ends its session. Switches
/// let tokens expire, and ``counters`` contains what the server counted.
///
/// ```swift
/// let server = try await AirlineServer.start()
/// print(server.baseURL)  // http://127.0.0.1:40123
/// server.expireAccessTokens()
/// await server.stop()
/// ```
public final class AirlineServer: Sendable {
    /// Passwords by user name.
    static let users = ["ada": "lovelace", "grace": "hopper"]

    /// Who has typed a name and a password into a form.
    static func user(of request: LoopbackServer.Request) -> String? {
        guard let user = request.form("username"), let password = users[user], request.form("password") == password
        else { return nil }
        return user
    }

    /// A larger request body gets a 413.
    ///
    /// The server keeps what it has received until it stops.
    private static let bodyLimit: Int64 = 100_000_000

    private let server: LoopbackServer
    private let state: Locked<ServerState>

    /// Starts a server, which accepts connections when this returns.
    ///
    /// - Parameters:
    ///   - port: The port to listen on; 0 chooses a free one.
    ///   - policy: The lifetimes and the rotation of tokens.
    ///   - log: Gets a line for each response.
    /// - Throws: The system's error if the port is not available.
    public static func start(
        port: UInt16 = 0, policy: TokenPolicy = TokenPolicy(), log: (@Sendable (String) -> Void)? = nil
    ) async throws -> AirlineServer {
        try AirlineServer(port, policy, log)
    }

    /// Runs a body with a server, and stops the server afterwards.
    public static func run<Value>(
        _ policy: TokenPolicy = TokenPolicy(), _ body: (AirlineServer) async throws -> Value
    ) async throws -> Value {
        let server = try await start(policy: policy)
        defer { server.server.stop() }
        return try await body(server)
    }

    private init(_ port: UInt16, _ policy: TokenPolicy, _ log: (@Sendable (String) -> Void)?) throws {
        let state = Locked(ServerState(policy: policy))
        self.state = state
        let routes = [
            FlightEndpoints(state: state).routes, AccountEndpoints(state: state).routes,
            TransferEndpoints(state: state).routes, GateEndpoints(state: state).routes,
            MetadataEndpoints(state: state).routes, AuthorizationEndpoints(state: state).routes,
            DeviceEndpoints(state: state).routes, TokenEndpoints(state: state).routes,
            DiagnosticEndpoints().routes, AdminEndpoints(state: state).routes,
        ]
        let endpoints: [String: Endpoint] = routes.reduce(into: [:]) { all, part in all.merge(part) { $1 } }
        let answer = LoopbackServer.routes(
            endpoints.mapValues { endpoint in
                { request in
                    do throws(Problem) { return try endpoint(request) } catch { return error.response }
                }
            })
        server = try LoopbackServer(port: Int(port), maximumBodyLength: Self.bodyLimit) {
            state.withLock { $0.counters.requests += 1 }
            let response = answer($0)
            log?("\($0.method) \($0.target) \(response.statusCode)")
            return response
        }
        let issuer = baseURL
        state.withLock { $0.issuer = issuer }
    }

    /// Closes the port and all connections.
    public func stop() async { server.stop() }

    // MARK: Its address

    /// The port that the server listens on.
    public var port: UInt16 { UInt16(server.port) }

    /// The address that the server listens on.
    public var host: String { server.host }

    /// `http://127.0.0.1:` and the port.
    public var baseURL: String { "http://\(host):\(port)" }

    /// The path of the token endpoint.
    public static let tokenPath = "/oauth/token"

    /// The path of the revocation endpoint (RFC 7009).
    public static let revocationPath = "/oauth/revoke"

    // MARK: Observation and switches

    /// The server's counters.
    public var counters: Counters { state.withLock(\.counters) }

    /// Sets all counters to zero; tokens, bookings and switches stay.
    public func resetCounters() { state.withLock { $0.counters = Counters() } }

    /// Changes the policy for tokens that are issued from now on.
    public func updatePolicy(_ change: (inout TokenPolicy) -> Void) { state.withLock { change(&$0.policy) } }

    /// Changes what happens to downloads.
    public func updateTransfers(_ change: (inout TransferFaults) -> Void) { state.withLock { change(&$0.transfers) } }

    /// Lets all access tokens expire now, without telling the clients.
    public func expireAccessTokens() { state.withLock { $0.ledger.endAccessTokens() } }

    /// Ends all sessions, with their access and refresh tokens.
    public func endSessions() { state.withLock { $0.endSessions() } }
}

/// Answers a request.
typealias Endpoint = @Sendable (LoopbackServer.Request) throws(Problem) -> LoopbackServer.Response
