// The members as a request needs them.
//
// Only this much is generic, and no generic type is involved: code that isn't
// specialized for a type, and types that are made at run time, cost thousands of
// instructions.
extension EndpointSpelling.Declared where Self: EndpointSpelling.Fallback {
    /// Reads each member once, in the form that it has.
    func members() throws(AtomError) -> RequestDescription {
        var search = EndpointForms.Search(known: EndpointForms.of(Self.self))
        // The functions for reading are mutating.
        var endpoint = self
        var member: StaticString = "baseURL()"
        do {
            let baseURL = try endpoint.declaredBaseURL()
            member = "path()"
            let path = try endpoint.anyPath(&search)
            member = "queryItems"
            let queryItems = try endpoint.anyQueryItems(&search)
            member = "method"
            let method = try endpoint.anyMethod(&search)
            member = "headerItems"
            let headerItems = try endpoint.anyHeaderItems(&search)
            member = "body"
            let body = try endpoint.anyBody(for: method, &search)
            member = "requiresAuthorization"
            let requiresAuthorization = try endpoint.anyRequiresAuthorization(&search)
            member = "acceptableStatusCodes"
            let acceptableStatusCodes = try endpoint.anyAcceptableStatusCodes(&search)
            member = "timeout"
            let timeout = try endpoint.anyTimeout(&search)
            var retrying: EndpointRetrying?
            var sharesIdenticalRequests = false
            // Few endpoints have them.
            if !search.knowsNone(of: [.retryPolicy, .idempotency, .sharesIdenticalRequests]) {
                member = "retryPolicy"
                let policy = try endpoint.anyRetryPolicy(&search)
                member = "idempotency"
                retrying = EndpointRetrying(policy: policy, idempotency: try endpoint.anyIdempotency(&search))
                member = "sharesIdenticalRequests"
                sharesIdenticalRequests = try endpoint.anySharing(&search)
            }
            search.remember(for: Self.self)
            return RequestDescription(
                baseURL: baseURL, path: path, queryItems: queryItems, method: method, headerItems: headerItems,
                body: body, requiresAuthorization: requiresAuthorization,
                sharesIdenticalRequests: sharesIdenticalRequests,
                acceptableStatusCodes: acceptableStatusCodes, timeout: timeout, retrying: retrying)
        } catch {
            throw EndpointReading.error(error, of: "\(member)")
        }
    }

    /// The server, with an error of another type as an ``AtomError``.
    public mutating func resolvedBaseURL() throws(AtomError) -> BaseURL {
        do {
            return try declaredBaseURL()
        } catch {
            throw EndpointReading.error(error, of: "baseURL()")
        }
    }

    /// The path, with an error of another type as an ``AtomError``.
    public mutating func resolvedPath() throws(AtomError) -> URLPath {
        do {
            return try pathInAnyForm()
        } catch {
            throw EndpointReading.error(error, of: "path()")
        }
    }

    /// The path alone, for an app that reads it.
    fileprivate mutating func pathInAnyForm() throws -> URLPath {
        var search = EndpointForms.Search(known: EndpointForms.of(Self.self))
        return try anyPath(&search)
    }

    fileprivate mutating func anyPath(_ search: inout EndpointForms.Search) throws -> URLPath {
        switch search.place(of: .path) {
        case .nowhere: return .empty
        case .documented: return try documentedPath()
        case .unknown: break
        }
        let documented = try documentedPath()
        let isDocumented = documented != .undeclared
        let text = try EndpointReading.one(of: textOfPath(), literalOfPath(), "path()")
        let property = isDocumented ? nil : try pathInProperty()
        search.note(.path, documented: isDocumented, other: text != nil || property != nil)
        return try EndpointReading.one(of: isDocumented ? documented : nil, text, "path()") ?? property ?? .empty
    }

