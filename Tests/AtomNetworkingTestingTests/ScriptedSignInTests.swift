import AtomNetworking
import AtomNetworkingSignIn
import AtomNetworkingTesting
import Foundation
import Testing

/// Signing in by script, from the first request to its answer.
@Suite(.limited)
struct ScriptedSignInTests {
    private func failure(_ work: () async throws(AtomError) -> Void) async -> AtomError? {
        do {
            try await work()
            return nil
        } catch {
            return error
        }
    }

    private func failure(_ atom: Atom) async -> SignInError? {
        await failure { () throws(AtomError) in try await atom.enqueue(Call()).resume() }?.signInError
    }

    @Test("A request shows a page, and is sent with the token of the sign-in")
    func aRequestShowsAPage() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signingInFor: ["openid", "email"])
        try await atom.enqueue(Call()).resume()
        #expect(wire.requests.map(\.bearerToken) == ["A1"])
        #expect(wire.tokenStore.stored?.scope == "openid email")
        let counts = wire.authorizationServer.counts
        #expect(counts.pages == 1 && counts.pushedRequests == 1 && counts.codesIssued == 1 && counts.codesRefused == 0)
        #expect(counts.refreshes == 0 && counts.tokensIssued == 1 && counts.accepted == 1)
        try wire.verify()
    }

    @Test("The ID token says who has signed in, by the wire's clock")
    func theIDTokenSaysWho() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signingInFor: ["openid"])
        wire.authorizationServer.subject = "grace"
        try await atom.enqueue(Call()).resume()
        let token = try IDToken(#require(wire.tokenStore.stored?.idToken))
        #expect(token.subject == "grace" && token.issuer == "https://authorization.test")
        #expect(token.audiences == ["app"] && token.issuedAt == wire.clock.date)
    }

    @Test("Two requests wait for one page that the test holds")
    func twoRequestsWaitForOnePage() async throws {
        let (atom, wire) = Atom.scripted(.status(204).times(2), signingInFor: [])
        wire.authorizationServer.holdPages()
        async let first = failure(atom)
        async let second = failure(atom)
        #expect(await wire.idle(until: { wire.authorizationServer.counts.pages == 1 }))
        await wire.settle()
        #expect(wire.requests.isEmpty)
        wire.authorizationServer.releasePages()
        #expect(await (first, second) == (nil, nil))
        #expect(wire.authorizationServer.counts.pages == 1)
        #expect(wire.requests.map(\.bearerToken) == ["A1", "A1"])
    }

    @Test("idle returns while a page is held")
    func idleReturnsWhileAPageIsHeld() async throws {
        let (atom, wire) = Atom.scripted(signingInFor: [])
        wire.authorizationServer.holdPages()
        let task = Task { await failure(atom) }
        await wire.idle()
        #expect(wire.authorizationServer.counts.pages == 1)
        wire.authorizationServer.nextPage(.closed)
        wire.authorizationServer.releasePages()
        #expect(await task.value == .declined)
        #expect(wire.requests.isEmpty)
    }

    @Test(
        "A person who closes the page or declines has declined", arguments: [ScriptedBrowser.Ending.closed, .declined])
    func thePersonDeclines(ending: ScriptedBrowser.Ending) async throws {
        let (atom, wire) = Atom.scripted(signingInFor: [])
        wire.authorizationServer.nextPage(ending)
        #expect(await failure(atom) == .declined)
        #expect(wire.requests.isEmpty && wire.authorizationServer.counts.codesIssued == 0)
    }

    @Test("The server can refuse")
    func theServerRefuses() async throws {
        let (atom, wire) = Atom.scripted(signingInFor: [])
        wire.authorizationServer.nextPage(.error("server_error"))
        #expect(await failure(atom) == .refused(OAuthError(code: "server_error")))
    }

    @Test("A callback with another state is an attack", arguments: ["attack", nil])
    func anotherState(state: String?) async throws {
        let (atom, wire) = Atom.scripted(signingInFor: [])
        wire.authorizationServer.nextPage(.state(state))
        #expect(await failure(atom) == .wrongState)
        #expect(wire.authorizationServer.counts.tokensIssued == 0)
    }

    @Test("A callback of another server is an attack", arguments: ["https://evil.test", nil])
    func anotherIssuer(issuer: String?) async throws {
        let (atom, wire) = Atom.scripted(signingInFor: [])
        wire.authorizationServer.nextPage(.issuer(issuer))
        #expect(await failure(atom) == .wrongIssuer(expected: "https://authorization.test", found: issuer))
        #expect(wire.authorizationServer.counts.tokensIssued == 0)
    }

    @Test("A callback for another redirect URI can't be used")
    func anotherRedirectURI() async throws {
        let (atom, wire) = Atom.scripted(signingInFor: [])
        wire.authorizationServer.nextPage(.redirectURI("com.example.evil:/signed-in"))
        guard case .invalidCallback = await failure(atom) else { return #expect(Bool(false), "It was used") }
        #expect(wire.authorizationServer.counts.tokensIssued == 0)
    }

    @Test("The server refuses the code of another sign-in")
    func aStolenCode() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signingInFor: [])
        wire.authorizationServer.nextPage(.stolenCode)
        #expect(await failure(atom) == .refused(OAuthError(code: "invalid_grant")))
        #expect(wire.authorizationServer.counts.codesRefused == 1)
        // No request shows another page until somebody signs in or out.
        #expect(await failure(atom) == .refused(OAuthError(code: "invalid_grant")))
        #expect(wire.authorizationServer.counts.pages == 1)
        try await atom.signOut()
        #expect(await failure(atom) == nil)
        #expect(wire.requests.map(\.bearerToken) == ["A1"])
    }

    @Test("A sign-in on another device goes on when the person has approved")
    func anotherDevice() async throws {
        let wire = ScriptedTransport()
        let client = wire.client(scopes: ["read"])
        let authorization = try await client.deviceAuthorization()
        #expect(authorization.userCode == "CODE-1")
        let task = Task { try await client.credential(for: authorization) }
        await wire.advance(by: .seconds(6))
        #expect(wire.authorizationServer.counts.tokensIssued == 0)
        wire.authorizationServer.approveDevices()
        await wire.advance(by: .seconds(6))
        #expect(try await task.value.scope == "read")
        #expect(wire.authorizationServer.counts.deviceRequests == 1)
    }

    @Test("A person can decline on another device")
    func anotherDeviceDeclines() async throws {
        let wire = ScriptedTransport()
        let client = wire.client()
        let authorization = try await client.deviceAuthorization()
        wire.authorizationServer.declineDevices()
        let task = Task {
            await failure { () throws(AtomError) in _ = try await client.credential(for: authorization) }
        }
        await wire.advance(by: .seconds(6))
        #expect(await task.value?.signInError == .declined)
    }

    @Test("A request that needs a scope is made once more after a page")
    func aScopeIsAskedFor() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signingInFor: ["openid"])
        wire.authorizationServer.require(scope: "write", at: "/x")
        let signIn = SignIn(
            wire.client(scopes: ["openid"]), browser: wire.authorizationServer.browser, store: wire.tokenStore)
        try await signIn.withStepUp(of: atom) { try await atom.enqueue(Call()).resume() }
        #expect(wire.requests.map(\.bearerToken) == ["A1", "A2"])
        #expect(wire.authorizationServer.counts.pages == 2 && wire.authorizationServer.counts.scopesRefused == 1)
        #expect(wire.tokenStore.stored?.scope?.split(separator: " ").contains("write") == true)
    }

    @Test("Nobody else can sign in for more")
    func somebodyElse() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signingInFor: ["openid"])
        try await atom.enqueue(Call(route: "/y")).resume()
        wire.authorizationServer.require(scope: "write", at: "/x")
        wire.authorizationServer.subject = "grace"
        let signIn = SignIn(
            wire.client(scopes: ["openid"]), browser: wire.authorizationServer.browser, store: wire.tokenStore)
        let error = await failure { () throws(AtomError) in
            _ = try await signIn.withStepUp(of: atom) { try await atom.enqueue(Call()).resume() }
        }
        #expect(error?.signInError == .differentUser)
        #expect(wire.tokenStore.stored?.accessToken == "A1")
    }

    @Test("Tokens are bound to the client's key, also with new nonces")
    func tokensAreBound() async throws {
        let (atom, wire) = Atom.scripted(
            .status(204).times(2), signingInFor: [], demandingProofs: true, expiringIn: .seconds(60))
        try await atom.enqueue(Call()).resume()
        #expect(wire.tokenStore.stored?.tokenType == "DPoP")
        #expect(wire.requests.map { $0["Authorization"] } == ["DPoP A1"])
        wire.authorizationServer.renewNonces()
        wire.clock.advance(by: .seconds(61))
        try await atom.enqueue(Call()).resume()
        // The second is answered with the nonce of the third.
        #expect(wire.requests.map { $0["Authorization"] } == ["DPoP A1", "DPoP A2", "DPoP A2"])
        #expect(wire.authorizationServer.counts.proofsRefused == 0)
        try wire.verify()
    }

    @Test("The metadata is that of the client's server")
    func theMetadata() async throws {
        let wire = ScriptedTransport()
        let client = wire.client()
        var configuration = client.configuration
        configuration.cache = .none
        let server = try await AuthorizationServer.discover("https://authorization.test", configuration: configuration)
        #expect(server == client.server)
    }
}

