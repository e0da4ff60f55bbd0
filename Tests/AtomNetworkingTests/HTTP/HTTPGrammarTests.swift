import Foundation
import Testing

@testable import AtomNetworking

@Suite("Tokens, field values and methods", .limited)
struct HTTPGrammarTests {
    @Test("A token is made of tchar and of nothing else (RFC 9110 §5.6.2)", arguments: UInt8(0)...255)
    func everyByteOfAToken(_ byte: UInt8) {
        let text = String(Character(Unicode.Scalar(byte)))
        let isDelimiter = "\"(),/:;<=>?@[\\]{}".contains(text)
        let isTchar = (0x21...0x7E).contains(byte) && !isDelimiter
        #expect(HTTPGrammar.isToken(text) == isTchar)
        #expect(HTTPGrammar.isToken("X\(text)Y") == isTchar)
        #expect(HTTPGrammar.isToken("X\(text)") == isTchar)
    }

    @Test(
        "An empty text and a text with a space or a line break aren't tokens",
        arguments: ["", " ", "GET ", " GET", "G T", "GET\r\nX: y", "GET / HTTP/1.1", "ＧＥＴ", "é", "\u{1F600}"])
    func notAToken(_ text: String) {
        #expect(!HTTPGrammar.isToken(text))
    }

    @Test("A field value can't contain control characters except the tab (RFC 9110 §5.5)", arguments: UInt8(0)...255)
    func everyByteOfAValue(_ byte: UInt8) throws {
        let value = "a\(Character(Unicode.Scalar(byte)))b"
        let isControl = byte != 0x09 && byte < 0x20 || byte == 0x7F
        #expect((HTTPGrammar.violation(inFieldValue: value) != nil) == isControl)

        let endpoint = RecordingEndpoint(headerItems: [HeaderItem(name: "X-Value", value: value)])
        let error = refusal { () throws(AtomError) in try PreparedRequest(endpoint, timeout: ServiceTimeout()) }
        if isControl {
            guard case .invalidHeader(let violation) = error else {
                Issue.record("the value was accepted")
                return
            }
            #expect(violation.subject == "X-Value")
        } else {
            #expect(error == nil)
        }
    }

    @Test(
        "A line break is found inside a grapheme and at either end",
        arguments: ["\r\n", "\n", "\r", "a\r\n", "\r\na", "a\r\nEvil: 1", "a\u{301}\n", "a\n\u{301}"])
    func lineBreaks(_ value: String) throws {
        #expect(try #require(HTTPGrammar.violation(inFieldValue: value)).contains("line break"))
    }

    @Test("The reason tells a NUL from a line break from another control character")
    func reasons() throws {
        #expect(try #require(HTTPGrammar.violation(inFieldValue: "\0")).contains("NUL"))
        #expect(try #require(HTTPGrammar.violation(inFieldValue: "\u{1B}")).contains("control"))
        #expect(try #require(HTTPGrammar.violation(inFieldValue: "\u{7F}")).contains("control"))
    }

    @Test("A value has at most 100 KiB, so that libcurl doesn't leave its field out")
    func longValue() throws {
        let longest = String(repeating: "é", count: 50 << 10)
        #expect(HTTPGrammar.violation(inFieldValue: longest) == nil)
        #expect(try #require(HTTPGrammar.violation(inFieldValue: longest + "e")).contains("100 KiB"))
    }

    @Test(
        "A value may be empty, hold tabs and any script",
        arguments: ["", " ", "\t", "a\tb", "ümläut", "日本", "\"quoted\"", "a,b;c=d", "\u{80}\u{9F}", "😀"])
    func validValue(_ value: String) {
        #expect(HTTPGrammar.violation(inFieldValue: value) == nil)
    }

