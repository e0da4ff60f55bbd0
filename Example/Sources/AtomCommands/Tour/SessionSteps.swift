import AirlineServer
import AtomNetworking
import Foundation
import Terminal

/// Signs in, and keeps the session alive while its token expires and is ended.
struct SessionSteps {
    let tour: Tour

    /// The number of requests in a round.
    private static let count = 50

    /// The lifetime of the first access token in seconds; a quarter of it is
    /// the SDK's leeway.
    private static let lifetime = 2.0

    func run(_ checklist: inout Checklist) async {
        checklist.section("Basic authentication, and a session of tokens")
        await signWithPassword(&checklist)
        tour.server.updatePolicy { $0.accessTokenLifetime = Self.lifetime }
        let tokens = await outcome { () async throws(AtomError) in try await tour.tokens() }
        // Counted from the time when the client gets it, as the client does.
        let expiry = tour.stopwatch.seconds + Self.lifetime
        // Only the first token expires.
        tour.server.updatePolicy { $0.accessTokenLifetime = 3600 }
        checklist.check(
            tokens.value?.refreshToken.isEmpty == false, "the password grant returns the first pair of tokens",
            detail: tokens.error?.description ?? "the access token is valid for \(Self.lifetime) s")
        guard let tokens = tokens.value else { return }

        checklist.section("The token expires during \(Self.count) requests")
        explain("One request every 20 ms, until the token has expired. A refresh takes 300 ms.")
        await tour.stopwatch.sleep(until: expiry - Self.lifetime / 4 - 0.2)
        await round(tokens, every: 0.02, refreshTime: 300, &checklist)

        checklist.section("The token is revoked during \(Self.count) requests")
        explain("All at once. The client doesn't know that its token is revoked.")
        guard let fresh = try? await tour.tokens() else { return }
        tour.server.expireAccessTokens()
        await round(fresh, every: 0, refreshTime: 200, &checklist)
    }

    private func signWithPassword(_ checklist: inout Checklist) async {
        func member(password: String) async -> Result<Member, AtomError> {
            let credential = BasicCredential(password: password, username: NameAndSecret.exampleUser.name)
            return await outcome { () async throws(AtomError) in
                try await tour.atom(.basic(credential)).enqueue(AccountEndpoint.member(tour.airline))
                    .resume(expecting: Member.self)
            }
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
    private func round(
        _ tokens: TokenCredential, every pause: Double, refreshTime: Int, _ checklist: inout Checklist
    ) async {
        let recorder = TimelineRecorder()
        guard let atom = try? tour.atom(tokens, { $0.observers.append(recorder) }) else { return }
        tour.server.resetCounters()
        tour.server.updatePolicy { $0.delayMilliseconds = refreshTime }
        let (airline, stopwatch) = (tour.airline, tour.stopwatch)
        let start = stopwatch.seconds
        let answered = await withTaskGroup(of: Bool.self) { group in
            for number in 1...Self.count {
                await stopwatch.sleep(until: start + pause * Double(number))
                group.addTask {
                    let endpoint = AccountEndpoint.miles(airline, number: number, milliseconds: 60)
                    let miles = try? await atom.enqueue(endpoint).resume(expecting: Miles.self)
                    return miles?.number == String(number)
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        tour.server.updatePolicy { $0.delayMilliseconds = 0 }
        let requests = recorder.timeline.requests
        for (count, fate) in [
            (requests.count { $0.refusals.isEmpty && !$0.waitedForRefresh }, "were sent at once"),
            (requests.count { $0.refusals.isEmpty && $0.waitedForRefresh }, "waited for the refresh"),
            (requests.count { !$0.refusals.isEmpty }, "got a 401, waited for the refresh and were sent once more"),
        ] where count > 0 {
            tour.terminal.print("  \(count < 10 ? " " : "")\(count) \(fate)")
        }
        let counters = tour.server.counters
        checklist.check(answered == Self.count, "\(answered) of \(Self.count) requests got their own response")
        checklist.check(
            counters.refreshes == 1 && counters.tokenRequests == 1 && counters.reuseDetected == 0,
            "one refresh, and no refresh token was used twice",
            detail: "the server counted \(counters.tokenRequests)")
    }

    private func explain(_ text: String) {
        tour.terminal.print(tour.terminal.styled("  \(text)", .dim))
    }
}
