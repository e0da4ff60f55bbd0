import Testing

@testable import AtomNetworking

@Suite("Queries and forms arrive as they were given", .limited)
struct PercentEncodingTests {
    private static let texts: [String] = [
        "", "a", "a b", "a+b", "a&b=c", "100%", "%2B", "%", "=", "&", "?", "#", "/", ";", ":@", "~-._", "*", "!'()",
        "\"<>\\^`{|}", "\0\n\r\t\u{7F}", "ümläut", "日本語", "😀👩‍👩‍👧", "e\u{301}", "\u{FEFF}", "\r\n", "[0]", "a,b",
    ]

    @Test("Names and values of a query are read back as they were given, by both readings of a plus sign")
    func queryRoundTrip() throws {
        let items = Self.pairs(of: Self.texts)
        let query = PercentEncoding.query(items)
        #expect(query.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        for readsPlusAsSpace in [true, false] {
            #expect(try Self.decode(query, readsPlusAsSpace: readsPlusAsSpace) == items)
        }
    }

    @Test("Names and values of a form are read back as they were given")
    func formRoundTrip() throws {
        let items = Self.pairs(of: Self.texts)
        let form = PercentEncoding.form(items)
        #expect(form.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        #expect(try Self.decode(form, readsPlusAsSpace: true) == items)
    }

    @Test(
        "Of ASCII only the unreserved characters stay as they are in a query (RFC 3986 §2.3)",
        arguments: UInt8(0)...0x7F)
    func everyByteOfAQuery(_ byte: UInt8) {
        let text = String(Character(Unicode.Scalar(byte)))
        let isUnreserved =
            text.unicodeScalars.allSatisfy { Self.isAlphanumeric($0.value) } || ["-", ".", "_", "~"].contains(text)
        let encoded = isUnreserved ? text : Self.hex(byte)
        #expect(PercentEncoding.query([QueryItem(name: text, value: text)]) == "\(encoded)=\(encoded)")
    }

    @Test("A form is what the URL Standard's serialiser makes", arguments: UInt8(0)...0x7F)
    func everyByteOfAForm(_ byte: UInt8) {
        let text = String(Character(Unicode.Scalar(byte)))
        let encoded =
            switch text {
            case " ": "+"
            case "*", "-", ".", "_": text
            default: Self.isAlphanumeric(UInt32(byte)) ? text : Self.hex(byte)
            }
        #expect(PercentEncoding.form([QueryItem(name: text, value: text)]) == "\(encoded)=\(encoded)")
    }

    @Test("Two thousand random texts survive both encodings")
    func fuzz() throws {
        var generator = SeededGenerator(seed: 42)
        for _ in 0..<2_000 {
            let scalars = (0..<Int.random(in: 0...20, using: &generator)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x11_0000, using: &generator))
            }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            let items = [QueryItem(name: text, value: text)]
            #expect(try Self.decode(PercentEncoding.query(items), readsPlusAsSpace: false) == items)
            #expect(try Self.decode(PercentEncoding.form(items), readsPlusAsSpace: true) == items)
        }
    }

    @Test("Items keep their order and their repeats, and an empty value keeps its equals sign")
    func orderAndRepeats() {
        let items = [
            QueryItem(name: "b", value: "2"), QueryItem(name: "a", value: "1"), QueryItem(name: "b", value: ""),
        ]
        #expect(PercentEncoding.query(items) == "b=2&a=1&b=")
        #expect(PercentEncoding.form(items) == "b=2&a=1&b=")
    }

    @Test("The query follows the path after a question mark, and no items add none")
    func targetOfQuery() throws {
        let base = try BaseURL(scheme: .http, host: "a.example", port: 8080)
        let path = try URLPath("/x/")
        let item = QueryItem(name: "q", value: "a b?")
        #expect(
            TargetURL(base: base, path: path, queryItems: [item]).absoluteString
                == "http://a.example:8080/x/?q=a%20b%3F")
        #expect(TargetURL(base: base, path: path, queryItems: []).absoluteString == "http://a.example:8080/x/")
        #expect(
            TargetURL(base: base, path: .empty, queryItems: [item]).absoluteString
                == "http://a.example:8080/?q=a%20b%3F")
    }

    @Test("A text that needs no encoding isn't copied into another", arguments: ["", "abc", "a-b_c.d~e"])
    func untouched(_ text: String) {
        #expect(PercentEncoding.encode(text, allowing: PercentEncoding.unreserved) == text)
    }
}

// A server's decoding, written independently of the code.
extension PercentEncodingTests {
    private struct NotAQuery: Error {}

    private static func pairs(of texts: [String]) -> [QueryItem] {
        texts.flatMap { [QueryItem(name: $0, value: "x"), QueryItem(name: "x", value: $0)] }
    }

    private static func isAlphanumeric(_ value: UInt32) -> Bool {
        (48...57).contains(value) || (65...90).contains(value) || (97...122).contains(value)
    }

    private static func hex(_ byte: UInt8) -> String {
        "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }

    private static func decode(_ query: String, readsPlusAsSpace: Bool) throws -> [QueryItem] {
        try query.split(separator: "&", omittingEmptySubsequences: false).map { item in
            let halves = item.split(separator: "=", omittingEmptySubsequences: false)
            guard halves.count == 2 else { throw NotAQuery() }
            return QueryItem(
                name: try decode(half: halves[0], readsPlusAsSpace: readsPlusAsSpace),
                value: try decode(half: halves[1], readsPlusAsSpace: readsPlusAsSpace))
        }
    }

    private static func decode(half: Substring, readsPlusAsSpace: Bool) throws -> String {
        var bytes: [UInt8] = []
        var rest = Array(half.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == 0x25 {
                guard rest.count >= 2, let octet = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { throw NotAQuery() }
                bytes.append(octet)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(readsPlusAsSpace && byte == 0x2B ? 0x20 : byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw NotAQuery() }
        return text
    }
}
