import AirlineServer
import AtomNetworking
import Foundation
import Testing

@testable import Airline

@Suite(.timeLimit(.minutes(2))) struct MileageListTests {
    @Test func thePagesOfAServerAreReadToTheEnd() async throws {
        try await withAccount { account, server in
            await account.signIn(user: "ada", password: "lovelace")
            let list = MileageList(account.service)
            await list.refresh()
            #expect(list.hasMore)
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
        }
    }

    @Test func aPageIsAskedForOnce() async throws {
        let fixture = try Fixture()
        try await fixture.loadFirstPage()
        let first = Task { await fixture.list.loadMore() }
        let page = try #require(await fixture.transport.next())
        #expect(fixture.list.isLoading)
        await fixture.list.loadMore()
        page.answer(#"{"activities": [\#(line(1))]}"#)
        await first.value
        #expect(fixture.list.activities.map(\.number) == [2, 1])
        #expect(!fixture.list.isLoading)
        #expect(!fixture.list.hasMore)
    }

    @Test func aRefreshDropsThePageThatWasOnItsWay() async throws {
        let fixture = try Fixture()
        try await fixture.loadFirstPage()
        let loading = Task { await fixture.list.loadMore() }
        let page = try #require(await fixture.transport.next())
        let refreshing = Task { await fixture.list.refresh() }
        let refreshed = try #require(await fixture.transport.next())

        page.answer(#"{"activities": [\#(line(1))]}"#)
        await loading.value
        #expect(fixture.list.activities.map(\.number) == [2], "that page belongs to the old list")
        #expect(fixture.list.isLoading)

        refreshed.answer(#"{"activities": [\#(line(3)), \#(line(2))]}"#)
        await refreshing.value
        #expect(fixture.list.activities.map(\.number) == [3, 2])
        #expect(!fixture.list.isLoading)
    }

    @Test func aFailedPageCanBeAskedForAgain() async throws {
        let fixture = try Fixture()
        try await fixture.loadFirstPage()
        let failing = Task { await fixture.list.loadMore() }
        try #require(await fixture.transport.next()).fail(.notConnectedToInternet)
        await failing.value
        #expect(fixture.list.message == "You seem to be offline. Please try again later.")
        #expect(fixture.list.hasMore)

        let again = Task { await fixture.list.loadMore() }
        try #require(await fixture.transport.next()).answer(#"{"activities": [\#(line(1))]}"#)
        await again.value
        #expect(fixture.list.message == nil)
        #expect(fixture.list.activities.map(\.number) == [2, 1])
    }

    @Test func aCancelledRefreshSaysNothing() async throws {
        let fixture = try Fixture()
        try await fixture.loadFirstPage()
        let refreshing = Task { await fixture.list.refresh() }
        _ = try #require(await fixture.transport.next())
        refreshing.cancel()
        await refreshing.value
        #expect(fixture.list.message == nil)
        #expect(fixture.list.activities.map(\.number) == [2])
        #expect(!fixture.list.isLoading)
    }

    @Test func aLinkThatIsNoURLIsSaid() async throws {
        let fixture = try Fixture()
        let refreshing = Task { await fixture.list.refresh() }
        try #require(await fixture.transport.next()).answer(
            #"{"activities": [\#(line(2))], "next": "javascript:alert(1)"}"#)
        await refreshing.value
        #expect(fixture.list.message?.isEmpty == false)
        #expect(!fixture.list.hasMore)
    }

    private func line(_ number: Int) -> String { #"{"number": \#(number), "title": "Flight", "miles": 250}"# }

    /// A list whose requests the test answers.
    private final class Fixture {
        let list: MileageList
        let transport = ScriptedTransport()

        init() throws {
            let tokens = TokenCredential(
                accessToken: "good", expiresAt: Date(timeIntervalSinceNow: 3600), refreshToken: "next")
            let service = try AirlineService(
                base: try BaseURL(host: "api.example.com"), store: InMemoryTokenCredentialStore(tokens)
            ) { [transport] in $0.transport = transport }
            list = MileageList(service)
        }

        /// Loads the line 2, and a link to more.
        func loadFirstPage() async throws {
            let refreshing = Task { await list.refresh() }
            try #require(await transport.next()).answer(
                #"{"activities": [{"number": 2, "title": "Flight", "miles": 250}], "next": "/account/activity?before=2"}"#
            )
            await refreshing.value
            #expect(list.activities.map(\.number) == [2])
        }
    }
}
