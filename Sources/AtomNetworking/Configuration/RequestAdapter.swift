/// Changes requests of a service before they are checked: the locale, an API key, another server for tests.
///
/// <doc:AddingToRequests> has examples. For what depends on the moment of sending,
/// such as a signature, use a ``RequestSigner``.
public protocol RequestAdapter: Sendable {
    /// Changes a request.
    ///
    /// It is called once for each `resume`, by the thread that calls `resume`, before the request is checked and before
    /// it may wait. So it must not wait itself. It isn't called for the SDK's own requests to the authorization server,
    /// nor for a ``LinkedEndpoint`` that may not be signed. The URL of a ``LinkedEndpoint`` is the server's: changes of
    /// `baseURL`, `path` and `queryItems` have no effect on it.
    ///
    /// - Parameters:
    ///   - request: What the endpoint and the adapters before this one say.
    ///   - endpoint: The endpoint, for an adapter that concerns only some of them.
    /// - Throws: Anything; nothing is sent then. An ``AtomError`` reaches the caller as it is, anything else as
    ///   ``RequestableError/adapterFailed(_:cause:)``.
    func adapt(_ request: inout RequestDescription, of endpoint: any Requestable) throws
}

extension RequestAdapter {
    /// What the adapter threw, as the SDK's error.
    func error(_ error: any Error) -> AtomError {
        .thrown(error, by: "\(type(of: self))", otherwise: RequestableError.adapterFailed)
    }
}
