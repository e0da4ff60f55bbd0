/// The members of ``Requestable`` that an endpoint may also declare without an optional type.
///
/// Conform to ``Requestable``, not to this protocol, and read the members of that one. Its defaults give what an
/// endpoint declares here: `let queryItems: [QueryItem]` of an endpoint is its ``Requestable/queryItems``. If an
/// endpoint has both, for example one of a protocol extension, the optional one counts.
///
/// A private member of one of these names and types doesn't compile, and the error names it; rename it, or let it be
/// seen. A private member of any other type is nothing to the SDK.
public protocol NonOptionalMembers: Sendable {
    // The getters are mutating, so that a constant has none of them: code that reads an optional list must not get the
    // empty default by mistake.

    /// Header fields.
    @_disfavoredOverload
    var headerItems: [HeaderItem] { mutating get }

    /// The query.
    @_disfavoredOverload
    var queryItems: [QueryItem] { mutating get }

    /// The body.
    @_disfavoredOverload
    var body: RequestBody { mutating get }

    /// The deadlines.
    @_disfavoredOverload
    var timeout: ServiceTimeout { mutating get }

    /// Whether the request is sent again after a failure.
    @_disfavoredOverload
    var retryPolicy: RetryPolicy { mutating get }

    /// Whether the request may be sent again after the server may have received it.
    @_disfavoredOverload
    var idempotency: Idempotency { mutating get }
}

extension NonOptionalMembers {
    /// None.
    @_disfavoredOverload
    public var headerItems: [HeaderItem] { mutating get { [] } }

    /// None.
    @_disfavoredOverload
    public var queryItems: [QueryItem] { mutating get { [] } }

    /// None.
    @_disfavoredOverload
    public var body: RequestBody { mutating get { .nothing } }

    /// The service's.
    @_disfavoredOverload
    public var timeout: ServiceTimeout { mutating get { .ofService } }

    /// The service's.
    @_disfavoredOverload
    public var retryPolicy: RetryPolicy { mutating get { .ofService } }

    /// The method decides.
    @_disfavoredOverload
    public var idempotency: Idempotency { mutating get { .byMethod } }
}
