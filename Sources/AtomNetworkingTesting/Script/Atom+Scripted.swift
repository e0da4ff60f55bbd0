import AtomNetworking
import AtomNetworkingSignIn

extension Atom {
    /// Creates a service without a network, and the wire that answers its
    /// requests.
    ///
    /// ```swift
    /// import AtomNetworking
    /// import AtomNetworkingTesting
    ///
    /// let (atom, wire) = Atom.scripted(.status(503), .json(text: "[]")) { $0.retryPolicy = .standard }
    /// ```
    ///
    /// - Parameters:
    ///   - answers: The answers to the requests, in order.
    ///   - isSignedIn: Whether somebody is signed in. `nil`, the default, for a
    ///     service without a session. With `true` or `false` requests are signed
    ///     with tokens of ``ScriptedTransport/authorizationServer``, which are
    ///     kept in ``ScriptedTransport/tokenStore``. A request with a token that
    ///     has expired, was revoked or is unknown gets a 401 and uses up no
    ///     answer.
    ///   - lifetime: For how long each access token is valid.
    ///   - delivery: On which thread events are sent.
    ///   - clock: The service goes by it. So its timeouts and pauses end only
    ///     when the test advances the clock.
    ///   - configure: May change the service's configuration, and put the app's own
    ///     one in its place. Without a transport it gets the wire, its clock and
    ///     its tokens again; with one, requests go there.
    ///   - onProblem: Hears what nobody has verified, when the wire goes away, and
    ///     what the test has waited for in vain. By default that is
    ///     ``ScriptProblem/report(_:)``: an issue of the test that is running.
    ///   - fileID: The file of the test, for that issue.
    ///   - filePath: The file of the test, for that issue.
    ///   - line: The line of the test, for that issue.
    /// - Returns: The service and its wire. The service keeps the wire.
    public static func scripted(
        _ answers: ScriptedResponse..., signedIn isSignedIn: Bool? = nil,
        expiringIn lifetime: Duration = .seconds(3_600),
        delivery: ScriptedTransport.Delivery = .asynchronous, clock: ManualClock = ManualClock(),
        configure: (inout ServiceConfiguration) -> Void = { _ in },
        onProblem: @escaping @Sendable (ScriptProblem) -> Void = { ScriptProblem.report($0) },
        fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line
    ) -> (atom: Atom, wire: ScriptedTransport) {
        scripted(
            answers, signedIn: isSignedIn, expiringIn: lifetime, delivery: delivery, clock: clock,
            configure: configure, onProblem: onProblem, place: (fileID, filePath, line))
    }

    /// Creates a service without a network whose user signs in when a request needs it, in the browser of
    /// ``ScriptedTransport/authorizationServer``.
    ///
    /// Nobody is signed in at first. The person approves, unless the test says otherwise.
    ///
    /// ```swift
    /// import AtomNetworking
    /// import AtomNetworkingTesting
    ///
    /// struct Profile: Requestable {
    ///     func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    /// }
    ///
    /// let (atom, wire) = Atom.scripted(.status(204), signingInFor: ["openid"])
    /// try await atom.enqueue(Profile()).resume()
    /// assert(wire.authorizationServer.counts.pages == 1)
    /// ```
    ///
    /// - Parameters:
    ///   - answers: The answers to the requests, in order.
    ///   - scopes: What a sign-in asks for; with `openid` there is an ID token.
    ///   - demandsProofs: Whether the tokens are bound to a key (RFC 9449).
    ///   - lifetime: For how long each access token is valid.
    ///   - clock: The service goes by it.
    ///   - configure: May change the service's configuration.
    ///   - onProblem: Hears what nobody has verified, when the wire goes away, and what the test has waited for in vain.
    ///   - fileID: The file of the test, for that issue.
    ///   - filePath: The file of the test, for that issue.
    ///   - line: The line of the test, for that issue.
    /// - Returns: The service and its wire. The service keeps the wire.
    public static func scripted(
        _ answers: ScriptedResponse..., signingInFor scopes: [String], demandingProofs demandsProofs: Bool = false,
        expiringIn lifetime: Duration = .seconds(3_600), clock: ManualClock = ManualClock(),
        configure: (inout ServiceConfiguration) -> Void = { _ in },
        onProblem: @escaping @Sendable (ScriptProblem) -> Void = { ScriptProblem.report($0) },
        fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line
    ) -> (atom: Atom, wire: ScriptedTransport) {
        scripted(
            answers, expiringIn: lifetime, delivery: .asynchronous, clock: clock, configure: configure,
            onProblem: onProblem, place: (fileID, filePath, line)
        ) { wire in
            wire.authorizationServer.demandsProofs = demandsProofs
            let client = wire.client(scopes: scopes)
            let signIn = SignIn(client, browser: wire.authorizationServer.browser, store: wire.tokenStore)
            return client.authentication(store: wire.tokenStore, signIn: signIn)
        }
    }

