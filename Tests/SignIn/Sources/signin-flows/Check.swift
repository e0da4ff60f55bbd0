import AtomNetworking
import AtomNetworkingSignIn
import Foundation

/// What is wrong with a result.
struct Problem: Error {
    let text: String

    init(_ text: String) { self.text = text }
}

/// One thing that a sign-in has to do, or to refuse.
struct Check: Sendable {
    let name: String
    private let run: @Sendable (Server) async throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (Server) async throws -> Void) {
        self.name = name
        self.run = run
    }

    /// `nil` if it passes.
    func problem(with server: Server) async -> String? {
        do {
            try await Task.sleep(for: server.pause)
            try await run(server)
            return nil
        } catch let problem as Problem {
            return problem.text
        } catch let error as AtomError {
            return "\(error)" + (error.signInError.map { " \($0)" } ?? "")
        } catch {
            return "\(error)"
        }
    }

    static let all: [Check] = [
        metadata, code, identity, refresh, spentRefreshToken, endedElsewhere, signOut, declined, forgedState,
        replayedCode,
        otherVerifier, otherIssuer, protectedResource, pushed, proof, device, declinedDevice, more,
    ]
}

// Sign-ins with a browser, and what comes after them.
extension Check {
    private static let metadata = Check("discovery") { server in
        let found = try await AuthorizationServer.discover(server.issuer)
        try expect(found.issuer, server.issuer)
        try expect(found.authorizationEndpoint != nil, true)
    }

    private static let code = Check("code with PKCE") { server in
        let app = App(server, try await server.client())
        try await app.request()
        let tokens = try await app.tokens()
        try expect(tokens.refreshToken.isEmpty, false)
        try expect(tokens.tokenType?.lowercased(), "bearer")
    }

    private static let identity = Check("ID token") { server in
        let app = App(server, try await server.client())
        try await app.request()
        let token = try IDToken(try await app.tokens().idToken ?? "")
        try expect(token.issuer, server.issuer)
        try expect(token.audiences, [server.clientID])
        try expect(token.subject.isEmpty, false)
    }

    private static let refresh = Check("refresh") { server in
        let app = App(server, try await server.client())
        let old = try await app.refreshedTokens()
        let new = try await app.tokens()
        try expect(old.accessToken != new.accessToken, true)
        try await app.request()
    }

    private static let spentRefreshToken = Check("spent refresh token") { server in
        let app = App(server, try await server.client())
        let old = try await app.refreshedTokens()
        try await expectRefusal { try await app.refresh(old.refreshToken) }
    }

    private static let endedElsewhere = Check("session that somebody else has ended") { server in
        let app = App(server, try await server.client())
        try await app.request()
        try await app.refresh(try await app.tokens().refreshToken)
        // The session's own refresh token is spent, and the person signs in anew.
        try await app.refreshedTokens()
        try await app.request()
    }

    private static let signOut = Check("sign-out with revocation") { server in
        let app = App(server, try await server.client())
        try await app.request()
        let tokens = try await app.tokens()
        try await app.atom.signOut(waitingForRevocation: true)
        try expect(try await app.store.load() == nil, true)
        try await expectRefusal { try await app.refresh(tokens.refreshToken) }
    }

    private static let declined = Check("declined") { server in
        var client = try await server.client()
        // Some ask a person only once.
        client.parameters = [QueryItem(name: "prompt", value: "consent")]
        let app = App(server, client, ["--decline"])
        try await expect(.declined) { try await app.request() }
        try expect(try await app.store.load() == nil, true)
    }

    private static let more = Check("signing in for more") { server in
        let app = App(server, try await server.client())
        try await app.request()
        let url = server.more ?? server.resource
        let answer = try await app.signIn.withStepUp(of: app.atom) {
            try await app.atom.enqueue(URLEndpoint(url)).resume()
        }
        try expect(answer.isSuccess, true)
        try expect(try await app.tokens().scope?.split(separator: " ").contains("files"), true)
        // The first resource, too, takes the new token.
        try await app.request()
    }
}

