import AirlineServer
import AtomNetworking

extension Tour {
    /// Asks for a sign-in only when it is needed, and follows a server's links without giving the token away.
    mutating func followLinks() async throws {
        server.resetCounters()
        // The SDK refreshes the session, and asks for a password when that can't help.
        let clientID = RegisteredClient.publicExample.id
        let user = NameAndSecret.exampleUser
        let login = PasswordLogin(airline: airline, clientID: clientID, user: user.name) { user.secret }
        let atom = atom(
            .bearer(
                try airline.authorizationEndpoint(), ClientCredential(id: clientID), InMemoryTokenCredentialStore(),
                signIn: login))
        let last = try await readPages(atom)
        try await leaveServer(atom, last)

        server.resetCounters()
        server.endSessions()
        let account = await atom.outcome(of: AccountEndpoint.account(airline), expecting: Member.self)
        checklist.check(
            account.error == nil && server.counters.signIns == 1 && server.counters.tokenRequestsRefused == 1,
            "the server ends the session: the refresh token is refused, so the app is asked once more",
            detail: account.error?.description)
    }

    /// Reads the list to its end, and returns the last response.
    private mutating func readPages(_ atom: Atom) async throws -> AtomResponse {
        var (count, total, responses) = (0, 0, [AtomResponse]())
        let pages = atom.pages(of: AccountEndpoint.activity(airline)) { (page: DecodedResponse<MileagePage>) in
            page.model.next
        }
        for try await page in pages {
            if responses.isEmpty {
                checklist.check(
                    server.counters.signIns == 1, "nobody was signed in, so the first request asked for a sign-in")
                // The token dies between two pages.
                server.expireAccessTokens()
            }
            (count, total) = (count + page.model.activities.count, page.model.total)
            responses.append(page.response)
        }
        let counters = server.counters
        checklist.check(
            count == total && count > 0, "its links lead through the whole list, signed like the first request",
            detail: "\(count) lines on \(responses.count) pages")
        checklist.check(
            counters.refreshes == 1 && counters.signIns == 1,
            "the token expired on the way: one refresh, and no second sign-in",
            detail: "the server counted \(counters.refreshes) and \(counters.signIns)")
        return responses.last ?? .success
    }

    private mutating func leaveServer(_ atom: Atom, _ response: AtomResponse) async throws {
        server.resetCounters()
        let elsewhere = "http://localhost:\(server.port)/account"
        let linked = await atom.outcome(of: try LinkedEndpoint(elsewhere, in: response))
        let counters = server.counters
        checklist.check(
            linked.error?.isAuthorizationFailure == true && counters.apiRequestsUnsigned == 1
                && counters.refreshes == 0,
            "a link to another origin goes without the token", detail: elsewhere)

        let exposed = Airline(base: try BaseURL(scheme: .http, host: "192.0.2.1"))
        let refused = await atom.outcome(of: AccountEndpoint.account(exposed)).error
        let isRefused = if case .requestable(.originNotAllowed)? = refused { true } else { false }
        checklist.check(
            isRefused, "a token for another machine over plain HTTP is refused before the network",
            detail: "\(exposed.base)/account")
    }
}
