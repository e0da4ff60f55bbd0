import AtomNetworking
import Foundation

extension Flight: Model {}

/// The SDK with a session of bearer tokens and otherwise default settings.
public final class AtomClient: Client {
    private let atom: Atom
    private let endpoint: FlightEndpoint
    private let tokens: Tokens
    private let isCached: Bool
    private let asked = Count()
    private let sent = Count()

    /// The session's token before the first request.
    public enum Session: Sendable {
        /// A token with a long lifetime.
        case good
        /// A token that has expired.
        case expired
        /// Requests aren't signed.
        case unsigned
    }

    /// The query of each request's URL.
    public enum Query: Sendable {
        case none
        /// The same for all requests.
        case same
        /// Another one for each request, as long as the others.
        case other
    }

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - transport: The transport; the SDK's default if it is `nil`.
    ///   - cache: Keeps the responses, which are used as long as they are fresh.
    ///   - query: What each URL has after its path.
    ///   - configure: Changes the configuration.
    public init(
        _ place: Place, session: Session = .good, transport: (any Transport)? = nil, cache: ResponseCache? = nil,
        query: Query = .none, configure: (inout ServiceConfiguration) -> Void = { _ in }
    ) throws {
        let scheme: BaseURLScheme = place.isSecure ? .https : .http
        let authorization = try AuthorizationEndpoint(
            scheme: scheme, host: place.host, port: place.port, path: "/token")
        tokens = Tokens(
            TokenCredential(
                accessToken: accessToken, expiresAt: session == .expired ? .distantPast : Date() + 86_400,
                refreshToken: "R0"))
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(authorization, ClientCredential(id: "benchmark"), tokens))
        configuration.transport = transport
        configuration.cache = cache
        configuration.dispatchQueue = .global()
        configure(&configuration)
        atom = Atom(serviceConfiguration: configuration)
        isCached = cache != nil
        endpoint = FlightEndpoint(
            scheme: scheme, place: place, requiresAuthorization: session != .unsigned,
            caching: isCached ? .whileCacheFresh : .disabled, query: query, sent: sent)
    }

    /// How many refreshes have succeeded.
    public var refreshes: Int { tokens.writes }

    /// How many responses were the server's; `nil` without a cache.
    public var responsesOfServer: Int? { isCached ? asked.value : nil }

    /// Sends one request.
    public func flight() async throws {
        if isCached { return try await cachedFlight() }
        _ = try await atom.enqueue(endpoint).resume(expecting: Flight.self)
    }

    // Not inlined: it would reserve memory for the response in each waiting call.
    @inline(never)
    private func cachedFlight() async throws {
        let flight = try await atom.enqueue(endpoint).resume(decoding: Flight.self)
        if flight.response.source == .server { asked.increment() }
    }

    fileprivate func flight(completion: @escaping @Sendable (Bool) -> Void) {
        atom.enqueue(endpoint).resume(expecting: Flight.self) { result in
            if case .success = result { completion(true) } else { completion(false) }
        }
    }
}

/// The same with completions.
public final class AtomCompletionClient: CompletionClient {
    private let client: AtomClient

    /// Makes a client.
    public init(_ place: Place) throws { client = try AtomClient(place) }

    /// Sends one request.
    public func flight() async throws { try await client.flight() }

    /// Sends one request and tells whether the response is a flight.
    public func flight(completion: @escaping @Sendable (Bool) -> Void) { client.flight(completion: completion) }
}

private struct FlightEndpoint: Requestable {
    let scheme: BaseURLScheme
    let place: Place
    let requiresAuthorization: Bool
    let caching: ResponseCaching
    let query: AtomClient.Query
    let sent: Count

    var queryItems: [QueryItem]? {
        guard query != .none else { return nil }
        if query == .other { sent.increment() }
        return ["page": 100_000 + sent.value]
    }

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(scheme: scheme, host: place.host, port: place.port) }
    func path() throws(AtomError) -> URLPath { try URLPath(place.path) }
}

private final class Count: @unchecked Sendable {
    private let lock = NSLock()
    // Accessed only under `lock`.
    private var count = 0

    var value: Int { lock.withLock { count } }
    func increment() { lock.withLock { count += 1 } }
}

private final class Tokens: TokenCredentialWritable, @unchecked Sendable {
    // Both are accessed only under `lock`.
    private let lock = NSLock()
    private var credential: TokenCredential
    private var count = 0

    init(_ credential: TokenCredential) {
        self.credential = credential
    }

    var tokenCredential: TokenCredential {
        get { lock.withLock { credential } }
        set {
            lock.withLock {
                credential = newValue
                count += 1
            }
        }
    }

    /// The SDK writes once after each refresh.
    var writes: Int { lock.withLock { count } }
}