    /// Runs a test with a service without a network, and verifies its script.
    ///
    /// If the test throws, its error is thrown and the script doesn't matter. Nor
    /// does what happens after the test has returned. What the test waits for in
    /// vain is given to ``ScriptProblem/report(_:)`` at once.
    ///
    /// ```swift
    /// import AtomNetworking
    /// import AtomNetworkingTesting
    ///
    /// struct Ping: Requestable {
    ///     func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    /// }
    ///
    /// try await Atom.withScript(.status(204)) { atom, wire in
    ///     try await atom.enqueue(Ping()).resume()
    ///     assert(wire.requests.count == 1)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - answers: The answers to the requests, in order.
    ///   - isSignedIn: Whether somebody is signed in; `nil`, the default, for a
    ///     service without a session.
    ///   - lifetime: For how long each access token is valid.
    ///   - delivery: On which thread events are sent.
    ///   - clock: The service goes by it.
    ///   - configure: May change the service's configuration.
    ///   - isolation: Where the test runs; the caller's by default.
    ///   - fileID: The file of the test, for what it waits for in vain.
    ///   - filePath: The file of the test.
    ///   - line: The line of the test.
    ///   - test: Gets the service and its wire.
    /// - Returns: What the test returns.
    /// - Throws: The error of the test, or a ``ScriptProblem``.
    public static func withScript<Value>(
        _ answers: ScriptedResponse..., signedIn isSignedIn: Bool? = nil,
        expiringIn lifetime: Duration = .seconds(3_600),
        delivery: ScriptedTransport.Delivery = .asynchronous, clock: ManualClock = ManualClock(),
        configure: (inout ServiceConfiguration) -> Void = { _ in },
        isolation: isolated (any Actor)? = #isolation,
        fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line,
        test: (Atom, ScriptedTransport) async throws -> Value
    ) async throws -> Value {
        let (atom, wire) = scripted(
            answers, signedIn: isSignedIn, expiringIn: lifetime, delivery: delivery, clock: clock,
            configure: configure, onProblem: { ScriptProblem.report($0) }, place: (fileID, filePath, line))
        defer { wire.state.withLock { $0.isDone = true } }
        let value = try await test(atom, wire)
        try wire.verify()
        return value
    }

    private static func scripted(
        _ answers: [ScriptedResponse], signedIn isSignedIn: Bool?, expiringIn lifetime: Duration,
        delivery: ScriptedTransport.Delivery, clock: ManualClock,
        configure: (inout ServiceConfiguration) -> Void,
        onProblem: @escaping @Sendable (ScriptProblem) -> Void,
        place: (fileID: String, filePath: StaticString, line: Int)
    ) -> (atom: Atom, wire: ScriptedTransport) {
        scripted(
            answers, expiringIn: lifetime, delivery: delivery, clock: clock, configure: configure,
            onProblem: onProblem, place: place
        ) { wire in
            guard let isSignedIn else { return nil }
            if isSignedIn { wire.tokenStore.stored = wire.authorizationServer.signIn() }
            return wire.authorizationServer.authentication(wire.tokenStore)
        }
    }

    private static func scripted(
        _ answers: [ScriptedResponse], expiringIn lifetime: Duration, delivery: ScriptedTransport.Delivery,
        clock: ManualClock, configure: (inout ServiceConfiguration) -> Void,
        onProblem: @escaping @Sendable (ScriptProblem) -> Void,
        place: (fileID: String, filePath: StaticString, line: Int),
        authentication: (ScriptedTransport) -> BearerAuthentication?
    ) -> (atom: Atom, wire: ScriptedTransport) {
        let wire = ScriptedTransport(
            answers, delivery: delivery, clock: clock, onProblem: onProblem, fileID: place.fileID,
            filePath: place.filePath, line: place.line)
        wire.authorizationServer.lifetime = lifetime
        let bearer = authentication(wire)
        func connect(_ configuration: inout ServiceConfiguration) {
            wire.connect(&configuration)
            if let bearer { configuration.authenticationMethod = .bearer(bearer) }
        }
        var configuration = ServiceConfiguration()
        connect(&configuration)
        configure(&configuration)
        // The app's own configuration, or one that would send requests to the network.
        if configuration.transport == nil { connect(&configuration) }
        // Last: the test may have observers and a result handler of its own.
        wire.listen(in: &configuration)
        return (Atom(serviceConfiguration: configuration), wire)
    }
}
