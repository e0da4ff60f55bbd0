import Foundation
import Testing

@testable import AtomNetworking

@Suite("A form with files", .limited)
struct MultipartFormTests {
    private static func text(_ form: MultipartForm, boundary: String = "B") throws -> String {
        String(decoding: try form.segments(boundary: boundary).bytes(), as: UTF8.self)
    }

    @Test("Fields, data and files are sent in order, byte for byte")
    func bytes() throws {
        let folder = try TemporaryFolder()
        try Data("%PDF\n".utf8).write(to: folder["ticket.pdf"])
        var form = MultipartForm()
        form.append("12 A", name: "seat")
        form.append(Data([0x7B, 0x7D]), name: "meta", fileName: "meta.json", contentType: "application/json")
        form.append(fileAt: folder["ticket.pdf"], name: "ticket", contentType: "application/pdf")
        form.append(fileAt: folder["ticket.pdf"], name: "copy", fileName: "Kopie für Köln.pdf")
        form.append("", name: "")
        let body = try form.segments(boundary: "B")
        let expected = [
            "--B", #"Content-Disposition: form-data; name="seat""#, "", "12 A",
            "--B", #"Content-Disposition: form-data; name="meta"; filename="meta.json""#,
            "Content-Type: application/json", "", "{}",
            "--B", #"Content-Disposition: form-data; name="ticket"; filename="ticket.pdf""#,
            "Content-Type: application/pdf", "", "%PDF\n",
            "--B", #"Content-Disposition: form-data; name="copy"; filename="Kopie für Köln.pdf""#,
            "Content-Type: application/octet-stream", "", "%PDF\n",
            "--B", #"Content-Disposition: form-data; name="""#, "", "",
            "--B--", "",
        ].joined(separator: "\r\n")
        #expect(String(decoding: try body.bytes(), as: UTF8.self) == expected)
        #expect(body.length == Int64(expected.utf8.count))
        // What is in memory between two files is one piece.
        #expect(body.segments.count == 5)
        // The same bytes again.
        #expect(try body.bytes() == Data(expected.utf8))
        #expect(try form.segments(boundary: "B").bytes() == Data(expected.utf8))
    }

    @Test("A form without parts is the final boundary alone")
    func empty() throws {
        #expect(try Self.text(MultipartForm()) == "--B--\r\n")
    }

