import AtomNetworking
import AtomNetworkingSignIn
import AtomNetworkingTesting
import Testing

@testable import Airline

/// The page that a button or a request opens, by script.
@Suite(.limited) struct SignInTests {
    @Test func twoRequestsWaitForOnePage() async throws {
        try await withSignedOutAccount([last, last]) { account, wire in
            let server = wire.authorizationServer
            server.holdPages()
            let lists = [MileageList(account.service), MileageList(account.service)]
            for list in lists { Task { await list.refresh() } }
            await wire.idle(until: { server.counts.pages == 1 })
            await wire.settle()
            #expect(lists.allSatisfy(\.isLoading) && wire.requests.isEmpty)

            server.releasePages()
            await wait { !lists.contains(where: \.isLoading) }
            #expect(lists.allSatisfy { $0.activities.count == 1 && $0.message == nil })
            #expect(server.counts.pages == 1)
        }
    }

    @Test func thePageIsShownOverTheMembersScreens() async throws {
        try await withSignedOutAccount([first, last]) { account, wire in
            let server = wire.authorizationServer
            await account.signIn()
            let list = MileageList(account.service)
            await list.refresh()
            server.endSessions()
            server.holdPages()
            Task { await list.loadMore() }
            await wire.idle(until: { server.counts.pages == 2 })
            await wire.settle()
            #expect(account.phase == .signedIn)

            server.releasePages()
            await wait { !list.isLoading }
            #expect(list.activities.map(\.number) == [2, 1])
            #expect(account.phase == .signedIn)
        }
    }

    @Test func aPersonWhoClosesThePageIsAskedAgainByTheButtonOnly() async throws {
        try await withSignedOutAccount([first, last]) { account, wire in
            let server = wire.authorizationServer
            await account.signIn()
            let list = MileageList(account.service)
            await list.refresh()
            server.endSessions()
            server.nextPage(.closed)
            await list.loadMore()
            #expect(list.message == nil, "the sign-in says it already")
            await wait { account.phase == .signedOut }
            #expect(account.message == "Your session has ended. Please sign in again.")
            await list.loadMore()
            #expect(list.message == nil && server.counts.pages == 2)

            await account.signIn()
            await wait { account.phase == .signedIn }
            #expect(account.message == nil && server.counts.pages == 3)
            await list.refresh()
            #expect(list.activities.map(\.number) == [1])
        }
    }

    @Test(arguments: [ScriptedBrowser.Ending.closed, .declined])
    func theButtonCanBePressedAgain(ending: ScriptedBrowser.Ending) async throws {
        try await withSignedOutAccount { account, wire in
            let server = wire.authorizationServer
            server.nextPage(ending)
            await account.signIn()
            #expect(account.phase == .signedOut && account.message == nil && !account.isSigningIn)

            server.holdPages()
            let signingIn = Task { await account.signIn() }
            await wire.idle(until: { server.counts.pages == 2 })
            #expect(account.isSigningIn)
            await account.signIn()
            server.releasePages()
            await signingIn.value
            await wait { account.phase == .signedIn }
            #expect(server.counts.pages == 2, "the button was pressed twice")
        }
    }

    @Test func aRefusalIsSaidUntilTheButtonIsPressedAgain() async throws {
        try await withSignedOutAccount { account, wire in
            wire.authorizationServer.nextPage(.error("server_error"))
            await account.signIn()
            #expect(account.message == "You could not be signed in. Please try again.")
            #expect(account.phase == .signedOut)
            await account.signIn()
            await wait { account.phase == .signedIn }
            #expect(account.message == nil)
        }
    }

    @Test func aSignOutClosesThePage() async throws {
        try await withSignedOutAccount([last]) { account, wire in
            let server = wire.authorizationServer
            await account.signIn()
            server.endSessions()
            server.holdPages()
            let list = MileageList(account.service)
            Task { await list.refresh() }
            await wire.idle(until: { server.counts.pages == 2 })
            await account.signOut()
            await wait { !list.isLoading && account.phase == .signedOut }
            #expect(list.message == nil && account.message == nil)

            server.releasePages()
            await wire.settle()
            #expect(server.counts.codesIssued == 1, "nobody is signed in by the page that was closed")
            await list.refresh()
            #expect(list.activities.map(\.number) == [1])
            #expect(server.counts.pages == 3)
        }
    }

    @Test func aCancelledRequestLeavesThePageToTheOthers() async throws {
        try await withSignedOutAccount([last]) { account, wire in
            let server = wire.authorizationServer
            server.holdPages()
            let (left, stays) = (MileageList(account.service), MileageList(account.service))
            let leaving = Task { await left.refresh() }
            Task { await stays.refresh() }
            await wire.idle(until: { server.counts.pages == 1 })
            await wire.settle()
            leaving.cancel()
            await leaving.value
            #expect(stays.isLoading)
            server.releasePages()
            await wait { !stays.isLoading }
            #expect(stays.activities.map(\.number) == [1] && server.counts.pages == 1)
        }
    }

    @Test func aRequestWaitsForAPersonAndARefreshForNobody() async throws {
        try await withScriptedService { service, wire in
            var configuration = ServiceConfiguration()
            _ = AirlineService(
                base: service.base, client: wire.client(), browser: wire.authorizationServer.browser,
                store: wire.tokenStore
            ) { configuration = $0 }
            guard case .bearerAuthentication(let bearer) = configuration.authenticationMethod else {
                Issue.record("nothing is signed")
                return
            }
            let (person, refresh) = (try #require(bearer.signInDeadline), try #require(bearer.deadline))
            #expect(configuration.timeout.resource >= 600)
            #expect(.seconds(configuration.timeout.resource) < person, "a second page would open")
            #expect(refresh <= .seconds(30))
        }
    }
}

/// Runs a test with an account that follows its session, nobody being signed in.
func withSignedOutAccount(
    _ answers: [ScriptedResponse] = [], test: @MainActor (Account, ScriptedTransport) async throws -> Void
) async throws {
    try await withScriptedService(answers, signedIn: false) { service, wire in
        try await following(Account(service)) { account in
            await wait { account.phase == .signedOut }
            try await test(account, wire)
        }
    }
}