/// What the server answers to requests that nobody else makes.
@Suite(.limited)
struct AnswersOfTheAuthorizationServerTests {
    private struct Ask: Requestable {
        var route: String
        var form: [String: String]?
        var headerItems: [HeaderItem]?

        var method: HTTPMethod { form == nil ? .get : .post }
        var body: RequestBody? { form.map { .form($0.map { QueryItem(name: $0.key, value: $0.value) }) } }
        var requiresAuthorization: Bool { false }
        func baseURL() throws(AtomError) -> BaseURL { ScriptedAuthorizationServer.origin }
        func path() throws(AtomError) -> URLPath { try URLPath(route) }
    }

    private struct Answer: Model {
        struct Claims: Decodable { let iss: String, sub: String, aud: String, exp: Double, iat: Double, nonce: String? }

        var issuer: String?
        var requestURI: String?
        var deviceCode: String?
        var accessToken: String?
        var refreshToken: String?
        var tokenType: String?
        var scope: String?
        var idToken: String?
        var error: String?

        enum CodingKeys: String, CodingKey {
            case issuer, scope, error
            case requestURI = "request_uri"
            case deviceCode = "device_code"
            case accessToken = "access_token"
            case refreshToken = "refresh_token"
            case tokenType = "token_type"
            case idToken = "id_token"
        }

