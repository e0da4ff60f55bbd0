import Foundation

/// What reading the members of an endpoint needs in several places.
enum EndpointReading {
    /// The form that is declared, or `nil`.
    ///
    /// - Throws: ``RequestableError/unusableMember(_:)`` if both are.
    static func one<T>(of first: T?, _ second: T?, _ name: StaticString) throws(AtomError) -> T? {
        guard let second else { return first }
        guard first == nil else { throw conflict(of: name) }
        return second
    }

    static func conflict(of name: StaticString) -> AtomError {
        .requestable(
            .unusableMember(
                .init(
                    subject: "\(name)",
                    reason: "the endpoint has two members of this name with different types, for example its own and "
                        + "one of a protocol extension; declare both with the type in Requestable")))
    }

    /// What an endpoint threw, as the SDK's error.
    static func error(_ error: any Error, of member: String) -> AtomError {
        self.error(error, of: member) { .endpointFailed($0, cause: error) }
    }

    /// What the app's code threw before a request was sent, as the SDK's error.
    ///
    /// - Parameters:
    ///   - error: What it threw.
    ///   - part: The part of the app that threw it.
    ///   - otherwise: The case for an error that isn't one of the SDK's.
    static func error(
        _ error: any Error, of part: String, otherwise: (RequestableError.Violation) -> RequestableError
    ) -> AtomError {
        switch error {
        case let error as AtomError: error
        case let error as RequestableError: .requestable(error)
        case is CancellationError: .cancelled(.notSent)
        // Its text may contain a value.
        default: .requestable(otherwise(.init(subject: part, reason: "it threw \(type(of: error))")))
        }
    }

    static func headerItems(_ values: [String: String]) -> [HeaderItem] {
        values.sorted { $0.key < $1.key }.map { HeaderItem(name: $0.key, value: $0.value) }
    }

    static func queryItems(_ values: [String: String]) -> [QueryItem] {
        values.sorted { $0.key < $1.key }.map { QueryItem(name: $0.key, value: $0.value) }
    }

    static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
}

// Each function reads one form, and returns `nil` if it isn't declared. In an extension of the protocol that has it, no
// other form is visible.

extension EndpointSpelling.Plain {
    fileprivate mutating func plainHeaderItems() throws -> [HeaderItem]?? {
        let items = try headerItems
        if Undeclared.isValue(items) { return nil }
        return .some(items)
    }

    fileprivate mutating func plainQueryItems() throws -> [QueryItem]?? {
        let items = try queryItems
        if Undeclared.isValue(items) { return nil }
        return .some(items)
    }

    mutating func plainBody() throws -> RequestBody? {
        let body = try body
        return Undeclared.isValue(body) ? nil : body
    }

    mutating func plainTimeout() throws -> ServiceTimeout? {
        let timeout = try timeout
        return Undeclared.isValue(timeout.request) ? nil : timeout
    }

    mutating func plainRetryPolicy() throws -> RetryPolicy? {
        let policy = try retryPolicy
        return policy.isSame(as: Undeclared.retryPolicy) ? nil : policy
    }

    mutating func plainIdempotency() throws -> Idempotency? {
        let idempotency = try idempotency
        return idempotency == .undeclared ? nil : idempotency
    }

    mutating func plainStatusCodes() throws -> ClosedRange<Int>? {
        let codes = try acceptableStatusCodes
        if codes == Undeclared.statusCodes { return nil }
        guard !codes.isEmpty else {
            throw AtomError.requestable(
                .unusableMember(.init(subject: "acceptableStatusCodes", reason: "the range is empty")))
        }
        return ClosedRange(codes)
    }

    /// `.some(nil)` is a text that isn't the name of a method.
    fileprivate mutating func textOfMethod() throws -> HTTPMethod?? {
        let name = try method
        if name == Undeclared.text { return nil }
        return .some(EndpointReading.methods.contains(name) ? .token(name) : nil)
    }

    fileprivate mutating func textOfPath() throws -> URLPath? {
        let text: String = try path()
        return text == Undeclared.text ? nil : text.isEmpty ? .empty : try URLPath(text)
    }

    fileprivate mutating func literalOfPath() throws -> URLPath? {
        let path: EndpointPath = try path()
        return path == .undeclared ? nil : try path.checked()
    }
}

extension EndpointSpelling.Literal {
    fileprivate mutating func literalInPath() throws -> URLPath? {
        let path: EndpointPath = try path
        return path == .undeclared ? nil : try path.checked()
    }
}

extension EndpointSpelling.Loose {
    fileprivate mutating func looseHeaderItems() throws -> [HeaderItem]?? {
        let values = try headerItems
        if Undeclared.isValue(values) { return nil }
        return .some(EndpointReading.headerItems(values))
    }

    fileprivate mutating func looseQueryItems() throws -> [QueryItem]?? {
        let values = try queryItems
        if Undeclared.isValue(values) { return nil }
        return .some(EndpointReading.queryItems(values))
    }