// Callbacks that somebody has changed.
extension Check {
    private static let forgedState = Check("callback with another state") { server in
        let app = App(server, try await server.client(), ["--forge-state"])
        try await expect(.wrongState) { try await app.request() }
        try expect(try await app.store.load() == nil, true)
    }

    private static let replayedCode = Check("code that was used") { server in
        let client = try await server.client()
        let request = try await client.authorizationRequest(redirectURI: server.redirectURI)
        let callback = try Visit.callback(of: request.url)
        _ = try await client.credential(for: request, callback: callback)
        try await expectRefusal { _ = try await client.credential(for: request, callback: callback) }
    }

    private static let otherVerifier = Check("code with another verifier") { server in
        let client = try await server.client()
        let stolen = try await client.authorizationRequest(redirectURI: server.redirectURI)
        let request = try await client.authorizationRequest(redirectURI: server.redirectURI)
        let code = try Visit.callback(of: stolen.url).parameter("code")
        let callback = try Visit.callback(of: request.url).replacing("code", with: code)
        try await expectRefusal { _ = try await client.credential(for: request, callback: callback) }
    }

    private static let otherIssuer = Check("callback of another server") { server in
        let client = try await server.client()
        let request = try await client.authorizationRequest(redirectURI: server.redirectURI)
        let callback = try Visit.callback(of: request.url)
        let other = "https://other.example"
        try await expect(.wrongIssuer(expected: server.issuer, found: other)) {
            _ = try await client.credential(for: request, callback: callback.replacing("iss", with: other))
        }
        if client.server.sendsIssuerInCallback {
            try await expect(.wrongIssuer(expected: server.issuer, found: nil)) {
                _ = try await client.credential(for: request, callback: callback.replacing("iss", with: nil))
            }
        }
        _ = try await client.credential(for: request, callback: callback)
    }
}

// What not every server has.
extension Check {
    private static let protectedResource = Check("protected resource") { server in
        guard let url = URL(string: server.resource) else { throw Problem("\(server.resource) is no URL") }
        var request = try URLEndpoint(url)
        request.acceptableStatusCodes = 401...401
        let answer = try await Atom().enqueue(request).resume()
        let resource = try await ProtectedResource.discover(for: url, response: answer)
        try expect(resource.authorizationServers, [server.issuer])
    }

    private static let pushed = Check("pushed request") { server in
        let client = try await server.client()
        let request = try await client.authorizationRequest(redirectURI: server.redirectURI)
        let names = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems?.map(\.name) ?? []
        try expect(names.sorted(), ["client_id", "request_uri"])
        _ = try await client.credential(for: request, callback: try Visit.callback(of: request.url))
    }

    private static let proof = Check("token bound to a key") { server in
        let app = App(server, try await server.client(proof: try DPoP(key: OpenSSLKey())))
        try await app.request()
        try await app.request()
        let tokens = try await app.refreshedTokens()
        try expect(tokens.tokenType, "DPoP")
        try await app.request()
        // Whoever has stolen it has no key.
        var stolen = try URLEndpoint(
            server.resource,
            headerItems: [
                HeaderItem(name: "Authorization", value: "Bearer \(try await app.tokens().accessToken)")
            ])
        stolen.acceptableStatusCodes = 401...401
        try await Atom().enqueue(stolen).resume()
    }

    private static let device = Check("sign-in on another device") { server in
        let app = App(server, try await server.deviceClient(), onOtherDevice: [])
        try await app.request()
        try await app.refreshedTokens()
        try await app.request()
    }

    private static let declinedDevice = Check("sign-in on another device, declined") { server in
        let app = App(server, try await server.deviceClient(), onOtherDevice: ["--decline"])
        try await expect(.declined) { try await app.request() }
    }
}

