import AirlineServer
import AtomNetworking
import Crypto
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A client and the browser of its user, both by hand.
struct Visitor {
    let server: AirlineServer
    var verifier = String(repeating: "v", count: 43)
    /// The key of proofs.
    let key = P256.Signing.PrivateKey()

    /// A request that follows no redirect.
    func send(
        _ method: String, _ target: String, form: [QueryItem]? = nil, headers: [HeaderItem] = [],
        body: RequestBody? = nil
    ) async throws -> AtomResponse {
        var configuration = ServiceConfiguration()
        configuration.redirectLimit = nil
        let url = target.hasPrefix("http") ? target : server.baseURL + target
        var request = try URLEndpoint(
            url, method: .token(method), headerItems: headers, body: form.map { .form($0) } ?? body)
        request.acceptableStatusCodes = 200...499
        return try await Atom(serviceConfiguration: configuration).enqueue(request).resume()
    }

    // MARK: The page

    static let redirectURI = "http://127.0.0.1:49152/callback"

    /// The parameters of a request for the page.
    func parameters(_ changes: [String: String?] = [:]) -> [QueryItem] {
        var all: [String: String?] = [
            "response_type": "code", "client_id": "atom-app", "redirect_uri": Self.redirectURI, "state": "s t&te",
            "scope": "openid profile", "nonce": "n", "code_challenge": Self.hash(verifier),
            "code_challenge_method": "S256",
        ]
        all.merge(changes) { $1 }
        return all.compactMap { name, value in value.map { QueryItem(name: name, value: $0) } }
    }

    func open(_ parameters: [QueryItem]) async throws -> AtomResponse {
        let query = parameters.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&")
        return try await send("GET", "/oauth/authorize?\(query)")
    }

    /// Fills the form of a page in, and sends it.
    func submit(
        _ page: AtomResponse, user: String = "ada", password: String = "lovelace", action: String = "sign-in"
    ) async throws -> AtomResponse {
        let form: [QueryItem] = [
            "page": page.hidden("page"), "username": user, "password": password, "action": action,
        ]
        return try await send("POST", "/oauth/authorize", form: form)
    }

    /// Signs Ada in, and returns the code.
    func code(_ changes: [String: String?] = [:]) async throws -> String {
        try await submit(open(parameters(changes))).callback["code"] ?? ""
    }

    // MARK: Tokens

    func token(_ form: [QueryItem], proof: String? = nil) async throws -> AtomResponse {
        try await send(
            "POST", "/oauth/token", form: ["client_id": "atom-app"] + form,
            headers: proof.map { [HeaderItem(name: "DPoP", value: $0)] } ?? [])
    }

    func exchange(_ code: String, verifier: String? = nil, proof: String? = nil) async throws -> AtomResponse {
        try await token(
            [
                "grant_type": "authorization_code", "code": code, "redirect_uri": Self.redirectURI,
                "code_verifier": verifier ?? self.verifier,
            ], proof: proof)
    }

    func account(_ scheme: String, _ token: String, proof: String? = nil) async throws -> AtomResponse {
        try await send(
            "GET", "/account",
            headers: [HeaderItem(name: "Authorization", value: "\(scheme) \(token)")]
                + (proof.map { [HeaderItem(name: "DPoP", value: $0)] } ?? []))
    }

    /// A proof for a request (RFC 9449 §4.2).
    func proof(
        _ method: String, _ path: String, nonce: String?, accessToken: String? = nil, id: String = UUID().uuidString
    ) throws -> String {
        let point = key.publicKey.rawRepresentation
        let header: [String: Any] = [
            "typ": "dpop+jwt", "alg": "ES256",
            "jwk": [
                "kty": "EC", "crv": "P-256", "x": Self.base64URL(point.prefix(32)),
                "y": Self.base64URL(point.suffix(32)),
            ],
        ]
        var claims: [String: Any] = [
            "jti": id, "htm": method, "htu": server.baseURL + path, "iat": Int(Date().timeIntervalSince1970),
        ]
        claims["nonce"] = nonce
        claims["ath"] = accessToken.map(Self.hash)
        let message = try [header, claims].map { Self.base64URL(try JSONSerialization.data(withJSONObject: $0)) }
            .joined(separator: ".")
        return message + "." + Self.base64URL(try key.signature(for: Data(message.utf8)).rawRepresentation)
    }

    static func hash(_ text: String) -> String { base64URL(Data(SHA256.hash(data: Data(text.utf8)))) }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

extension AtomResponse {
    var text: String { String(decoding: data, as: UTF8.self) }

    func field(_ name: String) -> String { httpResponse?.value(forHTTPHeaderField: name) ?? "" }

    /// The value of a hidden input.
    func hidden(_ name: String) -> String {
        let start = "name=\"\(name)\" value=\""
        return text.range(of: start).map { String(text[$0.upperBound...].prefix { $0 != "\"" }) } ?? ""
    }

    /// The query of where a redirect goes.
    var callback: [String: String] {
        let items = URLComponents(string: field("Location"))?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
    }

    /// A text of a JSON object; the number too.
    subscript(_ name: String) -> String {
        let object = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
        return object?[name].map { "\($0)" } ?? ""
    }
}
