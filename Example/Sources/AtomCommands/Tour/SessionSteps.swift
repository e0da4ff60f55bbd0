import AirlineServer
import AtomNetworking
import Foundation
import Terminal

/// Signs in, and keeps the session alive while its token expires and is revoked.
struct SessionSteps {
    let tour: Tour

    /// The number of requests in a round.
    private static let count = 50
    private static let milliseconds = 60

    /// The lifetime of the first access token in seconds; a quarter of it is
    /// the SDK's leeway.
    private static let lifetime = 3.0
    private static let leeway = lifetime / 4

    func run(_ checklist: inout Checklist) async {
        checklist.section("Sign in")
        let tap = WireTap(tour.stopwatch)
        guard let (atom, expiry) = await signIn(over: tap, &checklist) else { return }
        await expire(at: expiry, atom, tap, &checklist)
        await revoke(atom, tap, &checklist)
        await refuseEndlessly(atom, &checklist)
    }

    // MARK: Signing in

    /// Signs in and returns a service with a session, and when its first token expires.
    private func signIn(over tap: WireTap, _ checklist: inout Checklist) async -> (Atom, expiry: Double)? {
        tour.server.updatePolicy { $0.accessTokenLifetime = Self.lifetime }
        let client = NameAndSecret.exampleClient
        let tokens = await outcome { () async throws(AtomError) in
            try await tour.atom().enqueue(
                SignInEndpoint.password(tour.airline, user: .exampleUser, client: client)
            ).resume(expecting: TokenCredential.self)
        }
        // Counted from the time when the client gets it, as the client does.
        let expiry = tour.stopwatch.seconds + Self.lifetime
        // Later tokens have a long lifetime; only the first one expires.
        tour.server.updatePolicy { $0.accessTokenLifetime = 3600 }
        checklist.check(
            tokens.value?.refreshToken.isEmpty == false, "the password grant returns the first pair of tokens",
            detail: tokens.error?.description ?? "the access token is valid for \(Self.lifetime) s")
        guard let tokens = tokens.value, let endpoint = try? tour.airline.authorizationEndpoint() else { return nil }

        let box = TokenBox(tokens)
        let atom = tour.atom(.bearer(endpoint, ClientCredential(id: client.name, secret: client.secret), box)) {
            $0.transport = tap
        }
        let account = await outcome { () async throws(AtomError) in
            try await atom.enqueue(AccountEndpoint.account(tour.airline)).resume(expecting: Member.self)
        }
        checklist.check(
            account.value?.name == NameAndSecret.exampleUser.name, "GET /account accepts the access token",
            detail: account.error?.description)
        return (atom, expiry)
    }

    // MARK: Rounds

    /// Fifty requests, one every 20 ms, from before the leeway until after the
    /// token has expired.
    private func expire(
        at expiry: Double, _ atom: Atom, _ tap: WireTap, _ checklist: inout Checklist
    ) async {
        checklist.section("The token expires during \(Self.count) concurrent requests")
        tour.server.resetCounters()
        tour.server.updateFaults { $0.delayMilliseconds = 300 }
        explain("One request every 20 ms, until the token has expired. A refresh takes 300 ms.")
        await tour.stopwatch.sleep(until: expiry - Self.leeway - 0.3)
        let round = await run(atom, tap, pause: 0.02)
        tour.server.updateFaults { $0.delayMilliseconds = 0 }

        var picture = SessionPicture(round, showsEveryRequest: tour.showsEveryRequest)
        picture.addFirstToken(until: expiry, refreshedFrom: expiry - Self.leeway, label: "expires")
        picture.draw(on: tour.terminal)
        let counters = tour.server.counters
        checkRound(round, counters, &checklist)
        // If the machine pauses for a second, a token may expire on its way to
        // the server.
        let dead = counters.apiRequestsWithDeadToken
        checklist.check(
            round.refused == dead && round.refusals.allSatisfy { $0 < expiry }, "no expired token was sent",
            detail: "the server saw \(dead)" + (dead == 0 ? "" : ", sent while it was valid"))
        let waited = round.requests.filter { $0.fate == .waited }.count
        checklist.check(waited > 0, "requests during the refresh waited", detail: Phrase.requests(waited))
    }

