import AirlineServer
import AtomNetworking
import Foundation
import Terminal

/// What all steps of the tour share.
struct Tour: Sendable {
    let terminal: Terminal
    let server: AirlineServer
    let airline: Airline
    let stopwatch: Stopwatch
    let showsEveryRequest: Bool

    /// Runs all steps against a server of their own.
    ///
    /// - Returns: Whether everything was as expected.
    /// - Throws: What keeps the tour from beginning.
    static func run(on terminal: Terminal, showsEveryRequest: Bool = false) async throws -> Bool {
        let stopwatch = Stopwatch()
        let server = try await AirlineServer.start(clock: stopwatch.serverClock)
        let tour = Tour(
            terminal: terminal, server: server, airline: try Airline(server), stopwatch: stopwatch,
            showsEveryRequest: showsEveryRequest)
        var checklist = Checklist(on: terminal)
        terminal.print("An airline's server is running at \(terminal.styled(server.baseURL, .cyan, .bold)).")
        await tour.steps(&checklist)
        await server.stop()
        checklist.summarize()
        let seconds = (stopwatch.seconds * 10).rounded() / 10
        terminal.print(terminal.styled("It took \(seconds) s.", .dim))
        return checklist.isPassed
    }

    private func steps(_ checklist: inout Checklist) async {
        await FlightSteps(tour: self).run(&checklist)
        await FailureSteps(tour: self).run(&checklist)
        await AccessSteps(tour: self).run(&checklist)
        await SessionSteps(tour: self).run(&checklist)
        await AccountSteps(tour: self).run(&checklist)
        await SharedSessionSteps(tour: self).run(&checklist)
    }

    /// A service as an app would configure it for this airline.
    func atom(
        _ authenticationMethod: AuthenticationMethod = .none, _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) -> Atom {
        var configuration = ServiceConfiguration(
            authenticationMethod: authenticationMethod, decoder: Airline.decoder,
            timeout: ServiceTimeout(request: 10, resource: 20))
        // Completions shall not wait for the main thread of a command line tool.
        configuration.dispatchQueue = DispatchQueue(label: "atom.tour")
        change(&configuration)
        return Atom(serviceConfiguration: configuration)
    }
}

/// Words that depend on a number.
enum Phrase {
    static func requests(_ count: Int) -> String {
        count == 1 ? "1 request" : "\(count) requests"
    }
}

/// The outcome of a call, for those who look at both kinds.
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

    /// What went wrong, or that nothing did.
    var summary: String { error?.description ?? "it succeeded" }
}
