import AirlineServer
import AtomNetworking
import Foundation
import Terminal

/// Switches between two accounts by putting their tokens into the app's
/// variable in turn.
struct AccountSteps {
    let tour: Tour

    func run(_ checklist: inout Checklist) async {
        checklist.section("An app switches between two accounts")
        tour.server.resetCounters()
        guard let first = await signIn(), let second = await signIn(),
            let endpoint = try? tour.airline.authorizationEndpoint()
        else {
            checklist.check(false, "both accounts are signed in", detail: nil)
            return
        }
        let client = NameAndSecret.exampleClient
        let box = TokenBox(first)
        let atom = tour.atom(.bearer(endpoint, ClientCredential(id: client.name, secret: client.secret), box))

        tour.server.revokeAccessTokens()
        let atFirst = await account(atom)
        let renewed = box.tokenCredential
        checklist.check(
            atFirst.error == nil && renewed.refreshToken != first.refreshToken,
            "the first account's tokens are refreshed", detail: atFirst.error?.description)

        box.tokenCredential = second
        let atSecond = await account(atom)
        checklist.check(
            atSecond.error == nil && box.tokenCredential.refreshToken != renewed.refreshToken,
            "the second account's are put in their place, and refreshed in their turn",
            detail: atSecond.error?.description)

        // As the app kept them when it signed in: their refresh token has been spent since.
        box.tokenCredential = first
        let atFirstAgain = await account(atom)
        checklist.check(
            atFirstAgain.error == nil && box.tokenCredential.refreshToken == renewed.refreshToken,
            "put back with a spent refresh token, the first account goes on with what became of it",
            detail: atFirstAgain.error?.description)
        let counters = tour.server.counters
        checklist.check(
            counters.refreshes == 2 && counters.reuseDetected == 0, "one refresh for each, and no token used twice",
            detail: "the server counted \(counters.refreshes), and \(counters.reuseDetected) tokens used twice")
    }

    private func signIn() async -> TokenCredential? {
        await outcome { () async throws(AtomError) in
            try await tour.atom().enqueue(
                SignInEndpoint.password(tour.airline, user: .exampleUser, client: .exampleClient)
            ).resume(expecting: TokenCredential.self)
        }.value
    }

    private func account(_ atom: Atom) async -> Result<Member, AtomError> {
        await outcome { () async throws(AtomError) in
            try await atom.enqueue(AccountEndpoint.account(tour.airline)).resume(expecting: Member.self)
        }
    }
}
