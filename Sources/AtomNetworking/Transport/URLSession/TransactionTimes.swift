import Foundation

/// When the parts of an exchange began and ended, as URLSession tells; `nil` for
/// what there was not.
struct TransactionTimes: Sendable {
    var domainLookup: (start: Date?, end: Date?) = (nil, nil)
    /// With the TLS handshake.
    var connect: (start: Date?, end: Date?) = (nil, nil)
    var secureConnection: (start: Date?, end: Date?) = (nil, nil)
    var requestStart: Date?
    var response: (start: Date?, end: Date?) = (nil, nil)
    var networkProtocol: String?
    var isConnectionReused = false
    var remoteAddress: String?
    var remotePort: Int?

    var metrics: TransportMetrics {
        var metrics = TransportMetrics()
        metrics.networkProtocol = networkProtocol
        // Without a connection it is neither.
        metrics.isConnectionReused = isConnectionReused ? true : connect.start.map { _ in false }
        metrics.remoteAddress = remoteAddress
        metrics.remotePort = remotePort
        metrics.domainLookup = Self.span(domainLookup)
        metrics.secureConnection = Self.span(secureConnection)
        metrics.connect = Self.span((connect.start, secureConnection.start ?? connect.end))
        metrics.waiting = Self.span((requestStart, response.start))
        metrics.receiving = Self.span(response)
        return metrics
    }

    private static func span(_ span: (start: Date?, end: Date?)) -> Duration? {
        guard let start = span.start, let end = span.end else { return nil }
        return .seconds(max(end.timeIntervalSince(start), 0))
    }
}

#if !canImport(FoundationNetworking)
    extension TransactionTimes {
        init(_ metrics: URLSessionTaskTransactionMetrics) {
            domainLookup = (metrics.domainLookupStartDate, metrics.domainLookupEndDate)
            connect = (metrics.connectStartDate, metrics.connectEndDate)
            secureConnection = (metrics.secureConnectionStartDate, metrics.secureConnectionEndDate)
            requestStart = metrics.requestStartDate
            response = (metrics.responseStartDate, metrics.responseEndDate)
            networkProtocol = metrics.networkProtocolName
            isConnectionReused = metrics.isReusedConnection
            remoteAddress = metrics.remoteAddress
            remotePort = metrics.remotePort
        }
    }
#endif
