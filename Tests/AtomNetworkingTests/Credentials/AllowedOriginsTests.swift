import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// Where a credential goes, and where it doesn't.
@Suite(.limited) struct AllowedOriginsTests {
    private struct Endpoint: Requestable {
        var base: BaseURL
        var requiresAuthorization = true

        func baseURL() throws(AtomError) -> BaseURL { base }
    }

    private let transport = ScriptedTransport.held { $0.answer("{}") }

    private func atom(_ allowed: AllowedOrigins?, isBasic: Bool = false) throws -> Atom {
        let endpoint = try AuthorizationEndpoint(host: "auth.example.com", path: "/token")
        let tokens = TokenCredential(accessToken: "A0", expiresAt: .distantFuture, refreshToken: "R0")
        var bearer = BearerAuthentication(
            endpoint: endpoint, client: ClientCredential(id: "app"), store: InMemoryTokenCredentialStore(tokens))
        var basic = BasicCredential(password: "secret", username: "ada")
        if let allowed {
            bearer.allowedOrigins = allowed
            basic.allowedOrigins = allowed
        }
        var configuration = ServiceConfiguration(authenticationMethod: isBasic ? .basic(basic) : .bearer(bearer))
        configuration.transport = transport
        configuration.timeSource = transport.clock
        return Atom(serviceConfiguration: configuration)
    }

    private func refusal(_ base: String, _ allowed: AllowedOrigins?, isBasic: Bool = false) async throws -> String? {
        do {
            try await atom(allowed, isBasic: isBasic).enqueue(Endpoint(base: try BaseURL(string: base))).resume()
            return nil
        } catch {
            guard let error = error as? AtomError, case .requestable(.originNotAllowed(let violation)) = error
            else { throw error }
            #expect(transport.exchanges.isEmpty, "nothing is sent")
            #expect(error.delivery == .notSent)
            return "\(violation.subject): \(violation.reason)"
        }
    }