    fileprivate mutating func looseBody() throws -> Data?? {
        let data = try body
        if Undeclared.isValue(data) { return nil }
        return .some(data)
    }

    fileprivate mutating func looseTimeout() throws -> Double?? {
        let seconds = try timeout
        if Undeclared.isValue(seconds) { return nil }
        return .some(seconds)
    }

    fileprivate mutating func looseMethod() throws -> HTTPMethod? {
        let method = try method ?? .get
        return Undeclared.isValue(method) ? nil : method
    }

    fileprivate mutating func hasSetOfStatusCodes() throws -> Bool { try acceptableStatusCodes != [.min] }

    fileprivate mutating func textInPath() throws -> URLPath? {
        let text: String = try path
        return text == Undeclared.text ? nil : text.isEmpty ? .empty : try URLPath(text)
    }
}

extension EndpointSpelling.OptionalLoose {
    fileprivate mutating func optionalHeaderItems() throws -> [HeaderItem]?? {
        let values = try headerItems
        if let values, Undeclared.isValue(values) { return nil }
        return .some(values.map(EndpointReading.headerItems))
    }

    fileprivate mutating func optionalQueryItems() throws -> [QueryItem]?? {
        let values = try queryItems
        if let values, Undeclared.isValue(values) { return nil }
        return .some(values.map(EndpointReading.queryItems))
    }

    fileprivate mutating func optionalBody() throws -> Data?? {
        let data = try body
        if let data, Undeclared.isValue(data) { return nil }
        return .some(data)
    }

    fileprivate mutating func optionalTimeout() throws -> Double?? {
        let seconds = try timeout
        if let seconds, Undeclared.isValue(seconds) { return nil }
        return .some(seconds)
    }

    fileprivate mutating func hasListOfStatusCodes() throws -> Bool { try acceptableStatusCodes != [.min] }

    fileprivate mutating func valueInPath() throws -> URLPath? {
        let path: URLPath = try path
        return path == .undeclared ? nil : path
    }
}

extension EndpointSpelling.Fallback {
    mutating func otherHeaderItems() throws -> [HeaderItem]?? {
        let items = try EndpointReading.one(of: plainHeaderItems(), looseHeaderItems(), "headerItems")
        return try EndpointReading.one(of: items, optionalHeaderItems(), "headerItems")
    }

    mutating func otherQueryItems() throws -> [QueryItem]?? {
        let items = try EndpointReading.one(of: plainQueryItems(), looseQueryItems(), "queryItems")
        let more = try EndpointReading.one(of: items, optionalQueryItems(), "queryItems")
        return try EndpointReading.one(of: more, strangeQueryItems(), "queryItems")
    }

    mutating func otherMethod() throws -> HTTPMethod?? {
        if let method = try looseMethod() { return .some(method) }
        return try textOfMethod()
    }

    /// The body as bytes.
    mutating func rawBody() throws -> RequestBody?? {
        try EndpointReading.one(of: looseBody(), optionalBody(), "body").map { $0.map { .data($0) } }
    }

    /// Both deadlines as one number.
    mutating func secondsOfTimeout() throws -> ServiceTimeout?? {
        try EndpointReading.one(of: looseTimeout(), optionalTimeout(), "timeout")
            .map { $0.map { ServiceTimeout(request: $0, resource: $0) } }
    }

    /// The path in a property, which may mean something else if there is also a
    /// function.
    fileprivate mutating func pathInProperty() throws -> URLPath? {
        let path = try EndpointReading.one(of: valueInPath(), textInPath(), "path")
        return try EndpointReading.one(of: path, literalInPath(), "path")
    }

    fileprivate mutating func refuseOtherStatusCodes() throws {
        guard try hasSetOfStatusCodes() || hasListOfStatusCodes() else { return }
        throw AtomError.requestable(
            .unusableMember(
                .init(subject: "acceptableStatusCodes", reason: "it is a ClosedRange<Int>, for example 200...299")))
    }
}

extension EndpointSpelling.Declared {
    mutating func declaredBaseURL() throws -> BaseURL { try baseURL() }

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

// MARK: - The members as a request needs them

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

    /// The path alone, for an app that reads it.
    mutating func pathInAnyForm() throws -> URLPath {
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
        search.note(.headerItems, documented: isDocumented, other: other != nil)
        if !isDocumented, other == nil { try refuseStrangeHeaderItems() }
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
        search.note(.queryItems, documented: isDocumented, other: other != nil)
        if !isDocumented, other == nil { try refuseStrangeQueryItems() }
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
        let strange = isDocumented || plain != nil || raw != nil ? nil : try typeOfStrangeBody()
        search.note(.body, documented: isDocumented, other: plain != nil || raw != nil || strange != nil)
        if let strange, method.body == nil, ["POST", "PUT", "PATCH"].contains(method.name) {
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
