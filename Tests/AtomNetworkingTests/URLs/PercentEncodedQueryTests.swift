import Testing

@testable import AtomNetworking

@Suite("A query that is percent-encoded already is sent as it is", .limited)
struct PercentEncodedQueryTests {
    /// `query` without the percent sign (RFC 3986 §3.4), written independently of the code.
    private static let allowed = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?".utf8)

    private static let queries = [
        "ids=1,2&flag&q=a+b", "filter=a:b&at=%2c&at=%2C", "", "&", "&&", "a=1&&b=2", "a=1&", "a==b", "=", "=x", "d=%E9",
        "?x=/", "u=http://b.example/?c", "%61=1", "a;b=c", "!$'()*;@~-._",
    ]

    @Test(
        "The characters of a query stay, and what would end the item, the query or the line is encoded",
        arguments: [
            ("1,2", "1,2"), ("a:b", "a:b"), ("a+b", "a+b"), ("a=b", "a=b"), ("/?:@", "/?:@"), ("!$'()*;", "!$'()*;"),
            ("a%2Cb", "a%2Cb"), ("a%2cb", "a%2cb"), ("%00", "%00"), ("%FF", "%FF"), ("", ""),
            ("a&b", "a%26b"), ("a#b", "a%23b"), ("a b", "a%20b"), ("[1]", "%5B1%5D"), ("\u{E9}", "%C3%A9"),
            ("100%", "100%25"), ("%zz", "%25zz"), ("%4", "%254"), ("%%41", "%25%41"), ("%\u{E9}", "%25%C3%A9"),
            ("\r\nEvil: 1", "%0D%0AEvil:%201"), ("\0", "%00"), ("\"<>\\^`{|}", "%22%3C%3E%5C%5E%60%7B%7C%7D"),
        ])
    func value(_ given: String, isSentAs sent: String) {
        let item = QueryItem(name: "q", percentEncodedValue: given)
        #expect(PercentEncoding.query([item]) == "q=\(sent)")
        #expect(item.name == "q")
    }

    @Test("Every byte of ASCII is kept or encoded, by RFC 3986", arguments: UInt8(0)...0x7F)
    func everyByte(_ byte: UInt8) {
        let character = String(Character(Unicode.Scalar(byte)))
        let hex = "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        let sent = Self.allowed.contains(byte) ? character : hex
        let value = PercentEncoding.query([QueryItem(name: "q", percentEncodedValue: "a\(character)b")])
        #expect(value == "q=a\(character == "&" ? "%26" : sent)b")
        #expect(PercentEncoding.query(QueryItem.items(percentEncodedQuery: "a\(character)b")) == "a\(sent)b")
    }

    @Test("The name beside such a value may be any text")
    func name() {
        let item = QueryItem(name: "a&b=[c]", percentEncodedValue: "1,2")
        #expect(PercentEncoding.query([item]) == "a%26b%3D%5Bc%5D=1,2")
        #expect(item.name == "a&b=[c]" && item.value == "1,2")
    }

    @Test(
        "The value is the decoded text; a plus stays a plus, and what isn't UTF-8 stays encoded",
        arguments: [("a%20b%2C", "a b,"), ("a+b", "a+b"), ("%FF%41", "%FF%41"), ("5%", "5%"), ("", "")])
    func decodedValue(_ given: String, value: String) {
        #expect(QueryItem(name: "q", percentEncodedValue: given).value == value)
    }

    @Test("A whole query is sent as it is written, also an empty one", arguments: queries)
    func wholeQuery(_ query: String) throws {
        let items = QueryItem.items(percentEncodedQuery: query)
        #expect(PercentEncoding.query(items) == query)
        let target = TargetURL(base: try BaseURL(host: "a.example"), path: try URLPath("/x"), queryItems: items)
        #expect(target.absoluteString == "https://a.example/x?\(query)")
        #expect(target.pathAndQuery == "/x?\(query)" && target.path == "/x")
        #expect(target.url?.absoluteString == target.absoluteString)
    }

