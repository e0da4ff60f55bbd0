import AirlineServer
import AtomNetworking
import Foundation
import Terminal

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Causes failures, and looks at what the error says.
struct FailureSteps {
    let tour: Tour

    func run(_ checklist: inout Checklist) async {
        checklist.section("Failures")
        await sendNothing(&checklist)
        await giveUp(&checklist)
        await hearNonsense(&checklist)
        await tryAgain(&checklist)
    }

    /// The error of a request.
    private func failure(of endpoint: some Requestable) async -> AtomError? {
        await outcome { () async throws(AtomError) in try await tour.atom().enqueue(endpoint).resume() }.error
    }

    private func sendNothing(_ checklist: inout Checklist) async {
        let error = await failure(of: FlightEndpoint.seats(tour.airline, flight: "../../admin"))
        let isRefused = if case .requestable(.invalidURLPath)? = error { true } else { false }
        checklist.check(
            isRefused && error?.delivery == .notSent, "an invalid path is never sent", detail: error?.description)
        // The port of a server that has stopped.
        guard let gone = try? await AirlineServer.start(), let airline = try? Airline(gone) else { return }
        await gone.stop()
        let refused = await failure(of: FlightEndpoint.list(airline))
        checklist.check(
            refused?.wireCode == .cannotConnectToHost && refused?.delivery == .notSent,
            "a server that was stopped refuses the connection", detail: refused?.description)
    }

    private func giveUp(_ checklist: inout Checklist) async {
        let timeout = ServiceTimeout(request: 0.3, resource: 5)
        let late = await failure(
            of: DiagnosticEndpoint.slow(tour.airline, milliseconds: 30_000, timeout: timeout))
        checklist.check(
            late?.wireCode == .timedOut && late?.delivery == .maybeSent,
            "a response that takes 30 s times out after 0.3 s", detail: late?.description)

        let slow = DiagnosticEndpoint.slow(tour.airline, milliseconds: 30_000)
        let task = Task { await failure(of: slow) }
        await tour.stopwatch.sleep(until: tour.stopwatch.seconds + 0.15)
        task.cancel()
        let cancelled = await task.value
        checklist.check(
            cancelled?.isCancelled == true, "a cancelled task ends at once", detail: cancelled?.description)
    }

    private func hearNonsense(_ checklist: inout Checklist) async {
        let malformed = await outcome { () async throws(AtomError) in
            try await tour.atom().enqueue(DiagnosticEndpoint.malformed(tour.airline)).resume(expecting: Flight.self)
        }
        let isUndecodable = if case .decoder? = malformed.error { true } else { false }
        checklist.check(isUndecodable, "half of a JSON document can't be decoded", detail: malformed.summary)
        let silence = await failure(of: DiagnosticEndpoint.hangUp(tour.airline))
        checklist.check(
            silence?.wireCode == .networkConnectionLost && silence?.delivery == .maybeSent,
            "a server that hangs up may have processed the request", detail: silence?.description)
    }

    private func tryAgain(_ checklist: inout Checklist) async {
        let patient = await failure(of: DiagnosticEndpoint.busy(tour.airline, name: "tour", times: 2))
        checklist.check(
            patient == nil, "a server that is busy twice answers the third attempt", detail: patient?.description)
        let tired = await failure(of: DiagnosticEndpoint.busy(tour.airline, name: "all-day", times: 1_000))
        checklist.check(
            tired?.attempts == [.status(503), .status(503), .status(503)],
            "one that stays busy is asked three times, and the error lists them", detail: tired?.description)
    }
}

extension AtomError {
    /// The `URLError` code, if the exchange failed on the wire.
    var wireCode: URLError.Code? {
        if case .session(let error) = self { (error as? URLError)?.code } else { nil }
    }
}
