import ArgumentParser
import AtomNetworkingTesting
import Foundation

/// Serves the documentation: a browser can't open its pages as files.
struct DocsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "docs", abstract: "Serves the documentation that .ci/check-documentation has built, until Ctrl-C.")

    @Argument(help: "The folder of the sites.")
    var folder = ".build/documentation"

    @Option(help: "The port to listen on; 0 chooses a free one.")
    var port: UInt16 = 0

    private static let mediaTypes = [
        "css": "text/css", "html": "text/html; charset=utf-8", "js": "text/javascript", "json": "application/json",
        "svg": "image/svg+xml",
    ]

    func run() async throws {
        let sites = ["site", "site-testing", "site-exports"].map {
            URL(fileURLWithPath: folder, isDirectory: true).appendingPathComponent($0)
        }
        guard Self.page("/", of: sites).statusCode == 200 else {
            throw CommandFailure(description: "\(folder) has no site; .ci/check-documentation builds it")
        }
        guard let server = try? LoopbackServer(port: Int(port), handler: { Self.page($0.path, of: sites) }) else {
            throw CommandFailure(description: "The port \(port) is not available; is another server using it?")
        }
        Terminal.standardOutput.print("Open \(server.url("/documentation/atomnetworking")), and press Ctrl-C to stop.")
        _ = try await withInterruption { for await _ in AsyncStream<Void>.makeStream().stream {} }
        server.stop()
    }

    /// The file with this path, of the first site that has it; a folder stands for its `index.html`.
    static func page(_ path: String, of sites: [URL]) -> LoopbackServer.Response {
        let names = (path.removingPercentEncoding ?? "").split(separator: "/").map(String.init)
        if !names.contains("..") {
            let files = sites.map { names.reduce($0) { $0.appendingPathComponent($1) } }
            for file in files.flatMap({ [$0, $0.appendingPathComponent("index.html")] }) {
                guard let body = try? Data(contentsOf: file) else { continue }
                let type = mediaTypes[file.pathExtension] ?? "application/octet-stream"
                return .status(200, headers: [("Content-Type", type)], body: body)
            }
        }
        return .text("Nothing is here.\n", status: 404)
    }
}
