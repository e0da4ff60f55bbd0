import Foundation
import Testing

@testable import AtomNetworking

@Suite("The answer of a token endpoint", .limited)
struct TokenResponseTests {
    static let sentAt = Date(timeIntervalSince1970: 1_790_000_000)
    static let old = TokenCredential(
        accessToken: "old-access", expiresAt: .distantPast, refreshToken: "old-refresh", scope: "old-scope",
        idToken: "old-id")

    static func read(_ body: String, status: Int = 200, headers: [String: String] = [:]) -> String {
        let fields = HeaderFields(headers.map { HeaderItem(name: $0.key, value: $0.value) })
        let response = AtomResponse(data: Data(body.utf8), statusCode: status, headerFields: fields)
        switch TokenResponse(response, replacing: old, sentAt: sentAt) {
        case .granted(let credential, let lifetime):
            let life = lifetime.map { $0 == $0.rounded() ? String(Int($0)) : String($0) } ?? "unknown"
            return "\(credential.accessToken) \(credential.refreshToken) \(life)"
        case .rejected(let error): return "rejected \(error.code)"
        case .failed(let error, let retryAfter, _):
            let kind =
                switch error {
                case let error as OAuthError: error.code
                case is TokenResponseError: "unreadable"
                case AtomError.response(let response): "\(response.statusCode ?? 0)"
                default: "\(error)"
                }
            return "failed \(kind)" + (retryAfter.map { " after \($0.seconds)" } ?? "")
        }
    }

