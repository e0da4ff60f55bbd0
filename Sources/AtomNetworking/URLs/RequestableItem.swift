/// A name and a value that are part of a request.
public protocol RequestableItem: Equatable, Sendable {
    /// The name.
    var name: String { get }

    /// The value.
    var value: String { get }

    /// The type of the values in a dictionary literal; `String` by default.
    associatedtype LiteralValue = String

    /// Creates an item; it is validated when the request is prepared.
    init(name: String, value: String)

    /// The items for a name and a value of a dictionary literal.
    static func items(name: String, value: LiteralValue) -> [Self]
}

extension RequestableItem where LiteralValue == String {
    /// One item.
    public static func items(name: String, value: String) -> [Self] { [Self(name: name, value: value)] }
}

extension HeaderItem: RequestableItem {}

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

    /// Creates a query item from a number, a Boolean, a date or another value; a date that isn't finite is empty.
    public init(name: String, value: some QueryValue) {
        self.init(name: name, value: QueryItem.texts(of: value).joined(separator: ","))
    }

    /// Creates one item with all values, divided by commas, which is rarely meant.
    @available(*, deprecated, message: "an array is several items: use QueryItem.items(name:value:)")
    public init(name: String, value: [some QueryValue]) {
        self.init(name: name, value: QueryItem.texts(of: value).joined(separator: ","))
    }

    /// One item for a value, several of the same name for an array, and none for `nil`.
    ///
    /// A dictionary literal does the same: `["page": 2, "fare": nil]`.
    public static func items(name: String, value: (any QueryValue)?) -> [QueryItem] {
        value.map(texts)?.map { QueryItem(name: name, value: $0) } ?? []
    }
}

extension QueryItem: Redacted {
    /// Shows only the name: a value may be a credential.
    public var description: String { "\(Redaction.name(name))=…" }
}

// For `["name": "value"]` in endpoints.
// swift-format-ignore: AvoidRetroactiveConformances
extension Array: @retroactive ExpressibleByDictionaryLiteral where Element: RequestableItem {
    /// Creates items from `["name": "value"]`, in the written order and with repeats.
    public init(dictionaryLiteral elements: (String, Element.LiteralValue)...) {
        self = elements.flatMap { Element.items(name: $0.0, value: $0.1) }
    }
}

extension Array where Element: RequestableItem {
    /// Creates items from a dictionary, in the order of the names.
    public init(_ values: [String: Element.LiteralValue]) {
        self = values.sorted { $0.key < $1.key }.flatMap { Element.items(name: $0.key, value: $0.value) }
    }
}
