import Foundation

/// What an endpoint says of a request, before the SDK checks it.
///
/// A ``RequestAdapter`` changes it.
public struct RequestDescription: Sendable {
    /// The server.
    public var baseURL: BaseURL
    /// The path.
    public var path: URLPath
    /// The query, in order; names may repeat.
    public var queryItems: [QueryItem]
    /// The method, with the body if the endpoint gives it there.
    public var method: HTTPMethod
    /// The endpoint's own header fields, in order; of several with one name the last is sent.
    ///
    /// ``ServiceConfiguration/headerItems`` are added later, where a name is missing here.
    public var headerItems: [HeaderItem]
    /// The body, if the method has none.
    public var body: RequestBody?
    /// Whether the service's authentication method signs the request.
    public var requiresAuthorization: Bool
    /// Whether the request shares the exchange of an identical one that is in flight; it has an effect only for GET.
    public var sharesIdenticalRequests = false
    /// The status codes that count as success.
    public var acceptableStatusCodes: ClosedRange<Int>
    /// The deadlines; `nil` for the service's.
    public var timeout: ServiceTimeout?
    var retrying: EndpointRetrying?
    /// The URL that a server has sent, instead of the parts.
    let link: LinkedEndpoint.Link?
}

extension RequestDescription {
    /// Reads an endpoint's members, each once.
    init(of endpoint: any Requestable) throws(AtomError) {
        let link = LinkedEndpoint.link(of: endpoint)
        let baseURL: BaseURL
        do {
            baseURL = if let link { try link.baseURL } else { try endpoint.baseURL() }
        } catch {
            throw .thrown(error, by: "baseURL()", otherwise: RequestableError.endpointFailed)
        }
        let path: URLPath
        do {
            // Here already: an adapter may make another path of its text.
            path = try endpoint.path().checked()
        } catch {
            throw .thrown(error, by: "path()", otherwise: RequestableError.endpointFailed)
        }
        let shares = endpoint.sharesIdenticalRequests
        // At once: a description that is made part by part is copied when it is complete.
        self.init(
            baseURL: baseURL, path: path, queryItems: endpoint.queryItems ?? [], method: endpoint.method,
            headerItems: endpoint.headerItems ?? [], body: endpoint.body,
            requiresAuthorization: endpoint.requiresAuthorization,
            sharesIdenticalRequests: endpoint.allowsDeduplication || shares,
            acceptableStatusCodes: endpoint.acceptableStatusCodes, timeout: endpoint.timeout,
            retrying: EndpointRetrying.of(endpoint.retryPolicy, endpoint.idempotency), link: link)
    }

    /// Where the request goes; the path may be a literal that isn't one.
    func target() throws(AtomError) -> TargetURL {
        if let link { return link.target }
        return TargetURL(base: baseURL, path: try path.checked(), queryItems: queryItems)
    }
}

extension RequestDescription {
    /// When the request is sent again after a failure; `nil` for the service's policy.
    public var retryPolicy: RetryPolicy? {
        get { retrying?.policy }
        set { retrying = EndpointRetrying.of(newValue, retrying?.idempotency) }
    }

    /// Whether the request may be sent again after the server may have received it.
    public var idempotency: Idempotency {
        get { retrying?.idempotency ?? .byMethod }
        set { retrying = EndpointRetrying.of(retrying?.policy, newValue) }
    }
}

extension RequestDescription {
    /// The value of a header field of the endpoint's, by a name in any case.
    public func headerValue(_ name: String) -> String? {
        headerItems.last { HeaderFields.isSameName($0.name, name) }?.value
    }

    /// Sets a header field, and removes the ones of that name.
    public mutating func setHeader(_ name: String, to value: String) {
        headerItems.removeAll { HeaderFields.isSameName($0.name, name) }
        headerItems.append(HeaderItem(name: name, value: value))
    }
}

extension RequestDescription: Redacted {
    /// Shows the method and the URL without the values of the query.
    public var description: String {
        "\(method.name) \(link?.target ?? TargetURL(base: baseURL, path: path, queryItems: queryItems))"
    }
}