    @Test("Tokens go to an authorization server over HTTPS, on this device, or where the app says so")
    func authorizationServers() async throws {
        func refreshes(_ scheme: BaseURLScheme, _ host: String, _ allowed: AllowedOrigins?) async throws -> Bool {
            let transport = ScriptedTransport.held { exchange in
                let isToken = exchange.request.target.absoluteString.hasSuffix("/token")
                exchange.answer(isToken ? #"{"access_token":"A1","token_type":"Bearer","expires_in":900}"# : "{}")
            }
            let tokens = TokenCredential(accessToken: "A0", expiresAt: .distantPast, refreshToken: "R0")
            var bearer = BearerAuthentication(
                endpoint: try AuthorizationEndpoint(scheme: scheme, host: host, path: "/token"),
                client: ClientCredential(id: "app", secret: "s"), store: InMemoryTokenCredentialStore(tokens))
            if let allowed { bearer.allowedOrigins = allowed }
            var configuration = ServiceConfiguration(authenticationMethod: .bearer(bearer))
            configuration.transport = transport
            configuration.timeSource = transport.clock
            let endpoint = Endpoint(base: try BaseURL(host: "api.example.com"))
            do throws(AtomError) {
                try await Atom(serviceConfiguration: configuration).enqueue(endpoint).resume()
                return true
            } catch {
                guard case .requestable(.originNotAllowed(let violation)) = error else { throw error }
                #expect(violation.subject == "http://auth.example.com")
                #expect(transport.exchanges.isEmpty, "nothing is sent")
                return false
            }
        }
        let api = try BaseURL(host: "api.example.com")
        #expect(try await refreshes(.https, "auth.example.com", nil))
        #expect(try await refreshes(.https, "auth.example.com", .only([api])), "it need not be named")
        #expect(try await refreshes(.http, "localhost", .only([api])))
        #expect(try await !refreshes(.http, "auth.example.com", nil))
        #expect(try await !refreshes(.http, "auth.example.com", .only([api])))
        #expect(try await refreshes(.http, "auth.example.com", .any))
        let named = try BaseURL(scheme: .http, host: "auth.example.com")
        #expect(try await refreshes(.http, "auth.example.com", .only([api, named])))
    }

    @Test(
        "By default a credential may be sent over HTTPS or to this device",
        arguments: [
            "https://api.example.com", "https://other.example.org:8443", "http://localhost:8080",
            "http://127.0.0.1", "http://127.8.9.1:81", "http://[::1]:8080", "http://LOCALHOST",
            "https://my_service", "https://api.example.com.",
        ])
    func byDefaultOnlyHTTPSAndThisDevice(base: String) async throws {
        #expect(try await refusal(base, nil) == nil)
        #expect(try await refusal(base, nil, isBasic: true) == nil)
    }

    @Test(arguments: [
        "http://api.example.com", "http://127.0.0.1.example.com", "http://localhost.example.com", "http://10.0.0.1",
        "http://0.0.0.0", "http://128.0.0.1", "http://[::2]", "http://notlocalhost", "http://app.localhost",
        "http://localhost.", "http://my_service",
    ])
    func plainHTTPElsewhereIsRefusedByName(base: String) async throws {
        let refusal = try #require(try await refusal(base, nil))
        #expect(refusal.hasPrefix(base))
        #expect(refusal.contains("BearerAuthentication.allowedOrigins"))
        let basic = try #require(try await self.refusal(base, nil, isBasic: true))
        #expect(basic.contains("BasicCredential.allowedOrigins"))
        #expect(!basic.contains("secret"))
    }

    @Test func namedOriginsAreTheOnlyOnes() async throws {
        let allowed = AllowedOrigins.only([
            try BaseURL(host: "API.example.com"), try BaseURL(string: "http://nas.home:81"),
            try BaseURL(string: "http://my_service.:8080"),
        ])
        for base in [
            "https://api.example.com", "https://api.example.com:443", "http://nas.home:81", "http://MY_service.:8080",
        ] {
            #expect(try await refusal(base, allowed) == nil, "\(base)")
        }
    }

    @Test(arguments: [
        "https://api.example.org", "http://api.example.com", "https://api.example.com:8443", "http://nas.home",
        "https://nas.home:81", "http://localhost", "https://api.example.com.", "http://nas.home.:81",
    ])
    func anythingElseIsRefused(base: String) async throws {
        let allowed = AllowedOrigins.only([
            try BaseURL(host: "api.example.com"), try BaseURL(string: "http://nas.home:81"),
        ])
        #expect(try await refusal(base, allowed) != nil)
    }

    @Test func anyIsAny() async throws {
        #expect(try await refusal("http://api.example.com", .any) == nil)
    }

    @Test func aRequestWithoutACredentialGoesAnywhere() async throws {
        let endpoint = Endpoint(base: try BaseURL(string: "http://api.example.com"), requiresAuthorization: false)
        try await atom(nil).enqueue(endpoint).resume()
        #expect(transport.requests.first?.headerFields["Authorization"] == nil)
        var configuration = ServiceConfiguration()
        configuration.transport = transport
        try await Atom(serviceConfiguration: configuration).enqueue(
            Endpoint(base: try BaseURL(string: "http://api.example.com"))
        ).resume()
        #expect(transport.requests.count == 2)
    }

    // MARK: Links

    private func response(_ url: String = "https://api.example.com/v1/list?page=1") -> AtomResponse {
        AtomResponse(statusCode: 200, url: URL(string: url))
    }

    private func sent(_ reference: String, _ allowed: AllowedOrigins? = nil) async throws -> RecordedRequest {
        let link = try LinkedEndpoint(reference, in: response())
        try await atom(allowed).enqueue(link).resume()
        return try #require(transport.requests.last)
    }

    @Test(arguments: [
        ("https://api.example.com/v1/list?page=2&x=a%2Fb%20c", "https://api.example.com/v1/list?page=2&x=a%2Fb%20c"),
        ("?page=2", "https://api.example.com/v1/list?page=2"), ("/v2", "https://api.example.com/v2"),
        ("//api.example.com/x", "https://api.example.com/x"), ("next#part", "https://api.example.com/v1/next"),
        ("https://API.example.com:443/x", "https://api.example.com:443/x"),
        ("https://me:pass@api.example.com/x", "https://api.example.com/x"),
    ])
    func aLinkToTheSameOriginIsSigned(reference: String, url: String) async throws {
        let request = try await sent(reference)
        #expect(request.target.absoluteString.lowercased() == url.lowercased())
        #expect(request.headerFields["Authorization"] == "Bearer A0")
    }

    @Test(
        "A link to another origin is not signed",
        arguments: [
            "https://files.example.com/x?X-Amz-Signature=a%2Bb", "http://api.example.com/x",
            "https://api.example.com:8443/", "https://api.example.com./", "https://files_of.example.com/",
        ])
    func aLinkToAnotherOriginIsNot(reference: String) async throws {
        let request = try await sent(reference)
        #expect(request.target.absoluteString == reference)
        #expect(request.headerFields["Authorization"] == nil)
    }

    @Test(arguments: ["https://api.example.com/v1/list?page=2", "/v2", "?page=3"])
    func aLinkMayHaveBeenDecodedAsAURL(reference: String) async throws {
        let decoded = try JSONDecoder().decode([URL].self, from: Data("[\"\(reference)\"]".utf8))
        let endpoint = try LinkedEndpoint(try #require(decoded.first), in: response())
        #expect(try endpoint.target == LinkedEndpoint(reference, in: response()).target)
    }

    @Test func namedOriginsDecideAboutLinks() async throws {
        let allowed = AllowedOrigins.only([try BaseURL(host: "files.example.com")])
        #expect(try await sent("https://files.example.com/x", allowed).headerFields["Authorization"] == "Bearer A0")
        #expect(try await sent("/x", allowed).headerFields["Authorization"] == nil)
    }

    @Test(arguments: [
        "ftp://example.com/x", "mailto:ada@example.com", "https://", "http://exa mple.com", "https://:80/",
    ])
    func whatIsNoHTTPURLIsRefused(reference: String) {
        #expect {
            _ = try LinkedEndpoint(reference, in: response())
        } throws: { error in
            error as? AtomError == nil ? false : "\(error)".contains("Invalid URL")
        }
    }

    @Test func withoutAURLOfTheResponseOnlyAbsoluteLinksWork() async throws {
        let answer = AtomResponse(statusCode: 200)
        #expect(throws: AtomError.self) { _ = try LinkedEndpoint("/x", in: answer) }
        let link = try LinkedEndpoint("https://api.example.com/x", in: answer)
        try await atom(nil).enqueue(link).resume()
        #expect(transport.requests.last?.headerFields["Authorization"] == nil)
    }

    /// The response to a request that is answered by a script.
    private func answer(
        _ endpoint: any Requestable, headerItems: [HeaderItem] = [], script: @escaping ScriptedTransport.Script
    ) async throws -> (atom: Atom, transport: ScriptedTransport, response: AtomResponse) {
        let transport = ScriptedTransport.held(script: script)
        let tokens = TokenCredential(accessToken: "A0", expiresAt: .distantFuture, refreshToken: "R0")
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(
                try AuthorizationEndpoint(host: "auth.example.com", path: "/token"), ClientCredential(id: "app"),
                InMemoryTokenCredentialStore(tokens)))
        configuration.transport = transport
        configuration.timeSource = transport.clock
        configuration.headerItems = headerItems
        let atom = Atom(serviceConfiguration: configuration)
        return (atom, transport, try await atom.enqueue(endpoint).resume())
    }

