/// A name and a value that become part of a request.
public protocol RequestableItem: Equatable, Sendable {
    /// The name.
    var name: String { get }

    /// The value.
    var value: String { get }

    /// Makes an item; what can't be sent is found when the request is built.
    init(name: String, value: String)
}

/// A header field of a request (RFC 9110 §5).
public struct HeaderItem: RequestableItem, Hashable {
    /// The field's name, a token.
    public let name: String

    /// The field's value.
    public let value: String

    /// Makes a header field; it is checked when the request is built.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension HeaderItem: CustomStringConvertible, CustomReflectable {
    /// The name only: a value may be a credential.
    public var description: String { "\(Redaction.name(name)): …" }

    /// Keeps `dump` to what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["name": Redaction.name(name)]) }
}

/// A name and value of a URL's query; both arrive at the server as given.
public struct QueryItem: RequestableItem, Hashable {
    /// The name.
    public let name: String

    /// The value.
    public let value: String

    /// Makes a query item of any text.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension QueryItem: CustomStringConvertible, CustomReflectable {
    /// The name only: a value may be a credential.
    public var description: String { "\(Redaction.name(name))=…" }

    /// Keeps `dump` to what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["name": Redaction.name(name)]) }
}

// One of the few conformances on a type that isn't ours; endpoints write `["name": "value"]`.
// swift-format-ignore: AvoidRetroactiveConformances
extension Array: @retroactive ExpressibleByDictionaryLiteral where Element: RequestableItem {
    /// Makes items from `["name": "value"]`, in the order written, repeats kept.
    public init(dictionaryLiteral elements: (String, String)...) {
        self = elements.map { Element(name: $0.0, value: $0.1) }
    }
}
