import Foundation
import Testing

@testable import AtomNetworking
@testable import AtomNetworkingExports

/// Bodies, URLs and header fields without their credentials.
///
/// `nil` stands for a body that is hidden.
@Suite(.limited) struct CredentialSearchTests {
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
            #"{user: 5", password: "planted"}"#, "{id: \(jwt)}", "[12:00] https://ada:planted@h/x",
            "[a] Basic cGxhbnRlZDc=",
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

    @Test("What the transport hasn't decoded is hidden")
    func coded() {
        // As brotli stores short texts.
        let coded = Data([0x0B, 0x0C, 0x80]) + Data(#"{"a":"planted"}"#.utf8) + Data([0xFF, 0x03])
        #expect(CredentialSearch.responseBody(coded, "application/json", coding: "br") == nil)
        #expect(CredentialSearch.responseBody(coded, "image/png", coding: "br") == coded)
        let page = Data([0x50, 0xE9])
        #expect(CredentialSearch.responseBody(page, "text/html", coding: "gzip") == page)
        #expect(CredentialSearch.responseBody(Data([0x1F, 0x8B]) + page, "text/html", coding: "gzip") == nil)
        let text = Data("hello".utf8)
        #expect(CredentialSearch.responseBody(text, "text/plain", coding: "gzip") == text)
    }

    @Test("A key that can't be read is hidden")
    func unreadableKey() {
        #expect(shown(#"{"a&password=planted\x":null}"#) == #"{"HIDDEN":null}"#)
    }

    @Test(
        "A value with a colon behind it may have been a name, which is no JSON",
        arguments: [
            #"{"token":"password":"planted"}"#, #"{"token":n"password" : "planted""#,
            #"{"token":["password"]:"planted"}"#, #"{"\u0074oken":"\u0070assword":"planted"}"#,
            #"{"value":"access":"Zx9Qw8Er7Ty6Ui5Op4As3Df2"}"#,
        ])
    func valueAsKey(body: String) {
        #expect(shown(body) == nil)
    }

    @Test("JSON in UTF-16 is hidden", arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf16])
    func wideText(encoding: String.Encoding) throws {
        let data = try #require(#"{"pin":"planted","a":1}"#.data(using: encoding))
        #expect(CredentialSearch.body(data, HeaderFields()) == nil)
        let short = try #require("<a><Pwd>planted</Pwd></a>".data(using: encoding))
        #expect(CredentialSearch.body(short, HeaderFields()) == nil)
    }

