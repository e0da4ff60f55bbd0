import Foundation

/// Which servers multiplex, as a session's metrics told, which come at the end of an exchange.
struct NegotiatedProtocols: Sendable {
    /// What servers expect of one client over HTTP/1.1.
    static let connections = 6
    /// What servers usually allow over one connection (RFC 9113 §6.5.2).
    static let streams = 100

    /// So many servers are remembered.
    private static let maximumCount = 1_000

    private var multiplexing: [String: Bool] = [:]

    /// - Parameter name: The protocol in the form of ALPN (RFC 7301), such as `h2`; `nil` if there was no connection.
    mutating func note(_ name: String?, of url: URL?) {
        guard let name, let server = Self.server(of: url) else { return }
        if multiplexing[server] == nil, multiplexing.count >= Self.maximumCount { multiplexing = [:] }
        multiplexing[server] = name.hasPrefix("h2") || name.hasPrefix("h3")
    }

    /// How many exchanges with the server make sense at once, if known.
    func exchanges(with url: URL?) -> Int? {
        Self.server(of: url).flatMap { multiplexing[$0] }.map { $0 ? Self.streams : Self.connections }
    }

    private static func server(of url: URL?) -> String? {
        guard let url, let host = url.host else { return nil }
        return "\(url.scheme ?? "")://\(host.lowercased()):\(url.port ?? -1)"
    }
}
