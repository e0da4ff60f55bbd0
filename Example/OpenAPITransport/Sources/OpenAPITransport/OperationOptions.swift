import AtomNetworking

/// What an OpenAPI document doesn't say of an operation, or what the generated client doesn't pass on.
public struct OperationOptions: Sendable {
    /// Whether the request is signed; `true` by default.
    ///
    /// A generated client doesn't pass on the document's `security`. An operation that has an empty one needs `false`:
    /// then it never waits for the session, and never carries its credential.
    public var requiresAuthorization = true

    /// The deadlines; `nil`, the default, uses the service's.
    public var timeout: ServiceTimeout?

    /// Whether the request is sent again after a failure; `nil`, the default, uses the service's policy.
    public var retryPolicy: RetryPolicy?

    /// Whether the request may be sent again after the server may have received it;
    /// `nil`, the default, lets the method decide.
    public var idempotency: Idempotency?

    /// Whether the whole response is collected before the operation goes on; `false` by default.
    ///
    /// Then `timeout.resource` holds for the body too, and a response
    /// that breaks off is a failure after which the request may be sent again.
    public var collectsResponse = false
}
