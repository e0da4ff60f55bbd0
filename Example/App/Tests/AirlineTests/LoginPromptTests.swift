import AirlineServer
import AtomNetworking
import AtomNetworkingTesting
import Testing

@testable import Airline

/// Requests that wait for a person, on a real server.
@Suite(.limited) struct LoginPromptTests {
    @Test func allRequestsWaitForOneLogin() async throws {
        try await withPrompt { prompt, account, server in
            let lists = (0..<3).map { _ in MileageList(account.service) }
            for list in lists { Task { await list.refresh() } }
            await wait { prompt.isShown && lists.allSatisfy(\.isLoading) }
            await prompt.submit(user: "ada", password: "lovelace")
            #expect(!prompt.isShown)
            await wait { !lists.contains(where: \.isLoading) }
            #expect(lists.map(\.activities.count) == [20, 20, 20])
            #expect(lists.allSatisfy { $0.message == nil })
            #expect(server.counters.signIns == 1)
        }
    }

    @Test func aScreenGoesOnAfterItsSessionHasEndedAtTheServer() async throws {
        try await withPrompt { prompt, account, server in
            await account.signIn(user: "ada", password: "lovelace")
            let list = MileageList(account.service)
            await list.refresh()
            server.endSessions()
            Task { await list.loadMore() }
            await wait { prompt.isShown }
            #expect(account.phase == .signedIn, "the member's screens stay")
            await prompt.submit(user: "ada", password: "lovelace")
            await wait { !list.isLoading }
            #expect(list.activities.count == 40)
            #expect(account.phase == .signedIn)
        }
    }

    @Test func aWrongPasswordIsSaidAndAskedForAgain() async throws {
        try await withPrompt { prompt, account, server in
            let list = MileageList(account.service)
            Task { await list.refresh() }
            await wait { prompt.isShown }
            await prompt.submit(user: "ada", password: "wrong")
            #expect(prompt.isShown)
            #expect(!prompt.isSubmitting)
            #expect(prompt.message == "The user name or the password is wrong.")
            #expect(list.isLoading)

            async let first: Void = prompt.submit(user: "ada", password: "lovelace")
            async let second: Void = prompt.submit(user: "ada", password: "lovelace")
            _ = await (first, second)
            #expect(server.counters.signIns == 1, "the button was pressed twice")
            await wait { !list.isLoading }
            #expect(list.activities.count == 20)
            #expect(prompt.message == nil)
        }
    }

    @Test func closingThePromptEndsTheSession() async throws {
        try await withPrompt { prompt, account, _ in
            let list = MileageList(account.service)
            Task { await list.refresh() }
            await wait { prompt.isShown }
            prompt.close()
            #expect(!prompt.isShown)
            await wait { !list.isLoading }
            await wait { account.phase == .signedOut }
            #expect(account.message == "Your session has ended. Please sign in again.")
            #expect(list.message == nil, "the sign-in says it already")

            await list.refresh()
            #expect(!prompt.isShown, "nobody is asked again")
            await account.signIn(user: "ada", password: "lovelace")
            await list.refresh()
            #expect(list.activities.count == 20)
        }
    }

    @Test func aSignOutClosesThePrompt() async throws {
        try await withPrompt { prompt, account, _ in
            let list = MileageList(account.service)
            Task { await list.refresh() }
            await wait { prompt.isShown }
            await account.signOut()
            await wait { !prompt.isShown }
            await wait { !list.isLoading }
            #expect(list.message == nil)
            #expect(account.message == nil)

            // The provider has returned, so the next request is not held up.
            Task { await list.refresh() }
            await wait { prompt.isShown }
            await prompt.submit(user: "ada", password: "lovelace")
            await wait { !list.isLoading }
            #expect(list.activities.count == 20)
        }
    }

    @Test func aCancelledRequestLeavesThePromptToTheOthers() async throws {
        try await withPrompt { prompt, account, _ in
            let (left, stays) = (MileageList(account.service), MileageList(account.service))
            let leaving = Task { await left.refresh() }
            Task { await stays.refresh() }
            await wait { prompt.isShown && left.isLoading && stays.isLoading }
            leaving.cancel()
            await leaving.value
            #expect(prompt.isShown)
            await prompt.submit(user: "ada", password: "lovelace")
            await wait { !stays.isLoading }
            #expect(stays.activities.count == 20)
        }
    }

    @Test func aRequestWaitsLongerThanAPersonMayTake() throws {
        let base = try BaseURL(host: "api.example.com")
        var configuration = ServiceConfiguration()
        _ = try AirlineService(base: base, store: InMemoryTokenCredentialStore(), signIn: LoginPrompt(base: base)) {
            configuration = $0
        }
        guard case .bearerAuthentication(let bearer) = configuration.authenticationMethod else {
            Issue.record("nothing is signed")
            return
        }
        #expect(.seconds(configuration.timeout.resource) > (try #require(bearer.signInDeadline)))
        #expect(try #require(bearer.deadline) <= .seconds(30), "a refresh waits for nobody")
    }

    @Test func whatComesTooLateIsDropped() async throws {
        let tokens = TokenCredential(accessToken: "A1", expiresAt: .distantFuture, refreshToken: "R1")
        try await Atom.withScript(.delayed(.seconds(1), .json(tokens))) { identity, wire in
            let prompt = LoginPrompt(base: try BaseURL(host: "api.example.com"), identity: identity)
            let closed = Task { try await prompt.credential(replacing: nil) }
            await wait { prompt.isShown }
            let password = Task { await prompt.submit(user: "ada", password: "lovelace") }
            await wire.idle()
            #expect(wire.requests.map { $0.form("username") } == ["ada"])
            prompt.close()
            await #expect(throws: TokenCredentialProviderError.self) { try await closed.value }

            let next = Task { try await prompt.credential(replacing: nil) }
            await wait { prompt.isShown }
            wire.clock.advance(by: .seconds(1))
            await password.value
            #expect(prompt.isShown, "the password was for the prompt that was closed")
            next.cancel()
            await #expect(throws: CancellationError.self) { try await next.value }
            #expect(!prompt.isShown)
        }
    }

    @Test func aSecondCallEndsTheFirst() async throws {
        let prompt = LoginPrompt(base: try BaseURL(host: "api.example.com"))
        let first = Task { try await prompt.credential(replacing: nil) }
        await wait { prompt.isShown }
        let second = Task { try await prompt.credential(replacing: nil) }
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(prompt.isShown)
        prompt.close()
        await #expect(throws: TokenCredentialProviderError.self) { try await second.value }
    }
}

/// Runs a test with an account whose requests wait for a prompt.
private func withPrompt(_ body: @MainActor (LoginPrompt, Account, AirlineServer) async throws -> Void) async throws {
    var prompt: LoginPrompt?
    try await withAccount { base in
        let made = LoginPrompt(base: base)
        prompt = made
        return try AirlineService(base: base, store: InMemoryTokenCredentialStore(), signIn: made)
    } _: { account, server in
        await wait { account.phase == .signedOut }
        try await body(try #require(prompt), account, server)
    }
}
