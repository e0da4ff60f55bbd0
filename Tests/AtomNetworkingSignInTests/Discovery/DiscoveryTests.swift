import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworkingSignIn

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Discovering an authorization server", .limited)
struct DiscoveryTests {
    private static let oauth = "/.well-known/oauth-authorization-server"
    private static let openID = "/.well-known/openid-configuration"

    // MARK: Addresses

    @Test(
        "The well-known addresses are tried in the order of RFC 8414, until one has a document",
        arguments: [
            ("https://a.example", ["https://a.example\(oauth)", "https://a.example\(openID)"]),
            ("https://a.example/", ["https://a.example\(oauth)", "https://a.example\(openID)"]),
            (
                "https://A.example:8443/b",
                [
                    "https://a.example:8443\(oauth)/b", "https://a.example:8443\(openID)/b",
                    "https://a.example:8443/b\(openID)",
                ]
            ),
            (
                "https://a.example/b/c%2Fd/",
                [
                    "https://a.example\(oauth)/b/c%2Fd", "https://a.example\(openID)/b/c%2Fd",
                    "https://a.example/b/c%2Fd\(openID)",
                ]
            ),
            ("http://127.0.0.1:8080", ["http://127.0.0.1:8080\(oauth)", "http://127.0.0.1:8080\(openID)"]),
        ])
    func wellKnown(_ issuer: String, at addresses: [String]) async throws {
        for count in 1...addresses.count {
            let script = ScriptedMetadata()
            for _ in 1..<count { script.wire.add(.status(404)) }
            script.wire.add(.metadata(of: issuer))
            #expect(try await script.discover(issuer).get().issuer == issuer)
            #expect(script.asked == Array(addresses.prefix(count)))
            try script.wire.verify()
        }
    }

    @Test(
        "If no address has a document, the last response is the error",
        arguments: ["https://a.example", "https://a.example/b"])
    func noDocument(_ issuer: String) async throws {
        let statuses = issuer.hasSuffix("b") ? [404, 403, 410] : [404, 410]
        let script = ScriptedMetadata()
        for status in statuses { script.wire.add(.status(status)) }
        #expect(await script.discover(issuer).failure?.response?.statusCode == 410)
        #expect(script.asked.count == statuses.count)
    }

    @Test("A redirect isn't followed: the next address is tried", arguments: [301, 302, 303, 307, 308])
    func redirect(_ status: Int) async throws {
        let script = ScriptedMetadata(
            .redirect(to: "https://b.example/login", status: status), .metadata(of: "https://a.example"))
        _ = try await script.discover("https://a.example").get()
        #expect(script.asked == ["https://a.example\(Self.oauth)", "https://a.example\(Self.openID)"])
    }

    @Test("A server in trouble is the error, and no other address is tried", arguments: [429, 500, 503])
    func trouble(_ status: Int) async throws {
        let script = ScriptedMetadata(.status(status))
        #expect(await script.discover("https://a.example").failure?.response?.statusCode == status)
        #expect(script.asked.count == 1)
    }

    @Test("A network failure is the error, and no other address is tried")
    func networkFailure() async throws {
        let script = ScriptedMetadata(.failure(.networkConnectionLost))
        #expect(await script.discover("https://a.example").failure?.isConnectivityFailure == true)
        #expect(script.asked.count == 1)
    }

    @Test(
        "What can't be an issuer is refused before anything is sent",
        arguments: [
            "http://a.example", "https://a.example?x", "https://a.example/#x", "https://ann@a.example", "a.example",
            "https://a.example//", "http://127.0.0.1.example/", "https://",
        ])
    func noIssuer(_ issuer: String) async throws {
        let script = ScriptedMetadata()
        #expect(await script.discover(issuer).refusal != nil)
        #expect(script.asked.isEmpty)
    }

    // MARK: Documents

