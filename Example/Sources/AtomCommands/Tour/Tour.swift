import AirlineServer
import AtomNetworking
import AtomNetworkingExports
import Foundation
import Terminal

/// The state that all steps of the tour share.
struct Tour: Sendable {
    let terminal: Terminal
    let server: AirlineServer
    let airline: Airline
    let stopwatch: Stopwatch
    /// Records the requests of all services that the steps make.
    let recorder: HARRecorder?

    /// Runs all steps against a new server.
    ///
    /// - Returns: Whether everything was as expected.
    /// - Throws: An error if the tour can't be started.
    static func run(on terminal: Terminal, recorder: HARRecorder? = nil) async throws -> Bool {
        let server = try await AirlineServer.start()
        let tour = Tour(
            terminal: terminal, server: server, airline: try Airline(server), stopwatch: Stopwatch(),
            recorder: recorder)
        var checklist = Checklist(on: terminal)
        terminal.print("An airline's server is running at \(terminal.styled(server.baseURL, .cyan, .bold)).")
        await tour.steps(&checklist)
        await server.stop()
        checklist.summarize()
        let seconds = (tour.stopwatch.seconds * 10).rounded() / 10
        terminal.print(terminal.styled("The tour took \(seconds) s.", .dim))
        return checklist.isPassed
    }

    private func steps(_ checklist: inout Checklist) async {
        await FlightSteps(tour: self).run(&checklist)
        await SharingSteps(tour: self).run(&checklist)
        await FailureSteps(tour: self).run(&checklist)
        await TransferSteps(tour: self).run(&checklist)
        await SessionSteps(tour: self).run(&checklist)
        await LinkSteps(tour: self).run(&checklist)
        await StreamSteps(tour: self).run(&checklist)
        await SharedSessionSteps(tour: self).run(&checklist)
    }

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
}

extension Tour {
    /// Signs in with user name and password.
    func tokens() async throws(AtomError) -> TokenCredential {
        try await atom().enqueue(SignInEndpoint.password(airline, user: .exampleUser, client: .exampleClient))
            .resume(expecting: TokenCredential.self)
    }

    /// A service with a session of these tokens.
    func atom(
        _ tokens: TokenCredential, _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) throws(AtomError) -> Atom {
        let client = NameAndSecret.exampleClient
        return atom(
            .bearer(
                try airline.authorizationEndpoint(), ClientCredential(id: client.name, secret: client.secret),
                TokenBox(tokens)), change)
    }
}

/// Texts that depend on a number.
enum Phrase {
    static func requests(_ count: Int) -> String {
        count == 1 ? "1 request" : "\(count) requests"
    }
}

/// The result of a call, for code that handles both cases.
func outcome<Value>(of call: () async throws(AtomError) -> Value) async -> Result<Value, AtomError> {
    do {
        return .success(try await call())
    } catch {
        return .failure(error)
    }
}

extension Result where Failure == AtomError {
    var value: Success? { try? get() }

    var error: AtomError? {
        if case .failure(let error) = self { error } else { nil }
    }

    /// The error's description, or a text for success.
    var summary: String { error?.description ?? "success" }
}