    fileprivate mutating func anyHeaderItems(_ search: inout EndpointForms.Search) throws -> [HeaderItem] {
        switch search.place(of: .headerItems) {
        case .nowhere: return []
        case .documented: return try documentedHeaderItems() ?? []
        case .unknown: break
        }
        let items = try documentedHeaderItems()
        let isDocumented = items.map { !Undeclared.isValue($0) } ?? true
        let other = try otherHeaderItems()
        let isStrange = try !isDocumented && other == nil && refuseStrangeHeaderItems()
        search.note(.headerItems, documented: isDocumented, other: other != nil || isStrange)
        return try EndpointReading.one(of: isDocumented ? items ?? [] : nil, other.map { $0 ?? [] }, "headerItems")
            ?? []
    }

    fileprivate mutating func anyQueryItems(_ search: inout EndpointForms.Search) throws -> [QueryItem] {
        switch search.place(of: .queryItems) {
        case .nowhere: return []
        case .documented: return try documentedQueryItems() ?? []
        case .unknown: break
        }
        let items = try documentedQueryItems()
        let isDocumented = items.map { !Undeclared.isValue($0) } ?? true
        let other = try otherQueryItems()
        let isStrange = try !isDocumented && other == nil && refuseStrangeQueryItems()
        search.note(.queryItems, documented: isDocumented, other: other != nil || isStrange)
        return try EndpointReading.one(of: isDocumented ? items ?? [] : nil, other.map { $0 ?? [] }, "queryItems") ?? []
    }

    fileprivate mutating func anyMethod(_ search: inout EndpointForms.Search) throws -> HTTPMethod {
        switch search.place(of: .method) {
        case .nowhere: return .get
        case .documented: return try documentedMethod()
        case .unknown: break
        }
        let method = try documentedMethod()
        let isDocumented = !Undeclared.isValue(method)
        let other = isDocumented ? nil : try otherMethod()
        search.note(.method, documented: isDocumented, other: other != nil)
        return isDocumented ? method : (other ?? nil) ?? .get
    }

    /// - Parameter method: If it has a body, that may be in a property of this
    ///   name.
    fileprivate mutating func anyBody(
        for method: HTTPMethod, _ search: inout EndpointForms.Search
    ) throws -> RequestBody? {
        switch search.place(of: .body) {
        case .nowhere: return nil
        case .documented: return try documentedBody()
        case .unknown: break
        }
        let body = try documentedBody()
        let isDocumented = body.map { !Undeclared.isValue($0) } ?? true
        let plain = try plainBody()
        let raw = isDocumented ? nil : try rawBody()
        let strange = isDocumented || plain != nil || raw != nil ? nil : try strangeBody()
        search.note(.body, documented: isDocumented, other: plain != nil || raw != nil || strange != nil)
        if let strange = strange?.type, method.body == nil, ["POST", "PUT", "PATCH"].contains(method.name) {
            throw EndpointReading.unreadable("body", type: strange, remedy: "a RequestBody, such as .json(value)")
        }
        if isDocumented, plain != nil { throw EndpointReading.conflict(of: "body") }
        if isDocumented { return body }
        return plain ?? (method.body == nil ? raw ?? nil : nil)
    }

    fileprivate mutating func anyRequiresAuthorization(_ search: inout EndpointForms.Search) throws -> Bool {
        switch search.place(of: .requiresAuthorization) {
        case .nowhere, .documented: return try documentedRequiresAuthorization()
        case .unknown: break
        }
        let documented = try documentedRequiresAuthorization()
        let optional = try optionalRequiresAuthorization()
        search.note(.requiresAuthorization, documented: optional == nil, other: optional != nil)
        return documented && optional ?? true
    }

    fileprivate mutating func anyTimeout(_ search: inout EndpointForms.Search) throws -> ServiceTimeout? {
        switch search.place(of: .timeout) {
        case .nowhere: return nil
        case .documented: return try documentedTimeout()
        case .unknown: break
        }
        let timeout = try documentedTimeout()
        let isDocumented = timeout.map { !Undeclared.isValue($0.request) } ?? true
        let plain = try plainTimeout()
        let seconds = isDocumented ? nil : try secondsOfTimeout()
        search.note(.timeout, documented: isDocumented, other: plain != nil || seconds != nil)
        if isDocumented, plain != nil { throw EndpointReading.conflict(of: "timeout") }
        return isDocumented ? timeout : plain ?? seconds ?? nil
    }

