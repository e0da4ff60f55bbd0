import AirlineServer
import AtomNetworking
import Foundation
import Terminal

/// Switches between two accounts by storing their tokens alternately in the
/// app's variable.
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
            "the second account's tokens replace them, and are refreshed too",
            detail: atSecond.error?.description)

        // The app kept these tokens at the sign-in; their refresh token has been used since.
        box.tokenCredential = first
        let atFirstAgain = await account(atom)
        checklist.check(
            atFirstAgain.error == nil && box.tokenCredential.refreshToken == renewed.refreshToken,
            "put back with a used refresh token, the first account continues with its successor",
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
