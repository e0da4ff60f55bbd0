import AtomNetworkingTesting

/// An error of the authorization server (RFC 6749 §4.1.2.1, §5.2).
struct OAuthRefusal: Error {
    let code: String
    let description: String
    /// The value of `DPoP-Nonce` (RFC 9449 §8).
    var nonce: String?

    init(_ code: String, _ description: String, nonce: String? = nil) {
        self.code = code
        self.description = description
        self.nonce = nonce
    }

    /// As the response to a client.
    var response: LoopbackServer.Response {
        .encoding(
            ["error": code, "error_description": description], status: code == "invalid_client" ? 401 : 400,
            headers: [("Cache-Control", "no-store")] + (nonce.map { [("DPoP-Nonce", $0)] } ?? []))
    }
}
