import Foundation

// Forms of other frameworks and languages. Some are used, the others are
// refused: without these requirements the request would be sent without them.
extension EndpointSpelling {
    /// Members with Foundation's types, and answers that are left open.
    public protocol Foundational: Sendable {
        /// Header fields; not accepted.
        @_disfavoredOverload
        var headerItems: [String: Any] { mutating get throws }
        /// The query.
        @_disfavoredOverload
        var queryItems: [URLQueryItem] { mutating get throws }
        /// The body; not accepted.
        @_disfavoredOverload
        var body: [String: Any] { mutating get throws }
        /// Whether the request is signed; `nil` is `true`.
        @_disfavoredOverload
        var requiresAuthorization: Bool? { mutating get throws }
        /// Whether it shares the exchange of an identical request; `nil` is
        /// `false`.
        @_disfavoredOverload
        var sharesIdenticalRequests: Bool? { mutating get throws }
    }

    /// Members with Foundation's types that are optional.
    public protocol OptionalFoundational: Sendable {
        /// Header fields; not accepted.
        @_disfavoredOverload
        var headerItems: [String: Any]? { mutating get throws }
        /// The query.
        @_disfavoredOverload
        var queryItems: [URLQueryItem]? { mutating get throws }
        /// The body; not accepted.
        @_disfavoredOverload
        var body: [String: Any]? { mutating get throws }
    }

    /// A query of values of several types, and a text as body.
    public protocol Mixed: Sendable {
        /// The query, in the order of its keys.
        @_disfavoredOverload
        var queryItems: [String: any QueryValue] { mutating get throws }
        /// The body; not accepted.
        @_disfavoredOverload
        var body: String { mutating get throws }
    }

    /// A query whose values may be anything.
    public protocol Untyped: Sendable {
        /// The query; not accepted.
        @_disfavoredOverload
        var queryItems: [String: Any] { mutating get throws }
    }
}

extension EndpointSpelling.Untyped {
    /// Not declared.
    @_disfavoredOverload
    public var queryItems: [String: Any] { mutating get throws { throw Undeclared.Marker() } }

    fileprivate mutating func hasUntypedQuery() throws -> Bool {
        try Undeclared.value { _ = try queryItems } != nil
    }
}

extension EndpointSpelling.Foundational {
    /// Not declared.
    @_disfavoredOverload
    public var headerItems: [String: Any] { mutating get throws { throw Undeclared.Marker() } }
    /// Not declared.
    @_disfavoredOverload
    public var queryItems: [URLQueryItem] { mutating get throws { throw Undeclared.Marker() } }
    /// Not declared.
    @_disfavoredOverload
    public var body: [String: Any] { mutating get throws { throw Undeclared.Marker() } }
    /// Not declared.
    @_disfavoredOverload
    public var requiresAuthorization: Bool? { mutating get throws { throw Undeclared.Marker() } }
    /// Not declared.
    @_disfavoredOverload
    public var sharesIdenticalRequests: Bool? { mutating get throws { throw Undeclared.Marker() } }

    /// `nil` if it isn't declared in this form.
    mutating func optionalRequiresAuthorization() throws -> Bool? {
        try Undeclared.value { try requiresAuthorization ?? true }
    }

    /// `nil` if it isn't declared in this form.
    mutating func optionalSharing() throws -> Bool? {
        try Undeclared.value { try sharesIdenticalRequests ?? false }
    }

    fileprivate mutating func foundationQueryItems() throws -> [QueryItem]? {
        try Undeclared.value { try queryItems.map(QueryItem.init) }
    }

    fileprivate mutating func hasDictionaryOfHeaders() throws -> Bool {
        try Undeclared.value { _ = try headerItems } != nil
    }

    fileprivate mutating func hasDictionaryAsBody() throws -> Bool { try Undeclared.value { _ = try body } != nil }
}

extension EndpointSpelling.OptionalFoundational {
    /// Not declared.
    @_disfavoredOverload
    public var headerItems: [String: Any]? { mutating get throws { throw Undeclared.Marker() } }
    /// Not declared.
    @_disfavoredOverload
    public var queryItems: [URLQueryItem]? { mutating get throws { throw Undeclared.Marker() } }
    /// Not declared.
    @_disfavoredOverload
    public var body: [String: Any]? { mutating get throws { throw Undeclared.Marker() } }

