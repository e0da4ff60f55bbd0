import AtomNetworking
import Foundation

/// Requests of a client to its authorization server: forms in, JSON out, no redirects, no cookies.
struct ServerRequest: Sendable {
    /// The largest response that is read, in bytes.
    private static let maximumResponseSize = 1 << 20

    private let atom: Atom
    private let client: OAuthClient

    init(of client: OAuthClient) {
        self.client = client
        atom = Atom(serviceConfiguration: Self.configuration(of: client))
    }

    /// What the app has configured for its requests, as far as it is meant for these.
    ///
    /// Adapters, signers, plugins, header fields and the cache are for another server, and could pass a secret on. A
    /// redirect would, too. An ephemeral configuration has no cookies of anybody else.
    private static func configuration(of client: OAuthClient) -> ServiceConfiguration {
        let given = client.configuration
        var configuration = ServiceConfiguration(
            multipathServiceType: given.multipathServiceType, timeout: given.timeout, isLogEnabled: given.isLogEnabled)
        configuration.logHandler = given.logHandler
        configuration.observers = given.observers
        configuration.transport = given.transport
        configuration.timeSource = given.timeSource
        configuration.resultHandler = given.resultHandler
        configuration.signers = [client.proof].compactMap { $0 }
        configuration.redirectLimit = nil
        configuration.maximumResponseSize = maximumResponseSize
        return configuration
    }

    /// The time of the client's configuration.
    var time: any TimeSource { client.configuration.timeSource }

    /// Sends a form with the client's authentication (RFC 6749 §2.3.1), and once more where a proof's nonce is missing.
    ///
    /// - Returns: The response, with a status of 200 to 299 and without an error in it.
    /// - Throws: ``SignInError/refused(_:)`` with the server's error, in an `AtomError`; other failures as they are.
    func send(_ form: [QueryItem], to endpoint: AuthorizationEndpoint) async throws(AtomError) -> AtomResponse {
        guard endpoint.target.isSecure else {
            let reason = "codes and tokens aren't sent over plain HTTP, where others can read them (RFC 6749 §3.2)"
            throw .requestable(.originNotAllowed(.init(subject: "\(endpoint)", reason: reason)))
        }
        let (items, authorization) = authenticated(form)
        var request = try URLEndpoint(
            endpoint.target.absoluteString, method: .post,
            headerItems: [HeaderItem(name: "Accept", value: "application/json")] + authorization, body: .form(items))
        // A 401 is about the client. As a failure it would be announced as one of the session.
        request.acceptableStatusCodes = 200...401

        var mayRepeat = true
        while true {
            let response: AtomResponse
            var failure: AtomError?
            do {
                response = try await atom.enqueue(request).resume()
            } catch {
                guard case .response(let refused) = error else { throw error }
                (response, failure) = (refused, error)
            }
            // The server wants its nonce in the proof (RFC 9449 §8), and has not looked at the rest.
            if client.proof?.received(response) == true, mayRepeat {
                mayRepeat = false
                continue
            }
            // Some servers send an error with a status of 200.
            if let error = refusal(in: response, to: items, authorization) {
                throw .signIn(.refused(error), delivery: .answered)
            }
            guard failure == nil, response.isSuccess else { throw failure ?? .response(response) }
            return response
        }
    }

