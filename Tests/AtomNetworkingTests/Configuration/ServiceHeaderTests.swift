import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing

private struct Endpoint: Requestable {
    var headerItems: [HeaderItem]?
    var method: HTTPMethod = .get
    var body: RequestBody?
    var requiresAuthorization = true

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "a.example") }
}

@Suite("Header fields of a service", .limited)
struct ServiceHeaderTests {
    private static func sent(
        _ endpoint: Endpoint, _ items: [HeaderItem], _ method: AuthenticationMethod = .none,
        by call: (Service) async throws -> Void = { try await $0.resume() }
    ) async throws -> [String: [String]] {
        let transport = ScriptedTransport.held { $0.answer() }
        var configuration = ServiceConfiguration(authenticationMethod: method)
        configuration.transport = transport
        configuration.headerItems = items
        try await call(Atom(serviceConfiguration: configuration).enqueue(endpoint))
        let fields = try #require(transport.requests.first).headerFields
        return Dictionary(grouping: fields, by: { $0.name.lowercased() }).mapValues { $0.map(\.value) }
    }

    @Test("Every request has them, the last of one name, and an endpoint's own win")
    func precedence() async throws {
        let items: [HeaderItem] = ["X-Client": "app", "X-List": "1", "X-List": "2", "Accept": "a"]
        #expect(
            try await Self.sent(Endpoint(), items) == ["x-client": ["app"], "x-list": ["2"], "accept": ["a"]])
        #expect(
            try await Self.sent(Endpoint(headerItems: ["x-list": "own", "ACCEPT": "own"]), items)
                == ["x-client": ["app"], "x-list": ["own"], "accept": ["own"]])
    }

    @Test("What a stream of events or a download needs wins, but not over an endpoint's own")
    func needed() async throws {
        let items: [HeaderItem] = ["ACCEPT": "application/json", "Accept-Encoding": "gzip"]
        let folder = try TransferFolder()
        for own in [nil, "own"] as [String?] {
            let endpoint = Endpoint(headerItems: own.map { ["accept": $0, "accept-encoding": $0] })
            var fields = try await Self.sent(endpoint, items) { _ = try? await $0.serverSentEvents() }
            #expect(fields["accept"] == [own ?? "text/event-stream"])
            fields = try await Self.sent(endpoint, items) { try await $0.download(to: folder.file("a")) }
            #expect(fields["accept-encoding"] == [own ?? "identity"])
        }
    }

    @Test("The media type of a body wins, that of a method's bytes doesn't")
    func contentType() async throws {
        let items: [HeaderItem] = ["Content-Type": "application/cbor"]
        let bytes = Data("x".utf8)
        var fields = try await Self.sent(Endpoint(method: .post, body: .json([1])), items)
        #expect(fields["content-type"] == ["application/json"])
        fields = try await Self.sent(Endpoint(method: .post(bytes)), items)
        #expect(fields["content-type"] == ["application/cbor"])
    }

    @Test("Authorization takes the place of the method, and is left out where none is needed")
    func authorization() async throws {
        let items: [HeaderItem] = ["Authorization": "ApiKey 1"]
        let basic = AuthenticationMethod.basic(BasicCredential(password: "p", username: "u"))
        #expect(try await Self.sent(Endpoint(), items, basic)["authorization"] == ["ApiKey 1"])
        #expect(try await Self.sent(Endpoint(requiresAuthorization: false), items)["authorization"] == nil)
        #expect(
            try await Self.sent(Endpoint(headerItems: ["authorization": "own"]), items)["authorization"] == ["own"])
    }

    @Test("They are checked before anything is sent", arguments: ["a b", "X-A\n", ""])
    func validation(_ name: String) async {
        await #expect(throws: AtomError.self) { try await Self.sent(Endpoint(), [HeaderItem(name: name, value: "1")]) }
    }

    @Test("A token endpoint doesn't get them")
    func tokenRequest() async throws {
        let transport = ScriptedTransport.held { exchange in
            let isToken = exchange.request.target.absoluteString.hasSuffix("/token")
            exchange.answer(isToken ? #"{"access_token":"A1","token_type":"Bearer","expires_in":900}"# : "{}")
        }
        let store = InMemoryTokenCredentialStore(
            TokenCredential(accessToken: "A0", expiresAt: .distantPast, refreshToken: "R0"))
        var configuration = ServiceConfiguration(
            authenticationMethod: .bearer(
                try AuthorizationEndpoint(host: "auth.example.com", path: "/token"), ClientCredential(id: "app"), store)
        )
        configuration.transport = transport
        configuration.timeSource = transport.clock
        configuration.headerItems = ["X-Client": "app"]
        try await Atom(serviceConfiguration: configuration).enqueue(Endpoint()).resume()
        #expect(transport.requests.map { $0.headerFields["X-Client"] } == [nil, "app"])
        #expect(transport.requests.last?.headerFields["Authorization"] == "Bearer A1")
    }

    @Test("A field that the transport writes is left out")
    func reserved() async throws {
        #expect(try await Self.sent(Endpoint(), ["Host": "b.example", "X-A": "1"]) == ["x-a": ["1"]])
    }
}
