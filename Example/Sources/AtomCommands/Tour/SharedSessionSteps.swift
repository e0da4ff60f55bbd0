import AirlineServer
import AtomNetworking
import Foundation

extension Tour {
    /// Signs in, shares the session as two processes would, and signs out.
    ///
    /// Stores that aren't the same object share only their file. So two stores in
    /// one process behave like the stores of two processes.
    mutating func shareSession() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("atom-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = SessionFile(url: folder.appendingPathComponent("session.json"))
        let profile = SessionFile.Profile(server: server.baseURL, clientID: RegisteredClient.publicExample.id)
        func atom() throws -> Atom {
            try profile.atom(file.store(), timeout: ServiceTimeout(request: 10, resource: 20)) {
                $0.dispatchQueue = DispatchQueue(label: "atom.tour.session")
            }
        }
        server.resetCounters()
        let user = NameAndSecret.exampleUser
        let login = PasswordLogin(airline: airline, clientID: profile.clientID, user: user.name) { user.secret }
        let (first, second) = (try atom(), try atom())
        try await first.signIn(with: try await login.credential(replacing: nil))
        let mode = try FileManager.default.attributesOfItem(atPath: file.url.path)[.posixPermissions] as? NSNumber
        checklist.check(mode == 0o600, "the tokens are in a file that only its owner can read")
        await useSession(first, second)
        await endSession(first, second)
    }

    /// The token of both has expired; one of them gets a new one.
    private mutating func useSession(_ first: Atom, _ second: Atom) async {
        server.expireAccessTokens()
        let airline = airline
        let answered = await Self.successes(of: 20) { number in
            let endpoint = AccountEndpoint.miles(airline, number: number, milliseconds: 0)
            let atom = number.isMultiple(of: 2) ? first : second
            return try await atom.enqueue(endpoint).resume(expecting: Miles.self).number == String(number)
        }
        let counters = server.counters
        checklist.check(
            answered == 20, "when the token has expired both continue", detail: "\(answered) of 20 responses")
        checklist.check(
            counters.refreshes == 1 && counters.reuseDetected == 0, "one refresh for both",
            detail: "the server counted \(counters.refreshes), and \(counters.reuseDetected) tokens used twice")
    }

    /// One signs out, and the other one notices.
    private mutating func endSession(_ first: Atom, _ second: Atom) async {
        let left = await outcome { () async throws(AtomError) in try await first.signOut() }
        // The sign-out doesn't wait for the revocation.
        let deadline = stopwatch.seconds + 5
        while server.counters.sessionsEnded == 0, stopwatch.seconds < deadline {
            await stopwatch.sleep(until: stopwatch.seconds + 0.01)
        }
        checklist.check(
            left.error == nil && server.counters.sessionsEnded == 1,
            "one signs out, and the server revokes the tokens", detail: left.error?.description)
        let result = await second.outcome(of: AccountEndpoint.account(airline))
        let isSignedOut =
            switch result.error {
            case .authentication(.signedOut), .authentication(.missingCredential): true
            default: false
            }
        checklist.check(isSignedOut, "the other one is signed out too", detail: result.summary)
    }
}
