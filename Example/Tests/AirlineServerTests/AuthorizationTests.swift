import AirlineServer
import AtomNetworking
import Foundation
import Testing

/// The authorization server over sockets, with a client and a browser by hand.
@Suite(.limited) struct AuthorizationTests {
    private func run(_ body: (Visitor) async throws -> Void) async throws {
        try await AirlineServer.run { try await body(Visitor(server: $0)) }
    }

    // MARK: The page

    @Test("who signs in on the page goes back to the app with a code that is worth tokens")
    func signIn() async throws {
        try await run { visitor in
            let page = try await visitor.open(visitor.parameters())
            #expect(page.statusCode == 200)
            #expect(page.text.contains("see your name") && !page.text.contains("spend your miles"))
            #expect(page.field("Cache-Control") == "no-store")
            #expect(page.field("Content-Security-Policy").contains("frame-ancestors 'none'"))
            let end = try await visitor.submit(page)
            #expect(end.statusCode == 303 && end.field("Location").hasPrefix(Visitor.redirectURI + "?"))
            #expect(end.callback["state"] == "s t&te" && end.callback["iss"] == visitor.server.baseURL)

            let tokens = try await visitor.exchange(end.callback["code"] ?? "")
            #expect(tokens.statusCode == 200 && tokens["token_type"] == "Bearer")
            #expect(tokens["scope"] == "openid profile")
            let parts = tokens["id_token"].split(separator: ".")
            let claims = String(decoding: Data(base64URL: parts[1]), as: UTF8.self)
            #expect(claims.contains(#""nonce":"n""#) && claims.contains(#""aud":"atom-app""#))
            #expect(claims.contains(#""iss":"\#(visitor.server.baseURL)""#) && claims.contains(#""sub":"ada""#))
            #expect(try await visitor.account("Bearer", tokens["access_token"])["name"] == "ada")
            #expect(try await visitor.submit(page).statusCode == 400)
        }
    }

    @Test("after a wrong password the page is shown again, and after Cancel the app hears of it")
    func refusals() async throws {
        try await run { visitor in
            let page = try await visitor.open(visitor.parameters())
            let wrong = try await visitor.submit(page, user: "<ada>", password: "wrong")
            #expect(wrong.statusCode == 200 && wrong.text.contains("the password is wrong"))
            #expect(wrong.text.contains("&lt;ada&gt;") && !wrong.text.contains("<ada>"))
            let end = try await visitor.submit(wrong, action: "cancel")
            #expect(end.callback["error"] == "access_denied" && end.callback["iss"] == visitor.server.baseURL)
            #expect(try await visitor.submit(wrong).statusCode == 400)
        }
    }

    @Test(
        "a browser is sent nowhere that isn't the app's",
        arguments: [["client_id": "x"], ["redirect_uri": "http://x/"]])
    func pages(changes: [String: String]) async throws {
        try await run { visitor in
            let page = try await visitor.open(visitor.parameters(changes))
            #expect(page.statusCode == 400 && page.field("Location").isEmpty && page.hidden("page").isEmpty)
        }
    }

    @Test(
        "the app hears what is wrong with its request",
        arguments: [
            (["response_type": "token"], "unsupported_response_type"), (["code_challenge": nil], "invalid_request"),
            (["code_challenge_method": "plain"], "invalid_request"), (["scope": "all"], "invalid_scope"),
            (["resource": "https://other.example"], "invalid_target"), (["prompt": "none"], "login_required"),
        ] as [([String: String?], String)])
    func errors(changes: [String: String?], code: String) async throws {
        try await run { visitor in
            let end = try await visitor.open(visitor.parameters(changes))
            #expect(end.callback["error"] == code && end.callback["state"] == "s t&te")
        }
    }

    @Test("a code that comes twice ends what it was exchanged for")
    func reuse() async throws {
        try await run { visitor in
            let code = try await visitor.code()
            #expect(try await visitor.exchange(code, verifier: visitor.verifier + "x")["error"] == "invalid_grant")
            let tokens = try await visitor.exchange(code)
            #expect(try await visitor.exchange(code)["error"] == "invalid_grant")
            #expect(try await visitor.account("Bearer", tokens["access_token"]).statusCode == 401)
            #expect(visitor.server.counters.sessionsEnded == 1)
        }
    }

    @Test("a pushed request opens one page")
    func pushed() async throws {
        try await run { visitor in
            let pushed = try await visitor.send("POST", "/oauth/par", form: visitor.parameters())
            #expect(pushed.statusCode == 201)
            let query: [QueryItem] = ["client_id": "atom-app", "request_uri": pushed["request_uri"]]
            let end = try await visitor.submit(visitor.open(query))
            #expect(try await visitor.exchange(end.callback["code"] ?? "").statusCode == 200)
            #expect(try await visitor.open(query).statusCode == 400)
            let wrong = try await visitor.send("POST", "/oauth/par", form: visitor.parameters(["scope": "all"]))
            #expect(wrong.statusCode == 400 && wrong["error"] == "invalid_scope")
        }
    }

    // MARK: Devices

