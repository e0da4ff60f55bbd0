import Foundation
import Testing

@testable import AtomNetworking

/// Bodies, URLs and header fields without their credentials.
///
/// `nil` stands for a body that is hidden.
@Suite(.timeLimit(.minutes(5))) struct CredentialSearchTests {
    private static let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"

    private func shown(_ text: String) -> String? {
        CredentialSearch.body(Data(text.utf8), HeaderFields()).map { String(decoding: $0, as: UTF8.self) }
    }

    private func events(_ text: String) -> String? {
        CredentialSearch.responseBody(Data(text.utf8), "text/event-stream").map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "What begins as JSON and isn't is hidden if it mentions a credential",
        arguments: [
            "[default]\naws_secret_access_key = planted", "{access_token: 'planted'}",
            #"{viewer(token:"planted"){id}}"#, "[db]\npassword = \"planted\"", "{'pw': 'planted'}",
            #"{"a": 5", "password": "planted"}"#, #"{"password": correct planted battery}"#,
            #"{user: 5", password: "planted"}"#, "{id: \(jwt)}",
        ])
    func notJSON(text: String) {
        #expect(shown(text) == nil)
    }

    @Test(
        "What begins as JSON and mentions no credential is shown",
        arguments: [
            "[default]\nregion = eu-central-1", "{viewer(id:\"5\"){name}}", "{a: 1, 'b': [2]}",
            "{\"a\":1}\n{\"a\":-2.5e+3}\n", #"{"a":NaN,"b":[true,false,null]}"#, "\u{FEFF}{\"n\":1}", "[", "{\"",
        ])
    func harmlessOutside(text: String) {
        #expect(shown(text) == text)
    }

    @Test("JSON in UTF-16 is hidden", arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf16])
    func wideText(encoding: String.Encoding) throws {
        let data = try #require(#"{"pin":"planted","a":1}"#.data(using: encoding))
        #expect(CredentialSearch.body(data, HeaderFields()) == nil)
    }

    @Test(
        "The texts in JSON are searched",
        arguments: [
            (#"{"body":"{\"access_token\":\"abc\",\"n\":1}"}"#, #"{"body":"{\"access_token\":\"HIDDEN\",\"n\":1}"}"#),
            (#"{"body":"\u007b\u0022pin\":\"abc\"}"}"#, #"{"body":"{\"pin\":\"HIDDEN\"}"}"#),
            (#"["{password: 'abc'}", "x"]"#, #"["HIDDEN", "x"]"#),
            (#"{"query":"mutation{login(password:\"hunter2\"){id}}"}"#, #"{"query":"HIDDEN"}"#),
            (#"{"query":"mutation{login(pass\u0077ord:\"hunter2\"){id}}"}"#, #"{"query":"HIDDEN"}"#),
            (
                #"{"next":"https://h/x?access_token=abc&page=2","n":1}"#,
                #"{"next":"https://h/x?access_token=HIDDEN&page=2","n":1}"#
            ),
            (#"{"next":"https:\/\/h\/x?sig=abc"}"#, #"{"next":"https://h/x?sig=HIDDEN"}"#),
            (#"{"db":"postgres://u:abc@h/x"}"#, #"{"db":"postgres://HIDDEN@h/x"}"#),
            (#"{"m":"See https://h/x?sig=abc\nor ask."}"#, #"{"m":"See https://h/x?sig=HIDDEN\u000aor ask."}"#),
            (#"{"m":"See https://h/x with password: abc"}"#, #"{"m":"HIDDEN"}"#),
            (#"{"q":"mutation{f(url:\"https://h\",password:\"abc\"){id}}"}"#, #"{"q":"HIDDEN"}"#),
            (#"{"next":"/x?access_token=abc"}"#, #"{"next":"HIDDEN"}"#),
            (#"{"next":"state=1&code=abc"}"#, #"{"next":"state=1&code=HIDDEN"}"#),
            (#"{"xml":"<a><password>abc</password></a>"}"#, #"{"xml":"HIDDEN"}"#),
            // What can't be read.
            (#"{"a":"\"#, #"{"a":"HIDDEN""#), (#"{"a":"\u12"}"#, #"{"a":"HIDDEN"}"#),
            (#"{"log":"password = abc"}"#, #"{"log":"HIDDEN"}"#),
            (#"{"log":"\x password = abc"}"#, #"{"log":"HIDDEN"}"#),
        ])
    func textsInJSON(text: String, expected: String) {
        #expect(shown(text) == expected)
    }

    @Test(
        "Harmless texts in JSON stay as they are, byte by byte",
        arguments: [
            #"{"message":"Wrong password"}"#, #"{"error_description":"The access token expired"}"#,
            #"{"message":"Error: wrong password"}"#, #"{"a":"password","b":"password:"}"#,
            #"{ "next" : "https:\/\/h\/password\/reset?page=2" }"#, #"{"at":"2026-11-23T10:00:00Z"}"#,
            #"{"grant_type":"urn:ietf:params:oauth:grant-type:device_code"}"#,
            #"{"subject_token_type":"urn:ietf:params:oauth:token-type:access_token"}"#,
            #"{"a":"\ud83d\ude00 \u00e9: \"x\"\\"}"#, #"{"a":"{\"n\" : [1, 2]}","b":"[]","c":"[1] See the notes"}"#,
            #"{"image":"data:image/png;base64,iVBORw0KGgo="}"#, #"{"a":"\ud83d"}"#,
            #"{"message":"Reset your password at https://h/reset today"}"#,
        ])
    func harmlessTexts(text: String) {
        #expect(shown(text) == text)
    }

    @Test("Names of tokens that are names of settings too are hidden if the value looks like a token")
    func accessAndRefresh() {
        let token = "0123456789abcdef"
        #expect(
            shown(#"{"access":"\#(token)","refresh":"\#(token)","n":1}"#)
                == #"{"access":"HIDDEN","refresh":"HIDDEN","n":1}"#)
        #expect(shown("access=\(token)&refresh=true") == "access=HIDDEN&refresh=true")
        #expect(CredentialSearch.url("/x?refresh=\(token)&refresh=true") == "/x?refresh=HIDDEN&refresh=true")
        for text in [
            #"{"access":"read-write","refresh":true,"n":{"refresh":"every other day of it"}}"#,
            #"{"refreshInterval":"\#(token)","accessLevel":"\#(token)","access":["\#(token)"]}"#,
            "refresh=true&access=all",
        ] {
            #expect(shown(text) == text)
        }
        func field(_ name: String, _ value: String) -> String {
            CredentialSearch.value(of: HeaderFields.Field(name: name, value: value))
        }
        #expect(field("Access", token) == "HIDDEN")
        #expect(field("Refresh", "0;url=https://h/x?sig=1") == "0;url=https://h/x?sig=HIDDEN")
        #expect(field("X-Anything", "a \(Self.jwt)") == "a HIDDEN")
        #expect(
            shown(#"{"pw":"a","user_pass":"b","userPass":"c"}"#)
                == #"{"pw":"HIDDEN","user_pass":"HIDDEN","userPass":"HIDDEN"}"#)
        #expect(shown("pw=a&user_pass=b&n=1") == "pw=HIDDEN&user_pass=HIDDEN&n=1")
    }

    @Test("A JSON Web Token is hidden under every name")
    func webTokens() {
        #expect(
            shown(#"{"id":"\#(Self.jwt)","list":["Bearer \#(Self.jwt)"]}"#) == #"{"id":"HIDDEN","list":["HIDDEN"]}"#)
        #expect(shown("id=\(Self.jwt)&n=1") == "id=HIDDEN&n=1")
        #expect(shown("id=\(Self.jwt.replacingOccurrences(of: ".", with: "%2E"))") == "id=HIDDEN")
        #expect(shown(Self.jwt) == nil)
        #expect(shown(#"{"id":"eyJhbGciOiJkaXIifQ..aXY.dGV4dA.dGFn"}"#) == #"{"id":"HIDDEN"}"#)
        for text in [#"{"id":"eyJhbGciOiJIUzI1NiJ9"}"#, #"{"version":"10.2.3"}"#, #"{"a":"heyJo.de"}"#] {
            #expect(shown(text) == text)
        }
    }

    @Test("A parameter of a path may be a credential")
    func pathParameters() {
        #expect(CredentialSearch.url("/login;jsessionid=ABC123") == "/login;jsessionid=HIDDEN")
        #expect(
            CredentialSearch.url("https://h/a;v=1;JSESSIONID=abc;w=2/b;x?page=1")
                == "https://h/a;v=1;JSESSIONID=HIDDEN;w=2/b;x?page=1")
        #expect(CredentialSearch.url("/a;b;/;c=1//") == "/a;b;/;c=1//")
        let field = HeaderFields.Field(name: "Location", value: "/login;jsessionid=ABC123")
        #expect(CredentialSearch.value(of: field) == "/login;jsessionid=HIDDEN")
    }

    @Test("Text is searched even if its type says that it is an image or a sound")
    func mediaTypes() {
        let playlist = Data("#EXTM3U\nhttps://h/1.ts?Signature=abc\n".utf8)
        for type in ["audio/mpegurl", "audio/x-mpegurl; charset=utf-8", "application/vnd.apple.mpegurl", "video/mp2t"] {
            #expect(CredentialSearch.responseBody(playlist, type) == nil, "\(type)")
        }
        let plain = Data("#EXTM3U\nhttps://h/1.ts\n".utf8)
        #expect(CredentialSearch.responseBody(plain, "audio/mpegurl") == plain)
        let image = Data([0x89]) + Data("PNG pin token".utf8)
        #expect(CredentialSearch.responseBody(image, "image/png") == image)
        #expect(CredentialSearch.responseBody(Data([0xFF]) + playlist, "audio/mpegurl") == nil)
    }

    @Test("Events whose JSON goes over several lines are hidden, and fields with a credential's name")
    func eventStreams() {
        #expect(events("data: {\ndata: \"access\":\ndata: \"0123456789abcdef\"}\n\n") == nil)
        #expect(events("data: {\"note\":\"a\ndata: b\"}\n\n") == nil)
        #expect(events("data: ]\n\ndata: [1]]\n\n") == nil)
        #expect(events("access_token: abc\n\n") == nil)
        #expect(events("access: 0123456789abcdef\n\n") == nil)
        let harmless = "id: 1\ndata: {\"a\":\"}\\\"{\"}\n\ndata: [DONE]\n\n: {}\nretry: 10\n"
        #expect(events(harmless) == harmless)
    }

    @Test("Hostile bodies are searched in little time")
    func hostileBodies() async {
        // JSON in JSON in JSON: what is too deep is hidden.
        var nested = #"{"n":1}"#
        for depth in 1...12 {
            nested = #"{"a":"\#(String(decoding: JSONString.encoded(Array(nested.utf8)), as: UTF8.self))"}"#
            #expect((shown(nested) == nested) == (depth <= 4), "\(depth)")
        }
        let count = 1_000
        let texts = [
            String(repeating: "[", count: count), String(repeating: #"{"a":"#, count: count),
            String(repeating: #"{"pin":"#, count: count), String(repeating: "\"", count: count),
            "[" + String(repeating: "\"{", count: count), "[\"" + String(repeating: "[\\\"", count: count),
            "[\"" + String(repeating: "{\\\"a\\\":", count: count) + "\"]",
            "[\"" + String(repeating: "eyJ.", count: count) + "\"]",
            "[\"" + String(repeating: "a://", count: count) + "\"]",
            "[\"" + String(repeating: "a:// ", count: count) + "\"]",
            "[\"" + String(repeating: "\\", count: count), "[\"" + String(repeating: "\\u00", count: count),
            String(repeating: "[\"a\"  ", count: count), "{" + String(repeating: "\0", count: count),
        ]
        // A search that took the square of the time would take minutes, and hold up other tests.
        await onAThreadOfItsOwn {
            for text in texts {
                _ = shown(text)
                _ = events("data: \(text)\n")
                _ = CredentialSearch.url(text + String(repeating: ";/=", count: count))
            }
        }
    }
}
