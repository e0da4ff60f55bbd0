/// A name and a value that are part of a request.
public protocol RequestableItem: Equatable, Sendable {
    /// The name.
    var name: String { get }

    /// The value.
    var value: String { get }

    /// Creates an item; it is validated when the request is prepared.
    init(name: String, value: String)
}

/// A header field of a request (RFC 9110 §5).
public struct HeaderItem: RequestableItem, Hashable {
    /// The field's name, a token.
    public let name: String

    /// The field's value.
    public let value: String

    /// Creates a header field; it is validated when the request is prepared.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension HeaderItem: CustomStringConvertible, CustomReflectable {
    /// Shows only the name: a value may be a credential.
    public var description: String { "\(Redaction.name(name)): …" }

    /// Limits `dump` to the content of ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["name": Redaction.name(name)]) }
}

/// A name and a value in a URL's query; the server gets both as given.
public struct QueryItem: RequestableItem, Hashable {
    /// The name.
    public let name: String

    /// The value.
    public let value: String

    /// Creates a query item; name and value may be any text.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension QueryItem: CustomStringConvertible, CustomReflectable {
    /// Shows only the name: a value may be a credential.
    public var description: String { "\(Redaction.name(name))=…" }

    /// Limits `dump` to the content of ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["name": Redaction.name(name)]) }
}

// One of the few conformances on a type that isn't ours, for `["name":
// "value"]` in endpoints.
// swift-format-ignore: AvoidRetroactiveConformances
extension Array: @retroactive ExpressibleByDictionaryLiteral where Element: RequestableItem {
    /// Creates items from `["name": "value"]`, in the written order and with
    /// repeats.
    public init(dictionaryLiteral elements: (String, String)...) {
        self = elements.map { Element(name: $0.0, value: $0.1) }
    }
}