    @Test(
        "A token's lifetime comes from expires_in, or else from expires_at, or else is unknown",
        arguments: [
            (#""expires_in":3600"#, "3600"), (#""expires_in":3599.5"#, "3599.5"), (#""expires_in":"3600""#, "3600"),
            (#""expires_in":" 3600 ""#, "3600"), (#""expires_in":1"#, "1"), (#""expires_in":0"#, "unknown"),
            (#""expires_in":-5"#, "unknown"), (#""expires_in":1e99"#, "3153600000"),
            (#""expires_in":99999999999999999999"#, "3153600000"),
            (#""expires_in":null"#, "unknown"), (#""expires_in":true"#, "unknown"), (#""expires_in":false"#, "unknown"),
            (#""expires_in":"never""#, "unknown"), (#""expires_in":"NaN""#, "unknown"),
            (#""expires_in":"inf""#, "unknown"),
            (#""expires_in":{}"#, "unknown"), (#""expires_in":[1]"#, "unknown"), (#""x":1"#, "unknown"),
            (#""expires_at":1790003600"#, "3600"), (#""expires_at":"1790003600""#, "3600"),
            (#""expires_at":"2026-09-21T15:13:20Z""#, "3600"), (#""expires_at":"2026-09-21T15:13:20.000Z""#, "3600"),
            (#""expires_at":1790003600000"#, "3600"), (#""expires_at":"9999999999-01-01T00:00:00Z""#, "unknown"),
            (#""expires_at":1.79e9"#, "unknown"), (#""expires_at":1"#, "unknown"), (#""expires_at":null"#, "unknown"),
            (#""expires_at":"soon""#, "unknown"), (#""expires_in":null,"expires_at":1790000060"#, "60"),
            (#""expires_in":"x","expires_at":1790000060"#, "60"), (#""expires_in":10,"expires_at":1790000060"#, "10"),
        ])
    func lifetime(members: String, expected: String) {
        #expect(Self.read(#"{"access_token":"new","refresh_token":"next",\#(members)}"#) == "new next \(expected)")
    }

    @Test("expires_at is compared with the server's clock, because the device's clock may be wrong")
    func skew() {
        let body = #"{"access_token":"new","expires_at":1600003600}"#
        #expect(Self.read(body) == "new old-refresh unknown")
        #expect(Self.read(body, headers: ["Date": "Sun, 13 Sep 2020 12:26:40 GMT"]) == "new old-refresh 3600")
        #expect(Self.read(body, headers: ["Date": "yesterday"]) == "new old-refresh unknown")
    }

    @Test(
        "What the answer leaves out is kept",
        arguments: [
            #""refresh_token":null"#, #""refresh_token":"""#, #""refresh_token":7"#, #""x":"y""#,
        ])
    func refreshToken(members: String) {
        #expect(Self.read(#"{"access_token":"new",\#(members)}"#) == "new old-refresh unknown")
    }

    @Test("Scope, type and ID token are taken from the answer, or kept")
    func members() {
        let whole = #"{"access_token":"new","token_type":"bearer","scope":"s","id_token":"i"}"#
        for (body, scope, type, idToken) in [
            (whole, "s", "bearer", "i"),
            (#"{"access_token":"new","token_type":" Bearer ","scope":"s"}"#, "s", "Bearer", "old-id"),
            (#"{"access_token":"new","token_type":" "}"#, "old-scope", nil, "old-id"),
            (#"{"access_token":"new","scope":["a","b"]}"#, "a b", nil, "old-id"),
            (#"{"access_token":"new"}"#, "old-scope", nil, "old-id"),
            (#"{"access_token":"new","token_type":null,"scope":null,"id_token":null}"#, "old-scope", nil, "old-id"),
        ] {
            let response = AtomResponse(data: Data(body.utf8), statusCode: 200)
            guard case .granted(let credential, nil) = TokenResponse(response, replacing: Self.old, sentAt: Self.sentAt)
            else {
                Issue.record("\(body)")
                continue
            }
            #expect(credential.scope == scope)
            #expect(credential.tokenType == type)
            #expect(credential.idToken == idToken)
            #expect(credential.expiresAt == .distantFuture)
        }
    }

    @Test(
        "A token is refused only if it has a type other than Bearer",
        arguments: [
            (#""Bearer""#, true), (#""bearer""#, true), (#""BEARER""#, true), ("null", true), ("1", true),
            (#""BearerToken""#, true), (#""""#, true), (#"" ""#, true), (#"" Bearer ""#, true), (#""bearer\t""#, true),
            (#""Bearer, mac""#, false), (#""token bearer""#, false),
            (#""mac""#, false), (#""DPoP""#, false), (#""N_A""#, false),
        ])
    func tokenType(type: String, isTaken: Bool) {
        #expect(
            Self.read(#"{"access_token":"new","token_type":\#(type)}"#)
                == (isTaken ? "new old-refresh unknown" : "failed unreadable"))
    }

    @Test(
        "An access token that can't stand in a header field is refused",
        arguments: [
            #""""#, "null", "7", "true", "[]", "{}", #""a b""#, #""a\nb""#, #""a\r\nX: y""#, #""a\u0000""#,
            #""a\u007f""#,
            #""tökén""#,
        ])
    func accessToken(json: String) {
        #expect(Self.read(#"{"access_token":\#(json)}"#) == "failed unreadable")
    }

    @Test(
        "An answer that is not a JSON object is refused",
        arguments: [
            "", " ", "null", "true", "7", #""text""#, "[]", #"[{"access_token":"new"}]"#, "<html></html>",
            "access_token=new&token_type=bearer", #"{"access_token":"new""#, "\u{0}", #"{"error":{"code":1}}"#, "{}",
            String(repeating: "[", count: 100_000),
        ])
    func noObject(body: String) {
        #expect(Self.read(body) == "failed unreadable")
    }

    @Test(
        "Only invalid_grant ends a session, and not with a server error",
        arguments: [
            ("invalid_grant", 400, "rejected invalid_grant"), ("invalid_grant", 401, "rejected invalid_grant"),
            ("invalid_grant", 403, "rejected invalid_grant"), ("invalid_grant", 200, "rejected invalid_grant"),
            ("invalid_grant", 500, "failed invalid_grant"), ("invalid_grant", 503, "failed invalid_grant"),
            ("invalid_client", 401, "failed invalid_client"), ("invalid_request", 400, "failed invalid_request"),
            ("unauthorized_client", 400, "failed unauthorized_client"), ("invalid_scope", 400, "failed invalid_scope"),
            ("unsupported_grant_type", 400, "failed unsupported_grant_type"),
            ("temporarily_unavailable", 503, "failed temporarily_unavailable"),
            ("INVALID_GRANT", 400, "failed INVALID_GRANT"),
        ])
    func oauthErrors(code: String, status: Int, expected: String) {
        #expect(
            Self.read(#"{"error":"\#(code)","error_description":"d","error_uri":"https://x.example"}"#, status: status)
                == expected)
    }

    @Test("An error in an answer with a token counts; an empty one does not")
    func errorBesideToken() {
        #expect(Self.read(#"{"access_token":"new","error":"invalid_grant"}"#) == "rejected invalid_grant")
        #expect(Self.read(#"{"access_token":"new","error":""}"#) == "new old-refresh unknown")
        #expect(Self.read(#"{"access_token":"new","error":null}"#) == "new old-refresh unknown")
    }

    @Test("Other answers fail for now", arguments: [301, 302, 400, 401, 404, 429, 500, 502, 503])
    func statuses(status: Int) {
        #expect(Self.read("<html>", status: status) == "failed \(status)")
        #expect(Self.read("", status: status) == "failed \(status)")
        #expect(Self.read(#"{"access_token":"new"}"#, status: status) == "failed \(status)", "no token from an error")
    }

    @Test(
        "Retry-After is read in seconds or as a date, and counts for a day at most",
        arguments: [
            ("120", " after 120.0"), (" 5 ", " after 5.0"), ("0", " after 0.0"), ("-3", " after 0.0"),
            ("999999999", " after 86400.0"), ("inf", ""), ("nan", ""), ("soon", ""), ("", ""),
            ("Mon, 21 Sep 2026 14:14:20 GMT", " after 60.0"), ("Mon, 21 Sep 2020 14:14:20 GMT", " after 0.0"),
        ])
    func retryAfter(value: String, expected: String) {
        #expect(Self.read("", status: 503, headers: ["Retry-After": value]) == "failed 503\(expected)")
        #expect(
            Self.read(#"{"error":"slow_down"}"#, status: 400, headers: ["retry-after": value])
                == "failed slow_down\(expected)")
    }

    @Test("Retry-After as a date counts from the server's Date")
    func retryAfterSkew() {
        let headers = ["Retry-After": "Sun, 13 Sep 2020 12:27:00 GMT", "Date": "Sun, 13 Sep 2020 12:26:40 GMT"]
        #expect(Self.read("", status: 503, headers: headers) == "failed 503 after 20.0")
    }

    @Test("If a server repeats the refused token, the error does not contain it")
    func echoedToken() {
        let body =
            #"{"error":"invalid_grant","error_description":"Invalid refresh token: old-refresh (for old-access)","#
            + #""error_uri":"https://x.example/old-refresh"}"#
        let response = AtomResponse(data: Data(body.utf8), statusCode: 400)
        guard case .rejected(let error) = TokenResponse(response, replacing: Self.old, sentAt: Self.sentAt) else {
            Issue.record("not rejected")
            return
        }
        for text in [error.description, "\(error)", error.uri ?? "", error.explanation ?? ""] {
            #expect(!text.contains("old-refresh"))
            #expect(!text.contains("old-access"))
        }
        #expect(error.explanation == "Invalid refresh token: … (for …)")
    }

    @Test("If a server repeats the client's secret, or sends a token as the code, the error does not contain it")
    func echoedElsewhere() {
        let body = #"{"error":"no such token: old-refresh","error_description":"not the secret: hunter2"}"#
        let response = AtomResponse(data: Data(body.utf8), statusCode: 400)
        let answer = TokenResponse(response, replacing: Self.old, clientSecret: "hunter2", sentAt: Self.sentAt)
        guard case .failed(let error as OAuthError, _, _) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(error == OAuthError(code: "no such token: …", explanation: "not the secret: …"))
        let own = TokenResponse(
            response, replacing: Self.old,
            parameters: [.init(name: "device_secret", value: "hunter2"), .init(name: "scope", value: "the")],
            sentAt: Self.sentAt)
        #expect("\(own)".contains("not the secret: …"))
    }

    @Test(
        "A token is hidden in all forms in which servers repeat it",
        arguments: [
            "old%2Drefresh-token%2b1", "old%2drefresh%2Dtoken%2B1", "old-refresh-token 1", "old-refresh-token+1",
            "old-refresh…", "old-ref...", "old***", "***oken+1", "…token%2b1", "OLD-REFRESH-TOKEN+1",
            "old-refresh-token",
            "refresh-token%2B1", "old%252Drefresh%252Dtoken%252B1", "new4eC39HqLyjWDarjtT1zdp7dc", "old-access-token",
        ])
    func echoed(_ echo: String) throws {
        let old = TokenCredential(
            accessToken: "old-access-token", expiresAt: .distantPast, refreshToken: "old-refresh-token+1")
        let members = [
            "error": "invalid_grant", "error_description": "Token \(echo) has been revoked",
            "error_uri": "https://x.example/errors?code=1&\(echo)",
        ]
        for code in ["invalid_grant", echo] {
            let body = try JSONSerialization.data(withJSONObject: members.merging(["error": code]) { $1 })
            let answer = TokenResponse(AtomResponse(data: body, statusCode: 400), replacing: old, sentAt: Self.sentAt)
            let error: OAuthError? =
                switch answer {
                case .rejected(let error): error
                case .failed(let error as OAuthError, _, _): error
                default: nil
                }
            let found = try #require(error)
            #expect(found.explanation == "Token … has been revoked")
            #expect(found.code == (code == echo ? "…" : code))
            #expect(found.uri == "https://x.example/errors?code=…&…")
        }
    }

    @Test(
        "A server's own words stay readable",
        arguments: [
            "Token has been revoked", "The refresh token is invalid or has expired.", "Wait... then try again",
            "AADSTS700082: The refresh token has expired due to inactivity. Timestamp: 2024-05-01 10:00:00Z",
            "Unknown or invalid refresh token.", "Session not active",
        ])
    func readable(_ text: String) throws {
        let old = TokenCredential(
            accessToken: "eyJhbGciOiJIUzI1NiJ9.e30.x", expiresAt: .distantPast, refreshToken: "8xLOxBtZp8-v1.MjQ4ZTM1")
        let body = try JSONSerialization.data(withJSONObject: ["error": "invalid_grant", "error_description": text])
        guard
            case .rejected(let error) = TokenResponse(
                AtomResponse(data: body, statusCode: 400), replacing: old, sentAt: Self.sentAt)
        else {
            Issue.record("not rejected")
            return
        }
        #expect(error.description == "invalid_grant: \(text)")
    }

    @Test("A secret that equals an error code does not hide the code")
    func secretLikeACode() {
        let response = AtomResponse(data: Data(#"{"error":"invalid_grant"}"#.utf8), statusCode: 400)
        let answer = TokenResponse(response, replacing: Self.old, clientSecret: "grant", sentAt: Self.sentAt)
        guard case .rejected(let error) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(error.code == "invalid_grant")
    }

    @Test("A registered code is shown whole, whatever the secrets are", arguments: OAuthError.registeredCodes)
    func registered(code: String) throws {
        for secret in ["e", "client", code] {
            let old = TokenCredential(accessToken: "a", expiresAt: .distantPast, refreshToken: secret)
            let response = AtomResponse(data: Data(#"{"error":"\#(code)"}"#.utf8), statusCode: 400)
            switch TokenResponse(response, replacing: old, clientSecret: "_", sentAt: Self.sentAt) {
            case .rejected(let error): #expect(error.description == code && code == "invalid_grant")
            case .failed(let error as OAuthError, _, _): #expect(error.description == code)
            case let answer: Issue.record("\(answer)")
            }
        }
    }
}
