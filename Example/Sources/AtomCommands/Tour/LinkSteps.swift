import AirlineServer
import AtomNetworking
import Terminal

/// Asks for a sign-in only when it is needed, and follows a server's links
/// without giving the token away.
struct LinkSteps {
    let tour: Tour

    func run(_ checklist: inout Checklist) async {
        checklist.section("A sign-in when it is needed, and a list with pages")
        tour.server.resetCounters()
        guard let atom = try? service() else {
            checklist.check(false, "the session is configured", detail: nil)
            return
        }
        guard let last = await readPages(atom, &checklist) else { return }
        await leaveTheServer(atom, last, &checklist)
        await endTheSession(atom, &checklist)
    }

    /// The SDK refreshes the session, and asks for a password when that can't
    /// help.
    private func service() throws(AtomError) -> Atom {
        let client = OAuthClient.publicExample
        let user = NameAndSecret.exampleUser
        let login = PasswordLogin(airline: tour.airline, clientID: client.id, user: user.name) {
            user.secret
        }
        return tour.atom(
            .bearer(
                try tour.airline.authorizationEndpoint(), ClientCredential(id: client.id),
                InMemoryTokenCredentialStore(), signIn: login))
    }

    /// Reads the list to its end, and returns the last response.
    private func readPages(_ atom: Atom, _ checklist: inout Checklist) async -> AtomResponse? {
        let first = await outcome { () async throws(AtomError) in
            try await atom.enqueue(AccountEndpoint.activity(tour.airline)).resume(decoding: MileagePage.self)
        }
        checklist.check(
            first.error == nil && tour.server.counters.signIns == 1,
            "nobody was signed in, so the first request asked for a sign-in",
            detail: first.error?.description)
        guard var answer = first.value else { return nil }

        var count = answer.model.activities.count
        var pages = 1
        while let next = answer.model.next {
            // The token dies between two pages.
            if pages == 1 { tour.server.expireAccessTokens() }
            let response = answer.response
            let page = await outcome { () async throws(AtomError) in
                try await atom.enqueue(LinkedEndpoint(next, in: response)).resume(
                    decoding: MileagePage.self)
            }
            guard let value = page.value else {
                checklist.check(false, "GET \(next) returns a page", detail: page.error?.description)
                return nil
            }
            answer = value
            count += value.model.activities.count
            pages += 1
        }
        let counters = tour.server.counters
        checklist.check(
            count == answer.model.total, "its links lead through the whole list, signed like the first request",
            detail: "\(count) lines on \(pages) pages")
        checklist.check(
            counters.refreshes == 1 && counters.signIns == 1,
            "the token expired on the way: one refresh, and no second sign-in",
            detail: "the server counted \(counters.refreshes) and \(counters.signIns)")
        return answer.response
    }

    private func leaveTheServer(_ atom: Atom, _ response: AtomResponse, _ checklist: inout Checklist) async {
        tour.server.resetCounters()
        let elsewhere = "http://localhost:\(tour.server.port)/account"
        let linked = await outcome { () async throws(AtomError) in
            try await atom.enqueue(LinkedEndpoint(elsewhere, in: response)).resume()
        }
        let counters = tour.server.counters
        checklist.check(
            linked.error?.isAuthorizationFailure == true && counters.apiRequestsUnsigned == 1
                && counters.refreshes == 0,
            "a link to another origin goes without the token", detail: elsewhere)

        let exposed = await outcome { () async throws(AtomError) in
            let base = try BaseURL(scheme: .http, host: "192.0.2.1")
            return try await atom.enqueue(PlainEndpoint(base: base, text: "/account")).resume()
        }
        let isRefused = if case .requestable(.originNotAllowed)? = exposed.error { true } else { false }
        checklist.check(
            isRefused, "a token for another machine over plain HTTP is refused before the network",
            detail: "http://192.0.2.1/account")
    }

    private func endTheSession(_ atom: Atom, _ checklist: inout Checklist) async {
        tour.server.resetCounters()
        tour.server.endSessions()
        let account = await outcome { () async throws(AtomError) in
            try await atom.enqueue(AccountEndpoint.account(tour.airline)).resume(expecting: Member.self)
        }
        let counters = tour.server.counters
        checklist.check(
            account.error == nil && counters.signIns == 1 && counters.tokenRequestsRefused == 1,
            "the server ends the session: the refresh token is refused, so the app is asked once more",
            detail: account.error?.description)
    }
}
