import AirlineServer
import AtomNetworking
import Foundation
import Terminal

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Causes every kind of failure.
struct FailureSteps {
    let tour: Tour

    func run(_ checklist: inout Checklist) async {
        let atom = tour.atom()
        checklist.section("Failures")
        await sendNothing(with: atom, &checklist)
        await runOutOfTime(with: atom, &checklist)
        await findNobody(with: atom, &checklist)
        await cancel(with: atom, &checklist)
        await hearNonsense(with: atom, &checklist)
        await tryAgain(with: atom, &checklist)
    }

    private func sendNothing(with atom: Atom, _ checklist: inout Checklist) async {
        let before = tour.server.counters.requests
        let result = await outcome { () async throws(AtomError) in
            try await atom.enqueue(FlightEndpoint.seats(tour.airline, flight: "../../admin")).resume()
        }
        let isRefused = if case .requestable(.invalidURLPath)? = result.error { true } else { false }
        checklist.check(
            isRefused && result.error?.delivery == .notSent && tour.server.counters.requests == before,
            "an invalid path is never sent", detail: result.summary)
    }

    private func runOutOfTime(with atom: Atom, _ checklist: inout Checklist) async {
        let start = tour.stopwatch.seconds
        let result = await outcome { () async throws(AtomError) in
            try await atom.enqueue(
                DiagnosticEndpoint.slow(
                    tour.airline, milliseconds: 30_000, timeout: ServiceTimeout(request: 0.3, resource: 5))
            ).resume()
        }
        let seconds = tour.stopwatch.seconds - start
        checklist.check(
            result.error?.wireCode == .timedOut && result.error?.delivery == .maybeSent && seconds < 3,
            "a response that takes 30 s times out after 0.3 s", detail: result.summary)
    }

    private func findNobody(with atom: Atom, _ checklist: inout Checklist) async {
        var summary = "no second server could be started"
        var isRefused = false
        // The port of a server that has stopped.
        if let gone = try? await AirlineServer.start(), let airline = try? Airline(gone) {
            await gone.stop()
            let result = await outcome { () async throws(AtomError) in
                try await atom.enqueue(FlightEndpoint.list(airline)).resume()
            }
            summary = result.summary
            isRefused = result.error?.wireCode == .cannotConnectToHost && result.error?.delivery == .notSent
        }
        checklist.check(isRefused, "a server that was stopped refuses the connection", detail: summary)
    }

    private func cancel(with atom: Atom, _ checklist: inout Checklist) async {
        let airline = tour.airline
        let task = Task {
            await outcome { () async throws(AtomError) in
                try await atom.enqueue(DiagnosticEndpoint.slow(airline, milliseconds: 30_000)).resume()
            }
        }
        await tour.stopwatch.sleep(until: tour.stopwatch.seconds + 0.15)
        let start = tour.stopwatch.seconds
        task.cancel()
        let result = await task.value
        let seconds = tour.stopwatch.seconds - start
        checklist.check(
            result.error?.isCancelled == true && result.error?.delivery == .maybeSent && seconds < 1,
            "a cancelled task ends at once", detail: result.summary)
    }

    private func tryAgain(with atom: Atom, _ checklist: inout Checklist) async {
        struct Attempts: Model { let attempts: Int }
        let patient = await outcome { () async throws(AtomError) in
            try await atom.enqueue(
                DiagnosticEndpoint.busy(tour.airline, name: "tour", times: 2)
            ).resume(expecting: Attempts.self)
        }
        checklist.check(
            patient.value?.attempts == 3, "a server that is busy twice answers the third attempt",
            detail: patient.summary)

        let tired = await outcome { () async throws(AtomError) in
            try await atom.enqueue(
                DiagnosticEndpoint.busy(tour.airline, name: "all-day", times: 1_000)
            ).resume()
        }
        checklist.check(
            tired.error?.attempts == [.status(503), .status(503), .status(503)],
            "one that stays busy is asked three times, and the error lists them", detail: tired.summary)
    }

    private func hearNonsense(with atom: Atom, _ checklist: inout Checklist) async {
        let malformed = await outcome { () async throws(AtomError) in
            try await atom.enqueue(DiagnosticEndpoint.malformed(tour.airline)).resume(expecting: Flight.self)
        }
        let isUndecodable = if case .decoder? = malformed.error { true } else { false }
        checklist.check(isUndecodable, "half of a JSON document can't be decoded", detail: malformed.summary)

        let silence = await outcome { () async throws(AtomError) in
            try await atom.enqueue(DiagnosticEndpoint.hangUp(tour.airline)).resume()
        }
        checklist.check(
            silence.error?.wireCode == .networkConnectionLost && silence.error?.delivery == .maybeSent,
            "a server that hangs up may have processed the request", detail: silence.summary)
    }
}

extension AtomError {
    /// The `URLError` code, if the exchange failed on the wire.
    var wireCode: URLError.Code? {
        if case .session(let error) = self { (error as? URLError)?.code } else { nil }
    }
}