    /// Exchanges a grant for a credential, and checks its type (RFC 6749 §5.1, §7.1; RFC 9449 §5).
    ///
    /// - Parameters:
    ///   - scopes: What was asked for, and so is meant if the server names no scope (RFC 6749 §5.1); `nil` for the form's
    ///     own `scope`.
    ///   - nonce: What an ID token must have, if there is one; `nil` for nothing.
    func credential(
        _ form: [QueryItem], scopes: [String]? = nil, nonce: String? = nil
    ) async throws(AtomError) -> TokenCredential {
        func refusal(_ reason: String) -> AtomError { .signIn(.invalidTokenResponse(reason), delivery: .answered) }
        let response = try await send(form, to: client.server.tokenEndpoint)
        guard let tokens = try? response.decode(TokenCredential.self), !tokens.accessToken.isEmpty else {
            throw refusal("it is not a JSON object with an access_token and what belongs to it (RFC 6749 §5.1)")
        }
        let (type, expected) = (tokens.tokenType ?? "", client.proof == nil ? "Bearer" : "DPoP")
        // A token that is bound to a key, or should be, must not be sent without a proof.
        guard type.lowercased() == expected.lowercased() || type.isEmpty && client.proof == nil else {
            throw refusal("its token is not of the type \(expected) (RFC 6749 §7.1)")
        }
        // It comes from the token endpoint, whatever was asked for.
        if let idToken = tokens.idToken {
            try IDToken(idToken).check(
                issuer: client.server.issuer, clientID: client.clientCredential.id, nonce: nonce, at: time.date)
        }
        let asked = scopes?.joined(separator: " ") ?? form.first { $0.name == "scope" }?.value
        return TokenCredential(
            accessToken: tokens.accessToken, expiresAt: tokens.expiresAt, refreshToken: tokens.refreshToken,
            scope: tokens.scope ?? asked.flatMap { $0.isEmpty ? nil : $0 },
            tokenType: client.proof == nil ? tokens.tokenType : expected, idToken: tokens.idToken,
            keyThumbprint: client.proof?.keyThumbprint)
    }

    /// The form with the client's identifier and secret, or what is sent in the `Authorization` field for them.
    private func authenticated(_ form: [QueryItem]) -> (form: [QueryItem], authorization: [HeaderItem]) {
        let (id, secret) = (client.clientCredential.id, client.clientCredential.secret)
        if client.usesClientSecretBasic, let secret {
            // Both halves are form-encoded before they are joined (RFC 6749 §2.3.1).
            let joined = "\(PercentEncoding.formEncode(id)):\(PercentEncoding.formEncode(secret))"
            let value = "Basic " + Data(joined.utf8).base64EncodedString()
            return (form, [HeaderItem(name: "Authorization", value: value)])
        }
        var form = form
        // A pushed authorization request has it already (RFC 9126 §2.1).
        if !form.contains(where: { $0.name == "client_id" }) { form.append(QueryItem(name: "client_id", value: id)) }
        if let secret { form.append(QueryItem(name: "client_secret", value: secret)) }
        return (form, [])
    }

    /// The server's error (RFC 6749 §5.2), without what was sent to it.
    private func refusal(
        in response: AtomResponse, to form: [QueryItem], _ authorization: [HeaderItem]
    ) -> OAuthError? {
        guard let members = try? JSONDecoder().decode(ErrorMembers.self, from: response.data),
            let code = members.error, !code.isEmpty
        else { return nil }
        let secrets =
            form.filter { !Self.harmless.contains($0.name) }.map(\.value)
            + [client.clientCredential.secret].compactMap { $0 } + authorization.map { String($0.value.dropFirst(6)) }
        return OAuthError(code: code, explanation: members.explanation, uri: members.uri, hiding: secrets)
    }

    /// The parameters that are no secrets, and that a server's explanation may be about.
    private static let harmless: Set<String> = [
        "grant_type", "client_id", "redirect_uri", "scope", "resource", "audience", "response_type",
        "code_challenge_method", "subject_token_type", "actor_token_type", "requested_token_type",
        "client_assertion_type", "prompt", "max_age", "acr_values", "ui_locales",
    ]

    private struct ErrorMembers: Decodable {
        private enum CodingKeys: String, CodingKey {
            case error
            case explanation = "error_description"
            case uri = "error_uri"
        }

        let error: String?
        let explanation: String?
        let uri: String?

        /// Members of another type are left out.
        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ key: CodingKeys) -> String? { try? members.decode(String.self, forKey: key) }
            (error, explanation, uri) = (text(.error), text(.explanation), text(.uri))
        }
    }
}

extension OAuthError {
    /// A server's error; the code and the texts are shown without these secrets, which a server may repeat.
    init(code: String, explanation: String?, uri: String?, hiding secrets: [String]) {
        func shown(_ text: String) -> String { Redaction.withoutTokens(text, secrets: secrets) }
        // A code that is registered is no secret, even if a secret is a letter of it.
        self.init(
            code: Self.registeredCodes.contains(code) ? code : shown(code), explanation: explanation.map(shown),
            uri: uri.map(shown))
    }
}
