// The defaults that endpoints have.

extension EndpointSpelling.Fallback {
    /// None.
    public var headerItems: [HeaderItem]? {
        var endpoint = self
        return (try? endpoint.otherHeaderItems() ?? nil) ?? nil
    }
    /// GET.
    public var method: HTTPMethod {
        var endpoint = self
        return (try? endpoint.otherMethod() ?? nil) ?? .get
    }
    /// None.
    public var queryItems: [QueryItem]? {
        var endpoint = self
        return (try? endpoint.otherQueryItems() ?? nil) ?? nil
    }
    /// Signed.
    public var requiresAuthorization: Bool { true }
    /// None.
    public var body: RequestBody? {
        var endpoint = self
        let hasBody = method.body != nil
        return (try? endpoint.plainBody() ?? (hasBody ? nil : endpoint.rawBody() ?? nil)) ?? nil
    }
    /// The service's.
    public var timeout: ServiceTimeout? {
        var endpoint = self
        return (try? endpoint.plainTimeout() ?? endpoint.secondsOfTimeout() ?? nil) ?? nil
    }
    /// The service's.
    public var retryPolicy: RetryPolicy? {
        var endpoint = self
        return (try? endpoint.plainRetryPolicy()) ?? nil
    }
    /// The method decides.
    public var idempotency: Idempotency? {
        var endpoint = self
        return (try? endpoint.plainIdempotency()) ?? nil
    }
    /// It has an exchange of its own.
    public var sharesIdenticalRequests: Bool {
        var endpoint = self
        return (try? endpoint.optionalSharing() ?? false) ?? false
    }
    /// 200…299.
    public var acceptableStatusCodes: ClosedRange<Int> {
        var endpoint = self
        return (try? endpoint.plainStatusCodes()) ?? 200...299
    }
    /// The server that the endpoint declares in another form.
    public func baseURL() throws(AtomError) -> BaseURL {
        var endpoint = self
        return try endpoint.resolvedBaseURL()
    }
    /// No path.
    public func path() throws(AtomError) -> URLPath {
        var endpoint = self
        return try endpoint.resolvedPath()
    }
}
