import Testing

@testable import AirlineServer

/// The rules of sign-ins, without a server and without waiting.
@Suite(.limited) final class AuthorizationLedgerTests {
    private var ledger = AuthorizationLedger()
    private let verifier = String(repeating: "v", count: 43)

    private func request(_ changes: [String: String] = [:]) throws -> AuthorizationRequest {
        var all = [
            "response_type": "code", "client_id": "atom-app", "redirect_uri": "com.example.airline:/signed-in",
            "code_challenge": Visitor.hash(verifier), "code_challenge_method": "S256",
        ]
        all.merge(changes) { $1 }
        return try AuthorizationRequest(all.map { (name: $0.key, value: $0.value) }, at: "http://a")
    }

    private func code(_ changes: [String: String] = [:], at now: Double = 0) throws -> String {
        let page = ledger.openPage(for: try request(changes), now: now)
        let code = ledger.closePage(page, user: "ada", now: now)
        return try #require(code)
    }

    private func redeem(
        _ code: String, client: String = "atom-app", to uri: String = "com.example.airline:/signed-in",
        verifier: String? = nil, key: String? = nil, at now: Double = 0
    ) -> String? {
        let granted = try? ledger.request(
            of: code, clientID: client, redirectURI: uri, verifier: verifier ?? self.verifier, keyThumbprint: key,
            now: now)
        return granted?.user
    }

    @Test("a code is for one client, redirect URI, verifier and key, and for a minute")
    func codes() throws {
        let code = try code(["dpop_jkt": "key"])
        #expect(redeem(code, key: "key", at: 59.9) == "ada")
        #expect(redeem(code, key: "key", at: 60) == nil)
        #expect(redeem(code, client: "atom-example", key: "key") == nil)
        #expect(redeem(code, to: "http://127.0.0.1:1/callback", key: "key") == nil)
        #expect(redeem(code, verifier: verifier + "v", key: "key") == nil)
        #expect(redeem(code) == nil)
        #expect(redeem("made up") == nil)
    }

    @Test("a used code is known as used")
    func usedCode() throws {
        let code = try code()
        #expect(ledger.session(ofUsed: code) == nil)
        ledger.use(code, for: 7)
        #expect(ledger.session(ofUsed: code) == 7)
        #expect(redeem(code) == nil)
    }

    @Test("a pushed request is used once, within a minute, by its client")
    func pushed() throws {
        let (first, second) = (ledger.push(try request(), now: 0), ledger.push(try request(), now: 0))
        var isKnown = ledger.takePushed(first, clientID: "another", now: 0) != nil
        #expect(!isKnown)
        isKnown = ledger.takePushed(first, clientID: "atom-app", now: 59) != nil
        #expect(isKnown)
        isKnown = ledger.takePushed(first, clientID: "atom-app", now: 59) != nil
        #expect(!isKnown)
        isKnown = ledger.takePushed(second, clientID: "atom-app", now: 60) != nil
        #expect(!isKnown)
    }

    @Test("a page that has ended gives no code")
    func pages() throws {
        let page = ledger.openPage(for: try request(), now: 0)
        #expect(ledger.request(of: page, now: 599) != nil && ledger.request(of: page, now: 600) == nil)
        _ = ledger.closePage(page, now: 0)
        let code = ledger.closePage(page, user: "ada", now: 0)
        #expect(code == nil)
    }

    // MARK: Devices

    private func poll(_ code: String, at now: Double) -> String {
        do throws(OAuthRefusal) {
            return try ledger.takeDecision(code, clientID: "atom-app", now: now).user
        } catch {
            return error.code
        }
    }

    private func device() -> (deviceCode: String, userCode: String) {
        ledger.addDevice(of: .publicExample, scopes: [.openid], interval: 5, now: 0)
    }

    @Test("a device waits until somebody enters its code, and gets tokens once")
    func devices() {
        let (code, userCode) = device()
        #expect(poll(code, at: 5) == "authorization_pending")
        #expect(poll(code, at: 6) == "slow_down")
        // The pauses are longer now.
        #expect(poll(code, at: 11) == "slow_down")
        #expect(poll(code, at: 26) == "authorization_pending")
        ledger.decide(userCode: userCode.lowercased().replacing("-", with: " "), user: "ada", now: 30)
        #expect(ledger.device(userCode: userCode, now: 30) == nil)
        #expect(poll(code, at: 45) == "ada")
        #expect(poll(code, at: 60) == "invalid_grant")
    }

    @Test("a device hears of a refusal, and that its code has expired")
    func refusedDevices() {
        let (refused, late) = (device(), device())
        ledger.decide(userCode: refused.userCode, user: nil, now: 0)
        #expect(poll(refused.deviceCode, at: 5) == "access_denied")
        ledger.decide(userCode: late.userCode, user: "ada", now: 600)
        #expect(poll(late.deviceCode, at: 600) == "expired_token")
    }

    // MARK: Clients

    @Test(
        "a browser is sent to an address of the app only",
        arguments: [
            ("com.example.airline:/signed-in", true), ("http://127.0.0.1:1/callback", true),
            ("http://[::1]:65535/callback", true), ("http://127.0.0.1:0/callback", false),
            ("http://127.0.0.1:65536/callback", false), ("http://127.0.0.1:1/callback?a=b", false),
            ("http://127.0.0.1:1@evil.example/callback", false), ("http://127.0.0.1.evil.example:1/callback", false),
            ("https://127.0.0.1:1/callback", false), ("com.example.airline:/signed-in/more", false),
        ])
    func redirectURIs(uri: String, isAccepted: Bool) {
        #expect(RegisteredClient.publicExample.accepts(redirectURI: uri) == isAccepted)
        #expect(!RegisteredClient.confidentialExample.accepts(redirectURI: uri))
    }
}
