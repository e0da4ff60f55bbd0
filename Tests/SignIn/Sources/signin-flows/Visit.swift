import AtomNetworkingSignIn
import Foundation

/// The program `visit`, which is a person with a browser.
enum Visit {
    struct Failure: Error { let status: Int32 }

    /// Begins to visit a page; its callback comes to whoever listens.
    static func begin(_ page: URL, _ options: [String] = []) throws {
        let process = process(page, options)
        process.standardOutput = FileHandle.nullDevice
        try process.run()
    }

    /// Visits a page, and returns what the program says: the callback, which it has kept for itself with `--keep`.
    static func output(_ page: URL, _ options: [String] = []) throws -> String {
        let process = process(page, options)
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The callback of a page that nobody has got yet.
    static func callback(of page: URL) throws -> URL {
        guard let url = URL(string: try output(page, ["--keep"])) else {
            throw Problem("visit has printed no callback")
        }
        return url
    }

    /// A browser of a tool, with this program in place of the system's.
    static func browser(port: Int, _ options: [String] = []) -> LoopbackBrowser {
        var browser = LoopbackBrowser(open: { page in (try? begin(page, options)) != nil })
        browser.port = port
        browser.timeout = .seconds(20)
        return browser
    }

    private static func process(_ page: URL, _ options: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // Another program may take its place, such as a real browser.
        let command = ProcessInfo.processInfo.environment["SIGNIN_VISIT"] ?? "./visit"
        process.arguments = command.split(separator: " ").map(String.init) + options + [page.absoluteString]
        return process
    }
}