    private static let list = PathEndpoint(pathText: "/list")

    @Test func aLinkOfAResponseThatARedirectLedToIsNotSigned() async throws {
        let (atom, transport, response) = try await answer(Self.list) { exchange in
            if exchange.request.target.host == "api.example.com" {
                exchange.redirect(to: "https://evil.example.org/list")
            } else {
                exchange.answer("{}")
            }
        }
        try await atom.enqueue(LinkedEndpoint("/p2", in: response)).resume()
        let request = try #require(transport.requests.last)
        #expect(request.target.absoluteString == "https://evil.example.org/p2")
        #expect(request.headerFields["Authorization"] == nil)
    }

    @Test func aLinkOfOneServiceIsNotSignedByAnother() async throws {
        let (_, _, response) = try await answer(Self.list) { $0.answer("{}") }
        let (other, transport, _) = try await answer(Self.list, headerItems: ["X-API-Key": "key"]) { $0.answer("{}") }
        try await other.enqueue(LinkedEndpoint("/p2", in: response)).resume()
        let request = try #require(transport.requests.last)
        #expect(request.headerFields["Authorization"] == nil && request.headerFields["X-API-Key"] == nil)
    }

    @Test(arguments: ["ada", "bob"])
    func servicesOfTheSameUserSignEachOthersLinks(user: String) async throws {
        func atom(_ user: String) -> Atom {
            var configuration = ServiceConfiguration(
                authenticationMethod: .basic(BasicCredential(password: "secret", username: user)))
            configuration.transport = transport
            return Atom(serviceConfiguration: configuration)
        }
        let response = try await atom("ada").enqueue(Self.list).resume()
        try await atom(user).enqueue(LinkedEndpoint("/p2", in: response)).resume()
        let last = try #require(transport.requests.last)
        #expect((last.headerFields["Authorization"] != nil) == (user == "ada"))
    }

