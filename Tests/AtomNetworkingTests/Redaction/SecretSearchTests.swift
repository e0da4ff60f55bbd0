import Testing

@testable import AtomNetworking

@Suite("Texts that look like a token, and known tokens", .limited)
struct SecretSearchTests {
    @Test(
        "Ordinary names don't look like tokens",
        arguments: [
            "", "a", "first_name", "seatMap", "x-y.z", "numberOfBagsInTheHold", "address_line_1", "addressLine1",
            "estimatedTimeOfDepartureInLocalTimezone", "oauth2AccessToken", "iso8601DateOfDeparture",
            "X-RateLimit-Limit-Requests-Per-24h", "2024-05-01", "2024-05-01T10:00:00Z", "AADSTS700082",
            "com.alaskaair.atom.didFailToAuthorizeRequest", "urn:ietf:params:oauth:grant-type:device_code",
            "HTTPHeaderURLAndXMLId", "internationalization", "invalid_grant", "temporarily_unavailable",
            "/v1/flights/B737/seats/12A", "node-12.eu-west-1.example.com", "Token has been expired or revoked.",
            "Token+has+been+expired+or+revoked.", "Token%20has%20been%20expired%20or%20revoked.", "naïveté", "航班",
            "vnd.openxmlformats-officedocument.wordprocessingml.document", "100%", "%", "%4", "%zz",
            "order 123456789012", "abcdefghijklmnopqrstuvwx",
        ])
    func name(_ text: String) {
        #expect(!Redaction.looksLikeToken(text))
        #expect(Redaction.withoutTokens(text) == text)
    }

    @Test(
        "Tokens of the kinds that servers issue look like tokens and are hidden",
        arguments: [
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "eyJhbGciOiJub25lIn0.e30.",
            "ya29.a0AfB_byC3dEfGhIjKlMnOpQrStUvWxYz0123456789", "1//0gLxAbCdEfGh1jKlMnOpQrStUvWxYz",
            "sk_live_4eC39HqLyjWDarjtT1zdp7dc", "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "xoxb-123456789012-1234567890123-4mt0t4l1yf4k3t0k3n", "550e8400-e29b-41d4-a716-446655440000",
            "d41d8cd98f00b204e9800998ecf8427e", "D41D8CD98F00B204E9800998ECF8427E", "QwErTyUiOpAsDfGhJkLzXcVbNm",
            "4111111111111111", "abcdefghijklmnopqrstuvwxyzabcd", "%65yJhbGciOiJIUzI1NiJ9", "%2565yJhbGciOiJIUzI1NiJ9",
            "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=", "1234567890123", "abcdefghijklmnopqrstuvwxy",
        ])
    func token(_ text: String) {
        #expect(Redaction.looksLikeToken(text))
        #expect(Redaction.looksLikeToken("the token “\(text)” is old"))
        let shown = Redaction.withoutTokens("The token \(text), is old")
        #expect(shown.hasPrefix("The token …") && shown.hasSuffix(", is old") && shown.count < 25)
    }

    @Test("At most 1 in 100 random texts of 32 characters isn't found, and 1 in 1,000 of 43 characters")
    func randomTokens() {
        let alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        var generator = SeededGenerator(seed: 7)
        for alphabet in [alphanumeric + "-_", alphanumeric, "0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"] {
            for (length, limit) in [(32, 20), (43, 2)] {
                let missed = (0..<2_000).count { _ in
                    // The alphabet isn't empty.
                    let text = String((0..<length).map { _ in alphabet.randomElement(using: &generator) ?? "?" })
                    return !Redaction.looksLikeToken(text)
                }
                #expect(missed <= limit, "\(alphabet) \(length)")
            }
        }
    }

    @Test(
        "A secret is hidden however it is written",
        arguments: [
            ("bad token a+b/c=secret9.", "bad token ….", "a+b/c=secret9"),
            ("bad a%2bb%2Fc%3dsecret9", "bad …", "a+b/c=secret9"),
            ("bad a b/c=secret9", "bad …", "a+b/c=secret9"), ("bad a+b/c", "bad …", "a b/c"),
            ("bad %61%62%63%64%65%66%67%68%69.", "bad ….", "abcdefghi"),
            ("bad %2561bcdefgh%25252F", "bad …", "abcdefgh/"),
            ("bad ABCDEFGHIJ", "bad …", "abcdefghij"), ("abcdefghijklmno was cut", "… was cut", "abcdefghijklmnopqrst"),
            ("the end: lmnopqrst", "the end: …", "abcdefghijklmnopqrst"),
            ("xx-efghijkl-yy", "xx-…-yy", "abcdefghijklmnop"),
            ("token abcdefgh was cut", "token … was cut", "abcdefgh+x"),
            ("not hunter2, nor hunter3", "not …, nor hunter3", "hunter2"), ("a hunter 2 is", "a … is", "hunter 2"),
            ("not pässwörd1!", "not …!", "pässwörd1"), ("x=a&b=\"c\"&d", "x=…", "a&b=\"c\"&d"),
        ])
    func secret(_ text: String, becomes shown: String, of secret: String) {
        #expect(Redaction.withoutTokens(text, secrets: ["other", secret, ""]) == shown)
    }

    @Test(
        "The beginning or the end of a secret is hidden where the rest is marked as left out",
        arguments: [
            ("token abcd… was", "token … was"), ("token abcd... was", "token … was"),
            ("token abcd*** was", "token … was"),
            ("token ***klmn was", "token … was"), ("token …klmn, was", "token …, was"), ("(ab••••mn)", "(…)"),
            ("token ab...mn", "token …"), ("token ABC..", "token …"), ("token %61b... was", "token … was"),
            ("Please wait... then", "Please wait... then"), ("** note **", "** note **"), ("abcd was", "abcd was"),
            ("token bcd… was", "token bcd… was"), ("mn", "mn"), ("...", "..."),
        ])
    func shortened(_ text: String, becomes shown: String) {
        #expect(Redaction.withoutTokens(text, secrets: ["abcdefghijklmn"]) == shown)
    }

    @Test("Of a long text as much is looked at as can be shown, and a token that was cut stays hidden")
    func bounded() {
        let long = String(repeating: "some words ", count: 100_000)
        #expect(Redaction.withoutTokens(long).utf8.count < 5_000)
        let cut = String(repeating: "w ", count: 2_045) + "hunter2hunter"
        #expect(!Redaction.withoutTokens(cut, secrets: ["hunter2hunter2"]).contains("hun"))
        #expect(!Redaction.withoutTokens(String(repeating: "é", count: 10_000)).contains("\u{FFFD}"))
        #expect(Redaction.looksLikeToken(String(repeating: "a1", count: 10_000)))
    }

    @Test("A secret is found between any other characters")
    func anyCharacters() {
        var generator = SeededGenerator(seed: 3)
        let pieces = ["%", "2", "5", "a", "…", "*", ".", "é", "+", " ", "/", "hunter2", "\0"]
        func text() -> String {
            (0..<Int.random(in: 0...12, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
                .joined()
        }
        for _ in 0..<5_000 {
            let (around, secret) = (text(), text())
            let shown = Redaction.withoutTokens("\(around) \(secret) \(around)", secrets: [secret])
            #expect(
                secret.utf8.count < 3 || !secret.contains("hunter2") || !shown.contains(secret), "\(around) \(secret)")
        }
    }
}
