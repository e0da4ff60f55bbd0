/// The directives of `Cache-Control` (RFC 9111 §5.2), of all its fields in a message.
///
/// After a mistake in a field only names count, and each word is one: a `no-store` behind it is heard, and no time there
/// is believed.
struct CacheDirectives: Sendable, Equatable {
    /// What follows a directive's name.
    enum Argument: Sendable, Equatable {
        case missing
        case time(Duration)
        /// Anything else, also times of which one contradicts another (§4.2.1).
        case other
    }

    private var arguments: [String: Argument] = [:]

    /// No directives.
    init() {}

    init(_ headerFields: HeaderFields, in name: String = "Cache-Control") {
        for value in headerFields.values(for: name) { read(Array(value.utf8)) }
    }

    /// `nil` if the directive isn't there; its name is in lower case.
    subscript(_ name: String) -> Argument? { arguments[name] }

    /// The time that a directive gives; `nil` if it isn't there, or gives none.
    func time(_ name: String) -> Duration? {
        guard case .time(let time) = arguments[name] else { return nil }
        return time
    }

    /// Reads a number of seconds (§1.2.2): one above 2³¹ counts as that.
    static func seconds(_ digits: some Collection<UInt8>) -> Duration? {
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return .seconds(digits.reduce(0 as Int64) { min($0 * 10 + Int64($1 - 0x30), 1 << 31) })
    }

    private mutating func read(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while true {
            // Elements of a list may be empty (RFC 9110 §5.6.1).
            rest = rest.drop { Self.isBlank($0) || $0 == UInt8(ascii: ",") }
            guard !rest.isEmpty else { return }
            let element = rest
            let name = Self.take(&rest)
            var argument = Argument.missing
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst()
                argument = Self.seconds(Self.quoted(&rest) ?? Self.take(&rest)).map { .time($0) } ?? .other
            }
            rest = rest.drop(while: Self.isBlank)
            guard !name.isEmpty, rest.isEmpty || rest.first == UInt8(ascii: ",") else {
                for word in element.split(whereSeparator: { !HTTPGrammar.isTokenByte($0) }) { note(word, .other) }
                return
            }
            note(name, argument)
        }
    }

    private mutating func note(_ name: ArraySlice<UInt8>, _ argument: Argument) {
        let name = String(decoding: name, as: UTF8.self).lowercased()
        arguments[name] = arguments[name] ?? argument == argument ? argument : .other
    }

    private static func take(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let token = rest.prefix(while: HTTPGrammar.isTokenByte)
        rest = rest[token.endIndex...]
        return token
    }

    /// The content of a `quoted-string` (RFC 9110 §5.6.4), as it is written: no number has a backslash.
    private static func quoted(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        var isEscaped = false
        for index in rest.indices.dropFirst() {
            if !isEscaped, rest[index] == UInt8(ascii: "\"") {
                let content = rest[(rest.startIndex + 1)..<index]
                rest = rest[(index + 1)...]
                return content
            }
            isEscaped = !isEscaped && rest[index] == UInt8(ascii: "\\")
        }
        return nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
