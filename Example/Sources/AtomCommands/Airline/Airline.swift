import AirlineServer
import AtomNetworking
import Foundation

/// The address of an airline's server.
///
/// An app would name its only host in `baseURL()`. Here the port of the server
/// varies, so endpoints contain the address.
struct Airline: Sendable, Hashable {
    let base: BaseURL

    init(base: BaseURL) {
        self.base = base
    }

    init(_ server: AirlineServer) throws(AtomError) {
        base = try BaseURL(scheme: .http, host: server.host, port: Int(server.port))
    }

    /// The server at a URL that a user types; the path is ignored.
    init(url: String) throws(AtomError) {
        let url = try RequestURL(url)
        base = try BaseURL(scheme: url.scheme, host: url.host, port: url.port)
    }

    /// `http://127.0.0.1:8080`, as a user types it.
    var url: String {
        "\(base.scheme.rawValue)://\(base.host)" + (base.port.map { ":\($0)" } ?? "")
    }

    /// Whether a request to that base URL goes to this server (RFC 6454 §4).
    func isAtOrigin(of other: BaseURL) -> Bool {
        func port(of base: BaseURL) -> Int { base.port ?? (base.scheme == .https ? 443 : 80) }
        return base.scheme == other.scheme && base.host.lowercased() == other.host.lowercased()
            && port(of: base) == port(of: other)
    }

    /// The token endpoint, for sessions.
    func authorizationEndpoint() throws(AtomError) -> AuthorizationEndpoint {
        try AuthorizationEndpoint(
            scheme: base.scheme, host: base.host, port: base.port, path: AirlineServer.tokenPath)
    }

    /// The revocation endpoint.
    func revocationEndpoint() throws(AtomError) -> AuthorizationEndpoint {
        try AuthorizationEndpoint(
            scheme: base.scheme, host: base.host, port: base.port, path: AirlineServer.revocationPath)
    }

    /// A decoder for the airline's models, whose dates are ISO 8601.
    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}
