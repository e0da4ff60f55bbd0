import AsyncHTTPClient
import AtomNetworking
import Foundation
import NIOCore
import NIOHTTP1
import Tracing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests with AsyncHTTPClient, for servers.
///
/// ```swift
/// var configuration = ServiceConfiguration()
/// configuration.transport = AsyncHTTPClientTransport()
/// let atom = Atom(serviceConfiguration: configuration)
/// ```
///
/// It creates its own clients and doesn't accept an existing `HTTPClient`: a client that follows redirects would send
/// the app's header fields to another server, and a client doesn't expose its configuration. Share the event loops
/// instead.
///
/// Connections are kept while the transport exists, or an exchange that it has started. You don't have to shut it down;
/// ``shutdown()`` closes the connections at once.
public final class AsyncHTTPClientTransport: Transport {
    /// The number of concurrent requests to one origin.
    ///
    /// A signed request must not wait inside a pool. A stream that is read and a download aren't among them.
    public var exchangesPerOrigin: Int? { connectionsPerOrigin }

    private let connectionsPerOrigin: Int
    private let configuration: HTTPClient.Configuration
    private let eventLoopGroup: any EventLoopGroup
    private let pool: OwnedClient
    private let starts = StartOrder()
    private let loops: LoopShares

    /// Creates a transport with its own connections.
    ///
    /// - Parameters:
    ///   - connectionsPerOrigin: The number of connections to one origin, 32 by
    ///     default, without those of streams and downloads. Values below 1 count as 1.
    ///   - configuration: TLS, proxy, HTTP version, name resolution, and how
    ///     long idle connections are kept. The transport overrides the settings
    ///     for what it must not do or what the service does itself: redirects
    ///     are never followed, there is no timeout for reading or writing,
    ///     failed connections aren't retried, and content codings are decoded.
    ///     `timeout.connect` is the time for one attempt to connect, 30 seconds
    ///     if it is `nil`; another attempt follows while the request has time
    ///     left.
    ///   - eventLoopGroup: The event loops of the exchanges; by default those
    ///     that AsyncHTTPClient shares in the process. The group must outlive
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
        // The service limits its exchanges, but a stream that is read and a download need a connection beside them.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1_000
        if case .disabled = configuration.decompression {
            // The service limits what it collects, and only requested data is read.
            configuration.decompression = .enabled(limit: .none)
        }
        // No tracer uses these spans, but AsyncHTTPClient describes each request for them.
        if configuration.tracing.tracer is NoOpTracer { configuration.tracing.tracer = nil }
        self.configuration = configuration
        loops = LoopShares(eventLoopGroup, connections: self.connectionsPerOrigin, starts: starts)
        pool = OwnedClient(HTTPClient(eventLoopGroup: eventLoopGroup, configuration: configuration))
    }

    /// Closes all connections now, including busy ones, and returns when they are closed.
    ///
    /// Running exchanges fail, and so do exchanges that are started later. Call it before you shut down your own event
    /// loops; otherwise it is enough to release the transport. Calling it again does nothing.
    public func shutdown() async {
        await pool.shutdown()
    }

    /// Passes the request to AsyncHTTPClient.
    public func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        let clientRequest: HTTPClient.Request
        let stream = request.body.flatMap { RequestStream($0) }
        do {
            clientRequest = try HTTPClient.Request(request, stream: stream)
        } catch {
            receive(.failed(ClientFailure(error: error, stage: .unsent).transportFailure))
            return EndedExchange()
        }
        // A client has its own connections: those of a new client have not been used and are not in use.
        let client =
            request.needsFreshConnection && !pool.isShutDown
            ? OwnedClient(HTTPClient(eventLoopGroup: eventLoopGroup, configuration: configuration)) : pool
        let exchange = ClientExchange(
            clientRequest, client: client, loops: loops, idleTimeout: request.idleTimeout,
            mayChangeConnection: !request.needsFreshConnection, stream: stream, receive: receive)
        starts.start(exchange)
        return exchange
    }
}

/// The result of `start` when nothing could be started.
private struct EndedExchange: TransportExchange {
    func cancel() {}
}

extension HTTPClient.Request {
    /// The request in AsyncHTTPClient's form.
    fileprivate init(_ request: TransportRequest, stream: RequestStream?) throws {
        var fields: [(String, String)] = []
        fields.reserveCapacity(request.headerFields.count + 3)
        fields.append(("Host", request.target.hostField))
        for field in request.headerFields { fields.append((field.name, field.value)) }
        if !request.headerFields.contains("Accept-Encoding") { fields.append(("Accept-Encoding", "gzip, deflate")) }
        try self.init(
            url: request.target.absoluteString, method: HTTPMethod(rawValue: request.method),
            headers: HTTPHeaders(fields),
            body: stream?.clientBody ?? request.body?.data.map { .byteBuffer(ByteBuffer(bytes: $0)) })
    }
}

extension TargetURL {
    /// The host, and the port unless it is the scheme's default port (RFC 9110 §7.2).
    fileprivate var hostField: String {
        switch (scheme, port) {
        case (.http, 80), (.https, 443): host
        default: "\(host):\(port)"
        }
    }
}
