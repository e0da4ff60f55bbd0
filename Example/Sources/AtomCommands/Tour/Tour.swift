import AirlineServer
import AtomNetworking
import AtomNetworkingExports
import Foundation

/// The steps of the tour, and what they share.
struct Tour {
    let terminal: Terminal
    let server: AirlineServer
    let airline: Airline
    let stopwatch = Stopwatch()
    /// Records the requests of all services that the steps make.
    let recorder: HARRecorder?
    var checklist: Checklist

    /// Runs all steps against a new server.
    ///
    /// - Returns: Whether everything was as expected.
    /// - Throws: An error if the tour can't be started.
    static func run(on terminal: Terminal, recorder: HARRecorder? = nil) async throws -> Bool {
        let server = try await AirlineServer.start()
        var tour = Tour(
            terminal: terminal, server: server, airline: try Airline(server), recorder: recorder,
            checklist: Checklist(on: terminal))
        terminal.print("An airline's server is running at \(terminal.styled(server.baseURL, .cyan, .bold)).")
        await tour.runSections()
        await server.stop()
        tour.checklist.summarize()
        let seconds = (tour.stopwatch.seconds * 10).rounded() / 10
        terminal.print(terminal.styled("The tour took \(seconds) s.", .dim))
        return tour.checklist.isPassed
    }

    private mutating func runSections() async {
        await section("Book a seat") { try await $0.bookSeat() }
        await section("Share identical requests") { try await $0.shareRequests() }
        await section("Failures") { try await $0.fail() }
        await section("Send and receive files") { try await $0.transferFiles() }
        await section("Basic authentication, and a session of tokens") { try await $0.keepSession() }
        await section("A sign-in when it is needed, and a list with pages") { try await $0.followLinks() }
        await section("A stream outlives its token") { try await $0.listen() }
        await section("Two processes share a session in a file") { try await $0.shareSession() }
    }

    /// Runs the steps of a section, which an unexpected error ends.
    private mutating func section(_ title: String, _ steps: (inout Tour) async throws -> Void) async {
        checklist.section(title)
        do {
            try await steps(&self)
        } catch {
            checklist.check(false, "the section goes on to its end", detail: "\(error)")
        }
    }
}

// MARK: - For the steps

extension Tour {
    /// A service, configured as an app would do it for this airline.
    func atom(
        _ authenticationMethod: AuthenticationMethod = .none, _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) -> Atom {
        var configuration = ServiceConfiguration(
            authenticationMethod: authenticationMethod, decoder: Airline.decoder,
            timeout: ServiceTimeout(request: 10, resource: 20))
        // Completions must not wait for the main thread of a command line tool.
        configuration.dispatchQueue = DispatchQueue(label: "atom.tour")
        configuration.observers = [recorder].compactMap(\.self)
        change(&configuration)
        return Atom(serviceConfiguration: configuration)
    }

    /// Signs in with user name and password.
    func tokens() async throws(AtomError) -> TokenCredential {
        try await atom().enqueue(SignInEndpoint(airline: airline)).resume(expecting: TokenCredential.self)
    }

    /// A service with a session of these tokens.
    func atom(
        _ tokens: TokenCredential, _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) throws(AtomError) -> Atom {
        atom(.bearer(try airline.authorizationEndpoint(), .example, InMemoryTokenCredentialStore(tokens)), change)
    }

    /// Makes calls at the same time, or one after each pause.
    ///
    /// - Returns: How many of them have succeeded.
    static func successes(
        of count: Int, every pause: Double = 0, _ call: @escaping @Sendable (_ number: Int) async throws -> Bool
    ) async -> Int {
        let stopwatch = Stopwatch()
        return await withTaskGroup(of: Bool.self) { group in
            for number in 1...count {
                await stopwatch.sleep(until: pause * Double(number))
                group.addTask { (try? await call(number)) ?? false }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }
}