    @Test func aLinkOfAnUnsignedLinkIsNotSigned() async throws {
        let (atom, transport, first) = try await answer(Self.list) { $0.answer("{}") }
        let second = try await atom.enqueue(LinkedEndpoint("https://files.example.org/a", in: first)).resume()
        try await atom.enqueue(LinkedEndpoint("/b", in: second)).resume()
        #expect(transport.requests.map { $0.headerFields["Authorization"] } == ["Bearer A0", nil, nil])
        try await atom.enqueue(LinkedEndpoint("/c", in: first)).resume()
        #expect(transport.requests.last?.headerFields["Authorization"] == "Bearer A0")
    }

    @Test func aLinkOfAResponseToAnUnsignedRequestIsNotSigned() async throws {
        let feed = PathEndpoint(pathText: "/feed", requiresAuthorization: false)
        let (atom, transport, response) = try await answer(feed) { $0.answer("{}") }
        try await atom.enqueue(LinkedEndpoint("/p2", in: response)).resume()
        #expect(transport.requests.last?.headerFields["Authorization"] == nil)
    }

    @Test func theServicesHeaderFieldsStayAtTheirOrigin() async throws {
        let items: [HeaderItem] = ["Authorization": "Bearer own", "X-API-Key": "key", "Accept-Language": "de"]
        let (atom, transport, response) = try await answer(Self.list, headerItems: items) { $0.answer("{}") }
        #expect(transport.requests.last?.headerFields["X-API-Key"] == "key")
        try await atom.enqueue(LinkedEndpoint("https://evil.example.org/x", in: response)).resume()
        let request = try #require(transport.requests.last)
        #expect(request.headerFields["Authorization"] == nil)
        #expect(request.headerFields["X-API-Key"] == nil)
        #expect(request.headerFields["Accept-Language"] == "de")
    }

    @Test func anEndpointThatPassesItsCallsOnToALinkIsRefused() async throws {
        struct Wrapper: Requestable {
            var link: LinkedEndpoint
            func baseURL() throws(AtomError) -> BaseURL { try link.baseURL() }
        }
        let link = try LinkedEndpoint("https://evil.example.org/x", in: response())
        await #expect(throws: AtomError.self) { try await atom(nil).enqueue(Wrapper(link: link)).resume() }
        #expect(transport.exchanges.isEmpty)
    }

    @Test func aLinkCarriesWhatTheAppAddsToIt() async throws {
        var link = try LinkedEndpoint("/upload/7", in: response())
        link.method = .put
        link.body = .data(Data("x".utf8), contentType: "text/plain")
        link.headerItems = [HeaderItem(name: "X-Part", value: "1")]
        try await atom(nil).enqueue(link).resume()
        let request = try #require(transport.requests.last)
        #expect(request.method == "PUT")
        #expect(request.body == Data("x".utf8))
        #expect(request.headerFields["X-Part"] == "1")
    }
}
