import Foundation

/// Values that stand for a member that an endpoint doesn't declare.
///
/// No endpoint can mean them: none could be sent.
enum Undeclared {
    static let text = "\0undeclared"
    static let path = URLPath.undeclared
    static let headerItems = [HeaderItem(name: text, value: "")]
    static let queryItems = [QueryItem(name: text, value: text)]
    static let dictionary = [text: text]
    static let body = RequestBody.data(data, contentType: text)
    static let data = Data("\0AtomNetworking\0".utf8)
    static let method = HTTPMethod.token(text)
    /// Not a number, with bits that no calculation results in.
    static let seconds = Double(nan: 0x41_746F6D, signaling: false)
    static let timeout = ServiceTimeout(request: seconds, resource: seconds)
    static let statusCodes = Int.min..<(Int.min + 1)
    static let closedStatusCodes = Int.min...Int.min

    static func isValue(_ items: [HeaderItem]) -> Bool { items.count == 1 && items[0].name == text }
    static func isValue(_ items: [QueryItem]) -> Bool {
        items.count == 1 && items[0].name == text && items[0].value == text
    }
    static func isValue(_ values: [String: String]) -> Bool { values.count == 1 && values[text] == text }
    static func isValue(_ body: RequestBody) -> Bool { body.contentType == text }
    static func isValue(_ data: Data) -> Bool { data.count == Self.data.count && data == Self.data }
    static func isValue(_ method: HTTPMethod) -> Bool {
        if case .token(text, nil) = method { true } else { false }
    }
    static func isValue(_ seconds: Double) -> Bool { seconds.bitPattern == Self.seconds.bitPattern }
}

/// What reading the members of an endpoint needs in several places.
enum EndpointReading {
    /// The form that is declared, or `nil`.
    ///
    /// - Throws: ``RequestableError/unusableMember(_:)`` if both are.
    static func one<T>(of first: T?, _ second: T?, _ name: StaticString) throws(AtomError) -> T? {
        guard let second else { return first }
        guard first == nil else {
            throw .requestable(
                .unusableMember(
                    .init(
                        subject: "\(name)",
                        reason: "the endpoint has two members of this name with different types, for example its "
                            + "own and one of a protocol extension; declare both with the type in Requestable")))
        }
        return second
    }

