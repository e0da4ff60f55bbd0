import AtomNetworking
import Foundation

extension Flight: Model {}

/// The SDK with a session of bearer tokens and otherwise default settings.
public final class AtomClient: Client {
    private let atom: Atom
    private let endpoint: FlightEndpoint
    private let tokens: Tokens
    fileprivate let asked = Count()

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
    ///   - origins: To how many servers the requests go in turn, which are names of this machine.
    ///   - configure: Changes the configuration.
    public init(
        _ place: Place, session: Session = .good, transport: (any Transport)? = nil, cache: ResponseCache? = nil,
        query: Query = .none, origins: Int = 1, configure: (inout ServiceConfiguration) -> Void = { _ in }
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
        endpoint = FlightEndpoint(
            scheme: scheme, place: place, requiresAuthorization: session != .unsigned,
            caching: cache != nil ? .whileCacheFresh : .disabled, query: query, origins: origins)
    }

    /// How many refreshes have succeeded.
    public var refreshes: Int { tokens.writes }

    /// Sends one request.
    public func flight() async throws { _ = try await atom.enqueue(endpoint).resume(expecting: Flight.self) }

    fileprivate func cachedFlight() async throws {
        let flight = try await atom.enqueue(endpoint).resume(decoding: Flight.self)
        if flight.response.source == .server { asked.increment() }
    }

    fileprivate func data() async throws { _ = try await atom.enqueue(endpoint).resume(expecting: Data.self) }

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

/// The same with a cache: a client of its own, as another branch would take memory in each waiting call.
public struct AtomCachedClient: Client {
    private let client: AtomClient

    /// Makes a client.
    public init(_ place: Place, cache: ResponseCache) throws { client = try AtomClient(place, cache: cache) }

    /// How many responses were the server's.
    public var responsesOfServer: Int { client.asked.value }

    /// Sends one request.
    public func flight() async throws { try await client.cachedFlight() }
}

/// The same for bytes that aren't decoded.
public struct AtomDataClient: Client {
    private let client: AtomClient

    /// Makes a client.
    public init(_ place: Place) throws { client = try AtomClient(place) }

    /// Sends one request.
    public func flight() async throws { try await client.data() }
}

/// A reference, as small as an app's endpoints are: in each waiting call there is room for two.
private final class FlightEndpoint: Requestable {
    private let scheme: BaseURLScheme
    private let place: Place
    let requiresAuthorization: Bool
    let caching: ResponseCaching
    private let query: AtomClient.Query
    private let origins: Int
    private let sent = Count()

    init(
        scheme: BaseURLScheme, place: Place, requiresAuthorization: Bool, caching: ResponseCaching,
        query: AtomClient.Query, origins: Int
    ) {
        self.scheme = scheme
        self.place = place
        self.requiresAuthorization = requiresAuthorization
        self.caching = caching
        self.query = query
        self.origins = origins
    }

    var queryItems: [QueryItem]? {
        guard query != .none else { return nil }
        if query == .other { sent.increment() }
        return ["page": 100_000 + sent.value]
    }

    func baseURL() throws(AtomError) -> BaseURL {
        guard origins > 1 else { return try BaseURL(scheme: scheme, host: place.host, port: place.port) }
        sent.increment()
        // RFC 6761 §6.3.
        return try BaseURL(scheme: scheme, host: "a\(sent.value % origins).localhost", port: place.port)
    }
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