        func claims() throws -> Claims {
            let part = String(idToken?.split(separator: ".")[1] ?? "")
            let base64 = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            let padding = String(repeating: "=", count: (4 - base64.count % 4) % 4)
            return try JSONDecoder().decode(Claims.self, from: #require(Data(base64Encoded: base64 + padding)))
        }
    }

    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    /// RFC 7636, appendix B.
    private static let page = [
        "client_id": "app", "response_type": "code", "redirect_uri": "com.example.app:/signed-in", "state": "s1",
        "nonce": "n1", "scope": "openid mail", "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "code_challenge_method": "S256",
    ]

    private let atom: Atom
    private let wire: ScriptedTransport
    private var server: ScriptedAuthorizationServer { wire.authorizationServer }

    init() {
        (atom, wire) = Atom.scripted(signedIn: false)
    }

    private func ask(
        _ path: String, _ form: [String: String]? = nil, _ fields: [HeaderItem] = []
    ) async throws -> Answer {
        do {
            return try await atom.enqueue(Ask(route: path, form: form, headerItems: fields)).resume(
                expecting: Answer.self)
        } catch {
            return try #require(try error.decodeIfPresent(as: Answer.self))
        }
    }

    /// The parameters of the callback of a page.
    private func callback(_ parameters: [String: String]) async throws -> [String: String] {
        let query = parameters.map { "\($0.key)=\($0.value.replacingOccurrences(of: " ", with: "%20"))" }
        let url = try #require(URL(string: "https://authorization.test/authorize?" + query.joined(separator: "&")))
        let callback = try await server.browser.authorize { _ in url }
        #expect(callback.absoluteString.hasPrefix("com.example.app:/signed-in?"))
        let items = URLComponents(string: callback.absoluteString)?.queryItems ?? []
        return Dictionary(uniqueKeysWithValues: items.map { ($0.name, $0.value ?? "") })
    }

