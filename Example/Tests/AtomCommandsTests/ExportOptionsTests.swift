import AirlineServer
import ArgumentParser
import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

/// What `--curl` and `--har` write, over a real socket.
@Suite(.timeLimit(.minutes(5))) struct ExportOptionsTests {
    private struct Run {
        let status: RequestExitStatus
        let output: String
        let notes: String
        let requests: Int
    }

    /// Runs `atom request METHOD server/path …`.
    private func request(_ method: String, _ path: String, _ arguments: [String]) async throws -> Run {
        let server = try await AirlineServer.start()
        let command = try #require(
            try AtomCommand.parseAsRoot(["request", method, server.baseURL + path] + arguments) as? RequestCommand)
        let output = RecordingTerminal()
        let notes = RecordingTerminal()
        let status = try await command.perform(
            body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
        let requests = server.counters.requests
        await server.stop()
        return Run(status: status, output: output.text, notes: notes.text, requests: requests)
    }

    private func entries(_ file: URL) throws -> [[String: Any]] {
        let archive = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        return try #require((archive?["log"] as? [String: Any])?["entries"] as? [[String: Any]])
    }

    @Test func eachSendingIsACommandWithoutCredentials() async throws {
        let run = try await request("GET", "/redirect/2", ["--basic", "ada:lovelace", "--curl", "--quiet"])
        let commands = run.notes.components(separatedBy: "\n").filter { $0.hasPrefix("curl ") }
        #expect(commands.count == run.requests && commands.count > 1)
        #expect(run.notes.contains("--header 'Authorization: Basic HIDDEN'"))
        #expect(!run.notes.contains("YWRhOmxvdmVsYWNl") && !run.notes.contains("lovelace"))
        #expect(!run.output.contains("curl"))
    }

    @Test func credentialsAreShownIfTheyAreAskedFor() async throws {
        let run = try await request(
            "POST", "/echo/x",
            ["--basic", "ada:lovelace", "--curl", "--show-credentials", "--json", "{\"a\": \"it's\"}"])
        #expect(run.notes.contains("--header 'Authorization: Basic YWRhOmxvdmVsYWNl'"))
        #expect(run.notes.contains(#"--data-raw '{"a": "it'\''s"}'"#))
        #expect(run.status == .success)
    }

    @Test func theArchiveHasAnEntryForEachSending() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("requests.har")
        let run = try await request("GET", "/redirect/2", ["--basic", "ada:lovelace", "--har", file.path])
        let entries = try entries(file)
        #expect(entries.count == run.requests && entries.count > 1)
        let statuses = entries.compactMap { ($0["response"] as? [String: Any])?["status"] as? Int }
        #expect(statuses.dropLast().allSatisfy { $0 == 302 } && statuses.last == 200)
        #expect(!String(decoding: try Data(contentsOf: file), as: UTF8.self).contains("YWRhOmxvdmVsYWNl"))
        #expect(folder.names == ["requests.har"])
    }

    @Test func anArchiveThatCannotBeWrittenIsAnErrorBeforeAnythingIsSent() throws {
        let folder = try TemporaryFolder()
        let wrong = [(folder.url.path, "is a folder"), (folder.url.path + "/none/a.har", "there is no folder")]
        for (path, reason) in wrong {
            for command in [["request", "GET", "http://127.0.0.1:1/"], ["tour"]] {
                #expect {
                    try AtomCommand.parseAsRoot(command + ["--har", path])
                } throws: {
                    AtomCommand.message(for: $0).contains(reason)
                }
            }
        }
    }

    @Test func anArchiveThatFailsLaterIsAFileError() async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.appendingPathComponent("a.har").path
        let server = try await AirlineServer.start()
        let command = try #require(
            try AtomCommand.parseAsRoot(["request", "GET", server.baseURL + "/flights", "--har", path])
                as? RequestCommand)
        try FileManager.default.removeItem(at: folder.url)
        let notes = RecordingTerminal()
        let status = try await command.perform(body: notes.terminal(), notes: notes.terminal()) { _ in }
        await server.stop()
        #expect(status == .fileFailed)
        #expect(notes.text.contains("a.har"))
    }

    @Test func aRecordingAnswersWithoutTheServer() async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.appendingPathComponent("me.har").path
        let server = try await AirlineServer.start()
        func run(_ arguments: String...) async throws -> (RequestExitStatus, output: String, notes: String) {
            let command = try #require(
                try AtomCommand.parseAsRoot(["request", "GET", server.baseURL + "/me"] + arguments) as? RequestCommand)
            let (output, notes) = (RecordingTerminal(), RecordingTerminal())
            let status = try await command.perform(
                body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
            return (status, output.text, notes.text)
        }
        let recorded = try await run("--basic", "ada:lovelace", "--record", path)
        await server.stop()
        #expect(recorded.0 == .success)
        #expect(recorded.notes.contains("1 entry: \(server.baseURL)"), "\(recorded.notes)")
        #expect(
            recorded.notes.contains("read the file before you commit it") || recorded.notes.contains("Take these out"))
        #expect(
            !String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self).contains(
                "YWRhOmxvdmVsYWNl"))

        let replayed = try await run("--replay", path)
        #expect(replayed.0 == .success && replayed.output == recorded.output && !replayed.output.isEmpty)
        let other = try await run("--query", "a=b", "--replay", path)
        #expect(other.0 == .invalidRequest)
        #expect(other.notes.contains("the query item a isn't recorded"), "\(other.notes)")
    }

    @Test func recordingOptionsAreChecked() throws {
        let folder = try TemporaryFolder()
        let text = folder.url.appendingPathComponent("a.txt")
        try Data("text".utf8).write(to: text)
        let wrong = [
            (["--replay", folder.url.path + "/none.har"], "The file none.har can't be read."),
            (["--replay", text.path], "isn't a HAR file"), (["--record", folder.url.path], "is a folder"),
            (["--record", folder.url.path + "/a.har", "--replay", text.path], "Use only one of"),
            (["--record", folder.url.path + "/a.har", "--repeat", "2"], "--repeat can't be used"),
        ]
        for (arguments, reason) in wrong {
            #expect {
                try AtomCommand.parseAsRoot(["request", "GET", "http://127.0.0.1:1/"] + arguments)
            } throws: {
                AtomCommand.message(for: $0).contains(reason)
            }
        }
    }

    @Test func credentialsAloneAreRefused() {
        #expect(throws: (any Error).self) {
            try AtomCommand.parseAsRoot(["request", "GET", "http://127.0.0.1:1/", "--show-credentials"])
        }
    }
}
