import AirlineServer
import Foundation
import Testing

@testable import AtomCommands

@Suite(.limited) struct SessionCommandTests {
    private let folder: TemporaryFolder
    private let file: SessionFile

    init() throws {
        folder = try TemporaryFolder()
        file = folder.session
    }

    private func login(_ arguments: String..., password: String? = "lovelace") async throws -> Run {
        try await Run(["login", "--session-file", file.url.path] + arguments, password: password)
    }

    private func whoami() async throws -> Run { try await Run(["whoami", "--session-file", file.url.path]) }

    private func logout() async throws -> Run { try await Run(["logout", "--session-file", file.url.path]) }

    private func request(_ url: String) async throws -> Run {
        try await Run(["request", "GET", url, "--session", "--session-file", file.url.path])
    }

    // MARK: Signing in and out

    @Test func whoSignsInIsSignedInUntilHeSignsOut() async throws {
        try await AirlineServer.run { server async throws in
            #expect(try await whoami().status == .signInNeeded)
            let login = try await login("--server", server.baseURL + "/", "--user", "ada")
            #expect(login.status == .success)
            #expect(login.notes == "Signed in at \(server.baseURL) as ada (gold, 48213 miles).\n")
            let whoami = try await whoami()
            #expect(whoami.status == .success)
            #expect(whoami.output == "ada (gold, 48213 miles) at \(server.baseURL)\n")
            #expect(whoami.notes.isEmpty)
            let request = try await request(server.baseURL + "/account")
            #expect(request.status == .success)
            #expect(request.output.contains(#""name":"ada""#))

            let logout = try await logout()
            #expect(logout.status == .success)
            #expect(logout.notes.contains("has revoked the tokens"))
            #expect(server.counters.sessionsEnded == 1)
            #expect(try await self.whoami().notes == "You are not signed in. Sign in with “atom login”.\n")
            #expect(try await self.request(server.baseURL + "/account").status == .signInNeeded)
            let again = try await self.logout()
            #expect(again.status == .success)
            #expect(again.notes == "No user was signed in.\n")
        }
    }

    @Test func aWrongPasswordLeavesTheSessionAsItWas() async throws {
        try await AirlineServer.run { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            let wrong = try await login("--user", "grace", password: "lovelace")
            #expect(wrong.status == .loginDenied)
            #expect(wrong.notes == "The user name grace or the password is wrong.\n")
            #expect(try await login("--user", "grace", password: "").status == .signInNeeded)
            #expect(try await login("--user", "grace", password: nil).status == .signInNeeded)
            #expect(try await whoami().output.hasPrefix("ada"))
            #expect(server.counters.sessionsEnded == 0)
        }
    }

    @Test func anotherSignInReplacesTheSessionAndEndsTheOldOne() async throws {
        try await AirlineServer.run { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            #expect(try await login("--user", "grace", password: "hopper").status == .success)
            #expect(try await whoami().output.hasPrefix("grace"))
            #expect(server.counters.sessionsEnded == 1)
        }
    }

    @Test func theTokensGoToNoServerButTheirOwn() async throws {
        try await AirlineServer.run { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            try await AirlineServer.run { other async throws in
                let run = try await request(other.baseURL + "/account")
                #expect(run.status == .invalidRequest)
                #expect(run.notes.contains("the session is only for \(server.baseURL)"))
                #expect(other.counters.requests == 0)

                #expect(try await login("--server", other.baseURL, "--user", "ada").status == .success)
                #expect(server.counters.sessionsEnded == 1)
                #expect(try await whoami().output.hasSuffix("at \(other.baseURL)\n"))
                #expect(other.counters.apiRequestsWithDeadToken == 0)
            }
        }
    }

    @Test func withoutAServerTheCommandLineIsWrong() async throws {
        #expect(try await login("--user", "ada").status == .wrongArguments)
        #expect(try await login("--server", "127.0.0.1", "--user", "ada").status == .invalidRequest)
        #expect(try await login("--server", "http://127.0.0.1:1", "--user", "ada").status == .connectionFailed)
        #expect(!FileManager.default.fileExists(atPath: file.url.path))
    }

    // MARK: End of a session

    @Test func anEndedSessionSaysThatItHasEnded() async throws {
        try await AirlineServer.run { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            server.endSessions()
            let run = try await whoami()
            #expect(run.status == .signInNeeded)
            #expect(run.notes.hasPrefix("The session has ended:"))
            #expect(run.notes.contains("invalid_grant"))
            // Until the user signs in again.
            #expect(try await request(server.baseURL + "/account").notes.contains("The session has ended:"))
            #expect(try await login("--user", "ada").status == .success)
            #expect(try await whoami().status == .success)
        }
    }

    @Test func aSignOutWithoutTheServerIsOneAllTheSame() async throws {
        try await AirlineServer.run { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
        }
        #expect(try await whoami().status == .connectionFailed)
        let run = try await logout()
        #expect(run.status == .success)
        #expect(run.notes.contains("could not be reached"))
        #expect(try await whoami().status == .signInNeeded)
    }

    // MARK: Files that can't be used

    @Test func aFileThatIsNoSessionIsMovedAside() async throws {
        try await AirlineServer.run { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            try Data("nonsense".utf8).write(to: file.url)
            let run = try await whoami()
            #expect(run.status == .fileFailed)
            #expect(run.notes.contains(file.url.path) && run.notes.contains("was kept as session.json.corrupt-"))
            #expect(try await whoami().status == .signInNeeded)
            try Data("nonsense".utf8).write(to: file.url)
            #expect(try await login("--user", "ada").status == .success)
            #expect(try await whoami().status == .success)
        }
    }
}
