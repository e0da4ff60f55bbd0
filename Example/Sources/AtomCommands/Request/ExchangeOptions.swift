import ArgumentParser
import AtomNetworking
import Foundation

/// The options of every command that sends a request: what is added to it, who
/// signs it, and how long it may take.
struct ExchangeOptions: ParsableArguments {
    @Option(
        name: [.customShort("H"), .long],
        help: .init("A header field; may be repeated.", valueName: "Name: value"))
    var header: [HeaderArgument] = []

    @Option(help: .init("An item to add to the query; may be repeated.", valueName: "name=value"))
    var query: [PairArgument] = []

    @Option(help: .init("Basic authentication; other users of this machine may see it.", valueName: "user:password"))
    var basic: NameAndSecret?

    @Flag(help: "Sign with the session of “atom login”.")
    var session = false

    @OptionGroup var sessionOptions: SessionOptions

    @Option(help: .init("The longest idle time on the wire; fractions are allowed.", valueName: "seconds"))
    var timeout: Double = 30

    @Option(
        help: .init(
            """
            The longest total time (default: 30, or --timeout if longer); the time in which a file is sent or a \
            response is streamed doesn't count
            """, valueName: "seconds"))
    var resourceTimeout: Double?

    @Flag(help: "Show a redirect instead of following it.")
    var noFollow = false

    @Flag(
        help: """
            Send the request again if it fails for now: up to three times in all, with pauses. Only what does no harm \
            when it arrives twice.
            """)
    var retry = false

    func validate() throws {
        guard !session || basic == nil else { throw ValidationError("Use only one of --session and --basic.") }
        guard session || sessionOptions.sessionFile == nil else {
            throw ValidationError("--session-file requires --session.")
        }
    }

    // MARK: Sending

    /// A request to a URL, with these header fields and query items.
    func request(_ method: String, _ url: String, body: RequestBody? = nil) throws(AtomError) -> CommandLineRequest {
        CommandLineRequest(
            url: try RequestURL(url), methodName: method, headers: header.map(\.item), query: query.map(\.item),
            body: body)
    }

    /// Makes a service, and runs a body with it until the body ends or a signal
    /// cancels it.
    ///
    /// - Parameters:
    ///   - transport: What sends it.
    ///   - request: Makes the request that the service sends.
    ///   - queue: Where the SDK calls closures.
    ///   - observers: Hear what happens to it.
    ///   - body: Sends the request.
    /// - Returns: The body's result, and the signal if there was one.
    func send<Value: Sendable>(
        over transport: any Transport, calling queue: DispatchQueue? = nil,
        toldTo observers: [any RequestObserver] = [],
        _ request: @escaping @Sendable () throws(AtomError) -> CommandLineRequest,
        _ body: @escaping @Sendable (Service) async throws(AtomError) -> Value
    ) async -> (value: Result<Value, AtomError>, signal: Int32?) {
        await withInterruption { [self] in
            await outcome { () async throws(AtomError) in
                let request = try request()
                let atom = try atom(for: request, over: transport, calling: queue, observers)
                let result = await outcome { () async throws(AtomError) in try await body(atom.enqueue(request)) }
                await atom.finishBeforeExit()
                return try result.get()
            }
        }
    }

    /// What a failure of the session means for the user.
    func advice(on error: AtomError) -> SessionAdvice? {
        session ? SessionAdvice(error, file: sessionOptions.file.url) : nil
    }

    private var deadlines: ServiceTimeout {
        ServiceTimeout(request: timeout, resource: resourceTimeout ?? max(timeout, 30))
    }

    private func atom(
        for request: CommandLineRequest, over transport: any Transport, calling queue: DispatchQueue?,
        _ observers: [any RequestObserver]
    ) throws(AtomError) -> Atom {
        func configure(_ configuration: inout ServiceConfiguration) {
            configuration.transport = transport
            configuration.observers = observers
            if let queue { configuration.dispatchQueue = queue }
            if retry { configuration.retryPolicy = .standard }
            if noFollow { configuration.redirectLimit = nil }
        }
        if session { return try signedAtom(for: request, configure) }
        var configuration = ServiceConfiguration(
            authenticationMethod: basic.map {
                .basic(BasicCredential(password: $0.secret, username: $0.name))
            } ?? .none,
            timeout: deadlines)
        configure(&configuration)
        return Atom(serviceConfiguration: configuration)
    }

    /// A service with the session, if the request goes to the session's server.
    private func signedAtom(
        for request: CommandLineRequest, _ configure: (inout ServiceConfiguration) -> Void
    ) throws(AtomError) -> Atom {
        let file = sessionOptions.file
        guard let profile = file.profile() else {
            throw .authentication(.missingCredential(delivery: .notSent))
        }
        let base = try request.baseURL()
        guard try Airline(url: profile.server).isAtOrigin(of: base) else {
            throw .requestable(
                .invalidURL(.init(subject: request.url.host, reason: "the session is only for \(profile.server)")))
        }
        return try file.atom(for: profile, timeout: deadlines, configure)
    }
}
