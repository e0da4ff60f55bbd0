import AirlineServer
import AtomNetworking
import AtomNetworkingSignIn
import Foundation
import Testing

@testable import Airline

/// The sign-in and the session, on a real server and its page.
@Suite(.limited) struct AccountTests {
    @Test func aSignInShowsTheMembersScreensUntilTheSignOut() async throws {
        try await withAccount { account, server in
            await wait { account.phase == .signedOut }
            await account.signIn()
            await wait { account.phase == .signedIn }
            #expect(server.counters.pages == 1 && server.counters.signIns == 1)

            await account.signOut()
            await wait { account.phase == .signedOut }
            #expect(account.message == nil)
        }
    }

    @Test func aSignInThatWasDeclinedIsNoError() async throws {
        try await withAccount(PageBrowser(action: "cancel")) { account, server in
            await wait { account.phase == .signedOut }
            await account.signIn()
            #expect(server.counters.pages == 1 && server.counters.signIns == 0)
            #expect(account.phase == .signedOut && account.message == nil && !account.isSigningIn)
        }
    }

    @Test func aScreenGoesOnWhenItsSessionHasEndedAtTheServer() async throws {
        try await withAccount { account, server in
            await account.signIn()
            let list = MileageList(account.service)
            await list.refresh()
            server.endSessions()
            await list.loadMore()
            #expect(list.activities.count == 40 && list.message == nil)
            #expect(server.counters.pages == 2)
        }
    }

    @Test func theAppsConstantsAreWhatTheServerSays() async throws {
        try await withAccount { account, server in
            let known = try OAuthClient.airline(at: account.service.base).server
            let found = try await AuthorizationServer.discover(server.baseURL)
            #expect(known.issuer == found.issuer)
            #expect(known.authorizationEndpoint == found.authorizationEndpoint)
            #expect(known.tokenEndpoint == found.tokenEndpoint)
            #expect(known.revocationEndpoint == found.revocationEndpoint)
        }
    }
}

/// Runs a test with a server and an account that follows its session.
func withAccount(
    _ browser: PageBrowser = PageBrowser(), _ body: @MainActor (Account, AirlineServer) async throws -> Void
) async throws {
    let server = try await AirlineServer.start()
    let result: Result<Void, any Error>
    do {
        let base = try BaseURL(scheme: .http, host: server.host, port: Int(server.port))
        let service = AirlineService(
            base: base, client: try .airline(at: base), browser: browser, store: InMemoryTokenCredentialStore())
        result = .success(try await following(Account(service)) { try await body($0, server) })
    } catch {
        result = .failure(error)
    }
    await server.stop()
    try result.get()
}

/// Runs a test while an account follows its session, as in the app.
func following(_ account: Account, _ body: @MainActor (Account) async throws -> Void) async throws {
    let following = Task { await account.follow() }
    defer { following.cancel() }
    try await body(account)
}
