import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// Sends any request through the SDK.
struct RequestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Sends any request through the SDK and shows the response.",
        discussion: """
            The body goes to standard output, everything else to standard error:

              atom request GET http://127.0.0.1:8080/flights | jq .
              atom request POST http://127.0.0.1:8080/bookings --json '{"flight": "AS100", "seat": "9C", \
            "passenger": "Ada"}'
              atom request GET http://127.0.0.1:8080/me --basic ada:lovelace
              atom request GET http://127.0.0.1:8080/account --session

            With --session the request is signed with the session of “atom login”, whose access token is renewed \
            when necessary. Any number of processes may use the session at once. The tokens are sent only to the \
            server that issued them.

            On Linux the system's libcurl sends the request, if it is 7.68 or later. Options choose certificates, \
            pinned keys and the proxy. Certificates and keys are PEM files. The server's certificate and its name are \
            always verified.

            Ctrl-C cancels the request. Exit status:

            \(RequestExitStatus.table)
            """
    )

    @Argument(help: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, or any other method.")
    var method: String

    @Argument(help: "An absolute http or https URL.")
    var url: String

    @Option(
        name: [.customShort("H"), .long],
        help: .init("A header field; may be repeated.", valueName: "Name: value"))
    var header: [HeaderArgument] = []

    @Option(help: .init("An item to add to the query; may be repeated.", valueName: "name=value"))
    var query: [PairArgument] = []

    @Option(help: .init("A JSON body, in a file or standard input (-) with @.", valueName: "text|@file"))
    var json: BodyArgument?

    @Option(help: .init("A raw body, in a file or standard input (-) with @.", valueName: "text|@file"))
    var body: BodyArgument?

    @Option(help: .init("A form item; may be repeated.", valueName: "name=value"))
    var form: [PairArgument] = []

    @Option(help: .init("Basic authentication; other users of this machine may see it.", valueName: "user:password"))
    var basic: NameAndSecret?

    @Flag(help: "Sign with the session of “atom login”.")
    var session = false

    @OptionGroup var sessionOptions: SessionOptions

    @Option(help: .init("The longest idle time on the wire; fractions are allowed.", valueName: "seconds"))
    var timeout: Double = 30

    @Option(
        help: .init("The longest total time (default: 30, or --timeout if longer)", valueName: "seconds"))
    var resourceTimeout: Double?

    @Flag(help: "Show a redirect instead of following it.")
    var noFollow = false

    @Flag(name: .shortAndLong, help: "Write status and header fields to standard output, before the body.")
    var include = false

    @Flag(name: .shortAndLong, help: "Write only the body and errors.")
    var quiet = false

    @OptionGroup(title: "Transport options, only on Linux")
    var transportOptions: TransportOptions

    func validate() throws {
        let bodies = [json != nil, body != nil, !form.isEmpty].filter { $0 }
        guard bodies.count <= 1 else { throw ValidationError("Use only one of --json, --body and --form.") }
        guard !session || basic == nil else { throw ValidationError("Use only one of --session and --basic.") }
        guard session || sessionOptions.sessionFile == nil else {
            throw ValidationError("--session-file requires --session.")
        }
    }

    func run() async throws {
        let status = try await perform(
            body: .standardOutput, notes: .standardError
        ) { FileDescriptorOutput.write($0, to: FileHandle.standardOutput.fileDescriptor) }
        guard status == .success else { throw ExitCode(status.rawValue) }
    }

    /// Sends the request and shows the response.
    func perform(
        body output: Terminal, notes: Terminal, writeBytes: @escaping @Sendable (Data) -> Void
    ) async throws -> RequestExitStatus {
        let stopwatch = Stopwatch()
        let tap = WireTap(stopwatch, over: try transportOptions.makeTransport())
        let printer = ResponsePrinter(
            body: output, notes: notes, includesHead: include, isQuiet: quiet, transportName: tap.transportName,
            writeBytes: writeBytes)
        let requestBody = try requestBody()
        let (result, signal) = await withInterruption { [self] in
            await send(requestBody, over: tap)
        }
        switch result {
        case .success(let response), .failure(.response(let response)):
            printer.show(response, after: tap.records, seconds: stopwatch.seconds)
        case .failure(let error):
            printer.show(error, seconds: stopwatch.seconds, advice: advice(on: error))
        }
        if signal == SIGTERM { return .terminated }
        return switch result {
        case .success: .success
        case .failure(let error): RequestExitStatus(error)
        }
    }

    private func send(_ requestBody: RequestBody?, over tap: WireTap) async -> Result<AtomResponse, AtomError> {
        do throws(AtomError) {
            let request = CommandLineRequest(
                url: try RequestURL(url), methodName: method, headers: header.map(\.item), query: query.map(\.item),
                body: requestBody)
            let atom = session ? try signedAtom(for: request, over: tap) : plainAtom(over: tap)
            return .success(try await atom.enqueue(request).resume())
        } catch {
            if session { await sessionOptions.file.settle(after: error) }
            return .failure(error)
        }
    }

    private var deadlines: ServiceTimeout {
        ServiceTimeout(request: timeout, resource: resourceTimeout ?? max(timeout, 30))
    }

    private func configure(_ configuration: inout ServiceConfiguration, _ tap: WireTap) {
        configuration.transport = tap
        if noFollow { configuration.redirectPolicy = .doNotFollow }
    }

    private func plainAtom(over tap: WireTap) -> Atom {
        var configuration = ServiceConfiguration(
            authenticationMethod: basic.map {
                .basic(BasicCredential(password: $0.secret, username: $0.name))
            } ?? .none,
            timeout: deadlines)
        configure(&configuration, tap)
        return Atom(serviceConfiguration: configuration)
    }

    /// A service with the session, if the request goes to the session's server.
    private func signedAtom(for request: CommandLineRequest, over tap: WireTap) throws(AtomError) -> Atom {
        let file = sessionOptions.file
        guard let profile = file.profile() else {
            throw .authentication(.missingCredential(delivery: .notSent))
        }
        guard try Airline(url: profile.server).isAtOrigin(of: try request.baseURL()) else {
            throw .requestable(
                .invalidURL(.init(subject: url, reason: "the session is only for \(profile.server)")))
        }
        return try file.atom(for: profile, timeout: deadlines) { configure(&$0, tap) }
    }

    private func advice(on error: AtomError) -> SessionAdvice? {
        session ? SessionAdvice(error, file: sessionOptions.file.url) : nil
    }

    private func requestBody() throws -> RequestBody? {
        if let json { return .data(try json.json(), contentType: "application/json") }
        if let body { return .data(try body.data()) }
        return form.isEmpty ? nil : .form(form.map(\.item))
    }
}
