import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomCommands

@Suite(.limited) struct DocsTests {
    @Test func aPathIsAFileOfTheFirstSiteThatHasIt() async throws {
        let folder = try TemporaryFolder()
        for (name, text) in [
            "site/index.html": "first", "site/documentation/a b/index.html": "article", "other/index.html": "second",
            "other/data.json": "{}", "secret": "secret",
        ] {
            let file = folder.url.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        let sites = ["site", "other"].map { folder.url.appendingPathComponent($0) }
        let server = try LoopbackServer { DocsCommand.page($0.path, of: sites) }
        defer { server.stop() }
        for (path, text, type) in [
            ("/", "first", "text/html"), ("/documentation/a%20b/", "article", "text/html"),
            ("/documentation/a%20b", "article", "text/html"), ("/data.json", "{}", "application/json"),
        ] {
            let run = try await Run(["request", "GET", "\(server.url(path))"])
            #expect(run.output == text && run.notes.contains("Content-Type: \(type)"))
        }
        for path in ["/../secret", "/%2e%2e/secret", "/site/..%2f..%2fsecret", "/none"] {
            #expect(DocsCommand.page(path, of: sites).statusCode == 404)
        }
    }
}
