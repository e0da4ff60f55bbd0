import AirlineServer
import AtomNetworking
import Foundation

/// Where an airline's server is.
///
/// An app would name its one host in `baseURL()`; here the server has another
/// port each time, so endpoints carry it with them.
struct Airline: Sendable, Hashable {
    let base: BaseURL

    init(base: BaseURL) {
        self.base = base
    }

    init(_ server: AirlineServer) throws(AtomError) {
        base = try BaseURL(scheme: .http, host: server.host, port: Int(server.port))
    }

    /// The token endpoint, for sessions.
    func authorizationEndpoint() throws(AtomError) -> AuthorizationEndpoint {
        try AuthorizationEndpoint(
            scheme: base.scheme, host: base.host, path: AirlineServer.tokenPath, port: base.port)
    }

    /// A decoder for the airline's models, whose dates are ISO 8601.
    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return decoder
    }
}
