/// Whether a request may be sent again after the server may have received it.
///
/// It only matters where a ``RetryPolicy`` would send the request again. A
/// request that can't have reached the server may always be sent again.
public struct Idempotency: Sendable, Hashable {
    private enum Kind { case byMethod, declared, byKey }

    private let kind: Kind

    /// The method decides: GET, HEAD, OPTIONS, TRACE, PUT and DELETE (RFC 9110
    /// §9.2.2) and QUERY (RFC 10008) may be sent again.
    ///
    /// So may a request with an `Idempotency-Key` field of the endpoint's own.
    public static let byMethod = Idempotency(kind: .byMethod)

    /// Sending it twice has the same effect as sending it once.
    public static let declared = Idempotency(kind: .declared)

    /// The SDK adds an `Idempotency-Key` field, by which the server recognises a request that it has processed before.
    ///
    /// The key is a random UUID, the same in every attempt of a `resume`, and another one in
    /// the next `resume`. A field of the endpoint's own wins. Use it only for servers that know it.
    public static let byKey = Idempotency(kind: .byKey)
}

extension Idempotency: CustomStringConvertible {
    /// The name of the value.
    public var description: String { "\(kind)" }
}

/// What an endpoint says about sending its request again.
///
/// An object, because most endpoints say nothing.
final class EndpointRetrying: Sendable {
    /// `nil` for the service's policy.
    let policy: RetryPolicy?
    let idempotency: Idempotency

    /// `nil` for an endpoint that says nothing: an initializer that fails would have allocated it.
    static func of(_ policy: RetryPolicy?, _ idempotency: Idempotency?) -> EndpointRetrying? {
        policy == nil && idempotency == nil ? nil : EndpointRetrying(policy, idempotency ?? .byMethod)
    }

    private init(_ policy: RetryPolicy?, _ idempotency: Idempotency) {
        self.policy = policy
        self.idempotency = idempotency
    }
}

extension Idempotency {
    static let fieldName = "Idempotency-Key"

    /// Whether a request with this method and these fields may be sent again.
    static func allows(_ method: String, _ fields: HeaderFields) -> Bool {
        isIdempotent(method) || fields.contains(fieldName)
    }

    /// Whether a request with this method has the same effect twice as once.
    static func isIdempotent(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "QUERY": true
        default: false
        }
    }
}