    @Test(
        "Fields that delimit the message or belong to the connection are left out in any case",
        arguments: [
            "Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "TE",
            "Trailer", "Upgrade",
        ])
    func reservedField(_ name: String) throws {
        let crossed = String(
            name.enumerated().map { $0 % 2 == 0 ? Character($1.lowercased()) : Character($1.uppercased()) })
        for spelling in [name, name.lowercased(), name.uppercased(), crossed] {
            #expect(HTTPGrammar.isReservedFieldName(spelling))
            let endpoint = RecordingEndpoint(headerItems: [HeaderItem(name: spelling, value: "1")])
            let request = try PreparedRequest(endpoint, timeout: ServiceTimeout())
            #expect(request.headerFields.isEmpty)
            #expect(request.omittedFields == [spelling])
        }
    }

    @Test(
        "A field whose name only looks like a reserved one is not reserved",
        arguments: ["Hosts", "X-Host", "Content-Type", "Content-Encoding", "Cookie", "Authorization", "Via", "T-E"])
    func unreservedField(_ name: String) {
        #expect(!HTTPGrammar.isReservedFieldName(name))
    }

    @Test(
        "A field name that is not a token is rejected",
        arguments: ["", " ", "X Y", "X:", "X: y", "X\r\nEvil: 1", "X\n", "\0", "Ä", "X\u{7F}", "(x)", "x@y"])
    func invalidName(_ name: String) {
        let endpoint = RecordingEndpoint(headerItems: [HeaderItem(name: name, value: "1")])
        guard
            case .invalidHeader(let violation) = refusal(of: { () throws(AtomError) in
                try PreparedRequest(endpoint, timeout: ServiceTimeout())
            })
        else {
            Issue.record("“\(name)” was accepted")
            return
        }
        #expect(violation.reason.contains("token"))
    }

    @Test("Each method is written in capitals, any other as it was given")
    func names() {
        let body = Data("x".utf8)
        let table: [(HTTPMethod, String)] = [
            (.get, "GET"), (.head, "HEAD"), (.options, "OPTIONS"), (.delete, "DELETE"), (.delete(body), "DELETE"),
            (.patch, "PATCH"), (.patch(body), "PATCH"), (.post, "POST"), (.post(body), "POST"), (.put, "PUT"),
            (.put(body), "PUT"), (.token("PROPFIND"), "PROPFIND"), (.token("M-SEARCH", body), "M-SEARCH"),
            (.token("brew"), "brew"),
        ]
        for (method, name) in table {
            #expect(method.name == name)
            #expect(method.description.hasPrefix(name))
        }
        #expect(HTTPMethod.post(body).description == "POST (1 bytes)")
        #expect(HTTPMethod.get.description == "GET")
    }

    @Test("Two methods are equal when name and body are")
    func equality() {
        #expect(HTTPMethod.get == .get)
        #expect(HTTPMethod.get != .head)
        #expect(HTTPMethod.post(Data([1])) == .post(Data([1])))
        let post: HTTPMethod = .post
        #expect(post == .post(Data()) && post == .token("POST"))
        switch post {
        case .post(let body): #expect(body.isEmpty)
        default: Issue.record("a switch doesn't find the method")
        }
        #expect(HTTPMethod.post(Data([1])) != .post(Data([2])))
        #expect(HTTPMethod.post(Data([1])) != .put(Data([1])))
        #expect(HTTPMethod.post == .post)
        #expect(HTTPMethod.token("GET") == .get)
        #expect(HTTPMethod.token("get") != .get)
        #expect(HTTPMethod.token("POST", Data([1])) == .post(Data([1])))
        #expect(Set([HTTPMethod.put(Data()), .token("PUT", Data()), .put]).count == 2)
        #expect(HTTPMethod.delete(Data()) != .delete)
    }

    @Test("A byte set contains the given bytes and nothing outside ASCII", arguments: UInt8(0)...255)
    func byteSet(_ byte: UInt8) {
        let set = ByteSet("\0?@\u{7F}é").union("A")
        #expect(set.contains(byte) == [0, 0x3F, 0x40, 0x7F, 0x41].contains(byte))
    }
}
