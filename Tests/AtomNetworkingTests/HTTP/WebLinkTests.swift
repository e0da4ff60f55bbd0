import Foundation
import Testing

@testable import AtomNetworking

@Suite("Links in header fields", .limited)
struct WebLinkTests {
    private static func links(_ fields: [String], _ relation: String = "next") -> [String] {
        HeaderFields(fields.map { HeaderItem(name: "link", value: $0) }).links(relation).map(\.reference)
    }

    @Test(
        "The links of one relation are found",
        arguments: [
            (#"<https://api.example.com/2>; rel="next""#, ["https://api.example.com/2"]),
            ("</2>;rel=next", ["/2"]),
            ("</2> ; rel = next", ["/2"]),
            ("</2>\t;\tREL\t=\t\"NEXT\"", ["/2"]),
            (#"</1>; rel="prev", </3>; rel="next", </9>; rel="last""#, ["/3"]),
            // Several types, also URLs.
            (#"</3>; rel="https://example.com/next  next""#, ["/3"]),
            (#"</3>; rel="https://example.com/next""#, []),
            (#"</3>; rel="nextish""#, []),
            (#"</2>; rel=next, </3>; rel="last next""#, ["/2", "/3"]),
            // Delimiters inside of a URL and of a quoted text.
            (#"</1?a=b;c,d>; rel="next""#, ["/1?a=b;c,d"]),
            (#"</1>; title="a, </2>; rel=next"; rel=prev, </3>; title="\"; rel=\"next"; rel=next"#, ["/3"]),
            (#"</2>; title="\\"; rel=next"#, ["/2"]),
            // The first `rel` counts.
            (#"</2>; rel=prev; rel=next"#, []),
            (#"</2>; rel=next; rel=prev"#, ["/2"]),
            // Empty elements and parameters, and what has no value.
            (",, </2>;; hreflang; rel=next; crossorigin ,,</3>;rel=next,", ["/2", "/3"]),
            (#"</2>; title*=UTF-8'de'n%c3%a4chste; rel="next""#, ["/2"]),
            ("<>; rel=next", [""]),
            ("</2>; rev=next", []),
            ("</2>", []),
            ("", []),
            // What is malformed ends the reading, or its parameter.
            ("/2; rel=next", []),
            ("</2; rel=next", []),
            (#"</2>; rel="next"#, ["/2"]),
            (#"</2>; rel="next\"#, ["/2"]),
            (#"</2>; title="a"b; rel=next"#, ["/2"]),
            ("</2> x; rel=next", ["/2"]),
            ("</2>; rel=next x, </3>; rel=next", ["/2", "/3"]),
            ("</1>; rel=prev x </2>; rel=next", []),
            ("</2>; =next; rel=next", ["/2"]),
        ])
    func relation(field: String, references: [String]) {
        #expect(Self.links([field]) == references)
    }

    @Test("All fields are read, in order, and the anchor is told")
    func fields() {
        #expect(Self.links(["</1>; rel=prev", "</2>; rel=next", "</3>; rel=next"]) == ["/2", "/3"])
        let fields = HeaderFields([HeaderItem(name: "Link", value: ##"</2>; rel=next; anchor="#a""##)])
        #expect(fields.links("next").map(\.anchor) == ["#a"])
        #expect(HeaderFields().links("next").isEmpty)
    }

    @Test("Octets that aren't UTF-8 arrive as they came")
    func octets() {
        let value = OpaqueOctets.text(Array("</".utf8) + [0xE4] + Array(">; rel=next".utf8))
        let reference = Self.links([value]).first ?? ""
        #expect(OpaqueOctets.octets(of: reference) == [0x2F, 0xE4])
    }

    @Test("A field takes time in proportion to its length, and too long ones are not read")
    func bounds() {
        let noise = String(repeating: "</1>;a=\"\\\",;", count: 4_000)
        #expect(noise.utf8.count < 64 << 10)
        #expect(Self.links([noise]).isEmpty)
        let many = String(repeating: "</1>;rel=next,", count: 4_000)
        #expect(Self.links([many]).count == 4_000)
        #expect(Self.links([many, many, "</2>;rel=next"]).last == "/2", "the second one is left out")
        #expect(Self.links([many, many]).count == 4_000)
    }
}
