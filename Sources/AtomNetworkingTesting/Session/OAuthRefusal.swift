import AtomNetworking

/// The error with which an authorization server answers (RFC 6749 §4.1.2.1, §5.2).
struct OAuthRefusal: Error {
    let code: String
    /// What is wrong, for whoever reads the test.
    var reason: String?
    var status = 400
    /// The nonce that the next proof must have (RFC 9449 §8).
    var nonce: String?

    init(_ code: String, _ reason: String? = nil, status: Int = 400, nonce: String? = nil) {
        (self.code, self.reason, self.status, self.nonce) = (code, reason, status, nonce)
    }

    /// The parameters of a callback, and the members of a response.
    var items: [QueryItem] {
        [QueryItem(name: "error", value: code)]
            + (reason.map { [QueryItem(name: "error_description", value: $0)] } ?? [])
    }

    var response: ScriptedResponse {
        .json(
            Dictionary(uniqueKeysWithValues: items.map { ($0.name, $0.value) }), status: status,
            headerItems: nonce.map { ["DPoP-Nonce": "\($0)"] } ?? [])
    }
}
