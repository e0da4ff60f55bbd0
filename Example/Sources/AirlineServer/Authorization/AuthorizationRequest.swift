/// What a client asks the user of a browser for (RFC 6749 §4.1.1).
struct AuthorizationRequest: Sendable {
    /// Why there is no page to sign in on.
    enum Failure: Error {
        /// The browser must not be sent anywhere (RFC 6749 §4.1.2.1).
        case shown(OAuthRefusal)
        /// The client hears of it.
        case sent(OAuthRefusal, AuthorizationRequest)

        var refusal: OAuthRefusal {
            switch self {
            case .shown(let refusal), .sent(let refusal, _): refusal
            }
        }
    }

    let client: RegisteredClient
    let redirectURI: String
    private let state: String?
    private(set) var scopes: Set<Scope> = []
    private(set) var nonce: String?
    private(set) var codeChallenge = ""
    /// The key that tokens must be bound to (RFC 9449 §10).
    private(set) var keyThumbprint: String?

    /// Reads the parameters.
    ///
    /// - Parameters:
    ///   - parameters: Of the query, or of a pushed request.
    ///   - issuer: The server.
    init(_ parameters: [(name: String, value: String)], at issuer: String) throws(Failure) {
        func value(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
        guard let client = RegisteredClient.all.first(where: { $0.id == value("client_id") }) else {
            throw .shown(OAuthRefusal("invalid_client", "The app is unknown: its client_id is missing or wrong."))
        }
        guard let redirectURI = value("redirect_uri"), client.accepts(redirectURI: redirectURI) else {
            throw .shown(OAuthRefusal("invalid_request", "The redirect_uri isn't one of the app's."))
        }
        self.client = client
        self.redirectURI = redirectURI
        state = value("state")
        do throws(OAuthRefusal) {
            let names = parameters.map(\.name).filter { $0 != "resource" }
            guard Set(names).count == names.count else {
                throw OAuthRefusal("invalid_request", "A parameter is there twice.")
            }
            guard value("response_type") == "code" else {
                throw OAuthRefusal("unsupported_response_type", "The response_type must be code.")
            }
            // RFC 7636 §4.2: SHA-256 is 43 characters in Base64.
            guard let challenge = value("code_challenge"), challenge.utf8.count == 43,
                value("code_challenge_method") == "S256"
            else { throw OAuthRefusal("invalid_request", "A code_challenge by S256 is required.") }
            guard value("prompt") != "none" else {
                throw OAuthRefusal("login_required", "The server keeps no user signed in.")
            }
            try Self.checkResources(parameters, at: issuer)
            codeChallenge = challenge
            scopes = try Set(value("scope"))
            nonce = value("nonce")
            keyThumbprint = value("dpop_jkt")
        } catch {
            throw .sent(error, self)
        }
    }

    /// Checks for which servers tokens are wanted (RFC 8707 §2): there is one.
    static func checkResources(
        _ parameters: [(name: String, value: String)], at issuer: String
    ) throws(OAuthRefusal) {
        guard parameters.allSatisfy({ $0.name != "resource" || [issuer, issuer + "/"].contains($0.value) }) else {
            throw OAuthRefusal("invalid_target", "The resource must be \(issuer).")
        }
    }

    /// Where the browser goes, with the parameters of the response and who sends them (RFC 9207 §2).
    func callback(_ items: [(String, String)], from issuer: String) -> String {
        let all = items + (state.map { [("state", $0)] } ?? []) + [("iss", issuer)]
        return redirectURI + "?" + all.map { "\($0.0)=\($0.1.formEncoded)" }.joined(separator: "&")
    }

    /// The same for an error.
    func callback(_ refusal: OAuthRefusal, from issuer: String) -> String {
        callback([("error", refusal.code), ("error_description", refusal.description)], from: issuer)
    }
}

extension String {
    /// As a value in a query or a form.
    var formEncoded: String {
        utf8.map { byte in
            let isPlain = byte < 0x80 && Character(UnicodeScalar(byte)).isLetter || (48...57).contains(byte)
            return isPlain || "-._~".utf8.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
