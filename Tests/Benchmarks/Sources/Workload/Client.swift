import Foundation

/// A client that requests a flight, with a bearer-signed request whose response
/// is decoded.
public protocol Client: Sendable {
    /// Sends one request and throws unless the response is a flight.
    func flight() async throws
}

/// A client that needs no task for a request.
public protocol CompletionClient: Client {
    /// Sends one request and tells whether the response is a flight.
    func flight(completion: @escaping @Sendable (Bool) -> Void)
}

/// The server's response: 193 bytes of JSON.
public struct Flight: Codable, Sendable {
    let number: String
    let origin: String
    let destination: String
    let departure: String
    let gate: String
    let seats: Int
    let codeshares: [String]
    let isDelayed: Bool
}

/// The token of every client.
public let accessToken = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwiZXhwIjo0MTAyNDQ0ODAwfQ.c2lnbmF0dXJl"

/// The server and the path of the request.
public struct Place: Sendable {
    let isSecure: Bool
    let host: String
    let port: Int
    let path: String
    private let origin: String

    /// Makes a place; `nil` unless the origin is like `http://127.0.0.1:8080`.
    init?(origin: String, path: String) {
        guard let parts = URLComponents(string: origin), let scheme = parts.scheme, ["http", "https"].contains(scheme),
            let host = parts.host, let port = parts.port
        else { return nil }
        isSecure = scheme == "https"
        self.host = host
        self.port = port
        self.path = path
        self.origin = origin
    }

    /// The whole URL.
    public var string: String { "\(origin)\(path)" }
}

/// A response that no client should get.
public struct UnexpectedAnswer: Error {
    let status: Int

    /// Makes an error for a status.
    public init(status: Int) {
        self.status = status
    }
}
