import AtomNetworking
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited) struct ServerNoncesTests {
    private let api = "https://api.example.com/flights"
    private let missing = #"DPoP error="use_dpop_nonce", error_description="a nonce is needed""#

    private func target(_ base: String, _ path: String = "/") throws -> TargetURL {
        TargetURL(base: try BaseURL(string: base), path: try URLPath(path))
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    /// A response, whether it wants another proof, and whether its nonce is kept.
    struct Answer: Sendable, CustomTestStringConvertible {
        let status: Int
        var nonces = ["n1"]
        var challenges: [String] = []
        var body = ""
        let wants: Bool
        var keeps = true

        var testDescription: String { "\(status) \(nonces) \(challenges) \(body)" }
    }

    @Test(
        "A nonce is taken from any response, and another proof is wanted only where a server says so",
        arguments: [
            Answer(status: 200, wants: false), Answer(status: 204, wants: false), Answer(status: 302, wants: false),
            Answer(status: 503, wants: false),
            Answer(status: 401, challenges: [#"DPoP error="use_dpop_nonce""#], wants: true),
            Answer(status: 401, challenges: [#"dpop algs="ES256 PS256", ERROR=use_dpop_nonce"#], wants: true),
            Answer(status: 401, challenges: ["Bearer", #"DPoP error="use_dpop_nonce""#], wants: true),
            Answer(status: 401, challenges: [#"Bearer, DPoP error="use_dpop_nonce""#], wants: true),
            Answer(status: 401, challenges: [#"Bearer error="use_dpop_nonce", DPoP algs="ES256""#], wants: false),
            Answer(status: 401, challenges: [#"DPoP error="invalid_token""#], wants: false),
            Answer(status: 401, challenges: [#"DPoP error="invalid_dpop_proof""#], wants: false),
            Answer(status: 401, wants: false),
            Answer(status: 403, challenges: [#"DPoP error="use_dpop_nonce""#], wants: false),
            Answer(status: 200, challenges: [#"DPoP error="use_dpop_nonce""#], wants: false),
            Answer(
                status: 401, nonces: [], challenges: [#"DPoP error="use_dpop_nonce""#], wants: false, keeps: false),
            Answer(status: 400, body: #"{"error": "use_dpop_nonce", "error_description": "…"}"#, wants: true),
            Answer(status: 400, nonces: [], body: #"{"error": "use_dpop_nonce"}"#, wants: false, keeps: false),
            Answer(status: 400, body: #"{"error": "invalid_dpop_proof"}"#, wants: false),
            Answer(status: 400, body: #"{"error": 1}"#, wants: false), Answer(status: 400, body: "use", wants: false),
            Answer(status: 400, wants: false),
            Answer(status: 200, body: #"{"error": "use_dpop_nonce"}"#, wants: false),
            // More than one (RFC 9449 §8), and what isn't a nonce (§8.1).
            Answer(status: 400, nonces: ["a", "b"], body: #"{"error": "use_dpop_nonce"}"#, wants: false, keeps: false),
            Answer(status: 400, nonces: [""], body: #"{"error": "use_dpop_nonce"}"#, wants: false, keeps: false),
            Answer(status: 400, nonces: ["a, b"], body: #"{"error": "use_dpop_nonce"}"#, wants: false, keeps: false),
        ])
    func answers(_ answer: Answer) async throws {
        let dpop = try DPoP(key: FixedKey())
        var fields = HeaderFields(answer.nonces.map { HeaderItem(name: "DPoP-Nonce", value: $0) })
        for challenge in answer.challenges { fields.append(name: "WWW-Authenticate", value: challenge) }
        let response = AtomResponse(
            data: Data(answer.body.utf8), statusCode: answer.status, headerFields: fields, url: URL(string: api))
        #expect(dpop.received(response) == answer.wants)
        let nonce = try dpop.proof(for: try await .sent(api)).read().nonce
        #expect(nonce == (answer.keeps ? answer.nonces.first : nil))
    }

    @Test("A nonce without a place is of no use")
    func responseWithoutURL() throws {
        let dpop = try DPoP(key: FixedKey())
        let fields = HeaderFields([
            HeaderItem(name: "DPoP-Nonce", value: "n1"), HeaderItem(name: "WWW-Authenticate", value: missing),
        ])
        #expect(!dpop.received(AtomResponse(statusCode: 401, headerFields: fields)))
    }

    @Test("Requests whose nonce was replaced meanwhile each get another proof, with the newest")
    func replacedMeanwhile() async throws {
        let dpop = try DPoP(key: FixedKey())
        let request = try await SignableRequest.sent(api)
        _ = dpop.received(AtomResponse(200, from: api, nonce: "n1"))
        #expect(try dpop.proof(for: request).read().nonce == "n1")
        #expect(try dpop.proof(for: request).read().nonce == "n1")
        #expect(dpop.received(AtomResponse(401, from: api, nonce: "n2", challenge: missing)))
        #expect(dpop.received(AtomResponse(401, from: api, nonce: "n3", challenge: missing)))
        #expect(try dpop.proof(for: request).read().nonce == "n3")
        _ = dpop.received(AtomResponse(200, from: api))
        #expect(try dpop.proof(for: request).read().nonce == "n3", "it holds until there is another one")
    }

    @Test(
        "A nonce is used for its origin only (RFC 9449 §9)",
        arguments: [
            ("https://api.example.com/other?x=1#y", true), ("https://API.example.com", true),
            ("https://api.example.com:443/", true), ("http://api.example.com/", false),
            ("http://api.example.com:443/", false),
            ("https://api.example.com:8443/", false), ("https://auth.example.com/", false),
            ("https://api.example.com./", false), ("https://api.example.com@evil.example/", false),
            ("https://user@api.example.com/", false), ("https://api.example.com.evil.example/", false),
            ("ftp://api.example.com/", false), ("https:///", false), ("/flights", false),
        ])
    func origins(_ sender: String, _ isUsed: Bool) throws {
        var nonces = ServerNonces()
        _ = nonces.keep("n1", of: try url(sender))
        #expect(nonces[try target("https://api.example.com", "/flights")] == (isUsed ? "n1" : nil))
    }

    @Test("An IPv6 address is an origin too")
    func addressOfVersion6() throws {
        var nonces = ServerNonces()
        #expect(nonces.keep("n1", of: try url("https://[2001:DB8::1]/x")))
        #expect(nonces[try target("https://[2001:db8::1]:443")] == "n1")
        #expect(nonces[try target("https://[2001:db8::1]:8443")] == nil)
        #expect(nonces[try target("https://[2001:db8::2]")] == nil)
    }

    @Test("Of many origins those that were heard of last are kept")
    func manyOrigins() throws {
        var nonces = ServerNonces()
        for number in 0..<ServerNonces.mostOrigins {
            #expect(nonces.keep("n\(number)", of: try url("https://h\(number).example")))
        }
        #expect(nonces.keep("again", of: try url("https://h0.example")))
        #expect(nonces.keep("new", of: try url("https://new.example")))
        #expect(nonces[try target("https://h0.example")] == "again")
        #expect(nonces[try target("https://h1.example")] == nil)
        #expect(nonces[try target("https://h2.example")] == "n2")
        #expect(nonces[try target("https://new.example")] == "new")
    }

    @Test(
        "What isn't a nonce is ignored, and the earlier one stays (RFC 9449 §8.1)",
        arguments: [
            ("eyJ7S_zG.eyJH0-Z.HX4w-7v", true), ("!#[]~,;{}", true), ("", false), ("a b", false), (#"a"b"#, false),
            (#"a\b"#, false), ("a\tb", false), ("é", false), ("a\u{7F}", false),
            (String(repeating: "n", count: ServerNonces.longestNonce), true),
            (String(repeating: "n", count: ServerNonces.longestNonce + 1), false),
        ])
    func grammar(_ nonce: String, _ isKept: Bool) throws {
        var nonces = ServerNonces()
        #expect(nonces.keep("n1", of: try url(api)))
        #expect(nonces.keep(nonce, of: try url(api)) == isKept)
        #expect(nonces[try target("https://api.example.com")] == (isKept ? nonce : "n1"))
    }
}
