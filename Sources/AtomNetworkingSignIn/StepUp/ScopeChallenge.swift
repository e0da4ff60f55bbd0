import AtomNetworking
import Foundation

/// A server's word that a token isn't enough: which scopes the request needs (RFC 6750 §3.1, `insufficient_scope`).
public struct ScopeChallenge: Sendable {
    /// The scopes.
    public let scopes: [String]
    /// The response that says so.
    let response: AtomResponse

    /// Reads it from the error of a request; `nil` if that is about something else.
    public init?(_ error: AtomError) {
        fatalError("to be written")
    }
}

extension ScopeChallenge: Redacted {}
