/// The origins to which a service sends its credential (RFC 6454 §4).
///
/// A signed request to another origin is refused before it uses the network, with
/// ``RequestableError/originNotAllowed(_:)``.
///
/// <!-- given:
/// let endpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/oauth/token")
/// let store = InMemoryTokenCredentialStore()
/// -->
/// ```swift
/// import AtomNetworking
///
/// var bearer = BearerAuthentication(endpoint: endpoint, client: ClientCredential(id: "app"), store: store)
/// bearer.allowedOrigins = .only([try BaseURL(host: "api.example.com"), try BaseURL(host: "files.example.com")])
/// ```
public struct AllowedOrigins: Sendable, Hashable {
    private enum Rule: Sendable, Hashable {
        case secure
        case named(Set<Origin>)
        case any
    }

    private let rule: Rule

    /// Every origin over HTTPS, and over plain HTTP only this device: `localhost`, `127.0.0.0/8` and `[::1]`.
    ///
    /// This is the default. An access token over plain HTTP could be read on its way (RFC 6750 §5.3).
    public static let secure = AllowedOrigins(rule: .secure)

    /// Every origin, over plain HTTP too: for a network that is trusted as a whole.
    public static let any = AllowedOrigins(rule: .any)

    /// Only these origins: scheme, host and port are compared.
    ///
    /// An origin with plain HTTP may be named too.
    public static func only(_ origins: [BaseURL]) -> AllowedOrigins {
        AllowedOrigins(rule: .named(Set(origins.map { $0.origin })))
    }

    private var namesOrigins: Bool { if case .named = rule { true } else { false } }

    func allows(_ origin: Origin) -> Bool {
        switch rule {
        case .secure: origin.isSecure
        case .named(let origins): origins.contains(origin)
        case .any: true
        }
    }

    /// Whether tokens and the client's secret may be sent to an authorization server,
    /// which needs HTTPS (RFC 6749 §3.2) unless the app says otherwise.
    func allows(_ endpoint: AuthorizationEndpoint) -> Bool {
        endpoint.target.isSecure || allows(endpoint.target.origin)
    }

    static func refusal(of endpoint: AuthorizationEndpoint) -> AtomError {
        .refused(
            RequestableError.originNotAllowed, endpoint.target.origin.string,
            because: "tokens aren't sent to an authorization server over plain HTTP, where others can read "
                + "them; use https, or name this origin in BearerAuthentication.allowedOrigins",
            means: .secureConnectionRequired)
    }

    /// Whether a request for a server's link is signed by what signs in this tenure.
    func signs(_ link: LinkedEndpoint.Link, in tenure: Tenure) -> Bool {
        guard allows(link.target.origin) else { return false }
        guard !namesOrigins else { return true }
        return link.target.origin == link.source
            && (link.tenure == .anyone || link.tenure?.hasSameSigner(as: tenure) == true)
    }

    /// - Parameter option: The variable that allows some.
    func refusal(of origin: Origin, option: String) -> AtomError {
        let reason =
            namesOrigins
            ? "the credential is sent only to the origins in \(option); name this one there, or set "
                + "requiresAuthorization to false"
            : "the credential isn't sent over plain HTTP, where others can read it; use https, or name this origin "
                + "in \(option)"
        return .refused(
            RequestableError.originNotAllowed, origin.string, because: reason,
            means: namesOrigins ? nil : .secureConnectionRequired)
    }
}
