import AirlineServer
import Foundation
import Testing

@testable import AtomCommands

/// Sign-ins on the server's page, over sockets.
@Suite(.limited) struct PageLoginTests {
    private let folder: TemporaryFolder
    private let file: SessionFile

    init() throws {
        folder = try TemporaryFolder()
        file = folder.session
    }

    private func atom(
        _ arguments: String..., as user: PageUser = .ada, notes: RecordingTerminal = RecordingTerminal()
    ) async throws -> Run {
        try await Run(arguments + ["--session-file", file.url.path], notes: notes) { await user.open($0) }
    }

    private func run(_ body: @Sendable (AirlineServer) async throws -> Void) async throws {
        var policy = TokenPolicy()
        policy.deviceInterval = 1
        try await AirlineServer.run(policy) { try await body($0) }
    }

    @Test("who signs in on the page is signed in until he signs out")
    func page() async throws {
        try await run { server in
            let login = try await atom("login", "--server", server.baseURL)
            #expect(login.status == .success)
            #expect(login.notes.hasSuffix("Signed in at \(server.baseURL) as ada (gold, 48213 miles).\n"))
            // A 401, a refresh, and the request again: no metadata.
            server.expireAccessTokens()
            server.resetCounters()
            #expect(try await atom("whoami").output == "ada (gold, 48213 miles) at \(server.baseURL)\n")
            #expect(server.counters.refreshes == 1 && server.counters.requests == 3)
            #expect(try await atom("login", as: .grace).status == .success)
            #expect(try await atom("whoami").output.hasPrefix("grace"))
            #expect(server.counters.sessionsEnded == 1)
            #expect(try await atom("logout").notes.contains("has revoked the tokens"))
            #expect(server.counters.sessionsEnded == 2)
        }
    }

    @Test("who cancels on the page stays as he was")
    func cancel() async throws {
        try await run { server in
            #expect(try await atom("login", "--server", server.baseURL).status == .success)
            let declined = try await atom("login", as: PageUser(user: "", password: "", action: "cancel"))
            #expect(declined.status == .loginDenied && declined.notes.contains("was declined"))
            #expect(try await atom("whoami").output.hasPrefix("ada"))
            #expect(server.counters.sessionsEnded == 0)
        }
    }