    fileprivate mutating func optionalFoundationQueryItems() throws -> [QueryItem]?? {
        try Undeclared.value { try queryItems?.map(QueryItem.init) }
    }

    fileprivate mutating func hasOptionalDictionaryOfHeaders() throws -> Bool {
        try Undeclared.value { _ = try headerItems } != nil
    }

    fileprivate mutating func hasOptionalDictionaryAsBody() throws -> Bool {
        try Undeclared.value { _ = try body } != nil
    }
}

extension EndpointSpelling.Mixed {
    /// Not declared.
    @_disfavoredOverload
    public var queryItems: [String: any QueryValue] { mutating get throws { throw Undeclared.Marker() } }
    /// Not declared.
    @_disfavoredOverload
    public var body: String { mutating get throws { throw Undeclared.Marker() } }

    fileprivate mutating func mixedQueryItems() throws -> [QueryItem]? {
        try Undeclared.value {
            try queryItems.sorted { $0.key < $1.key }.flatMap { name, value in
                value.queryTexts.map { QueryItem(name: name, value: $0) }
            }
        }
    }

    fileprivate mutating func hasTextAsBody() throws -> Bool { try Undeclared.value { _ = try body } != nil }
}

extension EndpointSpelling.Fallback {
    /// A query in Foundation's types, or with values of several types.
    mutating func strangeQueryItems() throws -> [QueryItem]?? {
        let items = try EndpointReading.one(of: foundationQueryItems(), mixedQueryItems(), "queryItems")
        return try EndpointReading.one(of: items.map { .some($0) }, optionalFoundationQueryItems(), "queryItems")
    }

    /// A body that the SDK doesn't read.
    mutating func strangeBody() throws -> EndpointReading.Strange? {
        if try hasTextAsBody() { return .init(type: "String") }
        if try hasDictionaryAsBody() || hasOptionalDictionaryAsBody() { return .init(type: "[String: Any]") }
        return EndpointReading.property("body", in: self)
    }

    /// Refuses a list whose type the SDK doesn't read; called if there is none
    /// in another form.
    ///
    /// - Returns: Whether there is one without a value.
    mutating func refuseStrangeQueryItems() throws -> Bool {
        let strange =
            try hasUntypedQuery() ? .init(type: "[String: Any]") : EndpointReading.property("queryItems", in: self)
        guard let type = strange?.type else { return strange != nil }
        throw EndpointReading.unreadable("queryItems", type: type, remedy: "[QueryItem]?")
    }

    /// The same for header fields.
    mutating func refuseStrangeHeaderItems() throws -> Bool {
        let isDictionary = try hasDictionaryOfHeaders() || hasOptionalDictionaryOfHeaders()
        let strange = isDictionary ? .init(type: "[String: Any]") : EndpointReading.property("headerItems", in: self)
        guard let type = strange?.type else { return strange != nil }
        throw EndpointReading.unreadable("headerItems", type: type, remedy: "[HeaderItem]?, or [String: String]")
    }
}

extension EndpointReading {
    static func unreadable(_ member: String, type: String, remedy: String) -> AtomError {
        .requestable(
            .unusableMember(
                .init(subject: member, reason: "its type is \(type), which the SDK doesn't read; make it \(remedy)")))
    }

    /// A member of a type that the SDK doesn't read.
    struct Strange {
        /// `nil` if it has no value: another endpoint of its type may have one.
        let type: String?
    }

    /// A stored property, for a member that no requirement finds.
    static func property(_ name: String, in endpoint: Any) -> Strange? {
        let mirror = Mirror(reflecting: endpoint)
        // The children of an enum have the names of its cases.
        guard mirror.displayStyle == .struct || mirror.displayStyle == .class else { return nil }
        guard let value = mirror.children.first(where: { $0.label == name })?.value else { return nil }
        let content = Mirror(reflecting: value)
        return Strange(type: content.displayStyle == .optional && content.children.isEmpty ? nil : "\(type(of: value))")
    }
}

extension QueryItem {
    /// Foundation's item; one without a value has an empty one.
    fileprivate init(_ item: URLQueryItem) { self.init(name: item.name, value: item.value ?? "") }
}
