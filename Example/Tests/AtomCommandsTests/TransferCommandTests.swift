import AirlineServer
import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

@Suite(.timeLimit(.minutes(5))) struct TransferCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private struct Run {
        let status: RequestExitStatus
        let output: String
        let notes: String
    }

    private func upload(_ arguments: String...) async throws -> Run {
        let command = try #require(try AtomCommand.parseAsRoot(["upload"] + arguments) as? UploadCommand)
        let output = RecordingTerminal()
        let notes = RecordingTerminal()
        let status = try await command.perform(
            body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
        return Run(status: status, output: output.text, notes: notes.text)
    }

    private func download(_ arguments: String...) async throws -> Run {
        let command = try #require(try AtomCommand.parseAsRoot(["download"] + arguments) as? DownloadCommand)
        let output = RecordingTerminal()
        let notes = RecordingTerminal()
        let status = try await command.perform(
            body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
        return Run(status: status, output: output.text, notes: notes.text)
    }

    private func withServer(_ body: (AirlineServer) async throws -> Void) async throws {
        let server = try await AirlineServer.start()
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

    private func content(_ name: String) throws -> Data {
        try Data(contentsOf: folder.url.appendingPathComponent(name))
    }

    /// Writes a file, and returns its path.
    private func file(_ data: Data) throws -> String {
        try data.write(to: folder.url.appendingPathComponent("up.bin"))
        return path("up.bin")
    }

    private func crc32(_ data: Data) -> String {
        var checksum = CRC32()
        checksum.update(with: data)
        return checksum.description
    }

    // MARK: Uploads

    @Test func aFileIsSent() async throws {
        try await withServer { server in
            let data = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 % 251) })
            let run = try await upload(try file(data), server.baseURL + "/uploads")
            #expect(run.status == .success)
            #expect(run.output.contains(#""bytes":200000"#))
            #expect(run.output.contains(#""crc32":"\#(crc32(data))""#))
            #expect(run.notes.hasPrefix("200 kB"))
            #expect(run.notes.contains("HTTP 200 OK"))
        }
    }

    @Test func aFileIsSentInAForm() async throws {
        try await withServer { server in
            let data = Data("photo".utf8)
            let run = try await upload(
                try file(data), server.baseURL + "/uploads", "--multipart", "passport", "--content-type", "image/png",
                "--quiet")
            #expect(run.status == .success)
            #expect(run.output.contains(#""contentType":"image/png","crc32":"\#(crc32(data))""#))
            #expect(run.output.contains(#""fileName":"up.bin","name":"passport""#))
            #expect(run.notes.isEmpty)
        }
    }

    @Test func theOptionsOfARequestCountForAnUpload() async throws {
        try await withServer { server in
            let run = try await upload(
                try file(Data("x".utf8)), server.baseURL + "/echo/x", "--method", "patch", "-H", "X-One: two",
                "--query", "a=b", "--content-type", "text/plain")
            let echo = try #require(
                try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
            #expect(echo["method"] as? String == "PATCH")
            #expect(echo["target"] as? String == "/echo/x?a=b")
            #expect(echo["body"] as? String == "x")
            let headers = try #require(echo["headers"] as? [[String: String]])
            #expect(headers.contains { $0["name"] == "X-One" && $0["value"] == "two" })
            #expect(headers.contains { $0["name"]?.lowercased() == "content-type" && $0["value"] == "text/plain" })
        }
    }

    @Test func anUploadThatFailsSaysSo() async throws {
        try await withServer { server in
            let missing = try await upload(path("missing"), server.baseURL + "/uploads")
            #expect(missing.status == .fileFailed)
            #expect(missing.notes.contains("there is no such file"))
            #expect(missing.notes.contains("Nothing was sent"))
            #expect(try await upload(folder.url.path, server.baseURL + "/uploads").status == .fileFailed)
            #expect(server.counters.requests == 0)

            let file = try file(Data(count: 10))
            let wrongType = try await upload(
                file, server.baseURL + "/uploads", "--content-type", "nonsense", "--multipart", "x")
            #expect(wrongType.status == .invalidRequest)
            let refused = try await upload(file, server.baseURL + "/errors/422")
            #expect(refused.status == .errorStatus)
            #expect(refused.output.contains("as_requested"))
            #expect(try await upload(file, server.baseURL + "/errors/hang-up").status == .connectionLost)
        }
    }

    // MARK: Downloads

    @Test func aFileIsWritten() async throws {
        try await withServer { server in
            let run = try await download(server.baseURL + "/downloads/300000", path("film"))
            #expect(run.status == .success)
            #expect(try content("film").count == 300_000)
            #expect(folder.names == ["film"])
            #expect(run.output.isEmpty)
            #expect(run.notes.hasPrefix("300 kB"))
            #expect(run.notes.contains("film: "))
            let quiet = try await download(server.baseURL + "/downloads/0", path("film"), "--quiet")
            #expect(quiet.status == .success)
            #expect(quiet.notes.isEmpty)
            #expect(try content("film").isEmpty)
        }
    }

    @Test func aDownloadThatIsCutGoesOn() async throws {
        try await withServer { server in
            let url = server.baseURL + "/downloads/1000000"
            #expect(try await download(url, path("whole")).status == .success)
            server.updateTransferFaults { $0.cutDownloadAt = 700_000 }
            let cut = try await download(url, path("film"), "--resume")
            #expect(cut.status == .connectionLost)
            let size = Quantity.bytes(Int64(try content("film.partial").count))
            #expect(cut.notes.contains("\(size) of 1.0 MB"))
            #expect(cut.notes.contains("\(size) are kept in"))
            #expect(cut.notes.contains("Run the same command again"))
            #expect(folder.names == ["film.partial", "film.partial.json", "whole"])

            let rest = try await download(url, path("film"), "--resume")
            #expect(rest.status == .success)
            #expect(rest.notes.contains("continued from an earlier download"))
            #expect(server.events().last?.status == 206)
            #expect(try content("film") == content("whole"))
            #expect(folder.names == ["film", "whole"])
        }
    }

    @Test func aFileThatHasChangedIsReadFromItsBeginning() async throws {
        try await withServer { server in
            let url = server.baseURL + "/downloads/1000000"
            server.updateTransferFaults { $0.cutDownloadAt = 700_000 }
            #expect(try await download(url, path("film"), "--resume").status == .connectionLost)
            server.updateTransferFaults { $0.fileVersion = 2 }
            let run = try await download(url, path("film"), "--resume")
            #expect(run.status == .success)
            #expect(!run.notes.contains("continued"))
            #expect(try await download(url, path("whole")).status == .success)
            #expect(try content("film") == content("whole"))
            #expect(folder.names == ["film", "whole"])
        }
    }

    @Test func withoutResumeNothingIsKept() async throws {
        try await withServer { server in
            server.updateTransferFaults { $0.cutDownloadAt = 700_000 }
            let run = try await download(server.baseURL + "/downloads/1000000", path("film"))
            #expect(run.status == .connectionLost)
            #expect(run.notes.contains("Nothing is kept. With --resume you could go on later."))
            #expect(folder.names.isEmpty)
        }
    }

    @Test func aDownloadThatFailsSaysSo() async throws {
        try await withServer { server in
            let large = try await download(server.baseURL + "/downloads/2000", path("film"), "--max-size", "1999")
            #expect(large.status == .tooLarge)
            let nowhere = try await download(server.baseURL + "/downloads/1", path("no/film"))
            #expect(nowhere.status == .fileFailed)
            #expect(nowhere.notes.contains("there is no folder"))
            let missing = try await download(server.baseURL + "/errors/404", path("film"))
            #expect(missing.status == .errorStatus)
            #expect(missing.output.contains("as_requested"))
            let redirect = try await download(server.baseURL + "/redirect/1", path("film"), "--no-follow")
            #expect(redirect.status == .errorStatus)
            let unsigned = try await download(
                server.baseURL + "/account", path("film"), "--session", "--session-file", path("none"))
            #expect(unsigned.status == .signInNeeded)
            #expect(folder.names.isEmpty)
        }
    }

    // MARK: Ctrl-C

    @Test func aDownloadThatIsInterruptedLeavesNothing() async throws {
        try await withServer { server in
            server.updateTransferFaults { $0.bytesPerSecond = 100_000 }
            let run = try await Tool.interrupt(["download", server.baseURL + "/downloads/10000000", path("film")]) {
                !folder.names.isEmpty
            }
            #expect(run.status == RequestExitStatus.cancelled.rawValue)
            #expect(run.notes.contains("cancelled"))
            #expect(folder.names.isEmpty)
        }
    }

    @Test func anInterruptedDownloadCanGoOn() async throws {
        try await withServer { server in
            server.updateTransferFaults { $0.bytesPerSecond = 100_000 }
            let url = server.baseURL + "/downloads/1000000"
            let run = try await Tool.interrupt(["download", url, path("film"), "--resume"]) {
                (try? content("film.partial"))?.isEmpty == false
            }
            #expect(run.status == RequestExitStatus.cancelled.rawValue)
            #expect(run.notes.contains("Run the same command again to go on from there."))
            #expect(folder.names == ["film.partial", "film.partial.json"])

            server.updateTransferFaults { $0.bytesPerSecond = nil }
            #expect(try await download(url, path("film"), "--resume").status == .success)
            #expect(server.events().last?.status == 206)
            #expect(try content("film").count == 1_000_000)
            #expect(folder.names == ["film"])
        }
    }
}