    private func redeem(
        _ code: String, _ fields: [HeaderItem] = [], change: (inout [String: String]) -> Void = { _ in }
    ) async throws -> Answer {
        var form = [
            "client_id": "app", "grant_type": "authorization_code", "code": code, "code_verifier": Self.verifier,
            "redirect_uri": "com.example.app:/signed-in",
        ]
        change(&form)
        return try await ask("/token", form, fields)
    }

    @Test("The metadata is at both addresses, for an hour")
    func metadata() async throws {
        for path in ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"] {
            let response = try await atom.enqueue(Ask(route: path)).resume()
            #expect(try response.decode(Answer.self).issuer == "https://authorization.test")
            #expect(response.headerFields["Cache-Control"] == "max-age=3600")
        }
    }

    @Test("A code is exchanged for tokens, once")
    func aCodeIsExchanged() async throws {
        let items = try await callback(Self.page)
        #expect(items == ["code": "C1", "state": "s1", "iss": "https://authorization.test"])
        let answer = try await redeem("C1")
        #expect(answer.accessToken == "A1" && answer.refreshToken == "R1" && answer.tokenType == "Bearer")
        #expect(answer.scope == "openid mail")
        let claims = try answer.claims()
        #expect(claims.iss == "https://authorization.test" && claims.sub == "ada" && claims.aud == "app")
        #expect(claims.nonce == "n1" && claims.iat == wire.clock.date.timeIntervalSince1970 && claims.exp > claims.iat)

        let refresh = ["client_id": "app", "grant_type": "refresh_token", "refresh_token": "R1"]
        #expect(try await redeem("C1").error == "invalid_grant")
        // What the first has brought is revoked (RFC 6749 §4.1.2).
        #expect(try await ask("/token", refresh).error == "invalid_grant")
        #expect(server.counts.codesRefused == 1 && server.counts.refusals == 1)
    }

    @Test("A refresh brings an ID token, and another client has no use for the refresh token")
    func aRefresh() async throws {
        _ = try await callback(Self.page)
        _ = try await redeem("C1")
        var form = [
            "client_id": "client", "client_secret": "secret", "grant_type": "refresh_token", "refresh_token": "R1",
        ]
        #expect(try await ask("/token", form).error == "invalid_grant")
        form["client_id"] = "app"
        #expect(try await ask("/token", form).error == "invalid_client")
        form["client_secret"] = nil
        let answer = try await ask("/token", form)
        #expect(answer.accessToken == "A2" && answer.scope == "openid mail")
        #expect(try answer.claims().nonce == nil)
    }

    @Test(
        "A code is for its client, redirect URI and verifier only",
        arguments: [
            ["code_verifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXX"], ["code_verifier": ""], ["code": "C2"],
            ["redirect_uri": "com.example.app:/"], ["client_id": "client", "client_secret": "secret"],
        ])
    func aCodeIsForItsRequest(changes: [String: String]) async throws {
        _ = try await callback(Self.page)
        #expect(try await redeem("C1") { $0.merge(changes) { $1 } }.error == "invalid_grant")
        #expect(server.counts.codesRefused == 1 && server.counts.tokensIssued == 0)
    }

    @Test("A code expires")
    func aCodeExpires() async throws {
        _ = try await callback(Self.page)
        wire.clock.advance(by: .seconds(60))
        #expect(try await redeem("C1").error == "invalid_grant")
    }

    @Test(
        "The server sends the browser back with an error if a request is wrong",
        arguments: ["response_type", "code_challenge", "code_challenge_method"])
    func aWrongRequest(name: String) async throws {
        let items = try await callback(Self.page.filter { $0.key != name })
        #expect(items["error"] == "invalid_request" && items["state"] == "s1" && items["code"] == nil)
    }

    @Test("The server doesn't send the browser to an unknown place")
    func anUnknownPlace() async throws {
        for change in ["client_id": "another", "redirect_uri": "com.example.evil:/", "request_uri": "another"] {
            let page = Self.page.merging([change.key: change.value]) { $1 }
            await #expect(throws: ScriptProblem.self) { try await callback(page) }
        }
    }

