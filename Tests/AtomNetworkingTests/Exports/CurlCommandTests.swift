import Foundation
import Testing

@testable import AtomNetworking
@testable import AtomNetworkingExports

@Suite(.limited) struct CurlCommandTests {
    private func sent(
        _ method: String = "GET", query: [QueryItem] = [], fields: [(String, String)] = [], body: TransportBody? = nil
    ) throws -> SentRequest {
        SentRequest(
            TransportRequest(
                method: method,
                target: TargetURL(
                    base: try BaseURL(host: "api.example.com"), path: try URLPath("/v1/me"), queryItems: query),
                headerFields: HeaderFields(fields.map { .init(name: $0.0, value: $0.1) }), body: body,
                idleTimeout: .seconds(30), needsFreshConnection: false))
    }

    @Test("A GET is a command that people would write")
    func get() throws {
        let request = try sent(query: ["q": "it's"], fields: [("X-Empty", ""), ("X-Quote", "it's")])
        #expect(
            request.curlCommand() == #"""
                curl --globoff --path-as-is --compressed \
                  --header 'X-Empty;' \
                  --header 'X-Quote: it'\''s' \
                  --header 'User-Agent:' \
                  'https://api.example.com/v1/me?q=it%27s'
                """#)
    }

    @Test("A field is sent with the octets that it stands for")
    func octets() throws {
        let tag = "\"\(OpaqueOctets.text([0xE9]))\""
        let command = try sent(fields: [("If-Match", tag), ("X-Name", "é")]).curlCommand(showing: .everything)
        #expect(command.contains(#"--header "$(printf 'If-Match: "\351"')" \"#))
        #expect(command.contains("--header 'X-Name: é' \\"))
    }

    @Test("A method without a body sends none, or says that there is none")
    func methods() throws {
        func options(_ method: String) throws -> String {
            let lines = try sent(method, fields: [("User-Agent", "x")]).curlCommand().split(separator: "\n")
            return lines.dropFirst().dropLast().map { $0.trimmingCharacters(in: [" ", "\\"]) }.joined(separator: " ")
        }
        #expect(try options("GET") == "--header 'User-Agent: x'")
        #expect(try options("HEAD") == "--head --header 'User-Agent: x'")
        #expect(try options("DELETE") == "--request DELETE --header 'User-Agent: x'")
        let none = "--data-raw '' --header 'User-Agent: x' --header 'Content-Type:' --header 'Expect:'"
        #expect(try options("POST") == none)
        #expect(try options("PUT") == "--request PUT \(none)")
        #expect(try options("a'b") == #"--request 'a'\''b' --header 'User-Agent: x'"#)
    }

    @Test("A body is text, bytes of printf, a file, or absent")
    func bodies() throws {
        func command(_ body: TransportBody) throws -> String {
            try sent("POST", body: body).curlCommand(showing: .everything)
        }
        #expect(try command(.data(Data("@a\nb".utf8))).contains("--data-raw '@a\nb' \\\n"))
        let bytes = try command(.data(Data([0, 0xFF, 0x25])))
        #expect(bytes.hasPrefix("printf '\\000\\377%%' |\ncurl --globoff"))
        #expect(bytes.contains("--data-binary @- \\\n"))
        let large = try command(.data(Data(repeating: 0x61, count: (64 << 10) + 1)))
        #expect(large.hasPrefix("printf 'aaaa"))
        let tooLarge = try command(.data(Data(repeating: 0x61, count: (1 << 20) + 1)))
        #expect(tooLarge.utf8.count < 500)
        #expect(tooLarge.hasPrefix("# The body is left out. The command reads it from standard input.\ncurl"))
        #expect(tooLarge.contains("--data-binary @- \\\n"))
    }

    @Test("Credentials are hidden unless they are asked for")
    func credentials() throws {
        let request = try sent(
            "POST", query: ["page": "2", "access_token": "S1", "api key": "S2"],
            fields: [
                ("Authorization", "Bearer S3"), ("Proxy-Authorization", "S4"), ("cookie", "a=S5"), ("X-Api-Key", "S6"),
                ("Idempotency-Key", "shown"), ("Referer", "https://u:S7@h/p?sig=S8&x=1#access_token=S9"),
                ("Content-Type", "application/x-www-form-urlencoded"),
            ], body: .data(Data("grant_type=refresh_token&refresh_token=S0&client_secret=SA&scope=all&code=SB".utf8)))
        let all = request.curlCommand(showing: .everything)
        for secret in ["S0", "S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "SA", "SB"] {
            #expect(all.contains(secret))
            #expect(!request.curlCommand().contains(secret), "\(secret)")
            #expect(!request.curlCommand(showing: .onlyHarmless).contains(secret), "\(secret)")
        }
        let command = request.curlCommand()
        #expect(command.hasPrefix("# Values are left out. Write them in the place of HIDDEN.\ncurl"))
        #expect(!all.contains("HIDDEN"))
        #expect(command.contains("--header 'Authorization: Bearer HIDDEN'"))
        #expect(command.contains("--header 'Idempotency-Key: shown'"))
        #expect(command.contains("--header 'Referer: https://HIDDEN@h/p?sig=HIDDEN&x=1#access_token=HIDDEN'"))
        #expect(command.contains("?page=2&access_token=HIDDEN&api%20key=HIDDEN'"))
        #expect(
            command.contains(
                "--data-raw 'grant_type=refresh_token&refresh_token=HIDDEN&client_secret=HIDDEN&scope=all&code=HIDDEN'")
        )
        let agent = try sent(fields: [("User-Agent", "Bearer correct-horse")]).curlCommand(showing: .onlyHarmless)
        #expect(!agent.contains("horse"))
        let log = request.curlCommand(showing: .onlyHarmless)
        #expect(log.contains("--data-raw HIDDEN"))
        #expect(log.contains("?page=HIDDEN&access_token=HIDDEN&"))
        #expect(log.contains("--header 'Idempotency-Key: HIDDEN'"))
        #expect(log.contains("--header 'Content-Type: application/x-www-form-urlencoded'"))
    }

    @Test("A harmless value that is “…” is shown as it is")
    func trueEllipsis() throws {
        let harmless = try sent(fields: [("Accept-Language", "…"), ("User-Agent", "a…b")])
        let command = harmless.curlCommand(showing: .onlyHarmless)
        #expect(command.contains("--header 'Accept-Language: …'"))
        #expect(command.contains("--header 'User-Agent: a…b'"))
        #expect(!command.contains("HIDDEN"))
        let secret = try sent(fields: [("X-Key", "…"), ("User-Agent", "… a1b2c3d4e5f6a1b2")])
        let redacted = secret.curlCommand(showing: .onlyHarmless)
        #expect(redacted.contains("--header 'X-Key: HIDDEN'"))
        #expect(redacted.contains("--header 'User-Agent: … HIDDEN'"))
        #expect(redacted.hasPrefix("# Values are left out. Write them in the place of HIDDEN."))
    }

    @Test("Commands that are written too slowly are left out, and a comment says how many")
    func slowWriter() async throws {
        let session = try SessionFixture { $0.answer("{}") }
        let (isHeld, isOver) = (Signal(), Signal())
        let mayWrite = DispatchSemaphore(value: 0)
        let commands = Locked<[String]>([])
        var configuration = session.configuration
        configuration.observers = [
            CurlCommandObserver { command in
                commands.with { $0.append(command) }
                if commands.value.count == 1 {
                    isHeld.raise()
                    mayWrite.wait()
                }
                if command.hasPrefix("# Left out") { isOver.raise() }
            }
        ]
        let atom = Atom(configuration, time: session.time, random: { 0.5 })
        func send(_ number: Int) async {
            let call = Call()
            call.keep(atom.enqueue(PathEndpoint(pathText: "/\(number)")).resume { call.heard($0) })
            _ = await call.outcome()
        }
        await send(0)
        await isHeld.wait()
        for number in 1...1_003 { await send(number) }
        mayWrite.signal()
        await isOver.wait()
        #expect(commands.value.count == 1_002)
        #expect(commands.value.last == "# Left out, since more were sent than could be written: 3")
        for (number, command) in commands.value.dropLast().enumerated() {
            #expect(command.hasSuffix("api.example.com/\(number)'"))
        }
    }

    @Test("In JSON only the values of credentials are replaced, byte by byte")
    func json() {
        func shown(_ text: String) -> String? {
            CredentialSearch.body(Data(text.utf8), HeaderFields()).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(
            shown(#"{ "user" : "a\"b", "password": "p\"w" ,"n":[1, 2],"apiKey":123,"token":null}"#)
                == #"{ "user" : "a\"b", "password": "HIDDEN" ,"n":[1, 2],"apiKey":"HIDDEN","token":null}"#)
        #expect(shown(#"[{"secrets":{"a":"]}","b":[1]},"x":1}]"#) == #"[{"secrets":"HIDDEN","x":1}]"#)
        #expect(shown(#"{"pass\u0077ord":"p"}"#) == #"{"pass\u0077ord":"HIDDEN"}"#)
        // Not complete.
        #expect(shown(#"{"password":"p"#) == #"{"password":"HIDDEN""#)
        #expect(shown(#"{"a":"password","b":"password:"}"#) == #"{"a":"password","b":"password:"}"#)
    }

    @Test("A body that can't be searched is hidden if it mentions a credential")
    func unknownBodies() {
        func shown(_ text: String, _ fields: [(String, String)] = []) -> Data? {
            CredentialSearch.body(
                Data(text.utf8), HeaderFields(fields.map { .init(name: $0.0, value: $0.1) }))
        }
        #expect(shown("<User><Password>x</Password></User>") == nil)
        #expect(shown("<User><Name>x</Name></User>") == Data("<User><Name>x</Name></User>".utf8))
        #expect(shown("{}", [("Content-Encoding", "gzip")]) == nil)
        #expect(
            shown(
                "--b\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\nx",
                [("Content-Type", "multipart/form-data; boundary=b")]) == nil)
    }

    @Test(
        "The bytes of a body decide what it is, because the type may be wrong",
        arguments: [
            ("application/x-www-form-urlencoded", #"{"user":"a","password":"hunter2"}"#),
            ("application/x-www-form-urlencoded", #"{"password":"hunter2","blob":"abc=="}"#),
            ("application/x-www-form-urlencoded", "<login><password>hunter2</password></login>"),
            ("application/json", "user=a&password=hunter2"), ("text/plain", "device_code=hunter2&client_id=a"),
            ("application/xml", "<pin>hunter2</pin>"), ("multipart/form-data", "name=\"pwd\"\r\n\r\nhunter2"),
            ("application/json", #"{"grant_type":"authorization_code","code":"hunter2"}"#),
        ])
    func mislabelled(type: String, text: String) {
        let fields = HeaderFields([HeaderItem(name: "Content-Type", value: type)])
        let shown = CredentialSearch.body(Data(text.utf8), fields).map { String(decoding: $0, as: UTF8.self) }
        #expect(shown?.contains("hunter2") != true, "\(shown ?? "")")
    }

    @Test("A name says whether its value is a credential")
    func names() {
        let credentials = [
            "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "api_key", "apiKey", "key",
            "access_token", "refreshToken", "client_secret", "password", "user[password]", "X-Amz-Signature", "sig",
            "X-Auth", "Ocp-Apim-Subscription-Key", "id_token", "sessionId", "session_id", "pin", "X-CSRF-Token",
            "client_assertion", "code_verifier", "pwd", "PASSWORD", "pass", "db_pass", "newPass", "DB_PASS", "smtppass",
            "pass2", "pass_confirm", "smsCode", "one_time_code",
        ]
        for name in credentials { #expect(CredentialName.isOne(name), "\(name)") }
        let others = [
            "Accept", "Content-Type", "Idempotency-Key", "token_type", "grant_type", "max_tokens", "page", "monkey",
            "keyword", "boarding_pass", "seasonPass", "bypass", "compass", "passenger", "pass_count", "design",
            "signal", "shipping", "author", "sort_key", "",
        ]
        for name in others { #expect(!CredentialName.isOne(name), "\(name)") }
    }
}
