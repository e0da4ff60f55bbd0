import AsyncHTTPClient
import AtomNetworking
import Foundation
import NIOCore
import NIOHTTP1
import Tracing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Carries requests with AsyncHTTPClient, for servers.
///
/// ```swift
/// var configuration = ServiceConfiguration()
/// configuration.transport = AsyncHTTPClientTransport()
/// let atom = Atom(serviceConfiguration: configuration)
/// ```
///
/// It makes clients of its own and takes no existing `HTTPClient`: one that
/// follows redirects would take the app's header fields to another server, and
/// a client doesn't tell what it was configured to do. Share the event loops
/// instead.
///
/// Connections are kept as long as the transport is, or an exchange that it has
/// started; nobody has to shut it down. ``shutdown()`` does so at once.
public final class AsyncHTTPClientTransport: Transport {
    /// How many connections to one origin are open at once over HTTP/1.1, and
    /// how many requests are on their way to it, whatever the version: a
    /// request that has been signed must not wait inside a pool.
    public var exchangesPerOrigin: Int? { connectionsPerOrigin }

    private let connectionsPerOrigin: Int
    private let configuration: HTTPClient.Configuration
    private let eventLoopGroup: any EventLoopGroup
    private let pool: OwnedClient
    private let starts = StartOrder()
    private let loops: LoopShares

    /// Makes a transport with connections of its own.
    ///
    /// - Parameters:
    ///   - connectionsPerOrigin: How many connections to one origin are open at
    ///     once, 32 by default. Values below 1 are 1.
    ///   - configuration: TLS, proxy, HTTP version, name resolution, and how
    ///     long idle connections are kept. What a transport must not do, or
    ///     the service does itself, is set over: redirects are never followed,
    ///     there is no timeout for reading or writing, failed connections
    ///     aren't tried again, and content codings are decoded.
    ///     `timeout.connect` is how long one attempt to connect may take, 30
    ///     seconds if it is `nil`; the next one follows as long as the request
    ///     has time.
    ///   - eventLoopGroup: Where the exchanges run; by default on the event
    ///     loops that AsyncHTTPClient shares in the process. It must outlive
    ///     the transport.
    public init(
        connectionsPerOrigin: Int = 32, configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
        eventLoopGroup: any EventLoopGroup = HTTPClient.defaultEventLoopGroup
    ) {
        self.connectionsPerOrigin = max(connectionsPerOrigin, 1)
        self.eventLoopGroup = eventLoopGroup
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = configuration.timeout.connect ?? .seconds(30)
        configuration.timeout.read = nil
        configuration.timeout.write = nil
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = self.connectionsPerOrigin
        if case .disabled = configuration.decompression {
            // The service limits what it collects, and nothing is read that hasn't been asked for.
            configuration.decompression = .enabled(limit: .none)
        }
        // Nobody sees the spans that it makes, and AsyncHTTPClient describes each request to them.
        if configuration.tracing.tracer is NoOpTracer { configuration.tracing.tracer = nil }
        self.configuration = configuration
        loops = LoopShares(eventLoopGroup, connections: self.connectionsPerOrigin, starts: starts)
        pool = OwnedClient(HTTPClient(eventLoopGroup: eventLoopGroup, configuration: configuration))
    }

    /// Closes all connections now, busy ones too, and returns when they are
    /// closed.
    ///
    /// Running exchanges fail, and so does whatever is started from then on.
    /// Wanted before event loops of one's own are shut down; else it is enough
    /// to let go of the transport. Calling it again does nothing.
    public func shutdown() async {
        await pool.shutdown()
    }

    /// Hands the request to AsyncHTTPClient.
    public func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        let clientRequest: HTTPClient.Request
        do {
            clientRequest = try HTTPClient.Request(request)
        } catch {
            receive(.failed(ClientFailure(error: error, stage: .unsent).transportFailure))
            return EndedExchange()
        }
        // Connections belong to a client: those of a new one have not been used and are not in use.
        let client =
            request.needsFreshConnection && !pool.isShutDown
            ? OwnedClient(HTTPClient(eventLoopGroup: eventLoopGroup, configuration: configuration)) : pool
        let exchange = ClientExchange(
            clientRequest, client: client, loops: loops, idleTimeout: request.idleTimeout,
            mayChangeConnection: !request.needsFreshConnection, receive: receive)
        starts.start(exchange)
        return exchange
    }
}

/// What `start` returns when there was nothing to start.
private struct EndedExchange: TransportExchange {
    func cancel() {}
}

extension HTTPClient.Request {
    /// The same request as AsyncHTTPClient takes it.
    fileprivate init(_ request: TransportRequest) throws {
        var fields: [(String, String)] = []
        fields.reserveCapacity(request.headerFields.count + 3)
        fields.append(("Host", request.target.hostField))
        for field in request.headerFields { fields.append((field.name, field.value)) }
        if !request.headerFields.contains("Accept-Encoding") { fields.append(("Accept-Encoding", "gzip, deflate")) }
        try self.init(
            url: request.target.absoluteString, method: HTTPMethod(rawValue: request.method),
            headers: HTTPHeaders(fields), body: request.body.map { .data($0) })
    }
}

extension TargetURL {
    /// The host, and the port unless it is the scheme's own (RFC 9110 §7.2).
    fileprivate var hostField: String {
        switch (scheme, port) {
        case (.http, 80), (.https, 443): host
        default: "\(host):\(port)"
        }
    }
}
