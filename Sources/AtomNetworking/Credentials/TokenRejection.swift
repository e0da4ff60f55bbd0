import Foundation

/// A kind of response that means that the access token is no longer valid, though its status isn't 401.
///
/// A 401 means it, unless its challenge has `error="insufficient_scope"` (RFC 6750 §3.1) or
/// `error="insufficient_user_authentication"` (RFC 9470 §3), which no refresh helps against. A 403 means it with
/// `error="invalid_token"`. ``BearerAuthentication/tokenRejections`` names what else does for a server. The session then
/// refreshes, and the request is sent once more, as after a 401.
///
/// ```swift
/// import AtomNetworking
///
/// let rejection = TokenRejection.status(419)
/// print(rejection.matches(AtomResponse(statusCode: 419)))  // true
/// ```
public struct TokenRejection: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case status(Int)
        case field(name: String, value: String?)
        case problem(String)
    }

    private let rule: Rule

    /// A response with this status, for example 419 or 440.
    public static func status(_ code: Int) -> TokenRejection { TokenRejection(rule: .status(code)) }

    /// A response with this header field.
    ///
    /// - Parameters:
    ///   - name: The name, in any case.
    ///   - value: The whole value, in any case; `nil` for any value.
    public static func headerField(_ name: String, value: String? = nil) -> TokenRejection {
        TokenRejection(rule: .field(name: name.lowercased(), value: value?.lowercased()))
    }

    /// A response with a status of 400…499 that the endpoint doesn't accept, and with a problem of this type (RFC 9457
    /// §3.1.1).
    ///
    /// The request waits for the body of such a response, and for no other. A request whose body can be read only once
    /// isn't judged by it.
    public static func problem(type: String) -> TokenRejection { TokenRejection(rule: .problem(type)) }

    /// Whether a response means that the token is no longer valid, by this rule.
    public func matches(_ response: AtomResponse) -> Bool {
        guard let statusCode = response.statusCode else { return false }
        return matches(statusCode, response.headerFields, response.data)
    }

    /// - Returns: `nil` if the body decides.
    func verdict(_ statusCode: Int, _ fields: HeaderFields) -> Bool? {
        switch rule {
        case .status(let code): return code == statusCode
        case .field(let name, let value):
            return fields.values(for: name).contains { value == nil || $0.lowercased() == value }
        case .problem:
            guard (400...499).contains(statusCode) else { return false }
            return MediaType(fields["Content-Type"])?.name == ProblemDetails.mediaType ? nil : false
        }
    }

    func matches(_ statusCode: Int, _ fields: HeaderFields, _ body: Data) -> Bool {
        if let verdict = verdict(statusCode, fields) { return verdict }
        guard case .problem(let type) = rule else { return false }
        return (try? JSONDecoder().decode(ProblemDetails.self, from: body))?.type == type
    }
}