    /// Fifty requests at once, and a server that revokes the token during them.
    private func revoke(_ atom: Atom, _ tap: WireTap, _ checklist: inout Checklist) async {
        checklist.section("The token is revoked during \(Self.count) concurrent requests")
        tour.server.resetCounters()
        tour.server.updateFaults { $0.delayMilliseconds = 200 }
        explain("All at once. The client doesn't know that its token is revoked.")
        let tour = tour
        let revocation = Task {
            await tour.stopwatch.sleep(until: tour.stopwatch.seconds + 0.15)
            tour.server.revokeAccessTokens()
            return tour.stopwatch.seconds
        }
        let round = await run(atom, tap, pause: 0)
        tour.server.updateFaults { $0.delayMilliseconds = 0 }

        var picture = SessionPicture(round, showsEveryRequest: tour.showsEveryRequest)
        picture.addFirstToken(until: await revocation.value, refreshedFrom: nil, label: "revoked")
        picture.draw(on: tour.terminal)
        let counters = tour.server.counters
        checkRound(round, counters, &checklist)
        checklist.check(
            round.refused > 0 && round.refused == counters.apiRequestsWithDeadToken
                && round.refused <= tap.exchangesPerOrigin ?? Self.count,
            "only requests that were already on the wire got a 401",
            detail: "\(Phrase.requests(round.refused)), sent once more after the refresh")
    }

    // MARK: A 401 without an end

    /// One request with a revoked token, and a 401 whose body goes on until the
    /// client disconnects.
    private func refuseEndlessly(_ atom: Atom, _ checklist: inout Checklist) async {
        checklist.section("The body of a 401 never ends")
        tour.server.revokeAccessTokens()
        tour.server.resetCounters()
        explain("The server sends one more byte every 50 ms. The head of the 401 is enough for the client.")
        let start = tour.stopwatch.seconds
        let account = await outcome { () async throws(AtomError) in
            try await atom.enqueue(AccountEndpoint.endlessRefusal(tour.airline)).resume(expecting: Member.self)
        }
        let milliseconds = Int(((tour.stopwatch.seconds - start) * 1000).rounded())
        checklist.check(
            account.value?.name == NameAndSecret.exampleUser.name,
            "a 401 whose body never ends is refreshed for, and the request is sent once more",
            detail: account.error?.description ?? "the account arrived after \(milliseconds) ms")

        let counters = tour.server.counters
        let statuses = tour.server.events().filter { $0.kind == .request && $0.path == "/account/endless-refusal" }
            .map(\.status)
        checklist.check(
            statuses == [401, 200] && counters.refreshes == 1 && counters.tokenRequests == 1,
            "one refresh between its two responses",
            detail: "the server counted \(counters.tokenRequests), and answered "
                + statuses.map { $0.map(String.init) ?? "nothing" }.joined(separator: ", then "))
    }

    private func explain(_ text: String) {
        tour.terminal.print(tour.terminal.styled("  \(text)", .dim))
        tour.terminal.print()
    }

    private func run(_ atom: Atom, _ tap: WireTap, pause: Double) async -> SessionRound {
        await SessionRound.run(
            Self.count, every: pause, airline: tour.airline, milliseconds: Self.milliseconds, atom: atom, tap: tap,
            stopwatch: tour.stopwatch)
    }

    private func checkRound(_ round: SessionRound, _ counters: Counters, _ checklist: inout Checklist) {
        let failure = round.requests.lazy.compactMap(\.error).first
        let answered = round.requests.filter { $0.error == nil }.count
        checklist.check(
            answered == Self.count, "\(answered) of \(Self.count) requests got their own response",
            detail: failure?.description)
        checklist.check(
            counters.refreshes == 1 && counters.tokenRequests == 1, "one refresh",
            detail: "the server counted \(counters.tokenRequests)")
        checklist.check(
            round.isReleasedInOrder, "the waiting requests started in the order of arrival",
            detail: round.releaseSummary)
        checklist.check(
            counters.reuseDetected == 0 && counters.bearerTokensAtTokenEndpoint == 0,
            "no refresh token was used twice", detail: "the server issued \(counters.tokensIssued) new access token")
    }
}
