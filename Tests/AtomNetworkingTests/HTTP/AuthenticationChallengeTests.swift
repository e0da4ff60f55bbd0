import Foundation
import Testing

@testable import AtomNetworking

@Suite("Challenges of a server", .limited)
struct AuthenticationChallengeTests {
    private static func response(_ fields: [String], status: Int = 401) -> AtomResponse {
        AtomResponse(
            statusCode: status,
            headerFields: HeaderFields(fields.map { HeaderItem(name: "www-authenticate", value: $0) }))
    }

    private static func challenges(_ fields: String...) -> [AuthenticationChallenge] { response(fields).challenges }

    /// Compares with texts such as `negotiate #token68` and `basic realm=x|charset=UTF-8`.
    private func expect(
        _ challenges: [AuthenticationChallenge], _ texts: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(challenges.count == texts.count, "\(challenges)", sourceLocation: sourceLocation)
        for (challenge, text) in zip(challenges, texts) {
            let parts = text.split(separator: " ", maxSplits: 1)
            let rest = parts.count > 1 ? String(parts[1]) : ""
            #expect(challenge.scheme == parts[0], sourceLocation: sourceLocation)
            let token = rest.hasPrefix("#") ? String(rest.dropFirst()) : nil
            #expect(challenge.token68 == token, "\(text)", sourceLocation: sourceLocation)
            let parameters = token == nil ? rest.split(separator: "|") : []
            for parameter in parameters {
                let pair = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                #expect(challenge[String(pair[0])] == String(pair[1]), "\(text)", sourceLocation: sourceLocation)
            }
            let count = challenge.description.components(separatedBy: "=\"").count - 1
            #expect(count == parameters.count, "\(challenge)", sourceLocation: sourceLocation)
        }
    }

