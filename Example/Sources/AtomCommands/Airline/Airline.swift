import AirlineServer
import AtomNetworking
import Foundation

/// The address of an airline's server.
///
/// An app would name its only host in `baseURL()`. Here the port of the server
/// varies, so endpoints contain the address.
struct Airline: Sendable {
    let base: BaseURL

    /// Whether a request to that base URL goes to this server (RFC 6454 §4).
    func isAtOrigin(of other: BaseURL) -> Bool {
        func port(of base: BaseURL) -> Int { base.port ?? (base.scheme == .https ? 443 : 80) }
        return base.scheme == other.scheme && base.host.lowercased() == other.host.lowercased()
            && port(of: base) == port(of: other)
    }

    /// The token endpoint, or another endpoint of the authorization server.
    func authorizationEndpoint(_ path: String = AirlineServer.tokenPath) throws(AtomError) -> AuthorizationEndpoint {
        try AuthorizationEndpoint(base: base, path: path)
    }

    /// A decoder for the airline's models, whose dates are ISO 8601.
    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}

extension Airline {
    init(_ server: AirlineServer) throws(AtomError) { base = try BaseURL(string: server.baseURL) }

    /// The server at a URL that a user types; the path is ignored.
    init(url: String) throws(AtomError) { base = try URLEndpoint(url).baseURL() }
}
