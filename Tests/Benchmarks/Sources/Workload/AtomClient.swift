import AtomNetworking
import Foundation

extension Flight: Model {}

/// The SDK with a session of bearer tokens and otherwise default settings.
public final class AtomClient: Client {
    private let atom: Atom
    private let endpoint: FlightEndpoint
    private let tokens: Tokens
    private let transport: RefreshCountingTransport

    /// The session's token before the first request.
    public enum Session: Sendable {
        /// A token with a long lifetime.
        case good
        /// A token that has expired.
        case expired
        /// Requests aren't signed.
        case unsigned
    }

    /// Makes a client.
    ///
    /// - Parameter transport: The transport; URLSession if it is `nil`.
    public init(_ place: Place, session: Session = .good, transport: (any Transport)? = nil) throws {
        let authorization = try AuthorizationEndpoint(
            scheme: .http, host: "127.0.0.1", path: "/token", port: place.port)
        tokens = Tokens(
            TokenCredential(
                accessToken: accessToken, expiresAt: session == .expired ? .distantPast : Date() + 86_400,
                refreshToken: "R0"))
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(authorization, ClientCredential(id: "benchmark"), tokens))
        self.transport = RefreshCountingTransport(transport ?? URLSessionTransport())
        // Counting costs a call for each request, so only this case counts.
        configuration.transport = session == .expired ? self.transport : transport
        atom = Atom(serviceConfiguration: configuration)
        endpoint = FlightEndpoint(place: place, requiresAuthorization: session != .unsigned)
    }

    /// How many refreshes have been sent, if the token had expired.
    public var refreshes: Int { transport.refreshes }

    /// Sends one request.
    public func flight() async throws {
        _ = try await atom.enqueue(endpoint).resume(expecting: Flight.self)
    }
}

private struct FlightEndpoint: Requestable {
    let place: Place
    let requiresAuthorization: Bool

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(scheme: .http, host: "127.0.0.1", port: place.port) }
    func path() throws(AtomError) -> URLPath { try URLPath(place.path) }
}

private final class Tokens: TokenCredentialWritable, @unchecked Sendable {
    // Accessed only under `lock`.
    private let lock = NSLock()
    private var credential: TokenCredential

    init(_ credential: TokenCredential) {
        self.credential = credential
    }

    var tokenCredential: TokenCredential {
        get { lock.withLock { credential } }
        set { lock.withLock { credential = newValue } }
    }
}

private final class RefreshCountingTransport: Transport, @unchecked Sendable {
    private let transport: any Transport
    // Accessed only under `lock`.
    private let lock = NSLock()
    private var count = 0

    init(_ transport: any Transport) {
        self.transport = transport
    }

    var refreshes: Int { lock.withLock { count } }

    var exchangesPerOrigin: Int? { transport.exchangesPerOrigin }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        if request.method == "POST" { lock.withLock { count += 1 } }
        return transport.start(request, receive: receive)
    }
}
