import AirlineServer
import AtomNetworking
import AtomNetworkingTesting
import Terminal

/// Records a session, and answers the same requests from the recording.
struct RecordingSteps {
    let tour: Tour

    /// What the airline's screen shows.
    private struct Screen: Equatable {
        var name: String?
        var flights: Int?
        var missing: Int?
    }

    func run(_ checklist: inout Checklist) async {
        checklist.section("Record a run, and answer from the recording")
        guard let tokens = try? await tour.tokens() else {
            checklist.check(false, "the password grant returns a pair of tokens")
            return
        }
        let recorder = HARRecorder(showing: .allButCredentials, responseBodiesUpTo: 1 << 20)
        // The first request gets a 401, so a refresh is recorded too.
        tour.server.expireAccessTokens()
        tour.server.resetCounters()
        let recorded = await screen(tokens) { $0.observers.append(recorder) }
        let requests = tour.server.counters.requests
        checklist.check(
            recorded.name == NameAndSecret.exampleUser.name && recorded.missing == 404,
            "a run with a refresh and a 404 is recorded", detail: Phrase.requests(requests))

        let archive: HTTPArchive
        do {
            archive = try HTTPArchive(recorder.har())
        } catch {
            checklist.check(false, "the recording can be read", detail: error.description)
            return
        }
        let text = String(decoding: recorder.har(), as: UTF8.self)
        checklist.check(
            !text.contains(tokens.accessToken) && !text.contains(tokens.refreshToken)
                && archive.review.findings(.secret).isEmpty,
            "no token is in the recording", detail: archive.review.findings(.secret).first?.description)

        let wire = ScriptedTransport(onProblem: { _ in })
        wire.replay(archive)
        let replayed = await screen(tokens) { $0.transport = wire }
        let problem = problem(of: wire)
        checklist.check(
            replayed == recorded && problem == nil && tour.server.counters.requests == requests,
            "the recording answers the same requests, and the server hears nothing of them",
            detail: problem ?? "\(Phrase.requests(wire.requests.count)), \(archive.entries.count) entries")
    }

    private func problem(of wire: ScriptedTransport) -> String? {
        do {
            try wire.verify()
            return nil
        } catch {
            return error.description
        }
    }

    private func screen(
        _ tokens: TokenCredential, _ configure: (inout ServiceConfiguration) -> Void
    ) async -> Screen {
        guard let atom = try? tour.atom(tokens, configure) else { return Screen() }
        let member = try? await atom.enqueue(AccountEndpoint.account(tour.airline)).resume(expecting: Member.self)
        let flights = try? await atom.enqueue(FlightEndpoint.list(tour.airline)).resume(expecting: [Flight].self)
        let missing = await outcome { () async throws(AtomError) in
            try await atom.enqueue(FlightEndpoint.booking(tour.airline, reference: "NONE00")).resume()
        }
        var status: Int?
        if case .response(let response)? = missing.error { status = response.statusCode }
        return Screen(name: member?.name, flights: flights?.count, missing: status)
    }
}
