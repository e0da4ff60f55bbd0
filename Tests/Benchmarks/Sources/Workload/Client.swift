import Foundation

/// Something that asks for a flight: a bearer-signed request whose answer is
/// decoded.
public protocol Client: Sendable {
    /// Sends one request and throws unless a flight comes back.
    func flight() async throws
}

/// What the server answers with: 193 bytes of JSON.
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

/// The token that every client signs with.
public let accessToken = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwiZXhwIjo0MTAyNDQ0ODAwfQ.c2lnbmF0dXJl"

/// Where the server listens, and what is asked for.
public struct Place: Sendable {
    let port: Int
    let path: String

    init(port: Int, path: String) {
        self.port = port
        self.path = path
    }

    /// The whole URL.
    public var string: String { "http://127.0.0.1:\(port)\(path)" }
}

/// An answer that no client should have got.
public struct UnexpectedAnswer: Error {
    let status: Int

    /// Makes one of a status.
    public init(status: Int) {
        self.status = status
    }
}
