import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Redaction of external text", .limited)
struct RedactionTests {
    @Test("A delimiter that an accent follows is one all the same", arguments: ["?", "#", "?a="])
    func accentAfterADelimiter(delimiter: String) {
        #expect(!Redaction.url("https://a.example/e\(delimiter)\u{301}code=hunter2").contains("hunter2"))
    }

    @Test("User information and named values are hidden also beside an accent")
    func accentAtADelimiter() {
        for address in ["https://\u{301}u:hunter2@a.example", "https://u:hunter2@\u{301}", "//\u{301}u:hunter2@a"] {
            #expect(!Redaction.subject(address).contains("hunter2"))
            #expect(!Redaction.url("https:" + address.drop { $0 != "/" }).contains("hunter2"))
        }
        #expect(!Redaction.excerpt("GET \u{301} /a?\u{301}code=hunter2").contains("hunter2"))
        #expect(!Redaction.excerpt("u:hunter2@\u{301}").contains("hunter2"))
        #expect(!Redaction.withoutNamedValues("a, token=\u{301}hunter2", mark: "…").contains("hunter2"))
        #expect(!Redaction.url("https://a.example/\u{301}Zx9Qw8Er7Ty6Ui5Op4As3Df2/b").contains("Zx9Qw8Er7Ty6"))
    }

    @Test(
        "In a sentence nobody's password is shown, however a URL is written",
        arguments: [
            #"https:\\u:hunter2@a"#, "https:/u:hunter2@a/b", "u:hunter2@a/b", #"\\u:hunter2@a"#, "/\\hunter2@a",
        ])
    func users(address: String) {
        for text in ["GET /a to \(address) failed", address] {
            let note = Redaction.userInfo(["a": text])["a"] as? String
            for shown in [Redaction.excerpt(text), note] {
                #expect(shown?.contains("hunter2") == false && shown?.contains("…@a") == true, "\(shown as Any)")
            }
            #expect(note?.hasPrefix("GET /a to ") == text.hasPrefix("GET"))
        }
    }

    @Test("A short text is shown as it is", arguments: ["", "a", "/v1/café", "/users/@me"])
    func plain(_ text: String) {
        #expect(Redaction.excerpt(text) == text)
    }

    @Test("A long text is cut at the limit")
    func limit() {
        let words = String(repeating: "word ", count: 20)
        #expect(Redaction.excerpt(words) == words)
        #expect(Redaction.excerpt(words + "a") == words + "…")
        #expect(Redaction.excerpt("abcdef", limit: 3) == "abc…")
        #expect(Redaction.excerpt(String(repeating: "\u{301}", count: 100_000)).unicodeScalars.count <= 101)
    }

    @Test(
        "Another mark stands where “…” would, and a true “…” stays",
        arguments: [
            ("…", "…"), ("an … HIDDEN", "an … HIDDEN"), ("Bearer a1b2c3d4e5f6a1b2 …", "Bearer HIDDEN …"),
            ("u:hunter2@a.example …", "HIDDEN@a.example …"),
            ("… https://u:p@a/…/a1b2c3d4e5f6a1b2?…=1&2", "… https://HIDDEN@a/…/HIDDEN?…=HIDDEN&HIDDEN"),
        ])
    func anotherMark(_ text: String, becomes shown: String) {
        #expect(Redaction.excerpt(text, mark: "HIDDEN") == shown)
    }

    @Test("A mark is one character at the limit, and is never cut", arguments: ["…", "HIDDEN"])
    func limitAtAMark(_ mark: String) {
        func excerpt(_ limit: Int) -> String { Redaction.excerpt("a https://b/?c=1&d=2", limit: limit, mark: mark) }
        #expect(excerpt(18) == "a https://b/?c=\(mark)&d\(mark)")
        #expect(excerpt(19) == "a https://b/?c=\(mark)&d=\(mark)")
        #expect(excerpt(20) == "a https://b/?c=\(mark)&d=\(mark)")
        #expect(excerpt(15) == "a https://b/?c=\(mark)")
        #expect(excerpt(16) == "a https://b/?c=\(mark)\(mark)")
    }

    @Test("Control characters are written out", arguments: [UInt8](0..<0x20) + Array(0x7F...0x9F))
    func controlCharacters(_ byte: UInt8) {
        let hex = String(byte, radix: 16)
        #expect(Redaction.excerpt("a\(Character(Unicode.Scalar(byte)))b") == "a\\u{\(hex)}b")
    }

