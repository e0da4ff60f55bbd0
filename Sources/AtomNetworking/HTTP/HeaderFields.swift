/// The header fields of a message, in order, with repeats: a collection of ``HeaderItem``.
///
/// Names are compared without regard to case (RFC 9110 §5.1). Nothing is checked: an
/// endpoint's fields are before, and a server's are kept as received.
///
/// In a value that isn't UTF-8 each octet outside ASCII is the character that it is in ISO 8859-1, followed by U+E01EF,
/// which shows nothing. If the app sends the value back or makes a ``LinkedEndpoint`` of it, the octets are as they came.
public struct HeaderFields: Sendable, Hashable {
    private var fields: [HeaderItem]

    /// Creates an empty list.
    public init() { fields = [] }

    /// Creates a list of the given fields, in their order.
    public init(_ fields: [HeaderItem]) { self.fields = fields }

    /// The value of the first field with this name.
    ///
    /// Setting it replaces every field with the name; `nil` removes them.
    public subscript(_ name: String) -> String? {
        get { firstIndex(of: name).map { fields[$0].value } }
        set {
            guard let place = firstIndex(of: name) else {
                if let newValue { append(name: name, value: newValue) }
                return
            }
            fields.removeAll { Self.isSameName($0.name, name) }
            if let newValue { fields.insert(HeaderItem(name: name, value: newValue), at: place) }
        }
    }

    /// All values of the fields with this name, in order.
    public func values(for name: String) -> [String] {
        fields.compactMap { Self.isSameName($0.name, name) ? $0.value : nil }
    }

    /// Whether there is a field with this name.
    public func contains(_ name: String) -> Bool { firstIndex(of: name) != nil }

    /// By index: otherwise the references in each field would be counted.
    private func firstIndex(of name: String) -> Int? {
        let length = name.utf8.count
        for index in fields.indices
        where fields[index].name.utf8.count == length && Self.isSameName(fields[index].name, name) {
            return index
        }
        return nil
    }

    /// Adds a field at the end and keeps fields with the same name.
    public mutating func append(name: String, value: String) {
        fields.append(HeaderItem(name: name, value: value))
    }

    /// Removes every field that satisfies the predicate.
    public mutating func removeAll(where shouldRemove: (HeaderItem) -> Bool) {
        fields.removeAll(where: shouldRemove)
    }

    mutating func reserveCapacity(_ capacity: Int) { fields.reserveCapacity(capacity) }

    /// Compares two field names by bytes, with ASCII case folding.
    static func isSameName(_ first: String, _ second: String) -> Bool {
        guard first.utf8.count == second.utf8.count else { return false }
        var (first, second) = (first, second)
        return first.withUTF8 { first in
            second.withUTF8 { second in
                for index in first.indices where first[index] != second[index] {
                    let byte = first[index]
                    guard byte ^ second[index] == 0x20, (0x61...0x7A).contains(byte | 0x20) else { return false }
                }
                return true
            }
        }
    }
}

extension HeaderFields: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }
    /// The position after the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at a position.
    public subscript(position: Int) -> HeaderItem { fields[position] }
}

extension HeaderFields: Redacted {
    /// Shows only the names: a value may be a credential.
    public var description: String { "[" + fields.map { Redaction.name($0.name) }.joined(separator: ", ") + "]" }
}
