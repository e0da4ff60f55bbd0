import AtomNetworking
import Testing

@testable import AtomNetworkingSignIn

@Suite("What a server demands beside a token", .limited)
struct ScopeChallengeTests {
    private func read(_ status: Int, _ field: String) -> ScopeChallenge? {
        ScopeChallenge(
            .response(
                AtomResponse(
                    statusCode: status, headerFields: HeaderFields([HeaderItem(name: "WWW-Authenticate", value: field)])
                )))
    }

    @Test(
        "It is read from a 401 or 403 of a bearer or DPoP token",
        arguments: [
            (403, #"Bearer error="insufficient_scope", scope="miles:spend bookings""#, ["miles:spend", "bookings"]),
            (401, #"DPoP error="insufficient_scope", scope="a""#, ["a"]),
            (403, #"Basic realm="x", Bearer error="insufficient_scope", scope="b""#, ["b"]),
            (401, #"Bearer error="insufficient_user_authentication", acr_values="gold", max_age="5""#, []),
        ])
    func isRead(status: Int, field: String, scopes: [String]) throws {
        let challenge = try #require(read(status, field))
        #expect(challenge.scopes == scopes)
        #expect(challenge.response.statusCode == status)
    }

    @Test("The parameters of another way to sign in are sent on (RFC 9470 §4)")
    func parameters() throws {
        let challenge = try #require(
            read(401, #"Bearer error="insufficient_user_authentication", acr_values="gold", max_age="5""#))
        #expect(challenge.parameters.map { "\($0.name)=\($0.value)" } == ["acr_values=gold", "max_age=5"])
    }

    @Test(
        "Anything else is no demand",
        arguments: [
            (403, #"Bearer error="invalid_token", scope="a""#),
            (403, #"Basic error="insufficient_scope", scope="a""#), (403, ""),
            (404, #"Bearer error="insufficient_scope", scope="a""#),
        ])
    func isNone(status: Int, field: String) {
        #expect(read(status, field) == nil)
    }

    @Test("A server need not say which scopes it wants", arguments: ["", #", scope="  ""#])
    func withoutScopes(rest: String) throws {
        let challenge = try #require(read(403, #"Bearer error="insufficient_scope""# + rest))
        #expect(challenge.scopes.isEmpty)
        #expect(!challenge.isComplete)
    }

    @Test("An error without a response is no demand")
    func noResponse() {
        #expect(ScopeChallenge(.cancelled(.notSent)) == nil)
    }

    @Test("The order of scopes makes no other demand, another scope does")
    func demands() throws {
        let first = try #require(read(403, #"Bearer error="insufficient_scope", scope="a b""#))
        let second = try #require(read(403, #"Bearer error="insufficient_scope", scope="b a""#))
        let third = try #require(read(403, #"Bearer error="insufficient_scope", scope="a""#))
        #expect(first.demand == second.demand)
        #expect(first.demand != third.demand)
    }
}
