import AirlineServer
import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

@Suite(.timeLimit(.minutes(5))) struct SessionCommandTests {
    private let folder: TemporaryFolder
    private let file: SessionFile

    init() throws {
        folder = try TemporaryFolder()
        file = folder.session
    }

    private struct Run {
        let status: RequestExitStatus
        let output: String
        let notes: String
    }

    /// A prompt without a terminal.
    private static var nobody: TerminalPrompt { TerminalPrompt(input: -1, output: -1) }

    private func login(
        _ arguments: String..., password: String? = "lovelace", prompt: TerminalPrompt = nobody
    ) async throws -> Run {
        let command = try #require(
            try AtomCommand.parseAsRoot(["login", "--session-file", file.url.path] + arguments) as? LoginCommand)
        let notes = RecordingTerminal()
        let status = await command.perform(
            notes: notes.terminal(), prompt: prompt, environment: password.map { ["ATOM_PASSWORD": $0] } ?? [:])
        return Run(status: status, output: "", notes: notes.text)
    }

    private func whoami() async throws -> Run {
        let command = try #require(
            try AtomCommand.parseAsRoot(["whoami", "--session-file", file.url.path]) as? WhoamiCommand)
        let output = RecordingTerminal()
        let notes = RecordingTerminal()
        let status = await command.perform(output: output.terminal(), notes: notes.terminal())
        return Run(status: status, output: output.text, notes: notes.text)
    }

    private func logout() async throws -> Run {
        let command = try #require(
            try AtomCommand.parseAsRoot(["logout", "--session-file", file.url.path]) as? LogoutCommand)
        let notes = RecordingTerminal()
        let status = await command.perform(notes: notes.terminal())
        return Run(status: status, output: "", notes: notes.text)
    }

    private func request(_ url: String) async throws -> Run {
        let command = try #require(
            try AtomCommand.parseAsRoot(["request", "GET", url, "--session", "--session-file", file.url.path])
                as? RequestCommand)
        let output = RecordingTerminal()
        let notes = RecordingTerminal()
        let status = try await command.perform(
            body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
        return Run(status: status, output: output.text, notes: notes.text)
    }

    private func withServer(
        _ configuration: ServerConfiguration = ServerConfiguration(), _ body: (AirlineServer) async throws -> Void
    ) async throws {
        let server = try await AirlineServer.start(configuration)
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    // MARK: Signing in and out

    @Test func whoSignsInIsSignedInUntilHeSignsOut() async throws {
        try await withServer { server async throws in
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
            #expect(server.counters.familiesRevoked == 1)
            #expect(try await self.whoami().notes == "You are not signed in. Sign in with “atom login”.\n")
            #expect(try await self.request(server.baseURL + "/account").status == .signInNeeded)
            let again = try await self.logout()
            #expect(again.status == .success)
            #expect(again.notes == "No user was signed in.\n")
        }
    }

    @Test func theFilesAreForTheirOwnerAndHoldNoPassword() async throws {
        try await withServer { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            let names = try FileManager.default.contentsOfDirectory(atPath: file.url.deletingLastPathComponent().path)
            #expect(Set(names) == ["session.json", "session.json.lock", "session.json.profile"])
            for name in names {
                let url = file.url.deletingLastPathComponent().appendingPathComponent(name)
                #expect(!String(decoding: try Data(contentsOf: url), as: UTF8.self).contains("lovelace"))
            }
            let mode = try FileManager.default.attributesOfItem(atPath: file.url.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func thePasswordMayComeOverStandardInput() async throws {
        try await withServer { server async throws in
            let pipe = Pipe()
            pipe.fileHandleForWriting.write(Data("lovelace\nand more".utf8))
            try pipe.fileHandleForWriting.close()
            let prompt = TerminalPrompt(input: pipe.fileHandleForReading.fileDescriptor, output: -1)
            let run = try await login("--server", server.baseURL, "--user", "ada", password: nil, prompt: prompt)
            #expect(run.status == .success)
        }
    }

    @Test func aWrongPasswordLeavesTheSessionAsItWas() async throws {
        try await withServer { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            let wrong = try await login("--user", "grace", password: "lovelace")
            #expect(wrong.status == .loginDenied)
            #expect(wrong.notes == "The user name grace or the password is wrong.\n")
            #expect(try await login("--user", "grace", password: "").status == .signInNeeded)
            #expect(try await login("--user", "grace", password: nil).status == .signInNeeded)
            #expect(try await whoami().output.hasPrefix("ada"))
            #expect(server.counters.familiesRevoked == 0)
        }
    }

    @Test func anotherSignInReplacesTheSessionAndEndsTheOldOne() async throws {
        try await withServer { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            #expect(try await login("--user", "grace", password: "hopper").status == .success)
            #expect(try await whoami().output.hasPrefix("grace"))
            #expect(server.counters.familiesRevoked == 1)
        }
    }

    @Test func theTokensGoToNoServerButTheirOwn() async throws {
        try await withServer { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            try await withServer { other async throws in
                let run = try await request(other.baseURL + "/account")
                #expect(run.status == .invalidRequest)
                #expect(run.notes.contains("the session is only for \(server.baseURL)"))
                #expect(other.counters.requests == 0)

                #expect(try await login("--server", other.baseURL, "--user", "ada").status == .success)
                #expect(server.counters.familiesRevoked == 1)
                #expect(try await whoami().output.hasSuffix("at \(other.baseURL)\n"))
                #expect(other.counters.apiRequestsWithUnknownToken == 0)
            }
        }
    }

    @Test func tokensOfNobodyKnowsWhomAreReplaced() async throws {
        try await withServer { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            try FileManager.default.removeItem(at: file.url.appendingPathExtension("profile"))
            #expect(try await whoami().status == .signInNeeded)
            try await withServer { other async throws in
                let login = try await login("--server", other.baseURL, "--user", "grace", password: "hopper")
                #expect(login.status == .success)
                #expect(try await whoami().output.hasPrefix("grace"))
                #expect(other.counters.apiRequestsWithUnknownToken == 0)
            }
        }
    }

    @Test func withoutUserOrServerTheCommandLineIsWrong() async throws {
        #expect(try await login("--user", "ada").status == .wrongArguments)
        let run = try await login("--server", "http://127.0.0.1:1")
        #expect(run.status == .wrongArguments)
        #expect(run.notes.contains("--user"))
        #expect(try await login("--server", "127.0.0.1", "--user", "ada").status == .invalidRequest)
        #expect(try await login("--server", "http://127.0.0.1:1", "--user", "ada").status == .connectionFailed)
        #expect(!FileManager.default.fileExists(atPath: file.url.path))
    }

    // MARK: End of a session

    @Test func anEndedSessionSaysThatItHasEnded() async throws {
        try await withServer { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            server.revokeFamilies()
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

    @Test func aSessionLostInARefreshSaysSo() async throws {
        try await withServer { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            // A process records the refresh, sends it, and is killed.
            let credential = try #require(try await file.store().load())
            #expect(try await file.store().recordRefreshIntent(for: credential) == false)
            _ = try await Atom().enqueue(
                CommandLineRequest(
                    url: try RequestURL(server.baseURL + AirlineServer.tokenPath), methodName: "POST",
                    body: .form([
                        "grant_type": "refresh_token", "refresh_token": credential.refreshToken,
                        "client_id": "atom-app",
                    ]))
            ).resume()
            server.expireAccessTokens()

            let run = try await whoami()
            #expect(run.status == .signInNeeded)
            #expect(run.notes.hasPrefix("The session was lost: a process was stopped"))
            #expect(try await request(server.baseURL + "/account").notes.contains("The session was lost:"))
            #expect(server.counters.reuseDetected == 1)
        }
    }

    @Test func aRefreshThatFailsForNowIsNoEnd() async throws {
        try await withServer { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            server.expireAccessTokens()
            server.updateFaults { $0.unavailable = 1 }
            let run = try await whoami()
            #expect(run.status == .errorStatus)
            #expect(run.notes.contains("The session continues"))
            #expect(try await whoami().status == .success)
        }
    }

    @Test func aSignOutWithoutTheServerIsOneAllTheSame() async throws {
        try await withServer { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
        }
        #expect(try await whoami().status == .connectionFailed)
        let run = try await logout()
        #expect(run.status == .success)
        #expect(run.notes.contains("could not be reached"))
        #expect(try await whoami().status == .signInNeeded)
    }

    @Test func whoStopsACommandWhileItRenewsTheTokensKeepsTheSession() async throws {
        try await withServer { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            server.expireAccessTokens()
            server.updateFaults { $0.delayMilliseconds = 300 }
            let before = server.counters.tokenRequests
            let stopped = Task { try await whoami() }
            while server.counters.tokenRequests == before { try await Task.sleep(for: .milliseconds(5)) }
            stopped.cancel()
            #expect(try await stopped.value.status == .cancelled)
            #expect(server.counters.refreshes == 1)
            #expect(try await file.store().load() != nil)
            server.updateFaults { $0.delayMilliseconds = 0 }
            #expect(try await whoami().status == .success)
            #expect(server.counters.refreshes == 1, "what the stopped command has brought is used")
        }
    }

    // MARK: Files that can't be used

    @Test func aFileThatIsNoSessionIsMovedAside() async throws {
        try await withServer { server async throws in
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

    @Test func aFolderThatOthersMayWriteIsRefused() async throws {
        try await withServer { server async throws in
            #expect(try await login("--server", server.baseURL, "--user", "ada").status == .success)
            let place = file.url.deletingLastPathComponent().path
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: place)
            for run in [try await whoami(), try await logout(), try await login("--user", "ada")] {
                #expect(run.status == .fileFailed)
                #expect(run.notes.contains("other users can write to its folder"))
            }
            #expect(server.counters.signIns == 1)
        }
    }

    @Test func everyStoreFailureSaysWhatToDo() {
        func advice(_ error: TokenStoreError) -> SessionAdvice { SessionAdvice(store: error, file: file.url) }
        #expect(advice(.lockTimedOut(.seconds(45))).message.contains("resume it or end it"))
        #expect(advice(.readOnly).message.contains("another --session-file"))
        #expect(advice(.newerFormat(version: 9)).message.contains("newer version of atom"))
        #expect(advice(.diskFull).status == .fileFailed)
        let failed = AtomError.authentication(
            .refreshFailed(cause: TokenStoreError.readOnly, retryAt: nil, delivery: .notSent))
        #expect(RequestExitStatus(failed) == .fileFailed)
    }

    // MARK: Location of the file

    @Test func theUsualPlaceIsTheStateFolder() {
        #if os(Linux)
            #expect(
                SessionFile.usual(["XDG_STATE_HOME": "/s", "HOME": "/h"]).path == "/s/atom/session.json")
            #expect(
                SessionFile.usual(["XDG_STATE_HOME": "s", "HOME": "/h"]).path == "/h/.local/state/atom/session.json")
        #endif
        #expect(SessionFile(path: "/a/b").url.path == "/a/b")
    }
}