    @Test(
        "Quotes and line breaks of a name are escaped, and nothing else",
        arguments: [
            ("seat", "seat", "seat"),
            (#"a"b"#, "a%22b", "a%22b"),
            ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"),
            // Only in a name lone CR and LF become CR LF.
            ("a\nb", "a%0D%0Ab", "a%0Ab"),
            ("a\rb", "a%0D%0Ab", "a%0Db"),
            ("\n\r", "%0D%0A%0D%0A", "%0A%0D"),
            ("\r\r\n\n", "%0D%0A%0D%0A%0D%0A", "%0D%0D%0A%0A"),
            ("100%22", "100%22", "100%22"),
            (#"a\b;c=d"#, #"a\b;c=d"#, #"a\b;c=d"#),
            ("Zürich 東京 🛫 e\u{301}", "Zürich 東京 🛫 e\u{301}", "Zürich 東京 🛫 e\u{301}"),
            // A quote with an accent is one Character.
            ("a\"\u{301}", "a%22\u{301}", "a%22\u{301}"),
        ])
    func names(_ text: String, _ name: String, _ fileName: String) throws {
        var form = MultipartForm()
        form.append(Data("x".utf8), name: text, fileName: text)
        let line = #"Content-Disposition: form-data; name="\#(name)"; filename="\#(fileName)""#
        let lines = ["--B", line, "Content-Type: application/octet-stream", "", "x", "--B--", ""]
        #expect(try Self.text(form).utf8.elementsEqual(lines.joined(separator: "\r\n").utf8))
    }

    @Test("Line breaks of a field's text become CR LF; data stays as it is")
    func lineBreaks() throws {
        var form = MultipartForm()
        form.append("a\nb\rc\r\nd\n\r\n", name: "n")
        let head = "--B\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n"
        #expect(try Self.text(form) == head + "a\r\nb\r\nc\r\nd\r\n\r\n\r\n--B--\r\n")

        form = MultipartForm()
        form.append(Data("a\nb\rc".utf8), name: "n", fileName: "f")
        #expect(try Self.text(form).hasSuffix("\r\n\r\na\nb\rc\r\n--B--\r\n"))
    }

    @Test(
        "An invalid media type is refused",
        arguments: [
            "", "image", "image/", "/png", "image/png/x", "image png", "image/png ", " image/png", "image/png, a/b",
            "text/plain; charset", "text/plain; charset=", "text/plain; charset =utf-8", "text/plain charset=utf-8",
            "text/plain\r\nX: y", "text/plain; a=\"b", "text/plain; a=\"\u{0}\"", "text/plain; a=\"b\"c",
            "text/plain; a=\"\n\"", "text/plain; a=\"\\", "täxt/plain",
        ])
    func invalidMediaType(_ type: String) throws {
        var form = MultipartForm()
        form.append(Data(), name: "n", fileName: "f", contentType: type)
        let error = refusal { () throws(AtomError) in try form.segments(boundary: "B") }
        #expect(error == .invalidBody(.init(reason: "")))
        #expect(error?.violation.reason.contains("RFC 9110 §8.3.1") == true)
    }

    @Test(
        "A valid media type is sent as it is",
        arguments: [
            "image/png", "application/vnd.api+json", "text/plain;charset=utf-8", "text/plain; charset=utf-8",
            "TEXT/Plain \t; a=\"b c\\\"d\" ; e=f", "text/plain; a=\"\"", "text/plain;;", "text/plain; a=\"ü\"",
        ])
    func validMediaType(_ type: String) throws {
        var form = MultipartForm()
        form.append(Data(), name: "n", fileName: "f", contentType: type)
        #expect(try Self.text(form).contains("\r\nContent-Type: \(type)\r\n\r\n"))
    }

    @Test("A file that can't be sent is refused with its name")
    func missingFile() throws {
        var form = MultipartForm()
        form.append(fileAt: URL(fileURLWithPath: "/nowhere/photo.jpg"), name: "n", fileName: "other.jpg")
        let error = refusal { () throws(AtomError) in try form.segments(boundary: "B") }
        #expect(error == .invalidBody(.init(reason: "")))
        #expect(error?.violation.subject == "photo.jpg")
    }

    @Test("The boundary consists of a prefix and 24 random letters and digits")
    func boundary() throws {
        var generator = SeededGenerator(seed: 3)
        var known: Set<String> = []
        for _ in 0..<1000 {
            let boundary = MultipartForm().makeBoundary(using: &generator)
            #expect(boundary.hasPrefix("AtomFormBoundary"))
            #expect(boundary.utf8.count == 40)
            #expect(boundary.utf8.allSatisfy { ByteSet.alphanumeric.contains($0) })
            #expect(known.insert(boundary).inserted)
        }
        let type = MultipartForm().contentType(boundary: "AtomFormBoundary0")
        #expect(type == "multipart/form-data; boundary=AtomFormBoundary0")
        #expect(HTTPGrammar.isMediaType(type))
    }

    /// What the generator's number `n`, `0` and `0` become.
    private static func boundary(_ first: Character) -> String {
        "AtomFormBoundary\(first)" + String(repeating: "0", count: 23)
    }

    @Test("A boundary that occurs in the form is not used")
    func collisions() throws {
        var form = MultipartForm()
        form.append("x\(Self.boundary("0"))y", name: "n")
        form.append(Data(Self.boundary("1").utf8), name: "n", fileName: "f")
        form.append("", name: Self.boundary("2"))
        form.append(Data(), name: "n", fileName: "\(Self.boundary("3")).txt")
        form.append(Data(), name: "n", fileName: "f", contentType: "a/b; c=\(Self.boundary("4"))")
        form.append(fileAt: URL(fileURLWithPath: "/nowhere"), name: "n", fileName: Self.boundary("5"))
        form.append(Data("y".utf8) + Data(Self.boundary("6").utf8).dropLast(), name: "n", fileName: "f")
        var generator = ScriptedGenerator((0..<10).flatMap { [UInt64($0), 0, 0] })
        #expect(form.makeBoundary(using: &generator) == Self.boundary("6"))
        #expect(form.makeBoundary(using: &generator) == Self.boundary("7"))
    }

    @Test("A boundary is found at every place of a content", arguments: 0..<90)
    func places(_ place: Int) throws {
        var content = Data(repeating: UInt8(ascii: "0"), count: place)
        content += Data(Self.boundary("0").utf8)
        content += Data(repeating: UInt8(ascii: "A"), count: 90 - place)
        var form = MultipartForm()
        form.append(content, name: "n", fileName: "f")
        var generator = ScriptedGenerator([0, 0, 0, 1])
        #expect(form.makeBoundary(using: &generator) == Self.boundary("1"))
    }

    @Test("Neither names nor contents are printed")
    func description() throws {
        var form = MultipartForm()
        form.append("secret", name: "secret")
        form.append(Data("secret".utf8), name: "secret", fileName: "secret", contentType: "secret/secret")
        form.append(fileAt: URL(fileURLWithPath: "/secret"), name: "secret")
        #expect(form.description == "MultipartForm(parts: 3, files: 1)")
        var dumped = ""
        dump(form, to: &dumped)
        #expect(!"\(form) \(String(reflecting: form)) \(dumped)".contains("secret"))
    }
}
