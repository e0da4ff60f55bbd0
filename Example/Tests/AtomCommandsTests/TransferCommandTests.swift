import AirlineServer
import Foundation
import Testing

@testable import AtomCommands

/// Uploads, downloads and streams.
@Suite(.limited) struct TransferCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

    private func content(_ name: String) throws -> Data {
        try Data(contentsOf: folder.url.appendingPathComponent(name))
    }

    @Test func aFileIsSent() async throws {
        try await AirlineServer.run { server in
            try Data(count: 200_000).write(to: folder.url.appendingPathComponent("up.bin"))
            let run = try await Run(["upload", path("up.bin"), server.baseURL + "/uploads"])
            #expect(run.status == .success)
            #expect(run.output.contains(#""bytes":200000"#))
            #expect(run.notes.hasPrefix("200 kB") && run.notes.contains("HTTP 200 OK"))
            let form = try await Run(
                ["upload", path("up.bin"), server.baseURL + "/uploads", "--multipart", "passport", "--quiet"])
            #expect(form.output.contains(#""contentType":"multipart/form-data; boundary="#) && form.notes.isEmpty)
        }
    }

    @Test func anUploadThatFailsSaysSo() async throws {
        try await AirlineServer.run { server in
            let missing = try await Run(["upload", path("missing"), server.baseURL + "/uploads"])
            #expect(missing.status == .fileFailed)
            #expect(missing.notes.contains("there is no such file") && missing.notes.contains("Nothing was sent"))
            #expect(server.counters.requests == 0)
        }
    }

    @Test func aDownloadThatIsCutGoesOn() async throws {
        try await AirlineServer.run { server in
            let url = server.baseURL + "/downloads/1000000"
            #expect(try await Run(["download", url, path("whole")]).status == .success)
            server.updateTransfers { $0.cutDownloadAt = 700_000 }
            let cut = try await Run(["download", url, path("film"), "--resume"])
            #expect(cut.status == .connectionLost)
            let size = Quantity.bytes(Int64(try content("film.partial").count))
            #expect(cut.notes.contains("\(size) of 1.0 MB") && cut.notes.contains("\(size) are kept in"))
            #expect(folder.names == ["film.partial", "film.partial.json", "whole"])

            let rest = try await Run(["download", url, path("film"), "--resume"])
            #expect(rest.status == .success && rest.notes.contains("continued from an earlier download"))
            #expect(try content("film") == content("whole"))
            #expect(folder.names == ["film", "whole"])
        }
    }

    @Test func aDownloadThatFailsSaysSo() async throws {
        try await AirlineServer.run { server in
            server.updateTransfers { $0.cutDownloadAt = 700_000 }
            let cut = try await Run(["download", server.baseURL + "/downloads/1000000", path("film")])
            #expect(cut.notes.contains("Nothing is kept. With --resume you could go on later."))
            let url = server.baseURL + "/downloads/2000"
            #expect(try await Run(["download", url, path("film"), "--max-size", "1999"]).status == .tooLarge)
            #expect(try await Run(["download", url, path("no/film")]).status == .fileFailed)
            let missing = try await Run(["download", server.baseURL + "/errors/404", path("film")])
            #expect(missing.status == .errorStatus && missing.output.contains("as_requested"))
            #expect(folder.names.isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func anInterruptedDownloadLeavesNothingUnlessItCanGoOn(resumes: Bool) async throws {
        try await AirlineServer.run { server in
            server.updateTransfers { $0.bytesPerSecond = 100_000 }
            let arguments = ["download", server.baseURL + "/downloads/1000000", path("film")]
            let run = try await Tool.interrupt(arguments + (resumes ? ["--resume"] : [])) {
                // More than the end that is compared, or it begins anew.
                resumes ? (try? content("film.partial").count) ?? 0 > 50_000 : !folder.names.isEmpty
            }
            #expect(run.status == RequestExitStatus.cancelled.rawValue)
            #expect(folder.names == (resumes ? ["film.partial", "film.partial.json"] : []))
            guard resumes else { return }
            server.updateTransfers { $0.bytesPerSecond = nil }
            #expect(try await Run(arguments + ["--resume"]).notes.contains("continued from an earlier download"))
            #expect(try content("film").count == 1_000_000)
        }
    }

    @Test func eventsAreReadableAndGoOnAfterTheirConnection() async throws {
        try await AirlineServer.run { server in
            let url = server.baseURL + "/gates?count=30&each=12&milliseconds=1"
            let run = try await Run(["stream", url, "--events", "--reconnect"])
            #expect(run.status == .success)
            let ids = run.output.split(separator: "\n").map { Int($0.prefix { $0 != " " }) }
            #expect(ids == Array(1...30))
            #expect(run.output.hasPrefix(#"1 gate: {"flight":"#))
            #expect(run.notes.contains("30 events, 4 connections"), "\(run.notes)")
            let once = try await Run(["stream", url, "--events", "--last-event-id", "2"])
            #expect(once.output.hasPrefix("3 gate: ") && once.notes.contains("12 events"))
        }
    }

    @Test func linesAndBytesComeAsTheyAre() async throws {
        try await AirlineServer.run { server in
            let lines = try await Run(["stream", server.baseURL + "/gates?count=1&milliseconds=1", "--lines"])
            #expect(lines.output.hasPrefix("retry: 1\n: welcome at the gates\n\nid: 1\nevent: gate\ndata: {"))
            let bytes = try await Run(["stream", server.baseURL + "/flights"])
            #expect(bytes.output.hasPrefix("[{") && bytes.output.hasSuffix("}]"))
            #expect(try await Run(["stream", server.baseURL + "/flights", "--events"]).status == .failure)
            #expect(try await Run(["stream", server.baseURL + "/errors/404", "--events"]).status == .errorStatus)
        }
    }
}
