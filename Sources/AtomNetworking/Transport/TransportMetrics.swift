/// What a transport has measured of one exchange.
///
/// A transport reports it with ``TransportEvent/measured(_:)`` if
/// ``TransportRequest/wantsMetrics`` is set. It leaves out what it doesn't know.
public struct TransportMetrics: Sendable, Hashable {
    /// The protocol by its ALPN identifier (RFC 7301): `http/1.1`, `h2`, `h3`; also `http/1.0`.
    public var networkProtocol: String?
    /// Whether the connection had been used for an earlier exchange.
    public var isConnectionReused: Bool?
    /// The address at the other end of the connection: the server's or a proxy's, without a port.
    public var remoteAddress: String?
    /// The port at the other end of the connection.
    public var remotePort: Int?
    /// The time until the name had an address; `nil` for a connection that was used again.
    public var domainLookup: Duration?
    /// The time that it took to connect, without TLS; `nil` for a connection that was used again.
    public var connect: Duration?
    /// The time of the TLS handshake; `nil` without one.
    public var secureConnection: Duration?
    /// The time from the first byte of the request to the first byte of the response.
    public var waiting: Duration?
    /// The time from the first to the last byte of the response.
    public var receiving: Duration?

    /// Creates a measurement in which nothing is known.
    public init() {}

    /// Sets the times from when each part began and ended, by any clock.
    ///
    /// - Parameter connect: With the TLS handshake.
    mutating func measure(
        domainLookup: (start: Duration?, end: Duration?), connect: (start: Duration?, end: Duration?),
        secureConnection: (start: Duration?, end: Duration?), requestStart: Duration?,
        response: (start: Duration?, end: Duration?)
    ) {
        func span(_ start: Duration?, _ end: Duration?) -> Duration? {
            guard let start, let end else { return nil }
            return max(end - start, .zero)
        }
        self.domainLookup = span(domainLookup.start, domainLookup.end)
        self.connect = span(connect.start, secureConnection.start ?? connect.end)
        self.secureConnection = span(secureConnection.start, secureConnection.end)
        waiting = span(requestStart, response.start)
        receiving = span(response.start, response.end)
    }
}
