/// Media types (RFC 9110 §8.3.1).
enum MediaTypeGrammar {
    /// Whether the text is a type, a slash and a subtype, with or without
    /// parameters.
    static func isValid(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        guard skipToken(&rest), skip(UInt8(ascii: "/"), &rest), skipToken(&rest) else { return false }
        while !rest.isEmpty {
            skipSpace(&rest)
            guard skip(UInt8(ascii: ";"), &rest) else { return false }
            skipSpace(&rest)
            // A parameter may be missing (§5.6.6).
            if skipToken(&rest) {
                guard skip(UInt8(ascii: "="), &rest), skipToken(&rest) || skipQuotedString(&rest) else { return false }
            }
        }
        return true
    }

    private static func skip(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    private static func skipSpace(_ rest: inout ArraySlice<UInt8>) {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == 0x09 }
    }

    private static func skipToken(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let count = rest.count
        rest = rest.drop { HTTPGrammar.isTokenByte($0) }
        return rest.count < count
    }

    /// `quoted-string` (§5.6.4).
    private static func skipQuotedString(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard skip(UInt8(ascii: "\""), &rest) else { return false }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), isQuotable(escaped) else { return false }
            default:
                guard isQuotable(byte) else { return false }
            }
        }
        return false
    }

    private static func isQuotable(_ byte: UInt8) -> Bool { byte == 0x09 || (byte >= 0x20 && byte != 0x7F) }
}
