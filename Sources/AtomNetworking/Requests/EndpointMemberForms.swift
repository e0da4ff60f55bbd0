import Foundation

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

    mutating func textOfPath() throws -> URLPath? {
        let text: String = try path()
        return text == Undeclared.text ? nil : text.isEmpty ? .empty : try URLPath(text)
    }

    mutating func literalOfPath() throws -> URLPath? {
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
    mutating func pathInProperty() throws -> URLPath? {
        let path = try EndpointReading.one(of: valueInPath(), textInPath(), "path")
        return try EndpointReading.one(of: path, literalInPath(), "path")
    }

    mutating func refuseOtherStatusCodes() throws {
        guard try hasSetOfStatusCodes() || hasListOfStatusCodes() else { return }
        throw AtomError.requestable(
            .unusableMember(
                .init(subject: "acceptableStatusCodes", reason: "it is a ClosedRange<Int>, for example 200...299")))
    }
}

extension EndpointReading {
    fileprivate static func headerItems(_ values: [String: String]) -> [HeaderItem] {
        values.sorted { $0.key < $1.key }.map { HeaderItem(name: $0.key, value: $0.value) }
    }

    fileprivate static func queryItems(_ values: [String: String]) -> [QueryItem] {
        values.sorted { $0.key < $1.key }.map { QueryItem(name: $0.key, value: $0.value) }
    }

    fileprivate static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
}
