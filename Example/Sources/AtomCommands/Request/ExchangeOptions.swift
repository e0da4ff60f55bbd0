import ArgumentParser
import AtomNetworking
import Foundation

/// The options of every command that sends a request: what is added to it, who signs it, and how long it may take.
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

    /// Makes a service, and sends a request with these header fields and query items over it.
    ///
    /// - Parameters:
    ///   - statuses: Those that are no errors.
    ///   - cache: Keeps responses.
    ///   - caching: How the request uses the cache.
    ///   - transport: What sends it.
    ///   - notes: Where it says what it waits for after Ctrl-C.
    ///   - queue: Where the SDK calls closures.
    ///   - observers: Hear what happens to it.
    ///   - resume: Sends the request.
    /// - Returns: What came of it, and what of the session is lost when the process ends.
    func send<Value: Sendable>(
        _ method: String, _ url: String, body: RequestBody? = nil, accepting statuses: ClosedRange<Int> = 200...299,
        cache: ResponseCache? = nil, caching: ResponseCaching = .disabled, over transport: any Transport,
        notes: Terminal, calling queue: DispatchQueue? = nil,
        toldTo observers: [any RequestObserver] = [], _ resume: (Service) async throws(AtomError) -> Value
    ) async -> (result: Result<Value, AtomError>, notStored: AtomError?) {
        do throws(AtomError) {
            var request = try URLEndpoint(
                url, methodName: method, headers: header.map(\.item), query: query.map(\.item), body: body,
                accepting: statuses)
            request.caching = caching
            let atom = try atom(for: request, cache: cache, over: transport, calling: queue, observers)
            let result = await outcome { () async throws(AtomError) in try await resume(atom.enqueue(request)) }
            return (result, await atom.finishBeforeExit(notes))
        } catch {
            return (.failure(error), nil)
        }
    }

    /// The status of the command; says what of the session is lost.
    func status<Value>(
        of result: Result<Value, AtomError>, notStored: AtomError?, notes: Terminal
    ) -> RequestExitStatus {
        let status = RequestExitStatus(result)
        guard let loss = notStored.flatMap({ advice(on: $0) })?.show(on: notes) else { return status }
        return status == .success ? loss : status
    }

    /// What a failure of the session means for the user.
    func advice(on error: AtomError) -> SessionAdvice? {
        session ? SessionAdvice(error, file: sessionOptions.file.url) : nil
    }

    private var deadlines: ServiceTimeout {
        ServiceTimeout(request: timeout, resource: resourceTimeout ?? max(timeout, 30))
    }

    /// A service, with the session only if the request goes to the session's server.
    private func atom(
        for request: URLEndpoint, cache: ResponseCache?, over transport: any Transport,
        calling queue: DispatchQueue?, _ observers: [any RequestObserver]
    ) throws(AtomError) -> Atom {
        func configure(_ configuration: inout ServiceConfiguration) {
            configuration.cache = cache
            configuration.transport = transport
            configuration.observers = observers
            if let queue { configuration.dispatchQueue = queue }
            if retry { configuration.retryPolicy = .standard }
            if noFollow { configuration.redirectLimit = nil }
        }
        if session {
            let file = sessionOptions.file
            let profile = try file.profileOfUser()
            guard try profile.airline().isAtOrigin(of: request.baseURL()) else {
                let reason = "the session is only for \(profile.server)"
                throw .requestable(.invalidURL(.init(subject: request.baseURL().host, reason: reason)))
            }
            return try profile.atom(file.store(), timeout: deadlines, configure)
        }
        var configuration = ServiceConfiguration(
            authenticationMethod: basic.map {
                .basic(BasicCredential(password: $0.secret, username: $0.name))
            } ?? .none,
            timeout: deadlines)
        configure(&configuration)
        return Atom(serviceConfiguration: configuration)
    }
}
