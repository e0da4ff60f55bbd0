import AirlineServer
import AtomNetworking
import AtomNetworkingTesting
import Testing

@testable import Airline

@Suite(.limited) struct MileageListTests {
    @Test func thePagesOfAServerAreReadToTheEnd() async throws {
        try await withAccount { account, server in
            await account.signIn()
            let list = MileageList(account.service)
            await list.refresh()
            #expect(list.hasMore)
            await wait { account.phase == .signedIn }
            await list.loadMore()
            // The token dies between two pages.
            server.expireAccessTokens()
            await list.loadMore()
            #expect(list.activities.map(\.number) == Array((1...57).reversed()))
            #expect(!list.hasMore)
            await list.loadMore()
            #expect(list.activities.count == 57)
            #expect(list.message == nil)
            #expect(server.counters.refreshes == 1)
            #expect(account.phase == .signedIn, "nothing of it was noticed")
        }
    }

    @Test func aPageIsAskedForOnce() async throws {
        try await withScriptedService([first, .delayed(.seconds(1), last)]) { service, wire in
            let list = MileageList(service)
            await list.refresh()
            let loading = Task { await list.loadMore() }
            await wire.idle()
            #expect(list.isLoading)
            await list.loadMore()

            wire.clock.advance(by: .seconds(1))
            await loading.value
            #expect(list.activities.map(\.number) == [2, 1])
            #expect(!list.isLoading)
            #expect(!list.hasMore)
            #expect(wire.requests.map(\.pathAndQuery) == ["/account/activity", "/account/activity?before=2"])
        }
    }

    @Test func aRefreshDropsThePageThatWasOnItsWay() async throws {
        try await withScriptedService([first, .delayed(.seconds(1), last), .delayed(.seconds(2), page([3, 2]))]) {
            service, wire in
            let list = MileageList(service)
            await list.refresh()
            Task { await list.loadMore() }
            await wire.idle()
            Task { await list.refresh() }
            await wire.idle()
            #expect(wire.requests.count == 3)

            wire.clock.advance(by: .seconds(1))
            await wire.idle()
            #expect(list.activities.map(\.number) == [2], "that page belongs to the old list")
            #expect(list.isLoading)

            wire.clock.advance(by: .seconds(1))
            await wire.idle()
            #expect(list.activities.map(\.number) == [3, 2])
            #expect(!list.isLoading)
        }
    }

    @Test func aFailedPageCanBeAskedForAgain() async throws {
        let offline = ScriptedResponse.failure(.cannotConnectToHost)
        try await withScriptedService([first, offline, offline, last]) { service, _ in
            let list = MileageList(service)
            await list.refresh()
            for load in [list.loadMore, list.refresh] {
                await load()
                #expect(list.message == "You seem to be offline. Please try again later.")
                #expect(list.activities.map(\.number) == [2] && list.hasMore, "the old lines stay")
            }

            await list.loadMore()
            #expect(list.message == nil)
            #expect(list.activities.map(\.number) == [2, 1])
        }
    }

    @Test func aCancelledRefreshSaysNothing() async throws {
        try await withScriptedService([first, .never]) { service, wire in
            let list = MileageList(service)
            await list.refresh()
            let refreshing = Task { await list.refresh() }
            await wire.idle()
            #expect(list.isLoading)
            refreshing.cancel()
            await refreshing.value
            #expect(list.message == nil)
            #expect(list.activities.map(\.number) == [2])
            #expect(!list.isLoading)
        }
    }
}

/// The line 2, and a link to the last page.
var first: ScriptedResponse { page([2], next: "/account/activity?before=2") }

var last: ScriptedResponse { page([1]) }

private func page(_ numbers: [Int], next: String? = nil) -> ScriptedResponse {
    let lines = numbers.map { Activity(number: $0, title: "Flight", miles: 250) }
    return .json(ActivityPage(activities: lines, next: next))
}

/// Runs a test with the service of somebody who is signed in, or not yet, and with the
/// answers to its requests instead of a network.
func withScriptedService(
    _ answers: [ScriptedResponse] = [], signedIn: Bool = true,
    test: (AirlineService, ScriptedTransport) async throws -> Void
) async throws {
    // `verify` tells what is wrong with the script.
    let wire = ScriptedTransport(answers, onProblem: { _ in })
    if signedIn { wire.tokenStore.stored = wire.authorizationServer.signIn() }
    let service = AirlineService(
        base: try BaseURL(host: "api.example.com"), client: wire.client(scopes: ["openid"]),
        browser: wire.authorizationServer.browser, store: wire.tokenStore
    ) { wire.install(in: &$0) }
    try await test(service, wire)
    try wire.verify()
}
