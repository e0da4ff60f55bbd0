import Foundation
import Testing

@testable import AtomNetworking

@Suite("The tokens of a session", .limited)
struct TokenCredentialTests {
    private func read(_ members: String) throws -> TokenCredential {
        try JSONDecoder().decode(
            TokenCredential.self, from: Data(#"{"access_token":"a","refresh_token":"r"\#(members)}"#.utf8))
    }

    @Test(
        "expires_at is read as Unix seconds, as text, as ISO 8601, or as seconds since 2001",
        arguments: [
            (#"1790000000"#, 1_790_000_000.0), (#"1790000000.5"#, 1_790_000_000.5), (#""1790000000""#, 1_790_000_000),
            (#""2026-09-21T14:13:20Z""#, 1_790_000_000), (#""2026-09-21T14:13:20.500Z""#, 1_790_000_000.5),
            (#""2026-09-21T16:13:20+02:00""#, 1_790_000_000), ("811692800", 1_790_000_000),
            ("1199999999", 1_199_999_999 + 978_307_200), ("1200000000", 1_200_000_000), ("0", 978_307_200),
        ] as [(String, Double)])
    func expiresAt(json: String, expected: Double) throws {
        #expect(try abs(read(#","expires_at":\#(json)"#).expiresAt.timeIntervalSince1970 - expected) < 0.01)
    }

    @Test(
        "Without an expiry, or with a null one, it is unknown",
        arguments: [
            "", #","expires_at":null"#, #","expires_in":null"#, #","expires_at":null,"expires_in":null"#,
            #","expires_at":1e300"#,
        ])
    func unknown(members: String) throws {
        #expect(try read(members).expiresAt == .distantFuture)
    }

    @Test("expires_in counts from now, and expires_at goes before it", arguments: ["60", #""60""#, "60.0"])
    func expiresIn(json: String) throws {
        let before = Date()
        let credential = try read(#","expires_in":\#(json)"#)
        #expect(credential.expiresAt >= before.addingTimeInterval(60))
        #expect(credential.expiresAt <= Date().addingTimeInterval(60))
        let both = try read(#","expires_in":\#(json),"expires_at":1790000000"#)
        #expect(both.expiresAt == Date(timeIntervalSince1970: 1_790_000_000))
    }

    @Test(
        "A value that is not a time is an error",
        arguments: [
            #","expires_at":true"#, #","expires_at":"soon""#, #","expires_at":{}"#, #","expires_at":"NaN""#,
            #","expires_in":"2026-09-21T14:13:20Z""#, #","expires_in":[]"#,
            #","expires_at":"9999999999-01-01T00:00:00Z""#, #","expires_at":"2026-09-21T14:13:20.1234567890Z""#,
        ])
    func noTime(members: String) {
        #expect(throws: DecodingError.self) { try read(members) }
    }

    @Test("A refresh token that is missing or null is the empty one")
    func refreshToken() throws {
        for body in [#"{"access_token":"a"}"#, #"{"access_token":"a","refresh_token":null}"#] {
            #expect(try JSONDecoder().decode(TokenCredential.self, from: Data(body.utf8)).refreshToken == "")
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(TokenCredential.self, from: Data(#"{"refresh_token":"r"}"#.utf8))
        }
    }

    @Test("A list of scopes is read too")
    func scopes() throws {
        #expect(try read(#","scope":["a","b"]"#).scope == "a b")
        #expect(try read(#","scope":"a b""#).scope == "a b")
        #expect(try read(#","scope":null"#).scope == nil)
    }

    @Test("Tokens are written with the names of RFC 6749 and a date as Atom does, even an unknown one")
    func written() throws {
        func json(_ expiresAt: Date) throws -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let credential = TokenCredential(accessToken: "a", expiresAt: expiresAt, refreshToken: "r")
            return String(decoding: try encoder.encode(credential), as: UTF8.self)
        }
        #expect(
            try json(Date(timeIntervalSince1970: 1_790_000_000))
                == #"{"access_token":"a","expires_at":811692800,"refresh_token":"r"}"#)
        #expect(
            try json(.distantFuture) == #"{"access_token":"a","expires_at":63113904000,"refresh_token":"r"}"#)
    }

    @Test(
        "Descriptions, dumps and interpolations hide every token",
        arguments: [
            1_790_000_000.0, .infinity, -.infinity, .nan, 1e300, -1e300, Date.distantFuture.timeIntervalSince1970,
        ])
    func descriptions(expiry: Double) {
        let credential = TokenCredential(
            accessToken: "TOP-access", expiresAt: Date(timeIntervalSince1970: expiry), refreshToken: "TOP-refresh",
            scope: "TOP-scope", idToken: "TOP-id")
        var dumped = ""
        dump(credential, to: &dumped)
        for text in [
            "\(credential)", credential.description, credential.debugDescription, String(reflecting: credential),
            dumped,
            "\(Optional(credential) as Any)", "\([credential])",
        ] {
            #expect(!text.contains("TOP"))
        }
    }

    @Test("An expiry that is not a number is unknown, and can be compared")
    func noNumber() {
        let credential = TokenCredential(
            accessToken: "a", expiresAt: Date(timeIntervalSinceReferenceDate: .nan), refreshToken: "r")
        #expect(credential == TokenCredential(accessToken: "a", expiresAt: .distantFuture, refreshToken: "r"))
    }

    @Test("A client's secret is hidden, its identifier isn't")
    func client() {
        let client = ClientCredential(id: "app", secret: "TOP")
        var dumped = ""
        dump(client, to: &dumped)
        for text in ["\(client)", client.debugDescription, String(reflecting: client), dumped] {
            #expect(!text.contains("TOP"))
            #expect(text.contains("app"))
        }
    }
}
