import AirlineServer
import AtomNetworking
import Foundation
import Testing

@testable import Airline

/// The sign-in and the end of a session, on a real server.
@Suite(.limited) struct AccountTests {
    @Test func aWrongPasswordIsSaid() async throws {
        try await withAccount { account, server in
            await wait { account.phase == .signedOut }
            #expect(account.message == nil)
            await account.signIn(user: "ada", password: "wrong")
            #expect(account.message == "The user name or the password is wrong.")
            #expect(account.phase == .signedOut)
            #expect(!account.isSigningIn)
            #expect(server.counters.signIns == 0)
        }
    }

    @Test func aSignInShowsTheMembersScreensUntilTheSignOut() async throws {
        try await withAccount { account, server in
            await wait { account.phase == .signedOut }
            async let first: Void = account.signIn(user: "ada", password: "lovelace")
            async let second: Void = account.signIn(user: "ada", password: "lovelace")
            _ = await (first, second)
            #expect(server.counters.signIns == 1, "the button was pressed twice")
            await wait { account.phase == .signedIn }

            await account.signOut()
            await wait { account.phase == .signedOut }
            #expect(account.message == nil)
        }
    }

    @Test func anEndedSessionLeadsToTheSignIn() async throws {
        try await withAccount { account, server in
            await wait { account.phase == .signedOut }
            await account.signIn(user: "ada", password: "lovelace")
            await wait { account.phase == .signedIn }
            let list = MileageList(account.service)
            server.endSessions()
            await list.refresh()
            await wait { account.phase == .signedOut }
            #expect(account.message == "Your session has ended. Please sign in again.")
            #expect(list.message == nil, "the sign-in says it already")

            await account.signIn(user: "ada", password: "lovelace")
            await wait { account.phase == .signedIn }
            #expect(account.message == nil)
        }
    }
}

/// Runs a test with a server and an account that follows its session.
func withAccount(
    of makeService: @MainActor (BaseURL) throws -> AirlineService = {
        try AirlineService(base: $0, store: InMemoryTokenCredentialStore())
    },
    _ body: @MainActor (Account, AirlineServer) async throws -> Void
) async throws {
    let server = try await AirlineServer.start()
    let base = try BaseURL(scheme: .http, host: server.host, port: Int(server.port))
    let account = Account(try makeService(base))
    let following = Task { await account.follow() }
    let result: Result<Void, any Error>
    do {
        result = .success(try await body(account, server))
    } catch {
        result = .failure(error)
    }
    following.cancel()
    await following.value
    await server.stop()
    try result.get()
}