    @Test("who enters the code of a device signs it in")
    func devices() async throws {
        try await run { visitor in
            let begun = try await visitor.send("POST", "/oauth/device", form: ["client_id": "atom-app"])
            let grant: [QueryItem] = [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": begun["device_code"],
            ]
            #expect(try await visitor.token(grant)["error"] == "authorization_pending")
            #expect(try await visitor.token(grant)["error"] == "slow_down")
            let page = try await visitor.send("GET", begun["verification_uri_complete"])
            #expect(page.text.contains(begun["user_code"]) && page.text.contains("<b>atom-app</b>"))
            var form: [QueryItem] = [
                "user_code": begun["user_code"], "username": "grace", "password": "wrong", "action": "sign-in",
            ]
            #expect(try await visitor.send("POST", "/device", form: form).text.contains("the password is wrong"))
            form[2] = QueryItem(name: "password", value: "hopper")
            #expect(try await visitor.send("POST", "/device", form: form).text.contains("is connected"))
            let tokens = try await visitor.token(grant)
            #expect(try await visitor.account("Bearer", tokens["access_token"])["name"] == "grace")
            #expect(try await visitor.send("POST", "/device", form: form).text.contains("wrong, used, or too old"))
        }
    }

    // MARK: Keys

    @Test("tokens that are bound to a key are of no use without it")
    func bound() async throws {
        try await run { visitor in
            let code = try await visitor.code()
            let demand = try await visitor.exchange(code, proof: visitor.proof("POST", "/oauth/token", nonce: nil))
            #expect(demand.statusCode == 400 && demand["error"] == "use_dpop_nonce")
            let nonce = demand.field("DPoP-Nonce")
            let tokens = try await visitor.exchange(code, proof: visitor.proof("POST", "/oauth/token", nonce: nonce))
            #expect(tokens["token_type"] == "DPoP")
            let token = tokens["access_token"]

            let proof = try visitor.proof("GET", "/account", nonce: nonce, accessToken: token)
            #expect(try await visitor.account("DPoP", token, proof: proof)["name"] == "ada")
            let replayed = try await visitor.account("DPoP", token, proof: proof)
            #expect(replayed.statusCode == 401 && replayed["code"] == "invalid_dpop_proof")
            let stale = try await visitor.account(
                "DPoP", token, proof: visitor.proof("GET", "/account", nonce: "x", accessToken: token))
            #expect(stale.challenges.first?["error"] == "use_dpop_nonce" && stale.field("DPoP-Nonce") == nonce)
            for (scheme, proof) in [
                ("Bearer", nil), ("DPoP", nil), ("DPoP", try visitor.proof("GET", "/account", nonce: nonce)),
                ("DPoP", try visitor.proof("POST", "/account", nonce: nonce, accessToken: token)),
                (
                    "DPoP",
                    try Visitor(server: visitor.server).proof("GET", "/account", nonce: nonce, accessToken: token)
                ),
            ] {
                #expect(try await visitor.account(scheme, token, proof: proof).statusCode == 401)
            }

            let refresh: [QueryItem] = ["grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]]
            #expect(try await visitor.token(refresh)["error"] == "invalid_grant")
            let refreshed = try await visitor.token(refresh, proof: visitor.proof("POST", "/oauth/token", nonce: nonce))
            #expect(refreshed["token_type"] == "DPoP")
        }
    }

    // MARK: Scopes and metadata

    @Test("what needs a scope says so, and where it is granted")
    func scopes() async throws {
        try await run { visitor in
            let order = RequestBody.json(["flight": "AS100"])
            func upgrade(_ token: String) async throws -> AtomResponse {
                let header = HeaderItem(name: "Authorization", value: "Bearer \(token)")
                return try await visitor.send("POST", "/account/upgrades", headers: [header], body: order)
            }
            let usual = try await visitor.exchange(visitor.code(["scope": nil]))
            #expect(usual["scope"] == "profile bookings" && usual["id_token"].isEmpty)
            let refused = try await upgrade(usual["access_token"])
            let challenge = try #require(refused.challenges.first)
            #expect(refused.statusCode == 403 && challenge["error"] == "insufficient_scope")
            #expect(challenge.scope == "miles:spend")
            let resource = try await visitor.send("GET", challenge.resourceMetadata?.absoluteString ?? "")
            #expect(resource["resource"] == visitor.server.baseURL)
            let more = try await visitor.exchange(visitor.code(["scope": "profile miles:spend"]))
            #expect(try await upgrade(more["access_token"]).statusCode == 201)
        }
    }

    @Test("a password is no consent to spend miles, and a client without a person gets no ID token")
    func scopesWithoutAPage() async throws {
        try await run { visitor in
            var form: [QueryItem] = [
                "grant_type": "password", "username": "ada", "password": "lovelace",
                "scope": "openid profile miles:spend",
            ]
            let member = try await visitor.token(form)
            #expect(member["scope"] == "profile" && member["id_token"].isEmpty)
            form[3] = QueryItem(name: "scope", value: "miles:spend")
            #expect(try await visitor.token(form)["error"] == "invalid_scope")
            let client: [QueryItem] = [
                "grant_type": "client_credentials", "client_id": "atom-example", "client_secret": "example-secret",
                "scope": "openid bookings",
            ]
            let machine = try await visitor.send("POST", "/oauth/token", form: client)
            #expect(machine["scope"] == "bookings" && machine["id_token"].isEmpty)
        }
    }

    @Test(
        "the metadata names this server",
        arguments: ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"])
    func metadata(path: String) async throws {
        try await run { visitor in
            let metadata = try await visitor.send("GET", path)
            #expect(metadata["issuer"] == visitor.server.baseURL)
            #expect(metadata["token_endpoint"] == visitor.server.baseURL + "/oauth/token")
            #expect(metadata.field("Cache-Control") == "max-age=300")
            #expect(try await visitor.send("GET", metadata["jwks_uri"]).text.contains(#""crv":"P-256""#))
        }
    }
}

extension Data {
    fileprivate init(base64URL text: Substring) {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        self = Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4)) ?? Data()
    }
}