    @Test(
        "The texts in JSON are searched",
        arguments: [
            (#"{"body":"{\"access_token\":\"abc\",\"n\":1}"}"#, #"{"body":"{\"access_token\":\"HIDDEN\",\"n\":1}"}"#),
            (#"{"body":"\u007b\u0022pin\":\"abc\"}"}"#, #"{"body":"{\"pin\":\"HIDDEN\"}"}"#),
            (#"["{password: 'abc'}", "x"]"#, #"["HIDDEN", "x"]"#),
            (#"{"Name":"password","Value":"abc"}"#, #"{"Name":"password","Value":"HIDDEN"}"#),
            (#"{"Value":"abc","Key":"db_pass"}"#, #"{"Value":"HIDDEN","Key":"HIDDEN"}"#),
            (
                #"{"ParameterKey":"DBPassword","ParameterValue":"abc"}"#,
                #"{"ParameterKey":"HIDDEN","ParameterValue":"HIDDEN"}"#
            ),
            (#"{"Name":"size","Value":"abc"}"#, #"{"Name":"size","Value":"abc"}"#),
            (#"{"cvv2":"123"}"#, #"{"cvv2":"HIDDEN"}"#),
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
            (#"{"db":"postgres://u:a/bc@h/x"}"#, #"{"db":"postgres://HIDDEN@h/x"}"#),
            (#"{"x":"https://a.example/,https://u:abc@h/"}"#, #"{"x":"https://a.example/,https://HIDDEN@h/"}"#),
            (#"{"x":"app.x:/cb?code=abc&state=x"}"#, #"{"x":"HIDDEN"}"#),
            (#"{"x":"cb?code=abc&state=x"}"#, #"{"x":"HIDDEN"}"#),
            (#"{"x":"cb#code=abc&state=x"}"#, #"{"x":"HIDDEN"}"#),
            (#"{"x":"GET /cb?code=abc&state=x HTTP/1.1"}"#, #"{"x":"HIDDEN"}"#),
            (#"{"x":"Bearer 3|abcdefghijklmnop"}"#, #"{"x":"HIDDEN"}"#),
            // Keys.
            (#"{"https://h/?api_key=abc":{"n":1}}"#, #"{"HIDDEN":"HIDDEN"}"#),
            (#"{"https://u:abc@h/":null}"#, #"{"HIDDEN":null}"#),
            (#"{"Bearer abcdefgh12345678":null}"#, #"{"HIDDEN":null}"#),
            // Lists.
            (#"{"code":["abc"],"redirect_uri":["x"]}"#, #"{"code":"HIDDEN","redirect_uri":["x"]}"#),
            (#"{"code":["a",{"pin":"abc"}],"n":1}"#, #"{"code":["a",{"pin":"HIDDEN"}],"n":1}"#),
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
            CredentialSearch.value(of: HeaderItem(name: name, value: value))
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
        let field = HeaderItem(name: "Location", value: "/login;jsessionid=ABC123")
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

    /// What carries a value, apart from it.
    private static let carriers: [@Sendable (String) -> String] = [
        { shownURL("https://h/x?variables=\(encoded($0))&page=2") }, { shownURL("/x?next=\($0)") },
        { shownURL("/x?next=\(encoded(encoded($0)))") }, { shownURL("/x#state=\(encoded($0))") },
        { shownURL("/x#/y?next=\(encoded($0))") }, { shownURL("/a/\(encoded($0))/b") },
        { shownURL("/x?\(encoded($0))&a") }, { shownURL("/x;a=\(encoded($0))") },
        { shownBody("payload=\(encoded($0))&a=1") },
        { shownBody("next=\(encoded("https://h/?next=" + encoded($0)))&a=1") },
        { shownBody(#"{"list":[{"note":"\#(inJSON($0))"}]}"#) }, { shownBody(#"{"note":"\#(encoded($0))"}"#) },
        { shownBody(#"["{\"a\":\"\#(inJSON(inJSON($0)))\"}"]"#) }, { shownField("X-Foo", $0) },
        { shownField("X-Foo", encoded($0)) }, { shownField("X-Foo", "[\"\(inJSON($0))\"]") },
        { shownField("Location", "/cb?next=\($0)") }, { shownField("Location", "https://h/\(encoded($0))") },
        { shownField("Link", "</a?next=\(encoded($0))>; rel=\"next\"") },
    ]

    private static func encoded(_ text: String) -> String {
        PercentEncoding.encode(text, allowing: PercentEncoding.unreserved)
    }
    private static func inJSON(_ text: String) -> String {
        String(decoding: JSONString.encoded(Array(text.utf8)), as: UTF8.self)
    }
    private static func shownURL(_ text: String) -> String { CredentialSearch.url(text) }
    private static func shownBody(_ text: String) -> String {
        CredentialSearch.body(Data(text.utf8), HeaderFields()).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
    private static func shownField(_ name: String, _ value: String) -> String {
        CredentialSearch.value(of: HeaderItem(name: name, value: value))
    }

    /// Values with a credential in them.
    private static let planted = [
        jwt, "v1.\(jwt)", "token:\(jwt)", "v1_\(jwt)", "Bearer planted", "Basic cGxhbnRlZA==",
        "bearer  planted", "Bearer planted, Basic planted", "x=1; Bearer planted7", "/cb?code=planted&state=x",
        #"{"client_secret":"planted","n":1}"#, #"{"a":{"b":["https://h/?sig=planted"]}}"#,
        "https://h/x?access_token=planted&page=2", "https://ada:planted@h/x", "https://h/x#access_token=planted",
        "password=planted&x=1", "a; token=planted", "a=1, token=\"planted\"", "token: planted", "db_pass=planted",
        "grant_type=x&code=planted", "code=planted&redirect_uri=x", "client_id=x&code=planted",
        #"{"code":"planted","x":{"y":1},"code_verifier":"x"}"#, #"[{"redirectUri":"x","code":"planted"}]"#,
        #"Digest username="ada", response="x", client_secret="planted""#, "Bearer planted!def*123456789012",
        "https://h/a/https://ada:planted@b/x", "app.x:/cb?code=planted&state=x", "cb?a=1&code=planted&state=x",
        "a=1; code=planted; client_id=x", "code[]=planted&client_id=x", "db_pw=planted&n=1",
        #"x({"code":"planted","client_id":1})"#, #"{"id":"\#(jwt)","password":"planted battery"}"#,
        #"id="\#(jwt)", password="planted battery""#, #"{"name":"password","value":"planted"}"#,
        #"{"value":"planted","n":{"name":"a"},"name":"Authorization"}"#, #"{"key":"db_pass","value":["planted"]}"#,
        "name=password&value=planted", "Name=password&Value=planted", "name=password&value=planted==",
        "value=planted&key=api_key",
        #"[1,["token","planted"]]"#,
        "new_pass_confirm=planted", "mongodb://us:p?planted@host", "mongodb://us:p?a/planted@host/x?n=1",
        #"https:\\ada:planted@h\x"#, #"/\ada:planted@h/x"#, #"\\ada:planted@h"#, #"https:\\ada:pl?planted@h"#,
        "https:///ada:planted@h", "HTTPS:/ada:planted@h/x", "see https:ada:planted@h",
    ]

    @Test(
        "A credential is found in every form of a value, whatever carries it",
        arguments: planted)
    func everyCarrier(value: String) {
        for (index, shown) in Self.carriers.enumerated() {
            let text = shown(value)
            #expect(!text.contains("planted") && !text.contains("cGxhbnRlZA"), "\(index): \(text)")
            #expect(!text.contains("c2lnbmF0dXJl"), "\(index): \(text)")
        }
    }

    @Test("What is shown without credentials is the most that the log shows", arguments: planted)
    func stronger(value: String) {
        for path in [Self.encoded(value), Self.encoded(Self.encoded(value)), "a;b=\(Self.encoded(value))"] {
            let text = Redaction.url("https://h/a/\(path)/b")
            #expect(!text.contains("planted") && !text.contains("cGxhbnRlZA"), "\(text)")
            #expect(!text.contains("c2lnbmF0dXJl"), "\(text)")
        }
    }

    @Test("What stands around a credential is shown")
    func around() {
        #expect(Self.shownField("Location", "https://h/a/\(Self.jwt)/b?x=1") == "https://h/a/HIDDEN/b?x=1")
        #expect(
            Self.shownField("Link", "</a?token=1&n=2>; rel=\"next\", <https://h/b?n=3>; rel=\"last\"")
                == "</a?token=HIDDEN&n=2>; rel=\"next\", <https://h/b?n=3>; rel=\"last\"")
        #expect(Self.shownField("X-Foo", "a; token=planted; b=\"c\"") == "a; token=HIDDEN; b=\"c\"")
        #expect(Self.shownField("X-Foo", #"{"token":"planted","n":1}"#) == #"{"token":"HIDDEN","n":1}"#)
        #expect(Self.shownURL("/x?\(Self.jwt)=1&n=2") == "/x?HIDDEN&n=2")
        #expect(
            Self.shownURL("/x?variables=%7B%22pin%22%3A1%2C%22n%22%3A2%7D&n=1")
                == "/x?variables=%7B%22pin%22%3A%22HIDDEN%22%2C%22n%22%3A2%7D&n=1")
        #expect(
            Self.shownBody("next=https%3A%2F%2Fh%2Fx%3Fsig%3Da%26n%3D1&n=1")
                == "next=https%3A%2F%2Fh%2Fx%3Fsig%3DHIDDEN%26n%3D1&n=1")
        #expect(Self.shownBody(#"{"\#(Self.jwt)":1}"#) == #"{"HIDDEN":1}"#)
        #expect(Self.shownBody(#"[{"code":1,"n":{"client_id":2}}]"#) == #"[{"code":1,"n":{"client_id":2}}]"#)
    }

    @Test("A harmless value stays as it is, byte by byte, in every carrier")
    func harmlessValues() {
        for value in [
            "default-src 'self'; img-src https://a.example *; report-uri https://r.example/x?y=1",
            "Bearer realm=\"https://h/x\", error=\"invalid_token\", error_description=\"The access token expired\"",
            "auth;dur=10, db;desc=\"x y\";dur=53", "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101",
            "Mon, 23 Nov 2026 10:00:00 GMT", "multipart/form-data; boundary=--abc", "h3=\":443\"; ma=86400",
            "Authorization, X-CSRF-Token", "100%", "10% off & more", "boarding_pass=12A; x=1", "v1:abc",
            "Basic realm=\"a b\", charset=\"UTF-8\"", "color=#fff; x=1", "Is x? a=b or #c = d?e=f",
        ] {
            #expect(Self.shownField("X-Foo", value) == value)
        }
        for url in [
            "https://h/v1/tokens:revoke/a=b/café?x=1&y=%7B%22a%22%3A1%7D#top", "/a%20b/100%25?flag&x=&=y",
            "/x;v=1?q=a+b%20c&r=https%3A%2F%2Fh%2Fx%3Fa%3D1#/route?z=1",
        ] {
            #expect(Self.shownURL(url) == url)
        }
        for text in [
            #"{"code":"WA","state":"x"}"#, #"{"m":"Basic economy fare is sold out","t":"Token expired"}"#,
            #"{"x":"https://h:80/@user","y":"https://h/@a//b","z":"https://[::1]:80/@x","first_pass_2":1}"#,
            #"{"m":"Basic auth? Bearer it!"}"#, #"{"code":["WA"],"state":"x"}"#, "code=WA&n=1\n", "code: 5, client: 7",
            #"{"boarding_pass":"12A","compass":"N","season_pass":1}"#, #"{"host":"api.example.com:443"}"#,
            #"{"name":"color","value":"red","n":[{"name":"password"},{"value":1}]}"#, "name=color&value=red",
            #"{"value":[{"value":[{"value":[{"value":[{"value":[{"value":"a"}]}]}]}]}]}"#,
            #"["password","email","name"]"#, #"[1,"token"]"#, #"["user","token"]"#, "boarding_pass_confirm=1&n=1",
            "name=M\u{FC}ller&n=1", #"{"a":"https://h?x=a@b"}"#,
        ] {
            #expect(Self.shownBody(text) == text)
        }
    }

    @Test(
        "More names say that a value is a credential",
        arguments: [
            "db_pw", "pwd1", "userpwd", "pass_2", "totp", "oauth_verifier", "authkey", "masterkey", "signingKey",
            "sessionkey", "sharedkey", "licensekey", "streamkey", "routing_key",
        ])
    func names(name: String) {
        #expect(shown("\(name)=a&n=1") == "\(name)=HIDDEN&n=1")
        #expect(shown(#"{"\#(name)":"a","n":1}"#) == #"{"\#(name)":"HIDDEN","n":1}"#)
    }

    @Test("What is nearly a form or nearly JSON may have an authorization code in it")
    func nearlyForms() {
        #expect(shown("code=abc&client_id=x\n") == "code=HIDDEN&client_id=x\n")
        #expect(shown("code=abc&redirect_uri=x&name=M\u{FC}ller") == "code=HIDDEN&redirect_uri=x&name=M\u{FC}ller")
        #expect(shown("name=M\u{FC}ller&code=abc&state=x") == "name=M\u{FC}ller&code=HIDDEN&state=x")
        #expect(shown(#"callback({"code":"x","client_id":1})"#) == nil)
        #expect(events("data: code=abc&state=x\n\n") == "data: code=HIDDEN&state=x\n\n")
        #expect(Self.shownField("X-Foo", "a=1; code=b; client_id=x") == "a=1; code=HIDDEN; client_id=x")
    }

    @Test("What is nested too deeply is hidden")
    func nesting() {
        var nested = #"{"n":1}"#
        for depth in 1...12 {
            nested = #"{"a":"\#(Self.inJSON(nested))"}"#
            #expect((shown(nested) == nested) == (depth <= 4), "\(depth)")
        }
        var url = "https://h/?access_token=planted"
        for _ in 1...12 {
            url = "https://h/?next=\(Self.encoded(url))"
            #expect(!Self.shownURL(url).contains("planted"))
        }
    }

    @Test("Eight times as much hostile text takes about eight times the work")
    func hostileTexts() async {
        let units = [
            "[", #"{"a":"#, #"{"pin":"#, "\"", "\"{", #"[\""#, #"{\"a\":"#, "eyJ.", "a://", "a:// ", "\\", "\\u00",
            "[\"a\"  ", "\0", "%25", "%7B%22", "a=b&", "a=https://b?", "a=1;", "a=\"", "Bearer ", "token:", "?a=",
            "#a=", "//u:", "//u:/@", "x?a= ", "callback({\"code\":", #"{"code":["#, "pass_2_",
            "/;=", #"{"code":1,"#, "next=https%3A%2F%2Fh%3F", "pass", "a ://",
            "http:", #"\\"#, #":\\u"#, "a@", "http:/u@",
        ]
        let frames = [("", ""), ("[\"", "\"]"), ("a=b&c=", ""), ("data: ", "\n")]
        // The square of it would take 64 times the work.
        let slow = await onAThreadOfItsOwn {
            units.flatMap { unit in
                frames.compactMap { start, end -> String? in
                    func work(_ count: Int) -> Double {
                        let text = start + String(repeating: unit, count: count) + end
                        return processorTime {
                            _ = Self.shownBody(text)
                            _ = Self.shownURL(text)
                            _ = Self.shownField("X-Foo", text)
                            _ = self.events(text)
                        }
                    }
                    let ratio = min(work(400), work(400)) / min(work(50), work(50), work(50))
                    return ratio > 32 ? "\(start)\(unit): \(ratio)" : nil
                }
            }
        }
        #expect(slow == [])
    }
}