    /// What an endpoint threw, as the SDK's error.
    static func error(_ error: any Error, of member: String) -> AtomError {
        switch error {
        case let error as AtomError: error
        case let error as RequestableError: .requestable(error)
        case is CancellationError: .cancelled(.notSent)
        default:
            // Its text may contain a value.
            .requestable(
                .endpointFailed(.init(subject: member, reason: "it threw \(type(of: error))"), cause: error))
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

    mutating func plainBody() throws -> RequestBody?? {
        let body = try body
        if Undeclared.isValue(body) { return nil }
        return .some(body)
    }

    mutating func plainTimeout() throws -> ServiceTimeout?? {
        let timeout = try timeout
        if Undeclared.isValue(timeout.request) { return nil }
        return .some(timeout)
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

    fileprivate mutating func textOfMethod() throws -> HTTPMethod? {
        let name = try method
        return EndpointReading.methods.contains(name) ? .token(name) : nil
    }

    fileprivate mutating func textOfPath() throws -> URLPath? {
        let text: String = try path()
        return text == Undeclared.text ? nil : text.isEmpty ? .empty : try URLPath(text)
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

    fileprivate mutating func looseBody() throws -> Data? {
        let data = try body
        return Undeclared.isValue(data) ? nil : data
    }

    fileprivate mutating func looseTimeout() throws -> Double? {
        let seconds = try timeout
        return Undeclared.isValue(seconds) ? nil : seconds
    }

    fileprivate mutating func looseMethod() throws -> HTTPMethod? {
        let method = try method ?? .get
        return Undeclared.isValue(method) ? nil : method
    }

    fileprivate mutating func hasSetOfStatusCodes() throws -> Bool { try !acceptableStatusCodes.isEmpty }

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

    fileprivate mutating func optionalBody() throws -> Data? {
        let data = try body
        return data.flatMap { Undeclared.isValue($0) ? nil : $0 }
    }

    fileprivate mutating func optionalTimeout() throws -> Double? {
        let seconds = try timeout
        return seconds.flatMap { Undeclared.isValue($0) ? nil : $0 }
    }

    fileprivate mutating func hasListOfStatusCodes() throws -> Bool { try !acceptableStatusCodes.isEmpty }

    fileprivate mutating func valueInPath() throws -> URLPath? {
        let path: URLPath = try path
        return path == .undeclared ? nil : path
    }
}

extension EndpointSpelling.Fallback {
    mutating func otherHeaderItems(_ declared: [HeaderItem]?? = nil) throws -> [HeaderItem]? {
        var items = try EndpointReading.one(of: declared, plainHeaderItems(), "headerItems")
        items = try EndpointReading.one(of: items, looseHeaderItems(), "headerItems")
        return try EndpointReading.one(of: items, optionalHeaderItems(), "headerItems") ?? nil
    }

    mutating func otherQueryItems(_ declared: [QueryItem]?? = nil) throws -> [QueryItem]? {
        var items = try EndpointReading.one(of: declared, plainQueryItems(), "queryItems")
        items = try EndpointReading.one(of: items, looseQueryItems(), "queryItems")
        return try EndpointReading.one(of: items, optionalQueryItems(), "queryItems") ?? nil
    }

    mutating func otherMethod() throws -> HTTPMethod? {
        try looseMethod() ?? textOfMethod()
    }

    /// The body as bytes.
    mutating func rawBody() throws -> RequestBody? {
        try EndpointReading.one(of: looseBody(), optionalBody(), "body").map { .data($0) }
    }

    /// Both deadlines as one number.
    mutating func secondsOfTimeout() throws -> ServiceTimeout? {
        try EndpointReading.one(of: looseTimeout(), optionalTimeout(), "timeout")
            .map { ServiceTimeout(request: $0, resource: $0) }
    }

    fileprivate mutating func otherPath(_ declared: URLPath?) throws -> URLPath {
        if let path = try EndpointReading.one(of: declared, textOfPath(), "path()") { return path }
        return try EndpointReading.one(of: valueInPath(), textInPath(), "path") ?? .empty
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

    mutating func declaredRequiresAuthorization() throws -> Bool { try requiresAuthorization }

    fileprivate mutating func declaredPath() throws -> URLPath? {
        let path = try path()
        return path == .undeclared ? nil : path
    }

    fileprivate mutating func declaredHeaderItems() throws -> [HeaderItem]?? {
        let items = try headerItems
        if let items, Undeclared.isValue(items) { return nil }
        return .some(items)
    }

    fileprivate mutating func declaredQueryItems() throws -> [QueryItem]?? {
        let items = try queryItems
        if let items, Undeclared.isValue(items) { return nil }
        return .some(items)
    }

    fileprivate mutating func declaredMethod() throws -> HTTPMethod? {
        let method = try method
        return Undeclared.isValue(method) ? nil : method
    }

    fileprivate mutating func declaredBody() throws -> RequestBody?? {
        let body = try body
        if let body, Undeclared.isValue(body) { return nil }
        return .some(body)
    }

    fileprivate mutating func declaredTimeout() throws -> ServiceTimeout?? {
        let timeout = try timeout
        if let timeout, Undeclared.isValue(timeout.request) { return nil }
        return .some(timeout)
    }

    fileprivate mutating func declaredStatusCodes() throws -> ClosedRange<Int>? {
        let codes = try acceptableStatusCodes
        return codes == Undeclared.closedStatusCodes ? nil : codes
    }
}

// MARK: - The members as a request needs them

extension EndpointSpelling.Declared where Self: EndpointSpelling.Fallback {
    mutating func anyPath() throws -> URLPath { try otherPath(declaredPath()) }

    mutating func anyHeaderItems() throws -> [HeaderItem] { try otherHeaderItems(declaredHeaderItems()) ?? [] }

    mutating func anyQueryItems() throws -> [QueryItem] { try otherQueryItems(declaredQueryItems()) ?? [] }

    mutating func anyMethod() throws -> HTTPMethod { try declaredMethod() ?? otherMethod() ?? .get }

    /// - Parameter method: Its own body, if it has one, may be in a property of
    ///   this name.
    mutating func anyBody(for method: HTTPMethod) throws -> RequestBody? {
        if let body = try EndpointReading.one(of: declaredBody(), plainBody(), "body") { return body }
        return method.body == nil ? try rawBody() : nil
    }

    mutating func anyTimeout() throws -> ServiceTimeout? {
        if let timeout = try EndpointReading.one(of: declaredTimeout(), plainTimeout(), "timeout") { return timeout }
        return try secondsOfTimeout()
    }

    mutating func anyStatusCodes() throws -> ClosedRange<Int> {
        let codes = try EndpointReading.one(of: declaredStatusCodes(), plainStatusCodes(), "acceptableStatusCodes")
        try refuseOtherStatusCodes()
        return codes ?? 200...299
    }
}