    @Test("Everything is read that a server says, and what is unknown may be anything")
    func everything() async throws {
        let script = ScriptedMetadata(
            .metadata(
                of: "https://a.example", #""authorization_endpoint": "https://login.example/authorize?p=1""#,
                #""revocation_endpoint": "https://a.example/revoke""#,
                #""pushed_authorization_request_endpoint": "https://a.example/par""#,
                #""device_authorization_endpoint": "https://a.example/device""#,
                #""registration_endpoint": "https://a.example/register""#,
                #""scopes_supported": ["openid", "a"]"#, #""code_challenge_methods_supported": ["S256"]"#,
                #""dpop_signing_alg_values_supported": ["ES256"]"#,
                #""token_endpoint_auth_methods_supported": ["none"]"#,
                #""authorization_response_iss_parameter_supported": true"#,
                #""require_pushed_authorization_requests": true"#,
                #""jwks_uri": 7, "ui_locales_supported": {"a": [null, 1.5]}, "x": null, "response_types_supported": 1"#)
        )
        let server = try await script.discover("https://a.example").get()
        var expected = try AuthorizationServer(
            issuer: "https://a.example", authorizationEndpoint: "https://login.example/authorize?p=1",
            tokenEndpoint: "https://a.example/token")
        expected.revocationEndpoint = try AuthorizationEndpoint("https://a.example/revoke")
        expected.pushedAuthorizationRequestEndpoint = try AuthorizationEndpoint("https://a.example/par")
        expected.deviceAuthorizationEndpoint = try AuthorizationEndpoint("https://a.example/device")
        expected.registrationEndpoint = "https://a.example/register"
        expected.scopes = ["openid", "a"]
        expected.codeChallengeMethods = ["S256"]
        expected.proofAlgorithms = ["ES256"]
        expected.tokenEndpointAuthenticationMethods = ["none"]
        expected.sendsIssuerInCallback = true
        expected.requiresPushedRequests = true
        #expect(server == expected)
    }

    @Test("A server may say no more than who it is and where its tokens are; null is nothing")
    func leastOfAll() async throws {
        let issuer = "https://a.example"
        let script = ScriptedMetadata(
            .metadata(
                of: issuer, #""authorization_endpoint": null, "revocation_endpoint": null, "scopes_supported": null"#,
                #""require_pushed_authorization_requests": null"#))
        #expect(
            try await script.discover(issuer).get()
                == AuthorizationServer(issuer: issuer, tokenEndpoint: "https://a.example/token"))
    }

    @Test(
        "A document of another issuer is refused, also if it only looks the same",
        arguments: [
            ("https://a.example", "https://b.example"), ("https://a.example", "https://a.example/"),
            ("https://a.example/", "https://a.example"), ("https://a.example", "https://A.example"),
            ("https://a.example", "https://a.example:443"), ("https://a.example/b", "https://a.example"),
            ("https://a.example/b", "https://a.example/b/"), ("https://a.example/%C3%A9", "https://a.example/é"),
            // The same text for Swift: é as one code point and as two.
            ("https://a.example/\u{E9}", "https://a.example/e\u{301}"), ("https://a.example", ""),
        ])
    func anotherIssuer(_ issuer: String, _ found: String) async throws {
        let script = ScriptedMetadata(.metadata(of: found))
        let error = try #require(await script.discover(issuer).failure?.signInError)
        guard case .wrongIssuer(issuer, let other?) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(other.utf8.elementsEqual(found.utf8))
        // Another address of the same server would not make it right.
        #expect(script.asked.count == 1)
    }

    @Test("An issuer of any length is shown in part")
    func longIssuer() async throws {
        // All of it is one character.
        let script = ScriptedMetadata(.metadata(of: "a" + String(repeating: "\u{301}", count: 10_000)))
        guard case .wrongIssuer(_, let found?) = await script.discover("https://a.example").failure?.signInError else {
            Issue.record("It isn't wrong")
            return
        }
        #expect(found.unicodeScalars.count == 300)
    }

    @Test(
        "A document that breaks a rule is refused, and the error says which member",
        arguments: [
            (#""token_endpoint": null"#, "token_endpoint"), (#""token_endpoint": """#, "token_endpoint"),
            (#""token_endpoint": "http://a.example/token""#, "https"),
            (#""token_endpoint": "http://localhost/token""#, "https"),
            (#""token_endpoint": ["https://a.example/token"]"#, "token_endpoint isn't a string"),
            (#""issuer": null"#, "it has no issuer"), (#""issuer": 7"#, "issuer isn't a string"),
            (#""authorization_endpoint": "http://a.example/authorize""#, "authorization_endpoint"),
            (#""authorization_endpoint": "javascript:alert(1)""#, "authorization_endpoint"),
            (#""authorization_endpoint": "https://a.example/#""#, "fragment"),
            (#""revocation_endpoint": "http://a.example/revoke""#, "revocation_endpoint"),
            (#""revocation_endpoint": {}"#, "revocation_endpoint"),
            (#""pushed_authorization_request_endpoint": "/par""#, "pushed_authorization_request_endpoint"),
            (#""device_authorization_endpoint": "https://ann:p@a.example""#, "device_authorization_endpoint"),
            (#""registration_endpoint": "http://localhost/register""#, "registration_endpoint"),
            (#""scopes_supported": "openid""#, "scopes_supported"), (#""scopes_supported": [1]"#, "scopes_supported"),
            (#""code_challenge_methods_supported": {}"#, "code_challenge_methods_supported"),
            (#""dpop_signing_alg_values_supported": true"#, "dpop_signing_alg_values_supported"),
            (#""token_endpoint_auth_methods_supported": [null]"#, "token_endpoint_auth_methods_supported"),
            (#""authorization_response_iss_parameter_supported": "true""#, "isn't a Boolean"),
            (#""require_pushed_authorization_requests": 1"#, "require_pushed_authorization_requests"),
        ])
    func brokenRule(_ member: String, _ reason: String) async throws {
        let script = ScriptedMetadata(.metadata(of: "https://a.example", member))
        let found = await script.discover("https://a.example").invalidMetadata
        #expect(found?.contains(reason) == true, "\(found ?? "nothing")")
    }

    @Test(
        "What isn't a JSON object is refused",
        arguments: ["", "[]", "7", "null", "\"x\"", "{", "<html></html>", String(repeating: "[", count: 100_000)])
    func noObject(_ body: String) async throws {
        let script = ScriptedMetadata(.json(text: body))
        #expect(await script.discover("https://a.example").invalidMetadata == "it isn't a JSON object")
    }

    @Test("A response without a document is refused", arguments: [201, 204])
    func otherSuccess(_ status: Int) async throws {
        let script = ScriptedMetadata(.status(status))
        #expect(await script.discover("https://a.example").failure?.response?.statusCode == status)
    }

    @Test("A server on this device may be without TLS, with its endpoints there, and no others")
    func developmentServer() async throws {
        let issuer = "http://localhost:8080"
        let script = ScriptedMetadata(
            .metadata(of: issuer, #""token_endpoint": "http://127.0.0.1:8080/token""#),
            .metadata(of: issuer, #""token_endpoint": "http://a.example/token""#))
        #expect(
            try await script.discover(issuer).get().tokenEndpoint
                == AuthorizationEndpoint("http://127.0.0.1:8080/token"))
        #expect(await script.discover(issuer).invalidMetadata?.contains("token_endpoint") == true)
    }

    @Test("A document of more than a megabyte isn't read")
    func tooLarge() async throws {
        let script = ScriptedMetadata(
            .metadata(of: "https://a.example", #""x": "\#(String(repeating: "x", count: 1 << 20))""#))
        guard case .session(let error as URLError) = await script.discover("https://a.example").failure else {
            Issue.record("It was read")
            return
        }
        #expect(error.code == .dataLengthExceedsMaximum)
    }

    @Test("Documents of which any bytes have changed are read or refused")
    func changedBytes() async throws {
        var generator = SplitMix(state: 8_414)
        let document = Array(
            #"""
            {"issuer":"https://a.example","token_endpoint":"https://a.example/t","scopes_supported":["é","\u00e9"],
            "revocation_endpoint":"https://[::1]:8443/r%41?x=1","require_pushed_authorization_requests":true,
            "n":[1e5,{"a":null}]}
            """#.utf8)
        let script = ScriptedMetadata()
        for _ in 0..<1_500 {
            var bytes = document
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.remove(at: place)
                default: bytes.insert(bytes[Int.random(in: bytes.indices, using: &generator)], at: place)
                }
            }
            script.wire.add(.data(Data(bytes)))
            switch await script.discover("https://a.example") {
            case .success(let server): #expect(server.issuer == "https://a.example")
            case .failure(let error): #expect(error.signInError != nil, "\(error)")
            }
        }
    }

    // MARK: Requests

    @Test("Nothing of the app's own is sent, and the request says what it wants")
    func nothingOfTheApp() async throws {
        struct Marking: RequestAdapter, RequestSigner, AtomPlugin {
            func adapt(_ request: inout RequestDescription, of endpoint: any Requestable) {
                request.headerItems.append(HeaderItem(name: "X-Adapter", value: "1"))
            }
            func sign(_ request: inout SignableRequest) throws { try request.setHeader("X-Signer", to: "1") }
            nonisolated(nonsending) func send(
                _ requestable: any Requestable, next: NextHandler
            ) async throws(AtomError) -> AtomResponse { throw .unexpected }
        }
        var script = ScriptedMetadata(
            .status(404, headerItems: ["Set-Cookie": "a=1; Path=/"]), .metadata(of: "https://a.example"))
        script.configuration.authenticationMethod = .basic(BasicCredential(password: "hunter2", username: "ann"))
        script.configuration.headerItems = ["X-API-Key": "hunter2", "Cookie": "b=2", "Authorization": "Bearer x"]
        script.configuration.adapters = [Marking()]
        script.configuration.signers = [Marking()]
        script.configuration.plugins = [Marking()]
        script.configuration.decoder.keyDecodingStrategy = .convertFromSnakeCase
        _ = try await script.discover("https://a.example").get()
        #expect(script.asked.count == 2)
        for request in script.wire.requests {
            for name in ["Authorization", "Cookie", "X-API-Key", "X-Adapter", "X-Signer"] {
                #expect(request[name] == nil, "\(name)")
            }
            #expect(request.method == "GET" && request["Accept"] == "application/json")
        }
    }

    @Test("Cookies of the process aren't sent")
    func sharedCookies() async throws {
        var script = ScriptedMetadata(.metadata(of: "https://jar.example"))
        script.configuration.configuration = .default
        let cookie = try #require(
            HTTPCookie(properties: [.name: "a", .value: "1", .domain: "jar.example", .path: "/"]))
        HTTPCookieStorage.shared.setCookie(cookie)
        defer { HTTPCookieStorage.shared.deleteCookie(cookie) }
        _ = try await script.discover("https://jar.example").get()
        #expect(script.wire.requests.first?["Cookie"] == nil)
    }

    @Test("What an app's own transport brings isn't kept for the process")
    func ownTransport() async throws {
        let document = ScriptedResponse.metadata(
            of: "https://own.example", headerItems: ["Cache-Control": "max-age=60"])
        let script = ScriptedMetadata(document, document, cache: nil)
        for _ in 0..<2 { _ = try await script.discover("https://own.example").get() }
        #expect(script.asked.count == 2)
    }

    @Test("A document is asked for again when it is no longer fresh")
    func caching() async throws {
        let issuer = "https://cached.example"
        let document = ScriptedResponse.metadata(of: issuer, headerItems: ["Cache-Control": "max-age=60"])
        var script = ScriptedMetadata(document, document, cache: nil)
        script.configuration.cache = ResponseCache(memory: 1 << 20)
        let first = try await script.discover(issuer).get()
        script.wire.clock.advance(by: .seconds(59))
        #expect(try await script.discover(issuer).get() == first)
        #expect(script.asked.count == 1)
        script.wire.clock.advance(by: .seconds(1))
        #expect(try await script.discover(issuer).get() == first)
        #expect(script.asked.count == 2)
    }

    @Test("Responses are kept although they set cookies")
    func cookies() async throws {
        let issuer = "https://a.example"
        let items: [HeaderItem] = ["Set-Cookie": "a=1; Path=/", "Cache-Control": "max-age=60"]
        let script = ScriptedMetadata(.status(404, headerItems: items), .metadata(of: issuer, headerItems: items))
        let first = try await script.discover(issuer).get()
        #expect(try await script.discover(issuer).get() == first)
        #expect(script.asked.count == 2)
    }
}

/// Random numbers that are the same in every run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