// What a check asks for.
extension Check {
    private static func expect<T: Equatable>(_ found: T, _ expected: T) throws {
        if found != expected { throw Problem("expected \(expected), got \(found)") }
    }

    private static func expect(_ expected: SignInError, _ run: () async throws -> Void) async throws {
        do {
            try await run()
        } catch let error as AtomError where error.signInError == expected {
            return
        }
        throw Problem("expected \(expected), and nothing was wrong")
    }

    /// The server, and not the SDK, refuses.
    private static func expectRefusal(_ run: () async throws -> Void) async throws {
        do {
            try await run()
        } catch let error as AtomError {
            if case .refused = error.signInError { return }
            // Some say no more.
            if error.response?.statusCode == 400 { return }
            throw error
        }
        throw Problem("the server doesn't refuse it")
    }
}

/// A service whose requests sign a person in.
struct App {
    let store: InMemoryTokenCredentialStore
    let client: OAuthClient
    let signIn: SignIn
    let atom: Atom
    let resource: String
    private let pause: Duration

    /// - Parameter options: What the person does.
    init(_ server: Server, _ client: OAuthClient, _ options: [String] = []) {
        let (store, browser) = (InMemoryTokenCredentialStore(), Visit.browser(port: server.callbackPort, options))
        self.init(server, client, store, SignIn(client, browser: browser, store: store))
    }

    init(_ server: Server, _ client: OAuthClient, onOtherDevice options: [String]) {
        let store = InMemoryTokenCredentialStore()
        let signIn = SignIn(client, store: store) { authorization in
            try Visit.begin(authorization.completeVerificationURL ?? authorization.verificationURL, options)
        }
        self.init(server, client, store, signIn)
    }

    private init(_ server: Server, _ client: OAuthClient, _ store: InMemoryTokenCredentialStore, _ signIn: SignIn) {
        (self.store, self.client, self.signIn) = (store, client, signIn)
        (resource, pause) = (server.resource, server.pause)
        let bearer = client.authentication(store: store, signIn: signIn)
        atom = Atom(serviceConfiguration: ServiceConfiguration(authenticationMethod: .bearer(bearer)))
    }

    func request() async throws {
        try await atom.enqueue(URLEndpoint(resource)).resume()
    }

    func tokens() async throws -> TokenCredential {
        guard let tokens = try await store.load() else { throw Problem("there are no tokens") }
        return tokens
    }

    /// Refreshes, as if the server had refused the access token, and returns the tokens of before.
    @discardableResult func refreshedTokens() async throws -> TokenCredential {
        guard let url = URL(string: resource) else { throw Problem("\(resource) is no URL") }
        let authorization = try await atom.authorization(for: url)
        let old = try await tokens()
        try await Task.sleep(for: pause)
        _ = try await atom.authorization(for: url, after: authorization)
        return old
    }

    /// Sends a refresh token, as somebody would who has stolen it and knows the client.
    func refresh(_ token: String) async throws {
        try await Task.sleep(for: pause)
        _ = try await client.credential(grant: [
            QueryItem(name: "grant_type", value: "refresh_token"), QueryItem(name: "refresh_token", value: token),
        ])
    }
}

extension URL {
    fileprivate func parameter(_ name: String) throws -> String {
        let items = URLComponents(url: self, resolvingAgainstBaseURL: false)?.queryItems
        guard let value = items?.first(where: { $0.name == name })?.value else { throw Problem("there is no \(name)") }
        return value
    }

    /// The address with another value of a parameter, or without it.
    fileprivate func replacing(_ name: String, with value: String?) throws -> URL {
        var components = URLComponents(url: self, resolvingAgainstBaseURL: false)
        components?.queryItems?.removeAll { $0.name == name }
        if let value { components?.queryItems?.append(URLQueryItem(name: name, value: value)) }
        guard let url = components?.url else { throw Problem("no URL with another \(name)") }
        return url
    }
}
