import AirlineServer
import AtomNetworking
import Foundation
import Terminal

/// Signs in, shares the session as two processes would, and signs out.
///
/// Stores that aren't the same object share only their file. So two stores in
/// one process behave like the stores of two processes.
struct SharedSessionSteps {
    let tour: Tour

    func run(_ checklist: inout Checklist) async {
        checklist.section("Two processes share a session in a file")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("atom-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = SessionFile(url: folder.appendingPathComponent("session.json"))
        tour.server.resetCounters()
        guard let first = await signIn(file, &checklist), let second = try? atom(file) else { return }
        await share(first, second, &checklist)
        await signOut(first, second, &checklist)
    }

    private func atom(_ file: SessionFile) throws(AtomError) -> Atom {
        let profile = SessionFile.Profile(server: tour.server.baseURL, clientID: OAuthClient.publicExample.id)
        return try file.atom(for: profile, timeout: ServiceTimeout(request: 10, resource: 20)) {
            $0.dispatchQueue = DispatchQueue(label: "atom.tour.session")
        }
    }

    private func signIn(_ file: SessionFile, _ checklist: inout Checklist) async -> Atom? {
        let login = PasswordLogin(
            airline: tour.airline, clientID: OAuthClient.publicExample.id, user: NameAndSecret.exampleUser.name
        ) { NameAndSecret.exampleUser.secret }
        let atom = await outcome { () async throws(AtomError) in
            guard let credential = try? await login.credential(replacing: nil) else { throw .unexpected }
            let atom = try self.atom(file)
            try await atom.signIn(with: credential)
            return atom
        }
        checklist.check(
            atom.value != nil, "the tokens are in a file that only its owner can read", detail: atom.error?.description)
        return atom.value
    }

    /// The token of both has expired; one of them gets a new one.
    private func share(_ first: Atom, _ second: Atom, _ checklist: inout Checklist) async {
        tour.server.expireAccessTokens()
        let airline = tour.airline
        let answered = await withTaskGroup(of: Bool.self) { group in
            for number in 1...20 {
                group.addTask {
                    let endpoint = AccountEndpoint.miles(airline, number: number, milliseconds: 0)
                    let atom = number.isMultiple(of: 2) ? first : second
                    return (try? await atom.enqueue(endpoint).resume(expecting: Miles.self)) != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        let counters = tour.server.counters
        checklist.check(
            answered == 20, "when the token has expired both continue", detail: "\(answered) of 20 responses")
        checklist.check(
            counters.refreshes == 1 && counters.reuseDetected == 0, "one refresh for both",
            detail: "the server counted \(counters.refreshes), and \(counters.reuseDetected) tokens used twice")
    }

    /// One signs out, and the other one notices.
    private func signOut(_ first: Atom, _ second: Atom, _ checklist: inout Checklist) async {
        let airline = tour.airline
        let left = await outcome { () async throws(AtomError) in try await first.signOut() }
        // The sign-out doesn't wait for the revocation.
        let deadline = tour.stopwatch.seconds + 5
        while tour.server.counters.sessionsEnded == 0, tour.stopwatch.seconds < deadline {
            await tour.stopwatch.sleep(until: tour.stopwatch.seconds + 0.01)
        }
        checklist.check(
            left.error == nil && tour.server.counters.sessionsEnded == 1,
            "one signs out, and the server revokes the tokens", detail: left.error?.description)
        let result = await outcome { () async throws(AtomError) in
            try await second.enqueue(AccountEndpoint.account(airline)).resume()
        }
        let isSignedOut =
            switch result.error {
            case .authentication(.signedOut), .authentication(.missingCredential): true
            default: false
            }
        checklist.check(isSignedOut, "the other one is signed out too", detail: result.summary)
    }
}
