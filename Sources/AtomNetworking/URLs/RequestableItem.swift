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

    /// What is sent, if it isn't what the SDK writes for the name and the value.
    let encoded: String?

    /// Creates a query item; name and value may be any text.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
        encoded = nil
    }

    /// Creates a query item whose value is percent-encoded already, for a server that tells `1,2` from `1%2C2`.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var queryItems: [QueryItem]? { [QueryItem(name: "ids", percentEncodedValue: "1,2")] }
    /// ```
    ///
    /// All characters of a query (RFC 3986 §3.4) are sent as they are, and so are percent-encoded octets. An ampersand,
    /// a number sign, a space, a lone percent sign and everything else that would end the item, the query or the line is
    /// percent-encoded. ``value`` is the decoded text. In a form, the item means the same.
    public init(name: String, percentEncodedValue value: String) {
        let name = PercentEncoding.encode(name, allowing: PercentEncoding.unreserved)
        self.init(encoded: Array("\(name)=\(value)".utf8))
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

extension QueryItem {
    /// The items of a whole query, or of a part of one, that is percent-encoded already, such as
    /// `ids=1,2&flag&q=a+b`.
    ///
    /// The text is sent as it is, also a name without an equals sign. What a query can't have (RFC 3986 §3.4) is
    /// percent-encoded, as in ``init(name:percentEncodedValue:)``. The items are what is between the ampersands; an
    /// empty text is one item, of which only the question mark before it is sent.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var queryItems: [QueryItem]? { QueryItem.items(percentEncodedQuery: "ids=1,2&flag&q=a+b") }
    /// ```
    public static func items(percentEncodedQuery query: String) -> [QueryItem] {
        query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map {
            QueryItem(encoded: Array($0))
        }
    }

    /// - Parameter text: A name, an equals sign and a value, or less.
    private init(encoded text: [UInt8]) {
        let sent = PercentEncoding.complete(text, allowing: PercentEncoding.queryItem)
        let parts = sent.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false).map {
            let part = String(decoding: $0, as: UTF8.self)
            return part.removingPercentEncoding ?? part
        }
        let plain = QueryItem(name: parts[0], value: parts.count > 1 ? parts[1] : "")
        let encoded = String(decoding: sent, as: UTF8.self)
        (name, value) = (plain.name, plain.value)
        // Items that are sent alike are equal.
        self.encoded = PercentEncoding.query([plain]) == encoded ? nil : encoded
    }
}

extension QueryItem: Redacted {
    /// Shows only the name: a value may be a credential, and so may a text without an equals sign.
    public var description: String {
        encoded?.utf8.contains(UInt8(ascii: "=")) == false ? Redaction.hidden : "\(Redaction.name(name))=…"
    }
}

// For `["name": "value"]` in endpoints.
// swift-format-ignore: AvoidRetroactiveConformances
extension Array: @retroactive ExpressibleByDictionaryLiteral where Element: RequestableItem {
    /// Creates items from `["name": "value"]`, in the written order and with repeats.
    @inlinable  // Not specialized for the app, one item costs 10,000 instructions more.
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
