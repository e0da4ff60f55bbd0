/// Identifies and authenticates the client (RFC 6749 §2.3.1): with
/// `client_secret_basic`, `client_secret_post`, or only `client_id` for a
/// client without a secret.
struct ClientAuthentication {
    let clients: [OAuthClient]

    func client(for call: Call, form: FormParameters) throws(OAuthError) -> OAuthClient {
        if let credentials = BasicCredentials(authorization: call.header("Authorization")) {
            guard form["client_secret"] == nil else {
                throw OAuthError(.invalidRequest, "The client uses two authentication methods.")
            }
            // Both parts are form-encoded before they are joined.
            guard
                let id = FormEncoding.decodeComponent(credentials.user),
                let secret = FormEncoding.decodeComponent(credentials.password),
                form["client_id"] == nil || form["client_id"] == id,
                let client = clients.first(where: { $0.id == id }),
                client.secret == secret || (client.secret == nil && secret.isEmpty)
            else {
                throw OAuthError(.invalidClient, "The client is unknown or its secret is wrong.", isChallenge: true)
            }
            return client
        }
        guard let id = form["client_id"] else {
            throw OAuthError(.invalidClient, "The client identifier is missing.")
        }
        guard let client = clients.first(where: { $0.id == id }), client.secret == form["client_secret"] else {
            throw OAuthError(.invalidClient, "The client is unknown or its secret is wrong.")
        }
        return client
    }
}
