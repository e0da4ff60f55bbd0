import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// G13: everything that an app or a debugger can print.
@Suite("No value shows a secret, however it is printed", .limited)
struct PrintedValueTests {
    @Test("A printed service shows no secret, also while and after it refreshes")
    func service() async throws {
        let basic = Atom(
            serviceConfiguration: ServiceConfiguration(
                authenticationMethod: .basic(BasicCredential(password: "hunter2", username: "ada"))))
        let encoded = Data("ada:hunter2".utf8).base64EncodedString()
        expectNone(of: everyRendering(of: basic), toContain: encoded)
        expectNone(of: everyRendering(of: basic.enqueue(PathEndpoint())), toContain: encoded)

        let session = try SessionFixture(lifetime: 0)
        let task = session.atom.enqueue(PathEndpoint()).resume { _ in }
        await session.refresh().answer(#"{"access_token":"A1hunter2","refresh_token":"hunter2"}"#)
        _ = await session.transport.exchange(1)
        expectNone(of: everyRendering(of: session.atom), toContain: "\"A0\"")
        expectNone(of: everyRendering(of: session.atom), toContain: "hunter2")
        expectNone(of: everyRendering(of: task), toContain: "hunter2")
        expectNone(of: everyRendering(of: task), toContain: "\"A0\"")
    }

    @Test("A printed request and its parts show no secret")
    func requests() throws {
        let base = try BaseURL(host: "a.example")
        let request = try TransportRequest(
            method: "POST", base: base, path: URLPath("/x"), queryItems: ["token": "hunter2"],
            headerFields: HeaderFields([.init(name: "Authorization", value: "hunter2")]), body: Data("hunter2".utf8))
        let renderings =
            everyRendering(of: request) + everyRendering(of: request.target)
            + everyRendering(of: QueryItem(name: "a", value: "hunter2"))
            + everyRendering(of: RequestBody.form(["a": "hunter2"]))
            + everyRendering(of: RequestBody.json("hunter2"))
            + everyRendering(of: HTTPMethod.post(Data("hunter2".utf8)))
        expectNone(of: renderings, toContain: "hunter2")
        #expect(request.description == "POST https://a.example/x?token=…")
    }

    @Test(
        "A printed method doesn't show the body inside it",
        arguments: [
            HTTPMethod.post(Data("hunter2".utf8)), .put(Data("hunter2".utf8)), .patch(Data("hunter2".utf8)),
            .delete(Data("hunter2".utf8)), .token("PROPFIND", Data("hunter2".utf8)),
        ])
    func method(_ method: HTTPMethod) {
        expectNone(of: everyRendering(of: method), toContain: "hunter2")
        // The format in which `dump` writes bytes: h, u, n.
        expectNone(of: everyRendering(of: method), toContain: "104\n      - 117\n      - 110")
        #expect(method.description == "\(method.name) (7 bytes)")
    }

    @Test("Printed attempts and transport events show no secret")
    func exchange() throws {
        let secret = Data("hunter2".utf8)
        let endpoint = RecordingEndpoint(
            method: .post(secret), headerItems: ["X-Key": "hunter2"], queryItems: ["token": "hunter2"])
        let request = try PreparedRequest(endpoint, timeout: ServiceTimeout())
        expectNone(of: everyRendering(of: request) + everyRendering(of: Attempt(request)), toContain: "hunter2")
        struct Chatty: Error { var text = "hunter2" }
        let fields = HeaderFields([
            .init(name: "Set-Cookie", value: "hunter2"), .init(name: "d41d8cd98f00b204e9800998ecf8427e", value: "x"),
        ])
        for event: TransportEvent in [
            .data(secret), .response(TransportResponse(statusCode: 200, headerFields: fields)),
            .failed(TransportFailure(Chatty())),
            .failed(TransportFailure(URLError(.badURL, userInfo: ["at": "https://a.example/?hunter2"]))),
        ] {
            expectNone(of: everyRendering(of: event), toContain: "hunter2")
        }
        expectNone(of: everyRendering(of: fields) + fields.flatMap { everyRendering(of: $0) }, toContain: "d41d8cd")
    }

    @Test("Printed credentials, configurations and session events show no secret")
    func values() throws {
        struct Chatty: Error { var text = "hunter2" }
        let tokens = TokenCredential(
            accessToken: "hunter2", expiresAt: .distantFuture, refreshToken: "hunter2", idToken: "hunter2")
        let endpoint = try AuthorizationEndpoint(host: "a.example", path: "/token")
        let client = ClientCredential(id: "app", secret: "hunter2")
        var bearer = BearerAuthentication(
            endpoint: endpoint, client: client, store: InMemoryTokenCredentialStore(tokens))
        bearer.parameters = ["assertion": "hunter2"]
        let basic = BasicCredential(password: "hunter2", username: "hunter2")
        var renderings = everyRendering(of: tokens) + everyRendering(of: client) + everyRendering(of: bearer)
        for method in [AuthenticationMethod.bearer(bearer), .basic(basic)] {
            renderings += everyRendering(of: method)
            renderings += everyRendering(of: ServiceConfiguration(authenticationMethod: method))
        }
        let cause = AuthenticationError.refreshFailed(cause: Chatty(), retryAt: nil, delivery: .notSent)
        let provider = AuthenticationError.credentialNotProvided(cause: Chatty(), retryAt: nil, delivery: .notSent)
        for error in [cause, provider, .credentialNotReadable(cause: Chatty(), delivery: .notSent)] {
            renderings += everyRendering(of: error) + everyRendering(of: AtomError.authentication(error))
            renderings += everyRendering(of: SessionEvent.refreshFailed(error))
            renderings += everyRendering(of: SessionState.ended(error))
        }
        renderings += everyRendering(of: Result<AtomResponse, AtomError>.failure(.authentication(cause)))
        expectNone(of: renderings, toContain: "hunter2")
    }

    @Test("A printed OAuth error of a provider shows no secret from the server's words")
    func foreignOAuthError() {
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"
        let error = OAuthError(
            code: "bad \(token)", explanation: "No \(token); see https://a.example/?hunter2",
            uri: "https://a.example/?\(token)")
        let renderings =
            everyRendering(of: error)
            + everyRendering(of: AtomError.authentication(.refreshRejected(error, delivery: .answered)))
        expectNone(of: renderings, toContain: "eyJ")
        expectNone(of: renderings, toContain: "hunter2")
        #expect(error.description == "bad …: No …; see https://a.example/?…")
    }
}