    @Test(
        "Line breaks of Unicode, and what changes the order of characters, are written out",
        arguments: [0x61C, 0x85, 0x200E, 0x200F] + Array(0x2028...0x202E) + Array(0x2066...0x2069))
    func unseenCharacters(_ code: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(code))
        let (text, shown) = ("a\(scalar)b", "a\\u{\(String(code, radix: 16))}b")
        #expect(Redaction.excerpt(text) == shown)
        #expect(Redaction.name(text) == shown)
        #expect(Redaction.subject(text) == shown)
        #expect(Redaction.url("https://h/\(text)?\(text)=1") == "https://h/\(shown)?\(shown)=…")
        #expect(Redaction.jsonOutline(Data("{\"\(text)\":1}".utf8)) == "{\"\(shown)\":…}")
        let note = Redaction.userInfo([NSLocalizedDescriptionKey: text])[NSLocalizedDescriptionKey]
        #expect(note as? String == shown)
        let error = AtomError.session(URLError(.badServerResponse, userInfo: [NSLocalizedDescriptionKey: text]))
        #expect(error.description == shown + ".")
    }

    @Test("Of lists in a foreign error's notes what is harmless stays")
    func lists() throws {
        let url = try #require(URL(string: "https://a.example/?hunter2"))
        let notes = Redaction.userInfo(["a": ["harmless", url, ["b": ["https://u:hunter2@a.example/", 1]]] as [Any]])
        let list = try #require(notes["a"] as? [Any])
        #expect(list.count == 2 && list.first as? String == "harmless")
        #expect("\(list)".contains("…@a.example") && !"\(notes)".contains("hunter2"))
    }

    @Test("What resumes a failed upload or download is dropped, with the request in it")
    func resumeData() throws {
        let request = Data("Authorization: Bearer hunter2".utf8)
        let notes: [String: Any] = [
            "NSURLSessionUploadTaskResumeData": request, "NSURLSessionDownloadTaskResumeData": "Bearer hunter2",
            "other": request, "list": [request, 1] as [Any], "harmless": 1,
        ]
        let below = NSError(domain: "kCFErrorDomainCFNetwork", code: -1005, userInfo: notes)
        let error = URLError(.networkConnectionLost, userInfo: notes.merging([NSUnderlyingErrorKey: below]) { $1 })
        let shown = (Redaction.error(error) as NSError).userInfo
        let shownBelow = try #require(shown[NSUnderlyingErrorKey] as? NSError).userInfo
        for notes in [shown, shownBelow] {
            #expect(Set(notes.keys).subtracting([NSUnderlyingErrorKey]) == ["list", "harmless"])
            #expect((notes["list"] as? [Any])?.count == 1)
        }
    }

    @Test(
        "User information is replaced, whatever the password holds",
        arguments: [
            ("user:hunter2@a.example", "…@a.example"), ("https://user:hunter2@a.example/x", "https://…@a.example/x"),
            ("user@a.example", "…@a.example"), ("https://u:p@hunter2@a.example", "https://…@a.example"),
        ])
    func userInformation(_ text: String, becomes shown: String) {
        #expect(Redaction.excerpt(text) == shown)
        #expect(Redaction.subject(text) == shown)
    }

    @Test(
        "Of a host or a path that was refused no user information, query or fragment is shown",
        arguments: [
            ("", ""), ("a b", "a b"), ("/users/@me", "/users/@me"), ("/a?b=hunter2", "/a?…"), ("/a#hunter2", "/a#…"),
            ("/a?b#hunter2", "/a?…"), ("/a@b?c", "/a@b?…"), ("//user:hunter2@a.example", "//…@a.example"),
            ("u:hunter2@a.example/x?y=hunter2", "…@a.example/x?…"),
            ("https://u:hun/ter2@a.example", "https://…@a.example"),
            ("https://u@hunter2//@a.example", "https://…@a.example"), ("u:?hunter2@a.example", "…?…"),
            ("u:hunter2#@a.example", "…#…"), ("/a?\u{301}hunter2", "/a?…"), ("u:hunter2@\u{301}a", "…@\u{301}a"),
            ("a@//b", "…@//b"), ("u:hunter2//x@a.example", "…@a.example"), ("u:hunter2://x@a.example", "…@a.example"),
            ("/login;jsessionid=hunter2/x", "/login;jsessionid=…/x"), ("https://a/x;t=hunter2?q", "https://a/x;t=…?…"),
            ("/r/https://u:hunter2@a", "/r/https://…@a"), (#"/r/https:\\u:hunter2@a\b"#, #"/r/…@a\b"#),
            ("/r/https:%5C%5Cu:hunter2@a", "/r/…@a"), ("u@a/x;t=hunter2", "…@a/x;t=…"), ("a\nb", "a\\u{a}b"),
            ("?", "?…"), ("@", "…@"), ("#hunter2", "#…"),
        ])
    func subject(_ text: String, becomes shown: String) {
        #expect(Redaction.subject(text) == shown)
    }

    @Test(
        "Of a URL the names of the query stay, its values and the fragment don't",
        arguments: [
            ("https://a.example/x", "https://a.example/x"), ("https://a.example/x?", "https://a.example/x?"),
            ("https://a.example/?token=hunter2", "https://a.example/?token=…"),
            ("https://a.example/?a=hunter2&b=hunter2&c=", "https://a.example/?a=…&b=…&c=…"),
            ("https://a.example/?hunter2", "https://a.example/?…"), ("/x?hunter2", "/x?…"),
            ("https://a.example/?a=1&hunter2&b=2", "https://a.example/?a=…&…&b=…"),
            ("https://a.example/?a=1&&b=2&", "https://a.example/?a=…&&b=…&"),
            ("https://a.example/?hunter2#hunter2", "https://a.example/?…"),
            ("https://a.example/?550e8400-e29b-41d4-a716-446655440000=", "https://a.example/?…=…"),
            ("https://a.example/r/d41d8cd98f00b204e9800998ecf8427e/x", "https://a.example/r/…/x"),
            ("https://d41d8cd98f00b204e980.example/x", "https://d41d8cd98f00b204e980.example/x"),
            (
                "https://a.example/550e8400-e29b-41d4-a716-446655440000",
                "https://a.example/550e8400-e29b-41d4-a716-446655440000"
            ),
            ("https://a.example/?a==hunter2", "https://a.example/?a=…"),
            ("https://a.example/?a=b?c=hunter2", "https://a.example/?a=…"),
            ("https://a.example/x#token=hunter2", "https://a.example/x"),
            ("https://a.example/?a=b#hunter2", "https://a.example/?a=…"),
            ("https://u:hunter2@a.example/?a=b", "https://…@a.example/?a=…"),
            ("https://a.example/users/@me?a=@hunter2", "https://a.example/users/@me?a=…"),
            ("https://a.example/x;jsessionid=hunter2/y;a=1;p;", "https://a.example/x;jsessionid=…/y;a=…;p;"),
            ("/x;token=hunter2?a;b=1", "/x;token=…?a;b=…"), ("/x%3btoken=hunter2", "/x;token=…"),
            ("/x;token%3Dhunter2", "/x;token=…"), ("/x%3Btoken%3dhunter2/y", "/x;token=…/y"),
            ("/x%25253btoken%253Dhunter2", "/x;token=…"), ("/x%3D1", "/x=…"),
            ("/reset/token=hunter2/x", "/reset/token=…/x"), ("/x%3Ftoken%3Dhunter2", "/x%3Ftoken=…"),
            ("/a%20b/100%25/caf%C3%A9/tokens:revoke/x", "/a%20b/100%25/caf%C3%A9/tokens:revoke/x"),
            ("https://a.example/x;t=hunter2#;t=hunter2", "https://a.example/x;t=…"),
            ("https://a.example/f/https://u:hunter2@b.example/x", "https://a.example/f/https://…@b.example/x"),
            ("/dsn=postgres://u:hunter2@b.example/x", "/dsn=postgres://…@b.example/x"),
            ("https://a.example/?token%3Dhunter2=", "https://a.example/?…=…"),
            (#"https://a.example/f/https:\\u:hunter2@b/x"#, "https://a.example/f/…@b/x"),
            (#"https:\\u:hunter2@b\x/y"#, #"…@b\x/y"#), (#"/\u:hunter2@b/x"#, "/…@b/x"), ("//u@b/x", "//…@b/x"),
            ("/u:hunter2@b/https://b/x", "/…@b/https://b/x"), ("/f/https:/u:hunter2@b/x", "/f/https:/…@b/x"),
            ("/f/https:hunter2@b", "/f/…@b"), ("/f/https:///hunter2@b/x", "/f/https:///…@b/x"),
            ("/f/https:%5C%5Cu:hunter2@b/x", "/f/…@b/x"), ("/f/u%3Ahunter2%40b", "/f/…"),
            ("https://a.example:80/@me/a@b", "https://a.example:80/@me/a@b"),
        ])
    func url(_ url: String, becomes shown: String) {
        #expect(Redaction.url(url) == shown)
    }

    @Test(
        "Of a header field that is shown, no value is that has the name of a credential",
        arguments: [
            ("a/b; token=hunter2", "a/b; token=…"), ("a/b; sid=hunter2", "a/b; sid=…"),
            ("a; Api-Key = \"hunter2;hunter2\", b=1", "a; Api-Key =…"),
            ("private, max-age=0", "private, max-age=0"), ("a=b, c;d=e=hunter2, f", "a=b, c;d=e=hunter2, f"),
            ("attachment; filename=boarding-pass.pdf", "attachment; filename=boarding-pass.pdf"),
            ("a; x=token; session_id=hunter2;token=hunter2", "a; x=token; session_id=…"),
        ])
    func headerParameters(_ value: String, becomes shown: String) {
        #expect(HeaderFields([.init(name: "Accept", value: value)]).redacted["Accept"] == shown)
    }

    @Test(
        "Of a JSON body the keys and the shape stay",
        arguments: [
            (#"{"name":"hunter2","age":42}"#, #"{"name":"…","age":…}"#), (#"["hunter2",1,true,null]"#, #"["…",…,…,…]"#),
            (#"{ "a" : { "b" : [ "hunter2" ] } }"#, #"{"a":{"b":["…"]}}"#), (#""hunter2""#, #""…""#), ("42", "…"),
            (#"{"a":"hun\"ter2:","b":"\\"}"#, #"{"a":"…","b":"…"}"#), (#"{"k\"ey":"v"}"#, #"{"k\"ey":"…"}"#),
            ("{}", "{}"), ("[]", "[]"), ("", ""), (#"{"a":-1.5e3}"#, #"{"a":…}"#), (#"{"a":"hunter2"#, #"{"a":"…""#),
            (#"{"a":hunter2}"#, #"{"a":…}"#), ("{\"a\":\n\t\"hunter2\"}", #"{"a":"…"}"#),
        ])
    func outline(_ body: String, becomes shown: String) {
        #expect(Redaction.jsonOutline(Data(body.utf8)) == shown)
    }

    @Test(
        "Keys that look like tokens are hidden, ordinary ones are not",
        arguments: [
            (#"{"first_name":1,"seatMap":{"x-y.z":2}}"#, #"{"first_name":…,"seatMap":{"x-y.z":…}}"#),
            (#"{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x":1}"#, #"{"…":…}"#),
            (#"{"550e8400-e29b-41d4-a716-446655440000":{"seat":1}}"#, #"{"…":{"seat":…}}"#),
            (#"{"\u0065yJhbGciOi\u004aIUzI1NiJ9":1}"#, #"{"…":…}"#),
            (#"{"d41d8cd9\/8f00b204e9800998":1}"#, #"{"…":…}"#),
            (#"{"pr\u00e9nom":1}"#, #"{"pr\u00e9nom":…}"#), (#"{"bad \x":1}"#, #"{"…":…}"#),
            (#"{"no such token: d41d8cd98f00b204e9800998ecf8427e":1}"#, #"{"…":…}"#),
        ])
    func keys(_ body: String, becomes shown: String) {
        #expect(Redaction.jsonOutline(Data(body.utf8)) == shown)
    }

    @Test("A body that is cut off anywhere shows no value")
    func truncatedOutline() {
        let body = Data(#"{"a":"hunter2","b":["hunter2",{"c":"hunter2 \" : hunter2"}],"d":31337.5}"#.utf8)
        for length in 0...body.count {
            let outline = Redaction.jsonOutline(body.prefix(length))
            #expect(!outline.contains("hunter") && !outline.contains("313"), "\(length)")
        }
    }

    @Test(
        "Text that isn't JSON isn't shown",
        arguments: ["<html><body>hunter2</body></html>", "hunter2", "token=hunter2&a=b", "\0\u{1}hunter2", "a:hunter2"])
    func notJSON(_ body: String) {
        let outline = Redaction.jsonOutline(Data(body.utf8))
        #expect(!outline.contains("hunter2"))
        #expect(outline.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test("An outline is bounded, whatever the size of the body, its keys or its depth")
    func boundedOutline() {
        let bodies = [
            "[" + String(repeating: "1,", count: 100_000) + "1]",
            "{\"" + String(repeating: "k", count: 100_000) + "\":1}",
            "{\"a\":\"" + String(repeating: "v", count: 100_000) + "\"}",
            String(repeating: "[", count: 100_000),
            (0..<10_000).map { "\"key\($0)\":\"hunter2\"" }.joined(separator: ","),
        ]
        for body in bodies {
            let outline = Redaction.jsonOutline(Data(body.utf8))
            #expect(outline.count <= 202)
            #expect(!outline.contains("hunter2"))
        }
    }

    @Test("Of a file's path only names that look like tokens are hidden")
    func file() {
        for path in [
            "/data/user/session.json", "a.txt", "/data/store-550E8400-E29B-41D4-A716-446655440000/b",
            "/Reise nach Köln",
        ] { #expect(Redaction.file(path) == path) }
        #expect(Redaction.file("/data/aB3dE5gH7jK9mN1pQ3sT/b") == "/data/…/b")
        #expect(Redaction.file("/data/a\nb") == "/data/a\\u{a}b")
        #expect(Redaction.file("/" + String(repeating: "a/", count: 5_000)).count == Redaction.longest + 1)
    }

    @Test("Bytes that are no text are bounded and harmless")
    func bytes() {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<500 {
            let data = Data((0..<300).map { _ in UInt8.random(in: 0...255, using: &generator) })
            let outline = Redaction.jsonOutline(data)
            #expect(outline.count <= 202)
            #expect(outline.unicodeScalars.allSatisfy { $0.value >= 0x20 })
        }
    }
}
