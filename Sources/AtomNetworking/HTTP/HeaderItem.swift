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
}

extension HeaderItem: Redacted {
    /// Shows only the name: a value may be a credential.
    public var description: String { "\(Redaction.name(name)): …" }
}