    fileprivate mutating func anyRetryPolicy(_ search: inout EndpointForms.Search) throws -> RetryPolicy? {
        switch search.place(of: .retryPolicy) {
        case .nowhere: return nil
        case .documented: return try documentedRetryPolicy()
        case .unknown: break
        }
        let policy = try documentedRetryPolicy()
        let isDocumented = policy.map { !$0.isSame(as: Undeclared.retryPolicy) } ?? true
        let plain = try plainRetryPolicy()
        search.note(.retryPolicy, documented: isDocumented, other: plain != nil)
        if isDocumented, plain != nil { throw EndpointReading.conflict(of: "retryPolicy") }
        return isDocumented ? policy : plain
    }

    fileprivate mutating func anyIdempotency(_ search: inout EndpointForms.Search) throws -> Idempotency? {
        switch search.place(of: .idempotency) {
        case .nowhere: return nil
        case .documented: return try documentedIdempotency()
        case .unknown: break
        }
        let idempotency = try documentedIdempotency()
        let isDocumented = idempotency != .undeclared
        let plain = try plainIdempotency()
        search.note(.idempotency, documented: isDocumented, other: plain != nil)
        if isDocumented, plain != nil { throw EndpointReading.conflict(of: "idempotency") }
        return isDocumented ? idempotency : plain
    }

    fileprivate mutating func anySharing(_ search: inout EndpointForms.Search) throws -> Bool {
        switch search.place(of: .sharesIdenticalRequests) {
        case .nowhere: return false
        case .documented: return try documentedSharing()
        case .unknown: break
        }
        let documented = try Undeclared.value { try documentedSharing() }
        let optional = try optionalSharing()
        search.note(.sharesIdenticalRequests, documented: documented != nil, other: optional != nil)
        return try EndpointReading.one(of: documented, optional, "sharesIdenticalRequests") ?? false
    }

    fileprivate mutating func anyAcceptableStatusCodes(_ search: inout EndpointForms.Search) throws -> ClosedRange<Int>
    {
        switch search.place(of: .statusCodes) {
        case .nowhere: return 200...299
        case .documented: return try documentedStatusCodes()
        case .unknown: break
        }
        let codes = try documentedStatusCodes()
        let isDocumented = codes != Undeclared.closedStatusCodes
        let plain = try plainStatusCodes()
        try refuseOtherStatusCodes()
        search.note(.statusCodes, documented: isDocumented, other: plain != nil)
        return try EndpointReading.one(of: isDocumented ? codes : nil, plain, "acceptableStatusCodes") ?? 200...299
    }
}

// The members in the form that is documented: no other form is visible here.
extension EndpointSpelling.Declared {
    fileprivate mutating func declaredBaseURL() throws -> BaseURL { try baseURL() }
    fileprivate mutating func documentedPath() throws -> URLPath { try path() }
    fileprivate mutating func documentedHeaderItems() throws -> [HeaderItem]? { try headerItems }
    fileprivate mutating func documentedMethod() throws -> HTTPMethod { try method }
    fileprivate mutating func documentedQueryItems() throws -> [QueryItem]? { try queryItems }
    fileprivate mutating func documentedRequiresAuthorization() throws -> Bool { try requiresAuthorization }
    fileprivate mutating func documentedBody() throws -> RequestBody? { try body }
    fileprivate mutating func documentedTimeout() throws -> ServiceTimeout? { try timeout }
    fileprivate mutating func documentedRetryPolicy() throws -> RetryPolicy? { try retryPolicy }
    fileprivate mutating func documentedIdempotency() throws -> Idempotency? { try idempotency }
    fileprivate mutating func documentedSharing() throws -> Bool { try sharesIdenticalRequests }
    fileprivate mutating func documentedStatusCodes() throws -> ClosedRange<Int> { try acceptableStatusCodes }
}