    @Test("ten logins at once open one page, and all say who has signed in")
    func ten() async throws {
        try await run { server in
            let lock = file.signInLock(of: .init(server: server.baseURL, clientID: "atom-app"))
            let runs = try await withThrowingTaskGroup(of: Run.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        try await Run(["login", "--server", server.baseURL, "--session-file", file.url.path]) { page in
                            // The user takes longer than the others need until they wait.
                            while openings(of: lock) < 10 { try? await Task.sleep(for: .milliseconds(10)) }
                            return await PageUser.ada.open(page)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(runs.allSatisfy { $0.status == .success && $0.notes.contains("as ada") })
            #expect(server.counters.pages == 1 && server.counters.signIns == 1)
        }
    }

    @Test("logins at two servers don't wait for each other, and each has its own tokens")
    func two() async throws {
        try await run { server in
            try await AirlineServer.run { other in
                #expect(try await atom("login", "--server", server.baseURL).status == .success)
                let login = ["login", "--server", other.baseURL, "--session-file", file.url.path]
                let run = try await Run(login) { page in
                    // Until somebody has signed in, the old session goes on.
                    let before = try? await atom("whoami")
                    #expect(before?.output == "ada (gold, 48213 miles) at \(server.baseURL)\n")
                    let meanwhile = try? await atom("login", "--server", server.baseURL)
                    #expect(meanwhile?.status == .success)
                    return await PageUser.grace.open(page)
                }
                #expect(run.status == .success)
                let whoami = try await atom("whoami")
                #expect(whoami.output.hasPrefix("grace") && whoami.output.hasSuffix("at \(other.baseURL)\n"))
                #expect(server.counters.pages == 2 && other.counters.pages == 1)
                #expect(server.counters.apiRequestsWithDeadToken == 0 && other.counters.apiRequestsWithDeadToken == 0)
            }
        }
    }

    @Test("a session that can't be stored is none, and says so")
    func notStored() async throws {
        try await run { server in
            let login = ["login", "--server", server.baseURL, "--session-file", file.url.path]
            let run = try await Run(login) { page in
                // Nothing can be written any more.
                let nobody = URL(fileURLWithPath: "/dev/null")
                try? FileManager.default.removeItem(at: file.url)
                try? FileManager.default.createSymbolicLink(at: file.url, withDestinationURL: nobody)
                return await PageUser.ada.open(page)
            }
            #expect(run.status == .fileFailed && run.notes.contains(file.url.path))
            // The SDK tries the write again, which must not make the folder anew when it has gone.
            try FileManager.default.removeItem(at: file.url)
            while !FileManager.default.fileExists(atPath: file.url.path) {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    @Test("a login always asks for openid, by which an upgrade knows who goes on")
    func scope() async throws {
        try await run { server async throws in
            #expect(try await atom("login", "--server", server.baseURL, "--scope", "profile").status == .success)
            #expect(try await file.store().load()?.scope == "openid profile")
            #expect(try await atom("upgrade", "AS100").status == .success)
            #expect(try await file.store().load()?.scope == "openid profile miles:spend")
        }
    }

    /// How often this process has a file open.
    private func openings(of url: URL) -> Int {
        var file = stat()
        guard stat(url.path, &file) == 0 else { return 0 }
        return (Int32(0)..<4096).count { descriptor in
            var other = stat()
            return fstat(descriptor, &other) == 0 && other.st_ino == file.st_ino && other.st_dev == file.st_dev
        }
    }

    @Test("who enters the code on another device is signed in here")
    func device() async throws {
        try await run { server in
            let notes = RecordingTerminal()
            async let login = atom("login", "--device", "--server", server.baseURL, notes: notes)
            try await PageUser.grace.enterCode(of: notes, at: server.baseURL)
            #expect(try await login.status == .success)
            #expect(try await login.notes.contains("Open \(server.baseURL)/device on any device"))
            #expect(try await atom("whoami").output.hasPrefix("grace"))
        }
    }

    @Test("who refuses the device is not signed in there")
    func refusedDevice() async throws {
        try await run { server in
            let notes = RecordingTerminal()
            async let login = atom("login", "--device", "--server", server.baseURL, notes: notes)
            try await PageUser(user: "", password: "", action: "cancel").enterCode(of: notes, at: server.baseURL)
            #expect(try await login.status == .loginDenied)
        }
    }

    @Test("tokens that are bound to a key work with its file only")
    func bound() async throws {
        try await run { server in
            #expect(try await atom("login", "--dpop", "--server", server.baseURL).status == .success)
            let stored = try String(contentsOf: file.url, encoding: .utf8)
            #expect(stored.contains("\"DPoP\""))
            server.expireAccessTokens()
            #expect(try await atom("whoami").status == .success)
            let request = try await atom("request", "GET", server.baseURL + "/account", "--session")
            #expect(request.output.contains(#""name":"ada""#))
            try FileManager.default.removeItem(at: file.keyURL)
            let lost = try await atom("whoami")
            #expect(lost.status == .fileFailed && lost.notes.contains(file.keyURL.path))
        }
    }

    @Test("an upgrade asks for what the token lacks, once", arguments: [[], ["--dpop"]])
    func stepUp(options: [String]) async throws {
        try await run { server in
            let login = ["login", "--server", server.baseURL, "--session-file", file.url.path]
            #expect(try await Run(login + options) { await PageUser.ada.open($0) }.status == .success)
            let declined = try await atom(
                "upgrade", "AS100", as: PageUser(user: "", password: "", action: "cancel"))
            #expect(declined.status == .loginDenied && declined.notes.hasSuffix("on the server's page.\n"))
            #expect(try await atom("upgrade", "AS100", as: .grace).notes.contains("Somebody else"))
            let upgrade = try await atom("upgrade", "AS100")
            #expect(upgrade.output == "ada flies first class on AS100, for 15000 miles.\n")
            #expect(server.counters.pages == 4)
            #expect(try await atom("upgrade", "AS212").status == .success)
            #expect(server.counters.pages == 4)
        }
    }

    @Test("the program of ATOM_BROWSER opens the page")
    func program() async throws {
        try await run { server in
            let (script, address) = (folder.url.appendingPathComponent("b"), folder.url.appendingPathComponent("url"))
            let text = "#!/bin/sh\necho \"$1\" >'\(address.path).new'\nmv '\(address.path).new' '\(address.path)'\n"
            try Data(text.utf8).write(to: script)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script.path)
            async let browser = {
                while !FileManager.default.fileExists(atPath: address.path) {
                    try await Task.sleep(for: .milliseconds(10))
                }
                let page = try String(contentsOf: address, encoding: .utf8).dropLast()
                return await PageUser.ada.open(try #require(URL(string: String(page))))
            }()
            let login = try await Tool.interrupt(
                ["login", "--server", server.baseURL, "--session-file", file.url.path],
                environment: ["ATOM_BROWSER": script.path], when: { false })
            #expect(login.status == 0 && login.notes.contains("as ada"))
            #expect(try await browser)
        }
    }
}
