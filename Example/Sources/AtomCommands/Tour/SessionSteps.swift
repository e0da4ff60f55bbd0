import AirlineServer
import AtomNetworking
import Foundation

extension Tour {
    /// Signs in, and keeps the session alive while its token expires and is ended.
    mutating func keepSession() async throws {
        /// The lifetime of the first access token in seconds; a quarter of it is the SDK's leeway.
        let lifetime = 2.0
        await signWithPassword()
        server.updatePolicy { $0.accessTokenLifetime = lifetime }
        let tokens = try await tokens()
        // Counted from the time when the client gets it, as the client does.
        let expiry = stopwatch.seconds + lifetime
        // Only the first token expires.
        server.updatePolicy { $0.accessTokenLifetime = 3600 }
        checklist.check(
            !tokens.refreshToken.isEmpty, "the password grant returns the first pair of tokens",
            detail: "the access token is valid for \(lifetime) s")

        checklist.section("The token expires during 50 requests")
        explain("One request every 20 ms, until the token has expired. A refresh takes 300 ms.")
        await stopwatch.sleep(until: expiry - lifetime / 4 - 0.2)
        try await sendFifty(with: tokens, every: 0.02, refreshTime: 300)

        checklist.section("The token is revoked during 50 requests")
        explain("All at once. The client doesn't know that its token is revoked.")
        let fresh = try await self.tokens()
        server.expireAccessTokens()
        try await sendFifty(with: fresh, every: 0, refreshTime: 200)

        checklist.section("Another client sends requests with the session's token")
        try await lendToken()
    }

    /// Gives another client the token, and another one when the server has revoked it.
    private mutating func lendToken() async throws {
        let (owner, client) = (try atom(await tokens()), atom())
        let address = "\(server.baseURL)/account"
        guard let url = URL(string: address) else { throw AtomError.unexpected }
        func status(_ authorization: RequestAuthorization) async throws -> Int? {
            var endpoint = try URLEndpoint(address, headerItems: [authorization.headerItem])
            endpoint.acceptableStatusCodes = 200...499
            return try await client.enqueue(endpoint).resume().statusCode
        }
        let first = try await owner.authorization(for: url)
        server.resetCounters()
        server.expireAccessTokens()
        let refused = try await status(first)
        let next = try await owner.authorization(for: url, after: first)
        let accepted = if let next { try await status(next) } else { Int?.none }
        checklist.check(
            refused == 401 && accepted == 200 && server.counters.refreshes == 1,
            "the other client gets a 401, asks for another token, and gets its response",
            detail: "the server counted \(server.counters.refreshes) refresh")
    }

    private mutating func signWithPassword() async {
        func member(password: String) async -> Result<Member, AtomError> {
            let credential = BasicCredential(password: password, username: NameAndSecret.exampleUser.name)
            return await atom(.basic(credential)).outcome(of: AccountEndpoint.member(airline), expecting: Member.self)
        }
        let right = await member(password: NameAndSecret.exampleUser.secret)
        checklist.check(
            right.value?.name == NameAndSecret.exampleUser.name, "GET /me accepts the right password",
            detail: right.value.map { "\($0.name), \($0.tier), \($0.miles) miles" } ?? right.summary)
        let wrong = await member(password: "byron")
        let problem = try? wrong.error?.decodeIfPresent(as: Problem.self)
        checklist.check(
            wrong.error?.isAuthorizationFailure == true && problem?.code == "wrong_credentials",
            "a wrong password gets a 401, with its body", detail: problem?.message ?? wrong.summary)
    }

    /// Fifty requests with one session, during which its token ends.
    private mutating func sendFifty(
        with tokens: TokenCredential, every pause: Double, refreshTime: Int
    ) async throws {
        let timeline = TimelineRecorder()
        let atom = try atom(tokens) { $0.observers.append(timeline) }
        server.resetCounters()
        server.updatePolicy { $0.delayMilliseconds = refreshTime }
        let airline = airline
        let answered = await Self.successes(of: 50, every: pause) { number in
            let endpoint = AccountEndpoint.miles(airline, number: number, milliseconds: 60)
            return try await atom.enqueue(endpoint).resume(expecting: Miles.self).number == String(number)
        }
        server.updatePolicy { $0.delayMilliseconds = 0 }
        let requests = timeline.timeline.requests
        for (count, fate) in [
            (requests.count { $0.refusals.isEmpty && !$0.waitedForSession }, "were sent at once"),
            (requests.count { $0.refusals.isEmpty && $0.waitedForSession }, "waited for the refresh"),
            (requests.count { !$0.refusals.isEmpty }, "got a 401, waited for the refresh and were sent once more"),
        ] where count > 0 {
            terminal.print("  \(count < 10 ? " " : "")\(count) \(fate)")
        }
        let counters = server.counters
        checklist.check(answered == 50, "\(answered) of 50 requests got their own response")
        checklist.check(
            counters.refreshes == 1 && counters.tokenRequests == 1 && counters.reuseDetected == 0,
            "one refresh, and no refresh token was used twice",
            detail: "the server counted \(counters.tokenRequests)")
    }

    private func explain(_ text: String) {
        terminal.print(terminal.styled("  \(text)", .dim))
    }
}
