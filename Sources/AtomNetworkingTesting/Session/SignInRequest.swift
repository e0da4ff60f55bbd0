import AtomNetworking

/// What a valid authorization request asks for (RFC 6749 §4.1.1).
struct SignInRequest: Sendable {
    let clientID: String
    let redirectURI: String
    let scopes: [String]
    let nonce: String?
    /// The key that the code is bound to (RFC 9449 §10).
    let thumbprint: String?
    var challenge: String

    init(_ parameters: [String: String]) throws(OAuthRefusal) {
        func value(_ name: String) throws(OAuthRefusal) -> String {
            guard let value = parameters[name], !value.isEmpty else {
                throw OAuthRefusal("invalid_request", "\(name) is missing")
            }
            return value
        }
        clientID = try value("client_id")
        redirectURI = try value("redirect_uri")
        guard try value("response_type") == "code" else { throw OAuthRefusal("unsupported_response_type") }
        // SHA-256 in base64url (RFC 7636 §4.2); without a method it would be `plain`.
        challenge = try value("code_challenge")
        guard parameters["code_challenge_method"] == "S256", challenge.utf8.count == 43 else {
            throw OAuthRefusal("invalid_request", "the code challenge isn't one of the method S256")
        }
        scopes = Self.scopes(parameters["scope"])
        nonce = parameters["nonce"]
        thumbprint = parameters["dpop_jkt"]
    }

    static func scopes(_ text: String?) -> [String] { (text ?? "").split(separator: " ").map(String.init) }

    /// Parameters by their names; only resources may come more than once (RFC 6749 §3.1, RFC 8707 §2).
    static func parameters(of items: [QueryItem]) throws(OAuthRefusal) -> [String: String] {
        var parameters: [String: String] = [:]
        for item in items where parameters.updateValue(item.value, forKey: item.name) != nil && item.name != "resource"
        {
            throw OAuthRefusal("invalid_request", "\(item.name) comes twice")
        }
        return parameters
    }

    /// Whether a verifier belongs to the challenge (RFC 7636 §4.1, §4.6).
    func isProved(by verifier: String) -> Bool {
        (43...128).contains(verifier.utf8.count) && JSONWebToken.digest(verifier) == challenge
    }
}
