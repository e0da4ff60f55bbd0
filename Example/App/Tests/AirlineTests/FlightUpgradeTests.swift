import AtomNetworkingTesting
import Testing

@testable import Airline

@Suite(.limited) struct FlightUpgradeTests {
    @Test func thePageAsksForWhatTheServerWants() async throws {
        try await withAccount { account, server in
            await account.signIn()
            let upgrade = FlightUpgrade(account.service)
            await upgrade.order(for: "AS100")
            #expect(upgrade.message == "You fly in the first cabin of AS100.")
            #expect(server.counters.pages == 2)
            await upgrade.order(for: "AS212")
            #expect(upgrade.message == "You fly in the first cabin of AS212.")
            #expect(server.counters.pages == 2)
        }
    }

    @Test func aPersonWhoHasDeclinedIsAskedAgainByTheButton() async throws {
        let answer = ScriptedResponse.json(Upgrade(flight: "AS100", cabin: "first"))
        try await withSignedOutAccount([answer]) { account, wire in
            let server = wire.authorizationServer
            server.require(scope: "miles:spend", at: "/account/upgrades")
            await account.signIn()
            await wait { account.phase == .signedIn }
            let upgrade = FlightUpgrade(account.service)
            for ending in [ScriptedBrowser.Ending.closed, .declined] {
                server.nextPage(ending)
                await upgrade.order(for: "AS100")
                #expect(upgrade.message == nil && !upgrade.isOrdering)
                #expect(account.phase == .signedIn)
            }
            await upgrade.order(for: "AS100")
            #expect(upgrade.message == "You fly in the first cabin of AS100.")
            #expect(server.counts.pages == 4)
        }
    }

    @Test func somebodyElseCantAllowIt() async throws {
        try await withSignedOutAccount { account, wire in
            let server = wire.authorizationServer
            server.require(scope: "miles:spend", at: "/account/upgrades")
            await account.signIn()
            let upgrade = FlightUpgrade(account.service)
            server.subject = "grace"
            await upgrade.order(for: "AS100")
            #expect(upgrade.message == "That was somebody else. Sign out first.")
            #expect(wire.tokenStore.stored?.accessToken == "A1")
        }
    }
}