    @Test("A pushed request is used once")
    func aPushedRequest() async throws {
        let uri = try #require(try await ask("/par", Self.page).requestURI)
        let page = ["client_id": "app", "request_uri": uri]
        #expect(try await callback(page)["state"] == "s1")
        #expect(try await redeem("C1").accessToken == "A1")
        await #expect(throws: ScriptProblem.self) { try await callback(page) }
        #expect(try await ask("/par", Self.page.filter { $0.key != "code_challenge" }).error == "invalid_request")
        let late = try #require(try await ask("/par", Self.page).requestURI)
        wire.clock.advance(by: .seconds(60))
        await #expect(throws: ScriptProblem.self) { try await callback(["client_id": "app", "request_uri": late]) }
        #expect(server.counts.pushedRequests == 3)
    }

    @Test("A page that is held ends when its task is cancelled")
    func aHeldPageIsCancelled() async throws {
        server.holdPages()
        let task = Task { try await callback(Self.page) }
        #expect(await wire.idle(until: { server.counts.pages == 1 }))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.counts.codesIssued == 0)
    }

    @Test("A device waits for the person, and is slowed down")
    func aDevice() async throws {
        let device = try #require(
            try await ask("/device", ["client_id": "app", "scope": "openid"]).deviceCode)
        let form = [
            "client_id": "app", "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": device,
        ]
        #expect(try await ask("/token", form).error == "authorization_pending")
        wire.clock.advance(by: .seconds(4))
        #expect(try await ask("/token", form).error == "slow_down")
        wire.clock.advance(by: .seconds(9))
        #expect(try await ask("/token", form).error == "slow_down")
        wire.clock.advance(by: .seconds(15))
        #expect(try await ask("/token", form).error == "authorization_pending")
        server.approveDevices()
        wire.clock.advance(by: .seconds(15))
        #expect(try await ask("/token", form).scope == "openid")
        #expect(try await ask("/token", form).error == "invalid_grant")
        #expect(server.counts.deviceRequests == 1 && server.counts.tokensIssued == 1)
    }

    @Test("A device code expires, or is declined")
    func aDeviceIsRefused() async throws {
        var form = ["client_id": "app", "grant_type": "urn:ietf:params:oauth:grant-type:device_code"]
        form["device_code"] = try await ask("/device", ["client_id": "app"]).deviceCode
        server.declineDevices()
        #expect(try await ask("/token", form).error == "access_denied")
        form["device_code"] = try await ask("/device", ["client_id": "app"]).deviceCode
        server.declineDevices()
        wire.clock.advance(by: .seconds(600))
        #expect(try await ask("/token", form).error == "expired_token")
    }

    // MARK: Proofs

    private static let token = "https://authorization.test/token"

    private static func base64URL(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    /// A proof whose signature is none.
    private func proof(
        _ jti: String, _ htm: String = "POST", _ htu: String = token, _ more: String = "", key: String = "x",
        typ: String = "dpop+jwt"
    ) -> [HeaderItem] {
        let header = #"{"typ":"\#(typ)","alg":"ES256","jwk":{"kty":"EC","crv":"P-256","x":"\#(key)","y":"y"}}"#
        let claims = #"{"jti":"\#(jti)","htm":"\#(htm)","htu":"\#(htu)","iat":1\#(more)}"#
        let signature = String(repeating: "A", count: 86)
        return ["DPoP": "\(Self.base64URL(header)).\(Self.base64URL(claims)).\(signature)"]
    }

    @Test("A token request needs a proof with a nonce, which isn't used twice")
    func aTokenRequestNeedsAProof() async throws {
        server.demandsProofs = true
        _ = try await callback(Self.page)
        #expect(try await redeem("C1").error == "invalid_dpop_proof")
        let error = await #expect(throws: AtomError.self) {
            let form = ["client_id": "app", "grant_type": "refresh_token"]
            try await atom.enqueue(Ask(route: "/token", form: form, headerItems: proof("1"))).resume()
        }
        #expect(error?.response?.headerFields["DPoP-Nonce"] == "nonce-1")
        #expect(try error?.decodeIfPresent(as: Answer.self)?.error == "use_dpop_nonce")
        #expect(server.counts.proofsRefused == 1)
        let nonce = #","nonce":"nonce-1""#
        for wrong in [
            proof("2", "GET", Self.token, nonce), proof("2", "POST", "https://authorization.test/", nonce),
            proof("2", "POST", Self.token, nonce, typ: "jwt"),
            proof("2", "POST", Self.token, #","ath":"a""# + nonce), ["DPoP": "a.b.c"],
        ] {
            #expect(try await redeem("C1", wrong).error == "invalid_dpop_proof")
        }
        let tokens = try await redeem("C1", proof("2", "POST", Self.token, nonce))
        #expect(tokens.accessToken == "A1" && tokens.tokenType == "DPoP")
        #expect(try await redeem("C1", proof("2", "POST", Self.token, nonce)).error == "invalid_dpop_proof")

        var form = ["client_id": "app", "grant_type": "refresh_token", "refresh_token": "R1"]
        #expect(try await ask("/token", form, proof("3", "POST", Self.token, nonce, key: "z")).error == "invalid_grant")
        server.renewNonces()
        #expect(try await ask("/token", form, proof("4", "POST", Self.token, nonce)).error == "use_dpop_nonce")
        form["refresh_token"] = "R1"
        #expect(
            try await ask("/token", form, proof("5", "POST", Self.token, #","nonce":"nonce-2""#)).accessToken == "A2")
    }

    @Test("The service takes a bound token with a proof of its key only")
    func theServiceChecksProofs() async throws {
        server.demandsProofs = true
        _ = try await callback(Self.page)
        _ = try await redeem("C1", proof("1", "POST", Self.token, #","nonce":"nonce-1""#))
        wire.add(.status(204).times(2))
        // The digest of "A1".
        let ath = #","ath":"FqNuhvb-1dRl_zMlEaDOGoY7VdNkslp82qJdsZq_lkg""#
        let url = "https://api.example.com/x"
        func call(_ scheme: String, _ proof: [HeaderItem]) async throws -> AtomResponse? {
            let call = Call(
                queryItems: ["a": "b"], headerItems: ["Authorization": "\(scheme) A1"] + proof,
                requiresAuthorization: false)
            do {
                return try await atom.enqueue(call).resume()
            } catch {
                return error.response
            }
        }
        #expect(try await call("DPoP", proof("2", "GET", url, ath))?.statusCode == 204)
        for (scheme, wrong) in [
            ("DPoP", proof("2", "GET", url, ath)), ("DPoP", proof("3", "GET", url)), ("DPoP", []), ("Bearer", []),
            ("Bearer", proof("3", "GET", url, ath)),
            ("DPoP", proof("3", "GET", url, ath, key: "z")), ("DPoP", proof("3", "GET", url + "?a=b", ath)),
        ] {
            let response = try await call(scheme, wrong)
            #expect(response?.statusCode == 401 && response?.challenges.first?.scheme == "dpop")
        }
        #expect(server.counts.proofsRefused == 7 && server.counts.accepted == 1)
        server.renewNonces()
        let response = try await call("DPoP", proof("4", "GET", url, ath))
        #expect(response?.challenges.first?["error"] == "use_dpop_nonce")
        #expect(response?.headerFields["DPoP-Nonce"] == "service-nonce-2")
        let nonce = #","nonce":"service-nonce-2""#
        #expect(try await call("DPoP", proof("5", "GET", url, ath + nonce))?.statusCode == 204)
        try wire.verify()
    }

    @Test("A path can need a scope")
    func aPathNeedsAScope() async throws {
        let (atom, wire) = Atom.scripted(.status(204), signedIn: true)
        wire.authorizationServer.require(scope: "write", at: "/users/*")
        try await atom.enqueue(Call()).resume()
        let error = await #expect(throws: AtomError.self) { try await atom.enqueue(Call(route: "/users/1")).resume() }
        let challenge = error?.response?.challenges.first
        #expect(error?.response?.statusCode == 403 && challenge?.scope == "write")
        #expect(challenge?["error"] == "insufficient_scope" && challenge?.scheme == "bearer")
        #expect(wire.authorizationServer.counts.scopesRefused == 1)
        try wire.verify()
    }
}
