import Foundation

/// What is sent to a token endpoint, by the configuration alone (RFC 6749 §4.4.2, §6, §2.3.1; RFC 7009 §2.1).
enum TokenRequest {
    /// The largest answer that is read.
    static let maximumAnswerSize = 1 << 20

    /// A request for a new access token, without the old one; `nil` if there is no endpoint or no refresh token.
    static func token(
        replacing credential: TokenCredential?, with bearer: BearerAuthentication, timeout: Duration
    ) -> PreparedRequest? {
        guard let (endpoint, client) = bearer.refresh.endpoint else { return nil }
        var form = [QueryItem(name: "grant_type", value: client.grantType.rawValue)]
        switch client.grantType {
        case .refreshToken:
            guard let credential else { return nil }
            form.append(QueryItem(name: "refresh_token", value: credential.refreshToken))
        case .clientCredentials: break
        }
        return post(form, to: endpoint, for: .token, as: client, bearer, timeout)
    }

    /// A request to revoke a session's tokens (RFC 7009 §2.1): the refresh token,
    /// and with it its access tokens, or else the access token.
    static func revocation(
        of credential: TokenCredential, with bearer: BearerAuthentication, timeout: Duration
    ) -> PreparedRequest? {
        guard let client = bearer.refresh.endpoint?.client, let endpoint = bearer.revocationEndpoint,
            !credential.isEmpty
        else { return nil }
        let hasRefreshToken = !credential.refreshToken.isEmpty
        let form = [
            QueryItem(name: "token", value: hasRefreshToken ? credential.refreshToken : credential.accessToken),
            QueryItem(name: "token_type_hint", value: hasRefreshToken ? "refresh_token" : "access_token"),
        ]
        return post(form, to: endpoint, for: .revocation, as: client, bearer, timeout)
    }

    private static func post(
        _ items: [QueryItem], to endpoint: AuthorizationEndpoint, for purpose: PreparedRequest.Purpose,
        as client: ClientCredential, _ bearer: BearerAuthentication, _ timeout: Duration
    ) -> PreparedRequest {
        var form = items
        var fields = HeaderFields()
        fields.append(name: "Accept", value: "application/json")
        fields.append(name: "Content-Type", value: "application/x-www-form-urlencoded")
        if bearer.usesClientSecretBasic, let secret = client.secret {
            // Both halves are form-encoded before they are joined (RFC 6749 §2.3.1).
            let id = PercentEncoding.formEncode(client.id)
            let joined = "\(id):\(PercentEncoding.formEncode(secret))"
            fields.append(name: "Authorization", value: "Basic " + Data(joined.utf8).base64EncodedString())
        } else {
            form.append(QueryItem(name: "client_id", value: client.id))
            if let secret = client.secret { form.append(QueryItem(name: "client_secret", value: secret)) }
        }
        if purpose == .token { form += bearer.parameters }
        return PreparedRequest(
            purpose: purpose, method: "POST", target: endpoint.target, headerFields: fields,
            body: .data(Data(PercentEncoding.form(form).utf8)), acceptableStatusCodes: 0...999, timeout: timeout)
    }
}
