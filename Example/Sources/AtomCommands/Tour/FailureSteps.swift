import AirlineServer
import AtomNetworking
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Tour {
    /// Causes failures, and looks at what the error says.
    mutating func fail() async throws {
        let invalid = await atom().outcome(of: FlightEndpoint.seats(airline, flight: "../../admin")).error
        let isRefused = if case .requestable(.invalidURLPath)? = invalid { true } else { false }
        checklist.check(
            isRefused && invalid?.delivery == .notSent, "an invalid path is never sent", detail: invalid?.description)
        // The port of a server that has stopped.
        let gone = try await AirlineServer.start()
        await gone.stop()
        let refused = await atom().outcome(of: FlightEndpoint.list(try Airline(gone))).error
        checklist.check(
            refused?.wireCode == .cannotConnectToHost && refused?.delivery == .notSent,
            "a server that was stopped refuses the connection", detail: refused?.description)

        let hasty = DiagnosticEndpoint.slow(
            airline, milliseconds: 30_000, timeout: ServiceTimeout(request: 0.3, resource: 5))
        let late = await atom().outcome(of: hasty).error
        checklist.check(
            late?.wireCode == .timedOut && late?.delivery == .maybeSent,
            "a response that takes 30 s times out after 0.3 s", detail: late?.description)
        let slow = DiagnosticEndpoint.slow(airline, milliseconds: 30_000)
        let task = Task { [atom = atom()] in await atom.outcome(of: slow).error }
        try await Task.sleep(for: .milliseconds(150))
        task.cancel()
        let cancelled = await task.value
        checklist.check(
            cancelled?.isCancelled == true, "a cancelled task ends at once", detail: cancelled?.description)

        let malformed = await atom().outcome(of: DiagnosticEndpoint.malformed(airline), expecting: Flight.self)
        let isUndecodable = if case .decoder? = malformed.error { true } else { false }
        checklist.check(isUndecodable, "half of a JSON document can't be decoded", detail: malformed.summary)
        let silence = await atom().outcome(of: DiagnosticEndpoint.hangUp(airline)).error
        checklist.check(
            silence?.wireCode == .networkConnectionLost && silence?.delivery == .maybeSent,
            "a server that hangs up may have processed the request", detail: silence?.description)

        let patient = await atom().outcome(of: DiagnosticEndpoint.busy(airline, name: "tour", times: 2)).error
        checklist.check(
            patient == nil, "a server that is busy twice answers the third attempt", detail: patient?.description)
        let tired = await atom().outcome(of: DiagnosticEndpoint.busy(airline, name: "all-day", times: 1_000)).error
        checklist.check(
            tired?.attempts == [.status(503), .status(503), .status(503)],
            "one that stays busy is asked three times, and the error lists them", detail: tired?.description)
    }
}