    @Test("The items of a whole query have its names and values")
    func items() {
        let items = QueryItem.items(percentEncodedQuery: "ids=1,2&flag&%66=a%20b&x==&")
        #expect(items.map(\.name) == ["ids", "flag", "f", "x", ""])
        #expect(items.map(\.value) == ["1,2", "", "a b", "=", ""])
    }

    @Test(
        "A whole query can't end itself or the line",
        arguments: [
            ("a=1#b", "a=1%23b"), ("a=1 HTTP/1.1\r\nEvil: 1", "a=1%20HTTP/1.1%0D%0AEvil:%201"),
            ("a[0]=1&b=50%", "a%5B0%5D=1&b=50%25"), ("q=\u{E9}", "q=%C3%A9"),
        ])
    func escape(_ query: String, isSentAs sent: String) {
        #expect(PercentEncoding.query(QueryItem.items(percentEncodedQuery: query)) == sent)
    }

    @Test("Items that are sent alike are equal, and others aren't")
    func equality() {
        #expect(QueryItem.items(percentEncodedQuery: "from=SEA&q=a%20b") == ["from": "SEA", "q": "a b"])
        let list = QueryItem(name: "ids", percentEncodedValue: "1,2")
        #expect(Set([list, QueryItem(name: "ids", percentEncodedValue: "1,2")]).count == 1)
        #expect(list != QueryItem(name: "ids", value: "1,2"))
        #expect(list != QueryItem(name: "ids", percentEncodedValue: "1%2C2"))
        #expect(QueryItem(name: "ids", value: "1,2") == QueryItem(name: "ids", percentEncodedValue: "1%2C2"))
        #expect(QueryItem.items(percentEncodedQuery: "flag") != [QueryItem(name: "flag", value: "")])
    }

    @Test("In a form such an item means the same, and ends no other")
    func form() {
        let items = [
            QueryItem(name: "ids", percentEncodedValue: "1,2"), QueryItem(name: "a", value: "b c"),
            QueryItem(name: "x", percentEncodedValue: "1&grant_type=password\r\n"),
        ]
        #expect(PercentEncoding.form(items) == "ids=1,2&a=b+c&x=1%26grant_type=password%0D%0A")
        #expect(PercentEncoding.form(QueryItem.items(percentEncodedQuery: "a=b%20c&flag")) == "a=b+c&flag")
    }

    @Test("A printed item shows its name, and neither a value nor a text without an equals sign")
    func redaction() {
        #expect(QueryItem(name: "ids", percentEncodedValue: "1,2").description == "ids=…")
        #expect(QueryItem.items(percentEncodedQuery: "hunter2").description == "[…]")
        for item in QueryItem.items(percentEncodedQuery: "hunter2&a=hunter2,x&b=hunter2") {
            expectNone(of: everyRendering(of: item), toContain: "hunter2")
        }
    }

    @Test("Two thousand random texts stay one item each, and are encoded once")
    func fuzz() {
        var generator = SeededGenerator(seed: 59)
        let allowed = Self.allowed.union("%".utf8)
        for _ in 0..<2_000 {
            let scalars = (0..<Int.random(in: 0...20, using: &generator)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x17F, using: &generator))
            }
            var text = ""
            text.unicodeScalars.append(contentsOf: scalars)
            let sent = PercentEncoding.query([QueryItem(name: text, percentEncodedValue: text)])
            #expect(sent.utf8.allSatisfy(allowed.contains) && !sent.contains("&"))
            let whole = PercentEncoding.query(QueryItem.items(percentEncodedQuery: text))
            #expect(whole.utf8.allSatisfy(allowed.contains))
            for query in [sent, whole] {
                #expect(PercentEncoding.query(QueryItem.items(percentEncodedQuery: query)) == query)
            }
        }
    }
}
