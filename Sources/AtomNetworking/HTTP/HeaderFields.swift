import Foundation

/// The header fields of a message, in order, repeats kept.
///
/// Names are compared without regard to case (RFC 9110 §5.1). Nothing is
/// validated here: what comes from an endpoint is checked before it becomes a
/// `HeaderFields`, and what comes from a server is kept as it came.
public struct HeaderFields: Sendable {
    /// One header field line.
    public struct Field: Sendable, Hashable {
        /// The name as it was written.
        public var name: String
        /// The value without surrounding white space.
        public var value: String

        /// Makes a field from a name and a value, neither of which is checked.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    private var fields: [Field]

    /// Makes an empty list.
    public init() {
        fields = []
    }

    /// Makes a list of the given fields, in their order.
    public init(_ fields: [Field]) {
        self.fields = fields
    }

    /// The value of the first field with this name; setting replaces every
    /// field with the name, and `nil` removes them.
    public subscript(_ name: String) -> String? {
        get {
            fields.first { Self.isSameName($0.name, name) }?.value
        }
        set {
            guard let newValue else {
                fields.removeAll { Self.isSameName($0.name, name) }
                return
            }
            if let index = fields.firstIndex(where: { Self.isSameName($0.name, name) }) {
                fields[index] = Field(name: name, value: newValue)
                var seen = 0
                fields.removeAll { field in
                    guard Self.isSameName(field.name, name) else { return false }
                    seen += 1
                    return seen > 1
                }
            } else {
                fields.append(Field(name: name, value: newValue))
            }
        }
    }

    /// All values of the fields with this name, in order.
    public func values(for name: String) -> [String] {
        fields.compactMap { Self.isSameName($0.name, name) ? $0.value : nil }
    }

    /// Whether a field with this name is there.
    public func contains(_ name: String) -> Bool {
        fields.contains { Self.isSameName($0.name, name) }
    }

    /// Adds a field at the end and keeps those of the same name.
    public mutating func append(name: String, value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Removes every field that the predicate holds for.
    public mutating func removeAll(where shouldRemove: (Field) -> Bool) {
        fields.removeAll(where: shouldRemove)
    }

    mutating func reserveCapacity(_ capacity: Int) {
        fields.reserveCapacity(capacity)
    }

    /// Compares two field names by bytes, ASCII case folded.
    static func isSameName(_ first: String, _ second: String) -> Bool {
        let first = first.utf8
        let second = second.utf8
        guard first.count == second.count else { return false }
        for (one, other) in zip(first, second) where one != other {
            guard one ^ other == 0x20, (0x61...0x7A).contains(one | 0x20) else { return false }
        }
        return true
    }
}

extension HeaderFields: RandomAccessCollection {
    /// Where the first field stands.
    public var startIndex: Int { fields.startIndex }
    /// The place after the last field.
    public var endIndex: Int { fields.endIndex }
    /// The field at a place.
    public subscript(position: Int) -> Field { fields[position] }
}

extension HeaderFields: Hashable {}

extension HeaderFields: CustomStringConvertible, CustomReflectable {
    /// The names only: a value may be a credential.
    public var description: String {
        "[" + shownNames.joined(separator: ", ") + "]"
    }

    /// Keeps `dump` to what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: shownNames, displayStyle: .collection) }

    private var shownNames: [String] { fields.map { Redaction.name($0.name) } }
}

extension HeaderFields.Field: CustomStringConvertible, CustomReflectable {
    /// The name only: a value may be a credential.
    public var description: String { "\(Redaction.name(name)): …" }

    /// Keeps `dump` to what ``description`` shows.
    public var customMirror: Mirror { Mirror(self, children: ["name": Redaction.name(name)]) }
}