    @Test(
        "The examples of the standards are read",
        arguments: [
            // RFC 9110 §11.6.1, RFC 7617 §2 and §2.1
            (
                #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#,
                ["basic realm=simple", #"newauth realm=apps|type=1|title=Login to "apps""#]
            ),
            (#"Basic realm="WallyWorld""#, ["basic realm=WallyWorld"]),
            (#"Basic realm="foo", charset="UTF-8""#, ["basic realm=foo|charset=UTF-8"]),
            // RFC 7616 §3.9.1
            (
                #"Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, "#
                    + #"nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", "#
                    + #"opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#,
                [
                    "digest realm=http-auth@example.org|qop=auth, auth-int|algorithm=SHA-256"
                        + "|nonce=7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
                        + "|opaque=FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
                ]
            ),
            // RFC 6750 §3
            (#"Bearer realm="example""#, ["bearer realm=example"]),
            (
                #"Bearer realm="example", error="invalid_token", error_description="The access token expired""#,
                ["bearer realm=example|error=invalid_token|error_description=The access token expired"]
            ),
            // RFC 9449 §7.1 and §9
            (#"DPoP algs="ES256 PS256""#, ["dpop algs=ES256 PS256"]),
            (
                #"DPoP error="use_dpop_nonce", error_description="Resource server requires nonce in DPoP proof""#,
                ["dpop error=use_dpop_nonce|error_description=Resource server requires nonce in DPoP proof"]
            ),
            // RFC 9470 §3
            (
                #"Bearer error="insufficient_user_authentication", acr_values="myACR", max_age="5""#,
                ["bearer error=insufficient_user_authentication|acr_values=myACR|max_age=5"]
            ),
            // RFC 9728 §5.1
            (
                #"Bearer resource_metadata="https://resource.example.com/.well-known/oauth-protected-resource""#,
                ["bearer resource_metadata=https://resource.example.com/.well-known/oauth-protected-resource"]
            ),
            // RFC 4559 §4.1
            ("Negotiate a87421000492aa874209af8bc028", ["negotiate #a87421000492aa874209af8bc028"]),
        ] as [(String, [String])])
    func standards(_ field: String, has texts: [String]) {
        expect(Self.challenges(field), texts)
    }

    @Test(
        "Several are told apart, whatever stands between them",
        arguments: [
            ("", []), (",", []), (" , \t,", []), ("Bearer", ["bearer"]), ("  bEARER ", ["bearer"]),
            ("Bearer,Basic", ["bearer", "basic"]), (", ,Basic realm=x,,", ["basic realm=x"]),
            (#"Bearer, Basic realm="x""#, ["bearer", "basic realm=x"]),
            (#"Basic realm="x", Bearer"#, ["basic realm=x", "bearer"]),
            (#"Basic realm="x", , Bearer scope="a b""#, ["basic realm=x", "bearer scope=a b"]),
            ("Bearer , realm=x", ["bearer realm=x"]),
            ("Negotiate", ["negotiate"]), ("NTLM TlRMTVNTUAACAAAA", ["ntlm #TlRMTVNTUAACAAAA"]),
            ("Negotiate YII==, NTLM", ["negotiate #YII==", "ntlm"]),
            ("NTLM -._~+/0Az= ,Basic realm=x", ["ntlm #-._~+/0Az=", "basic realm=x"]),
            ("A b,C d=e,F", ["a #b", "c d=e", "f"]),
        ] as [(String, [String])])
    func several(_ field: String, has texts: [String]) {
        expect(Self.challenges(field), texts)
    }

    @Test(
        "A value is a token or quoted, with blanks around the equals sign",
        arguments: [
            ("Basic realm=x", "x"), ("Basic realm = x", "x"), ("Basic realm\t=\t\"x\"", "x"), ("BASIC REALM=x", "x"),
            ("Basic  \t realm=x ", "x"), (#"Basic realm="""#, ""), (#"Basic realm=",""#, ","),
            (#"Basic realm="a=b, Bearer c=d""#, "a=b, Bearer c=d"), (#"Basic realm="a\"b\\c\d""#, #"a"b\cd"#),
            ("Basic realm=\"a\tb\"", "a\tb"), (#"Basic realm="café""#, "café"), (#"Basic realm="caf\é\👩‍🚀""#, "café👩‍🚀"),
            ("Basic realm=\"\u{301}\"", "\u{301}"), ("Basic realm=\"\u{E9}\u{E01EF}\"", "\u{E9}\u{E01EF}"),
            // What servers do, too.
            ("Basic realm=https://a.example/?b=c", "https://a.example/?b=c"), ("Basic realm=a==", "a=="),
            (#"Basic charset="UTF-8" realm="x""#, "x"),
        ])
    func values(_ field: String, has realm: String) {
        let challenges = Self.challenges(field)
        #expect(challenges.map(\.scheme) == ["basic"])
        #expect(challenges.first?.realm.map { Array($0.utf8) } == Array(realm.utf8))
    }

    @Test(
        "A mistake ends the reading, and what was before it stays",
        arguments: [
            (#""x""#, []), ("=x", []), ("realm=x", []), ("@", []), ("Basic@realm", []), (#"Basic"x""#, []),
            ("é realm=x", []), ("Basic realm=", ["basic #realm="]), ("Basic realm =", ["basic"]),
            (#"Basic realm="x"#, ["basic"]), (#"Basic realm="x\"#, ["basic"]), (#"Basic realm="x\""#, ["basic"]),
            (#"Bearer realm="x", error="inv"#, ["bearer realm=x"]), ("Bearer @", ["bearer"]),
            (#"Basic realm="x"y, Digest nonce=z"#, ["basic"]), (#"Basic realm=a"b", Digest nonce=z"#, ["basic"]),
            ("Bearer scope=a b", ["bearer scope=a"]), ("Bearer a b, Basic", ["bearer"]),
            ("Negotiate abc, realm=x, Basic", ["negotiate #abc"]), ("Bearer realm=, error=x", ["bearer #realm="]),
            ("Basic realm=\"a\u{1}b\"", ["basic"]), ("Basic realm=\"x\"\0", ["basic"]), ("Basic\0realm=x", []),
            ("Basic realm=x, \u{7F}, Bearer", ["basic realm=x"]), (#"Bearer a=b,"c", d=e"#, ["bearer a=b"]),
            (#""\,,=,Basic realm="un"#, []),
        ] as [(String, [String])])
    func malformed(_ field: String, has texts: [String]) {
        expect(Self.challenges(field), texts)
    }

    @Test("Each field is read by itself, in order")
    func fields() {
        expect(Self.challenges("Bearer", "Basic realm=x"), ["bearer", "basic realm=x"])
        expect(Self.challenges(#"Bearer realm=""#, "Basic realm=x"), ["bearer", "basic realm=x"])
        expect(Self.challenges("Bearer", "realm=x", "Basic"), ["bearer", "basic"])
        #expect(AtomResponse(statusCode: 401).challenges.isEmpty)
        #expect(
            AtomResponse(statusCode: 407, headerFields: HeaderFields([.init(name: "Proxy-Authenticate", value: "A b")]))
                .challenges.isEmpty)
    }

    @Test("Of a parameter that is given twice the first counts")
    func twice() {
        let challenges = Self.challenges("Bearer scope=a, SCOPE=b, Scope=c")
        #expect(challenges.map(\.scope) == ["a"] && challenges.first?["scopE"] == "a")
    }

    @Test("The parameters of OAuth have names")
    func named() throws {
        let metadata = "https://api.example.com/.well-known/oauth-protected-resource/v1"
        let field = #"Bearer scope="a b", resource_metadata="\#(metadata)", realm="api""#
        let challenge = try #require(Self.challenges(field).first)
        #expect(challenge.scope == "a b" && challenge.realm == "api")
        #expect(challenge.resourceMetadata == URL(string: metadata))
        let bare = try #require(Self.challenges("Bearer").first)
        #expect(bare.scope == nil && bare.realm == nil && bare.resourceMetadata == nil && bare["error"] == nil)
    }

    @Test(
        "A challenge with an error is found, whatever its scheme",
        arguments: [
            ([#"Bearer error="invalid_token""#], true), (["Bearer realm=x, ERROR=invalid_token"], true),
            ([#"DPoP algs="ES256", error="invalid_token""#], true),
            (["Basic realm=x, Bearer error=invalid_token"], true),
            (["Basic realm=x", "Bearer error=invalid_token"], true), (["\"", "Bearer error=invalid_token"], true),
            ([], false), (["Bearer"], false), ([#"Bearer error="insufficient_scope""#], false),
            ([#"Bearer error_description="invalid_token""#], false), (["Bearer error=INVALID_TOKEN"], false),
            ([#"Bearer realm="error=invalid_token""#], false), ([#"Bearer error="invalid_token"#], false),
            (["error=invalid_token"], false), (["Bearer error=insufficient_scope, error=invalid_token"], false),
        ] as [([String], Bool)])
    func error(_ fields: [String], isThere: Bool) {
        #expect(Self.response(fields, status: 403).headerFields.challengeErrors.contains("invalid_token") == isThere)
    }

    @Test("At most 64 KiB are read, in whole fields")
    func limit() {
        let pairs = String(repeating: "a=b,", count: 16_000)
        let challenges = Self.challenges("Bearer \(pairs)scope=x")
        #expect(challenges.count == 1 && challenges.first?.scope == "x" && challenges.first?["A"] == "b")
        let names = String(repeating: "a,", count: 32_000)
        #expect(Self.challenges(names, "Basic").count == 32_001)
        #expect(Self.challenges(names, names, "Basic").count == 32_001)
        let text = String(repeating: "\\x", count: 32_750)
        #expect(Self.challenges("Basic realm=\"\(text)\"").first?.realm?.utf8.count == 32_750)
        #expect(Self.challenges("Basic realm=\"\(text)\(text)\"").isEmpty)
    }

    @Test("Twenty thousand random texts crash nothing, and change nothing that was before them")
    func fuzz() {
        var generator = SeededGenerator(seed: 9110)
        let pieces = [
            "Bearer", "Basic", "realm", "error", "a", "=", " ", "\t", ",", "\"", "\\", "==", "x", "é", "\u{E01EF}",
            "\0",
            "\r\n", "\u{7F}", "/", "\"\"", "=\"", "\",", "invalid_token", "@", "👩‍🚀", "\u{301}",
        ]
        var count = 0
        for round in 0..<20_000 {
            var text = round % 4 == 0 ? "Basic realm=" : ""
            if round % 2 == 0 {
                for _ in 0..<Int.random(in: 0...16, using: &generator) {
                    text += pieces.randomElement(using: &generator) ?? ""
                }
            } else {
                let bytes = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
                text = String(decoding: bytes, as: UTF8.self)
            }
            let challenges = Self.challenges(text)
            count += challenges.count
            let hasError = challenges.contains { $0["error"] == "invalid_token" }
            #expect(HeaderFields(["WWW-Authenticate": text]).challengeErrors.contains("invalid_token") == hasError)
            #expect(challenges.allSatisfy { !$0.scheme.isEmpty && HTTPGrammar.isToken($0.scheme) }, "“\(text)”")
            #expect(challenges.allSatisfy { !$0.description.isEmpty })
            let first = Self.challenges("Bearer realm=\"x\", \(text)").first
            #expect(first?.scheme == "bearer" && first?.realm == "x", "“\(text)”")
        }
        #expect(count > 2_000, "the generator makes challenges")
    }

    @Test("Shown are the scheme, the names, and what is no secret")
    func description() {
        let secret = "eyJhbGciOiJIUzI1NiJ9x7Q2"
        let field =
            #"Bearer realm="api", error="invalid_token", error_description="\#(secret) expired", nonce=\#(secret), "#
            + #"scope="bookings:read \#(secret)", \#(secret)=1, Negotiate \#(secret), \#(secret) realm="\#(secret)", "#
            + #"Basic realm="https://u:hush-hush@a.example/?k=hush-hush""#
        let challenges = Self.challenges(field)
        #expect(challenges.count == 4)
        #expect(
            challenges.first?.description
                == #"bearer realm="api", error="invalid_token", error_description="…", nonce="…", "#
                + #"scope="bookings:read …", …="…""#)
        #expect(challenges[1].description == "negotiate …")
        for challenge in challenges {
            expectNone(of: everyRendering(of: challenge), toContain: secret)
            expectNone(of: everyRendering(of: challenge), toContain: secret.lowercased())
            expectNone(of: everyRendering(of: challenge), toContain: "hush-hush")
        }
        #expect(Self.challenges("Bearer").first?.description == "bearer")
    }
}
