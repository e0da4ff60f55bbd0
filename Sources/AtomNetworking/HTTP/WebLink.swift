/// A link in a `Link` field (RFC 8288 §3).
struct WebLink: Equatable {
    /// The URL, as the server has written it: absolute, or relative to that of the response.
    let reference: String
    /// What the link starts from, if that isn't the response (§3.2).
    let anchor: String?
    /// The relation types, in lower case (§3.3).
    fileprivate let relations: [String]
}

extension HeaderFields {
    /// The links of all `Link` fields, of which 64 KiB are read, that have this relation type; in order.
    func links(_ relation: String) -> [WebLink] {
        var (links, room) = ([WebLink](), 64 << 10)
        for value in values(for: "Link") where value.utf8.count <= room {
            room -= value.utf8.count
            var reader = WebLink.Reader(bytes: Array(value.utf8))
            while let link = reader.next() {
                if link.relations.contains(relation) { links.append(link) }
            }
        }
        return links
    }
}

extension WebLink {
    /// Reads one field as in appendix B.2, each octet once: only what isn't in angle brackets ends it.
    fileprivate struct Reader {
        let bytes: [UInt8]
        private var index = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        /// The next link; `nil` at the end, and where there is none.
        mutating func next() -> WebLink? {
            // Elements of a list may be empty (RFC 9110 §5.6.1).
            _ = take { Self.isBlank($0) || $0 == Self.comma }
            guard skips(UInt8(ascii: "<")) else { return nil }
            let reference = text { $0 != UInt8(ascii: ">") }
            guard skips(UInt8(ascii: ">")) else { return nil }
            // Of several with one name the first one counts (RFC 8288 §3).
            var (anchor, relations): (String?, String?)
            while let (name, value) = parameter() {
                switch name {
                case "rel": relations = relations ?? value
                case "anchor": anchor = anchor ?? value
                default: break
                }
            }
            let types = (relations ?? "").lowercased().split { $0 == " " || $0 == "\t" }
            return WebLink(reference: reference, anchor: anchor, relations: types.map(String.init))
        }

        /// The next parameter of a link, with its name in lower case; `nil` after the last one.
        private mutating func parameter() -> (name: String, value: String)? {
            while true {
                _ = take(while: Self.isBlank)
                guard index < bytes.count, bytes[index] != Self.comma else { return nil }
                // What is behind a value doesn't belong to it.
                _ = take { $0 != Self.semicolon && $0 != Self.comma }
                guard skips(Self.semicolon) else { return nil }
                _ = take(while: Self.isBlank)
                let name = text { !Self.isBlank($0) && !Self.delimiters.contains($0) }.lowercased()
                _ = take(while: Self.isBlank)
                let value = skips(UInt8(ascii: "=")) ? value() : ""
                if !name.isEmpty { return (name, value) }
            }
        }

        private mutating func value() -> String {
            _ = take(while: Self.isBlank)
            guard skips(Self.quote) else {
                return text { !Self.isBlank($0) && $0 != Self.semicolon && $0 != Self.comma }
            }
            var value: [UInt8] = []
            while index < bytes.count, !skips(Self.quote) {
                if skips(UInt8(ascii: "\\")), index == bytes.count { break }
                value.append(bytes[index])
                index += 1
            }
            return String(decoding: value, as: UTF8.self)
        }

        private mutating func take(while isPart: (UInt8) -> Bool) -> ArraySlice<UInt8> {
            let part = bytes[index...].prefix(while: isPart)
            index = part.endIndex
            return part
        }

        private mutating func text(while isPart: (UInt8) -> Bool) -> String {
            String(decoding: take(while: isPart), as: UTF8.self)
        }

        private mutating func skips(_ byte: UInt8) -> Bool {
            guard index < bytes.count, bytes[index] == byte else { return false }
            index += 1
            return true
        }

        private static let comma = UInt8(ascii: ",")
        private static let semicolon = UInt8(ascii: ";")
        private static let quote = UInt8(ascii: "\"")
        private static let delimiters = ByteSet("=;,")

        private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    }
}
