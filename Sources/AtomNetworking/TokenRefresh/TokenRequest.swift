import Foundation

/// What is sent to a token endpoint, as a pure function of the configuration
/// (RFC 6749 §6, §2.3.1).
enum TokenRequest {
    /// The largest answer that is read.
    static let maximumAnswerSize = 1 << 20

    /// A request for a new access token by refresh token.
    ///
    /// Everything is form-encoded; the access token that is being replaced
    /// isn't sent along.
    static func refresh(
        _ credential: TokenCredential, with bearer: BearerAuthentication, timeout: Duration
    ) -> PreparedRequest {
        var form = [
            QueryItem(name: "grant_type", value: bearer.client.grantType.rawValue),
            QueryItem(name: "refresh_token", value: credential.refreshToken),
        ]
        var fields = HeaderFields()
        fields.append(name: "Accept", value: "application/json")
        fields.append(name: "Content-Type", value: "application/x-www-form-urlencoded")
        authenticate(bearer, form: &form, fields: &fields)
        form += bearer.parameters
        return PreparedRequest(
            channel: .refresh, method: "POST",
            target: TargetURL(base: bearer.endpoint.base, path: bearer.endpoint.path, queryItems: []),
            headerFields: fields, body: Data(PercentEncoding.form(form).utf8), acceptableStatusCodes: 0...999,
            timeout: timeout)
    }

    private static func authenticate(
        _ bearer: BearerAuthentication, form: inout [QueryItem], fields: inout HeaderFields
    ) {
        switch (bearer.clientAuthentication, bearer.client.secret) {
        case (.clientSecretBasic, let secret?):
            // Both halves are form-encoded before they are joined (RFC 6749 §2.3.1).
            let id = PercentEncoding.formEncode(bearer.client.id)
            let joined = "\(id):\(PercentEncoding.formEncode(secret))"
            fields.append(name: "Authorization", value: "Basic " + Data(joined.utf8).base64EncodedString())
        case (_, let secret):
            form.append(QueryItem(name: "client_id", value: bearer.client.id))
            if let secret { form.append(QueryItem(name: "client_secret", value: secret)) }
        }
    }
}
