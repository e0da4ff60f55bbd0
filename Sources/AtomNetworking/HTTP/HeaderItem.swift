/// A header field (RFC 9110 §5).
///
/// Nothing is checked: an endpoint's fields are when its request is prepared, and a server's are kept as received.
public struct HeaderItem: Sendable, Hashable {
    /// The field's name, as it was written.
    public let name: String
    /// The field's value.
    public internal(set) var value: String

    /// Creates a header field.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Creates a field that is a list, such as `Accept`, `Cache-Control` or `Link`: the values with commas between them.
    ///
    /// That means the same as a field for each value (RFC 9110 §5.3), but not for `Cookie`. No values make an empty
    /// field. Of several items with one name the last is sent.
    public init(name: String, values: [String]) {
        self.init(name: name, value: values.joined(separator: ", "))
    }
}

extension HeaderItem: Redacted {
    /// Shows only the name: a value may be a credential.
    public var description: String { "\(Redaction.name(name)): …" }
}
