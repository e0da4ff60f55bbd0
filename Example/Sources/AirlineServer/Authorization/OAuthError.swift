/// An error response of the token endpoint (RFC 6749 §5.2).
struct OAuthError: Error {
    let code: Code
    let description: String
    /// Whether the client used the `Authorization` header, so that the response
    /// needs a challenge.
    var isChallenge = false

    init(_ code: Code, _ description: String, isChallenge: Bool = false) {
        self.code = code
        self.description = description
        self.isChallenge = isChallenge
    }

    enum Code: String {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidScope = "invalid_scope"
    }

    var reply: Reply {
        let body = ["error": code.rawValue, "error_description": description]
        var reply = Reply.json(body, status: code == .invalidClient ? 401 : 400).uncacheable()
        if isChallenge {
            reply.headers.append(("WWW-Authenticate", "Basic realm=\"airline tokens\", charset=\"UTF-8\""))
        }
        reply.note = "\(code.rawValue): \(description)"
        return reply
    }
}
