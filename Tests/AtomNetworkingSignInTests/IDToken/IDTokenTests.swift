import AtomNetworking
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited)
struct IDTokenTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let right =
        #""iss":"https://auth.example.com","sub":"ann","aud":"app","exp":1800000300,"iat":1800000000"#

    private func token(_ claims: String) -> String {
        "\(Base64URL.encode("{}".utf8)).\(Base64URL.encode(claims.utf8)).AA"
    }

    private func reason(_ error: AtomError?) -> String {
        guard case .invalidIDToken(let reason) = error?.signInError else { return "\(String(describing: error))" }
        return reason
    }

    @Test("The claims are read, also those of the app's own")
    func reads() throws {
        struct Person: Decodable, Equatable {
            let name: String
            let birthday: Date
        }
        let claims = "{\(Self.right),\"azp\":\"app\",\"nonce\":\"n\",\"name\":\"Ann Ä\",\"birthday\":1.5}"
        let idToken = try IDToken(token(claims))
        #expect(idToken.issuer == "https://auth.example.com")
        #expect(idToken.subject == "ann")
        #expect(idToken.audiences == ["app"])
        #expect(idToken.authorizedParty == "app")
        #expect(idToken.expiresAt == Self.now + 300)
        #expect(idToken.issuedAt == Self.now)
        #expect(idToken.nonce == "n")
        #expect(
            try idToken.claims(Person.self)
                == Person(name: "Ann Ä", birthday: Date(timeIntervalSince1970: 1.5)))
        #expect(!"\(idToken)\(String(reflecting: idToken))".contains("ann"))
    }

    @Test("A claim that the app doesn't find is named, without its value")
    func namesClaim() throws {
        struct Person: Decodable { let name: String }
        for claims in ["{\(Self.right)}", "{\(Self.right),\"name\":5551234}"] {
            let idToken = try IDToken(token(claims))
            let error = #expect(throws: AtomError.self) { _ = try idToken.claims(Person.self) }
            #expect(reason(error) == "“name” is missing, or isn't what it must be")
        }
    }

    @Test(
        "These are no ID tokens",
        arguments: [
            "", ".", "..", "a.b", "e30.e30", "e30.e30.e30.e30", "e30.e30.e30.e30.e30", "e30..AA", ".e30.AA",
            "e30.e30.A", "e30.e30=.AA", "e30.e30.AA=", "e30.e 30.AA", "e30.W10.AA", "e30.bnVsbA.AA", "e30.InRleHQi.AA",
            "e30.e3s.AA", "e30._w.AA", "é.é.é", "e30.e30.AA\n",
        ])
    func refusesTexts(text: String) {
        let error = #expect(throws: AtomError.self) { _ = try IDToken(text) }
        #expect(error?.signInError != nil)
    }

    @Test(
        "A claim that is missing, or of a wrong type, is refused",
        arguments: [
            ("iss", "5"), ("iss", "null"), ("sub", "true"), ("aud", "{}"), ("aud", "[1]"), ("aud", "[\"app\", 1]"),
            ("exp", "\"1800000300\""), ("exp", "null"), ("exp", "true"), ("exp", "1e400"), ("exp", "1e300"),
            ("exp", "-1"), ("exp", "1800000300000"), ("exp", "NaN"), ("iat", "\"now\""), ("iat", "1e99"),
            ("iat", "[]"), ("azp", "5"), ("nonce", "5"), ("iss", nil), ("sub", nil), ("aud", nil), ("exp", nil),
            ("iat", nil),
        ])
    func refusesClaims(name: String, value: String?) {
        var members = [
            "iss": "\"https://auth.example.com\"", "sub": "\"ann\"", "aud": "\"app\"", "exp": "1800000300",
            "iat": "1800000000",
        ]
        members[name] = value
        let text = members.map { "\"\($0)\":\($1)" }.joined(separator: ",")
        let error = #expect(throws: AtomError.self) { _ = try IDToken(token("{\(text)}")) }
        #expect(error?.signInError != nil)
    }

    @Test("Dates may have fractions, and a token at most 64 KiB")
    func limits() throws {
        let fraction = Self.right.replacingOccurrences(of: "1800000300", with: "1800000300.5")
        #expect(try IDToken(token("{\(fraction)}")).expiresAt == Self.now + 300.5)
        let long = String(repeating: "a", count: 1 << 16)
        let error = #expect(throws: AtomError.self) { _ = try IDToken(token("{\(Self.right),\"a\":\"\(long)\"}")) }
        #expect(reason(error).contains("64 KiB"))
        let deep = String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)
        #expect(throws: AtomError.self) { _ = try IDToken(token("{\(Self.right),\"a\":\(deep)}")) }
    }

    @Test(
        "The rules of OpenID Connect Core §3.1.3.7",
        arguments: [
            (#""aud":"app""#, nil), (#""aud":["app"]"#, nil), (#""aud":"app","azp":"app""#, nil),
            (#""aud":["app","api"],"azp":"app""#, nil), (#""aud":["app","api"]"#, "azp"),
            (#""aud":["app","api"],"azp":"api""#, "azp"), (#""aud":"app","azp":"api""#, "azp"),
            (#""aud":"App""#, "aud"), (#""aud":[]"#, "aud"), (#""aud":["api"],"azp":"app""#, "aud"),
            (#""aud":"app","iss":"https://auth.example.com/""#, "iss"), (#""aud":"app","nonce":"other""#, "nonce"),
            (#""aud":"app","nonce":null"#, "nonce"), (#""aud":"app","exp":1799999941"#, nil),
            (#""aud":"app","exp":1799999940"#, "exp"),
        ])
    func rules(change: String, broken: String?) throws {
        var claims: [String: Any] = [
            "iss": "https://auth.example.com", "sub": "ann", "exp": 1_800_000_300, "iat": 1_800_000_000, "nonce": "n",
        ]
        let changes = try JSONSerialization.jsonObject(with: Data("{\(change)}".utf8)) as? [String: Any]
        claims.merge(changes ?? [:]) { $1 }
        let idToken = try IDToken(CodeServer.idToken(claims))
        func check() throws {
            try idToken.check(issuer: "https://auth.example.com", clientID: "app", nonce: "n", at: Self.now)
        }
        guard let broken else { return try check() }
        let error = #expect(throws: AtomError.self) { try check() }
        #expect(reason(error).contains("(\(broken), rule"), "\(reason(error))")
    }

    @Test("Whatever is done to a token, reading it ends with its claims or with an error")
    func fuzz() throws {
        var generator = SeededGenerator(seed: 4)
        let claims = Array("{\(Self.right),\"nonce\":\"n\"}".utf8)
        var read = 0
        for round in 0..<5_000 {
            var json = claims
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let place = Int.random(in: 0..<json.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: json[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: json.remove(at: place)
                default:
                    json.insert(contentsOf: Array("9e\"[{,:}]-.".utf8).shuffled(using: &generator).prefix(3), at: place)
                }
            }
            var text = Array("e30.\(Base64URL.encode(json)).AA".utf8)
            if round % 4 == 0 {
                text[Int.random(in: 0..<text.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            do throws(AtomError) {
                let idToken = try IDToken(String(decoding: text, as: UTF8.self))
                read += 1
                // Foundation traps on dates that it can't print.
                #expect(!idToken.expiresAt.formatted(.iso8601).isEmpty)
                try idToken.check(issuer: idToken.issuer, clientID: "app", nonce: nil, at: Self.now)
            } catch {
                #expect(error.signInError != nil)
            }
        }
        #expect(read > 1_000)
    }
}
