import Foundation

/// Adds header fields to each attempt of a request, directly before it is sent:
/// a signature over the whole request, a digest of the body, `traceparent`.
///
/// <doc:AddingToRequests> has examples.
public protocol RequestSigner: Sendable {
    /// Adds header fields to one attempt.
    ///
    /// It is called for the first attempt of a request and for each later one: after a 401, after a redirect, and for
    /// each attempt of a ``RetryPolicy``. It is called on any thread, while the request holds its place, so it must not
    /// wait.
    ///
    /// It isn't called after a redirect to another origin, for a ``LinkedEndpoint`` that may not be signed, nor for the
    /// SDK's own requests to the authorization server. What it has added doesn't follow a redirect.
    ///
    /// - Parameter request: The request as it will be sent, with what the signers before this one have added.
    /// - Throws: Anything; the request isn't sent, and the caller gets
    ///   ``AuthenticationError/notSigned(cause:delivery:)``.
    func sign(_ request: inout SignableRequest) throws
}

/// A request in the moment of sending, for a ``RequestSigner``.
public struct SignableRequest: Sendable {
    /// The method.
    public let method: String

    /// The absolute URL, as it will be sent.
    public let target: TargetURL

    /// What the transport sends as `Host` (RFC 9110 §7.2), or as `:authority`
    /// over HTTP/2: the host, and the port if it isn't the scheme's own.
    public var host: String { target.origin.hostAndPort }

    /// All header fields, also the service's `Authorization` and `Cookie`, and those of the signers before this one.
    ///
    /// The transport adds only fields that delimit the message, such as `Content-Length`, `Host`, which is in ``host``,
    /// and those of `Accept`, `Accept-Encoding` and `User-Agent` that aren't there.
    public private(set) var headerFields: HeaderFields

    /// The body; `nil` for none.
    ///
    /// ``TransportBody/data`` has the bytes that are in memory. A file or a stream is read while it is sent; a signer
    /// that needs its bytes reads it before, if it can be read twice.
    public let body: TransportBody?

    /// The number of the request, which ``RequestEvent/requestID`` has in all of
    /// its events; `nil` if the service has no observers.
    ///
    /// The observers have heard ``RequestEvent/Kind/described`` already.
    public let requestID: UInt64?

    /// Which attempt of this request it is, from 1.
    ///
    /// A signer may be called again for the same attempt, if the request could not be sent after all.
    public let attempt: Int

    /// Whether the endpoint asks for authorization.
    public let requiresAuthorization: Bool

    /// The present time.
    public let date: Date

    /// Whether the service's authentication method has signed the request.
    let isAuthorized: Bool

    init(
        _ request: TransportRequest, requestID: UInt64? = nil, requiresAuthorization: Bool, isAuthorized: Bool,
        date: Date
    ) {
        method = request.method
        target = request.target
        headerFields = request.headerFields
        body = request.body
        self.requestID = requestID
        attempt = request.attempt
        self.requiresAuthorization = requiresAuthorization
        self.isAuthorized = isAuthorized
        self.date = date
    }

    /// Whether the service's authentication method has signed the request with a token that is bound to a key.
    var isBound: Bool {
        isAuthorized && headerFields["Authorization"]?.hasPrefix(TokenCredential.boundType + " ") == true
    }

    /// Sets a header field, and removes the ones of that name.
    ///
    /// - Throws: ``AtomError/requestable(_:)`` with ``RequestableError/invalidHeader(_:)`` if the name or the value
    ///   can't be sent, if only the transport may write the field, or if it is the `Authorization` of the service's own
    ///   authentication method.
    public mutating func setHeader(_ name: String, to value: String) throws(AtomError) {
        try HTTPGrammar.checkField(name, value)
        if HTTPGrammar.isReservedFieldName(name) {
            throw .refused(RequestableError.invalidHeader, name, because: "the transport writes this field")
        }
        if isAuthorized, HeaderFields.isSameName(name, "Authorization") {
            throw .refused(
                RequestableError.invalidHeader, name,
                because: "the service's authentication method has set it; use .none, or requiresAuthorization")
        }
        headerFields[name] = value
    }
}

extension SignableRequest: Redacted {
    /// Shows the method and the URL without the values of the query.
    public var description: String { "\(method) \(target)" }
}
