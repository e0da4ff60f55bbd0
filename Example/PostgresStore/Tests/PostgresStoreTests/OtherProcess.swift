import Foundation
import Testing

/// An `exchanger` that the test controls line by line.
final class OtherProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var lines: AsyncStream<String>.Iterator

    init(_ verb: String, _ session: String, _ number: Int) throws {
        process.executableURL = try Self.executable()
        process.arguments = [verb, session, String(number)]
        process.standardInput = input
        process.standardOutput = output
        let (stream, continuation) = AsyncStream<String>.makeStream()
        lines = stream.makeAsyncIterator()
        try process.run()
        // The output is split into lines on the only thread that calls this.
        let reader = output.fileHandleForReading
        Thread {
            var rest = Data()
            while case let data = reader.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest = Data(rest[rest.index(after: end)...])
                }
            }
            continuation.finish()
        }.start()
    }

    deinit {
        signal(SIGKILL)
        process.waitUntilExit()
    }

    /// SwiftPM puts the products of a package next to its tests.
    private static func executable() throws -> URL {
        let tests = (Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") } ?? .main).bundleURL
        let folders = [
            tests.deletingLastPathComponent(), tests,
            URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
        ]
        let candidates = folders.map { $0.appendingPathComponent("exchanger") }
        return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) })
    }

    /// The next line of its output; `nil` after the last one.
    func line() async -> String? {
        await lines.next(isolation: #isolation)
    }

    /// Writes a line to it.
    func proceed() {
        input.fileHandleForWriting.write(Data("\n".utf8))
    }

    func signal(_ number: Int32) {
        kill(process.processIdentifier, number)
    }
}
