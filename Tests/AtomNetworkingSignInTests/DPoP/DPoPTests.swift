import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

@Suite(.limited) struct DPoPTests {
    private let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"

    private struct Broken: Error, CustomStringConvertible {
        var description: String { "key-5318008" }
    }

    @Test("A proof for a token request has the members of RFC 9449 §4.2, and is signed as it is sent")
    func tokenRequest() async throws {
        let messages = Guarded<[String]>([])
        let key = FixedKey { message in
            messages.withLock { $0.append(String(decoding: message, as: UTF8.self)) }
            return Data(0..<64)
        }
        let dpop = try DPoP(key: key, identifier: { "-BwC3ESc6acc2lTc" })
        var request = try await SignableRequest.sent(
            "https://server.example.com/token", method: .post, authorization: "Basic YTpi", body: .json(["code"]))
        try dpop.sign(&request)
        let field = try #require(request.headerFields["DPoP"])
        let proof = try SentProof(field)
        #expect(
            proof.header == """
                {"typ":"dpop+jwt","alg":"ES256","jwk":{"crv":"P-256","kty":"EC",\
                "x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"}}
                """)
        #expect(
            proof.claims == """
                {"htm":"POST","htu":"https://server.example.com/token","iat":1562262616,"jti":"-BwC3ESc6acc2lTc"}
                """)
        #expect(proof.signature == Array(0..<64))
        #expect(messages.withLock { $0 } == [field.split(separator: ".").prefix(2).joined(separator: ".")])
    }

    @Test(
        "A token of the type has its digest in the proof, as in RFC 9449 §7.1",
        arguments: ["DPoP ", "dpop ", "DPOP   "])
    func tokenDigest(_ scheme: String) async throws {
        let dpop = try DPoP(key: FixedKey())
        let request = try await SignableRequest.sent("https://api.example.com/", authorization: scheme + token)
        #expect(try dpop.proof(for: request).read().ath == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
    }

    @Test("Without such a token there is no digest", arguments: [nil, "Bearer abc", "DPoPx abc", "DPoP", "Basic YTpi"])
    func noTokenDigest(_ authorization: String?) async throws {
        let dpop = try DPoP(key: FixedKey())
        let request = try await SignableRequest.sent("https://api.example.com/", authorization: authorization)
        let proof = try dpop.proof(for: request)
        #expect(!proof.claims.contains("ath"))
    }

    @Test(
        "The address in a proof is that of the request without query and default port (RFC 9449 §4.2)",
        arguments: [
            ("https://API.Example.com:443/Flights?from=SEA&to=%2F", "https://api.example.com/Flights"),
            ("https://api.example.com", "https://api.example.com/"),
            ("https://api.example.com?x", "https://api.example.com/"),
            ("https://api.example.com:8443/a/", "https://api.example.com:8443/a/"),
            ("http://localhost:80/a", "http://localhost/a"),
            ("http://localhost:443/a", "http://localhost:443/a"),
            ("https://localhost:80/a", "https://localhost:80/a"),
            ("https://[2001:DB8::1]:8443/a?b=[c]", "https://[2001:db8::1]:8443/a"),
            ("http://[::1]:80/a", "http://[::1]/a"),
            ("https://127.0.0.1/a", "https://127.0.0.1/a"),
            ("https://api.example.com./a", "https://api.example.com./a"),
            ("https://api.example.com/a%2Fb/%7e/Caf%C3%A9", "https://api.example.com/a%2Fb/%7e/Caf%C3%A9"),
            ("https://api.example.com/é", "https://api.example.com/%C3%A9"),
            ("https://api.example.com/a\"b\\c", "https://api.example.com/a%22b%5Cc"),
            ("https://api.example.com/a?b?c/d", "https://api.example.com/a"),
        ])
    func address(_ url: String, _ htu: String) async throws {
        let proof = try DPoP(key: FixedKey()).proof(for: try await .sent(url))
        #expect(try proof.read().htu == htu)
        #expect(proof.claims.contains("\"htu\":\"\(htu)\""), "no slash is escaped")
    }

    @Test("A proof replaces an earlier one, and each has an identifier of its own")
    func eachProofIsNew() async throws {
        let dpop = try DPoP(key: FixedKey())
        var request = try await SignableRequest.sent("https://api.example.com/")
        try dpop.sign(&request)
        let first = try SentProof(request.headerFields["DPoP"])
        try dpop.sign(&request)
        #expect(request.headerFields.values(for: "DPoP").count == 1)
        #expect(try SentProof(request.headerFields["DPoP"]).read().jti != first.read().jti)
    }

    @Test("No two identifiers of 10,000 are alike, and each has 128 bits")
    func identifiers() throws {
        let identifiers = (0..<10_000).map { _ in DPoPProof.randomIdentifier() }
        #expect(Set(identifiers).count == 10_000)
        #expect(identifiers.allSatisfy { Base64URL.decode($0)?.count == 16 })
    }

    @Test("What a key throws arrives, and the request isn't sent")
    func brokenKey() async throws {
        let dpop = try DPoP(key: FixedKey { _ in throw Broken() })
        var request = try await SignableRequest.sent("https://api.example.com/")
        #expect(throws: Broken.self) { try dpop.sign(&request) }
        #expect(!request.headerFields.contains("DPoP"))

        let wire = ScriptedTransport()
        var configuration = ServiceConfiguration()
        configuration.signers = [dpop]
        wire.install(in: &configuration)
        let atom = Atom(serviceConfiguration: configuration)
        do {
            try await atom.enqueue(try URLEndpoint("https://api.example.com")).resume()
            Issue.record("it was sent")
        } catch {
            guard case .authentication(.notSigned(let cause, _)) = error else { throw error }
            #expect(cause is Broken)
            #expect(!"\(error)".contains("5318008"))
        }
        #expect(wire.requests.isEmpty)
    }

    @Test("A signature that hasn't 64 bytes is refused", arguments: [0, 63, 65, 71])
    func wrongSignature(_ count: Int) async throws {
        let dpop = try DPoP(key: FixedKey { _ in Data(count: count) })
        var request = try await SignableRequest.sent("https://api.example.com/")
        let error = #expect(throws: AtomError.self) { try dpop.sign(&request) }
        guard case .requestable(.unsupportedConfiguration(let violation)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(violation.reason.hasSuffix("and not \(count)"))
        #expect(!request.headerFields.contains("DPoP"))
    }

    @Test("A description shows neither keys nor nonces")
    func description() throws {
        let dpop = try DPoP(key: FixedKey())
        _ = dpop.received(AtomResponse(200, from: "https://api.example.com/", nonce: "nonce-5318008"))
        var text = "\(dpop) \(String(reflecting: dpop))"
        dump(dpop, to: &text)
        #expect(text.hasPrefix("DPoP DPoP"))
        #expect(!text.contains("5318008") && !text.contains("l8tFrhx") && !text.contains("FixedKey"))
    }

    @Test("A hundred tasks sign and receive at once")
    func concurrency() async throws {
        let dpop = try DPoP(key: FixedKey())
        let requests = [
            try await SignableRequest.sent("https://a.example.com/"),
            try await SignableRequest.sent("https://b.example.com/"),
        ]
        let proofs = try await withThrowingTaskGroup(of: SentProof.Claims.self) { group in
            for number in 0..<100 {
                let (request, host) = (requests[number % 2], requests[number % 2].target.host)
                group.addTask {
                    let response = AtomResponse(200, from: "https://\(host)/", nonce: "\(host)-\(number)")
                    #expect(!dpop.received(response))
                    return try dpop.proof(for: request).read()
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(proofs.map(\.jti)).count == 100)
        for proof in proofs {
            let host = proof.htu.dropFirst(8).dropLast()
            #expect(proof.nonce?.hasPrefix("\(host)-") == true, "it has the nonce of its own server")
        }
    }
}
