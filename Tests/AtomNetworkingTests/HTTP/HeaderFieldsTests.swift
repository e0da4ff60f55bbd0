import Testing

@testable import AtomNetworking

@Suite("Header fields keep their order and their repeats", .limited)
struct HeaderFieldsTests {
    private static let fields = HeaderFields([
        .init(name: "Set-Cookie", value: "a=1"), .init(name: "ETag", value: "x"),
        .init(name: "set-cookie", value: "b=2"),
    ])

    @Test("Names are found in any case", arguments: ["Set-Cookie", "set-cookie", "SET-COOKIE", "sEt-cOOkie"])
    func lookUp(_ name: String) {
        #expect(Self.fields[name] == "a=1")
        #expect(Self.fields.values(for: name) == ["a=1", "b=2"])
        #expect(Self.fields.contains(name))
    }

    @Test(
        "Names that differ in anything else are others",
        arguments: [
            ("a", "b"), ("a", "a "), ("@", "`"), ("[", "{"), ("^", "~"), ("K", "\u{212A}"), ("a-b", "a_b"), ("", "a"),
            ("É", "é"),
        ])
    func otherNames(_ one: String, _ other: String) {
        #expect(!HeaderFields.isSameName(one, other))
        #expect(!HeaderFields.isSameName(other, one))
        #expect(HeaderFields.isSameName(one, one))
    }

    @Test("Of single bytes, exactly the two cases of a letter are the same")
    func everyPair() {
        for one in UInt8(0)..<0x80 {
            for other in UInt8(0)..<0x80 {
                let first = String(Character(Unicode.Scalar(one)))
                let second = String(Character(Unicode.Scalar(other)))
                #expect(HeaderFields.isSameName(first, second) == (first.lowercased() == second.lowercased()))
            }
        }
    }

    @Test("What isn't there has no value")
    func missing() {
        #expect(Self.fields["X"] == nil)
        #expect(Self.fields.values(for: "X").isEmpty)
        #expect(!Self.fields.contains("X"))
        #expect(HeaderFields()["X"] == nil)
    }

    @Test("Setting replaces every field of the name, in the place of the first")
    func setting() {
        var fields = Self.fields
        fields["SET-COOKIE"] = "c=3"
        #expect(fields.map(\.value) == ["c=3", "x"])
        fields["New"] = "n"
        #expect(fields.map(\.value) == ["c=3", "x", "n"])
        fields["etag"] = nil
        #expect(fields.map(\.value) == ["c=3", "n"])
        fields["none"] = nil
        #expect(fields.count == 2)
    }

    @Test("Appending keeps what is there, removing takes what the predicate holds for")
    func appending() {
        var fields = Self.fields
        fields.append(name: "ETAG", value: "y")
        #expect(fields.values(for: "etag") == ["x", "y"])
        fields.removeAll { $0.name == "ETAG" }
        #expect(fields == Self.fields)
    }

    @Test("They are a collection in their order, and equal only in the same order")
    func collection() {
        #expect(Self.fields.count == 3)
        #expect(Self.fields.map(\.name) == ["Set-Cookie", "ETag", "set-cookie"])
        #expect(Self.fields.first == .init(name: "Set-Cookie", value: "a=1"))
        #expect(HeaderFields(Array(Self.fields.reversed())) != Self.fields)
        #expect(HeaderFields(Array(Self.fields)) == Self.fields)
    }

    @Test("No value is shown, however they are printed, since it may be a credential")
    func hidden() {
        let fields = HeaderFields([.init(name: "Authorization", value: "Bearer hunter2")])
        let response = TransportResponse(statusCode: 200, headerFields: fields)
        let renderings =
            everyRendering(of: fields) + everyRendering(of: fields[0]) + everyRendering(of: Array(fields))
            + everyRendering(of: response) + everyRendering(of: TransportEvent.response(response))
        expectNone(of: renderings, toContain: "hunter2")
        #expect(fields.description == "[Authorization]")
    }
}
