import AtomNetworking
import Foundation

/// A server's word that a token isn't enough for a request: the scopes that it needs (RFC 6750 §3.1), or how the
/// person has to sign in (RFC 9470 §3).
///
/// ``SignIn/signIn(to:for:)`` signs in for it, and ``SignIn/withStepUp(of:scopes:_:)`` does all of it.
public struct ScopeChallenge: Sendable {
    /// What tells one from others.
    struct Demand: Hashable, Sendable {
        let scopes: Set<String>
        let parameters: [String]
        /// Of whose request it is: what one person has declined, another may want.
        let session: String
    }

    /// The scopes; empty if another way to sign in is asked for, or if the server doesn't say which scopes it wants.
    public var scopes: [String]

    /// The parameters of RFC 9470, for the authorization request.
    let parameters: [QueryItem]
    /// The response that says so.
    let response: AtomResponse

    var demand: Demand {
        Demand(
            scopes: Set(scopes), parameters: parameters.map { "\($0.name)=\($0.value)" }, session: response.sessionMark)
    }

    /// Reads it from the error of a request; `nil` if that is about something else.
    public init?(_ error: AtomError) {
        guard case .response(let response) = error, [401, 403].contains(response.statusCode) else { return nil }
        let challenge = response.challenges.first { challenge in
            guard ["bearer", "dpop"].contains(challenge.scheme) else { return false }
            return ["insufficient_scope", "insufficient_user_authentication"].contains(challenge["error"])
        }
        guard let challenge else { return nil }
        self.response = response
        scopes = challenge.scope?.split(separator: " ").map(String.init) ?? []
        parameters = ["acr_values", "max_age"].compactMap { name in
            challenge[name].map { QueryItem(name: name, value: $0) }
        }
    }

    /// Whether a token with these scopes is enough.
    func isSatisfied(by scopes: [String]) -> Bool {
        parameters.isEmpty && !self.scopes.isEmpty && Set(self.scopes).isSubset(of: scopes)
    }

    /// Whether it says what is wanted.
    var isComplete: Bool { !scopes.isEmpty || !parameters.isEmpty }
}

extension ScopeChallenge: Redacted {
    /// The scopes.
    public var description: String { "ScopeChallenge(\(scopes.joined(separator: " ")))" }
}
