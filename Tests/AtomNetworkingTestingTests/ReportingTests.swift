import AtomNetworking
import AtomNetworkingTesting
import Foundation
import Testing
import XCTest

/// What a broken test tells, without a word about problems in it.
@Suite(.limited)
struct ReportingTests {
    @Test func anIssueIsRecordedInTheTest() {
        let line = #line + 2
        withKnownIssue {
            _ = Atom.scripted(.status(204))
        } matching: { issue in
            let problem = issue.error as? ScriptProblem
            return problem?.findings == ["Nobody has asked for answer 1: status 204."]
                && issue.sourceLocation?.fileID == #fileID && issue.sourceLocation?.line == line
        }
    }

    @Test func anIssueOfAWaitIsAtItsLine() async {
        let line = #line + 4
        await withKnownIssue {
            let (_, wire) = Atom.scripted()
            wire.clock.patience = .milliseconds(20)
            await wire.idle()
            #expect(wire.problems.count == 1)
        } matching: { issue in
            issue.error is ScriptProblem && issue.sourceLocation?.line == line
        }
    }

    /// A test that throws doesn't hide what it has waited for, and only that.
    @Test func whatATestInAScriptWaitsForInVainIsReported() async {
        struct Other: Error {}
        let found = Reports()
        await withKnownIssue {
            await #expect(throws: Other.self) {
                try await Atom.withScript(.status(204)) { _, wire in
                    wire.clock.patience = .milliseconds(20)
                    await wire.idle()
                    throw Other()
                }
            }
        } matching: { issue in
            if let problem = issue.error as? ScriptProblem { found.add(problem) }
            return issue.error is ScriptProblem
        }
        #expect(found.all.count == 1)
        #expect(found.all.first?.findings.first?.hasPrefix("idle() waits until") == true)
    }

    @Test func problemsAreThereWhetherTheyAreToldOrNot() async throws {
        let (atom, wire) = Atom.scripted(.status(204), .text("b"), onProblem: { _ in })
        #expect(wire.problems.count == 2)
        #expect(throws: ScriptProblem.self) { try wire.verify() }
        #expect(wire.problems.count == 2)
        for _ in 0..<2 { try await atom.enqueue(Call()).resume() }
        #expect(wire.problems.isEmpty)
        await #expect(throws: AtomError.self) { try await atom.enqueue(Call()).resume() }
        #expect(
            wire.problems == [
                "The script has no answer for GET https://api.example.com/x (request 3); it has answered "
                    + "GET https://api.example.com/x (status 204), GET https://api.example.com/x (text, status 200)."
            ])
        #expect(throws: ScriptProblem.self) { try wire.verify() }
    }
}

#if os(Linux)
    /// The same in processes of their own, because there the tests fail.
    @Suite(.serialized, .limited, .enabled(if: !BrokenTest.isWanted))
    struct ReportingProcessTests {
        @Test func issuesOfSwiftTestingFailTheirTests() async throws {
            let run = try await BrokenTest.run("--testing-library", "swift-testing", "--filter", "BrokenSwiftTests")
            #expect(run.status != 0)
            for test in ["anAnswerIsLeft", "aRequestHasNoAnswer", "nothingComes"] {
                #expect(run.text.contains("Test \(test)() failed"), "\(run)")
            }
            #expect(run.text.components(separatedBy: "Nobody has asked for answer 1: status 204.").count == 3, "\(run)")
            // The last column of the table in the article.
            let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../Documentation/AtomNetworking.docc/Testing.md")
            let rows = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "\n")
                .drop { $0 != "| the test | what it says |" }.dropFirst(2).prefix { $0.hasPrefix("|") }
            #expect(rows.count == 3)
            for row in rows {
                let words = row.components(separatedBy: "| `").last?.components(separatedBy: "` |").first ?? row
                #expect(run.text.contains(words), "\(words)\n\(run)")
            }
            // Once each: standard error has none of it.
            #expect(run.text.components(separatedBy: "The script of AtomNetworkingTestingTests/").count == 4, "\(run)")
        }

        @Test func failuresOfXCTestFailTheirCases() async throws {
            let run = try await BrokenTest.run("AtomNetworkingTestingTests.BrokenXCTests")
            #expect(run.status != 0)
            #expect(run.text.contains("ReportingTests.swift:"))
            #expect(run.text.contains("error: BrokenXCTests.testAnAnswerIsLeft"), "\(run)")
            // Nobody listens after the last case: standard error has it.
            #expect(run.text.contains("There were 0 of 1 requests for GET /nobody-listens"), "\(run)")
        }

        @Test func aTestThatAwaitsItsRequestIsTold() async throws {
            let run = try await BrokenTest.run(
                "--testing-library", "swift-testing", "--filter", "StuckSwiftTests", until: "The clock has alarms in")
            #expect(run.text.contains("has an open request, and nothing has happened for"), "\(run)")
            #expect(run.text.contains("GET https://api.example.com/x pauses for"), "\(run)")
        }
    }

    /// Tests that fail or hang, for a process that wants them.
    enum BrokenTest {
        private static let variable = "ATOM_BROKEN_TESTS"

        static var isWanted: Bool { ProcessInfo.processInfo.environment[variable] != nil }

        /// Runs tests of this bundle in another process.
        ///
        /// - Parameter end: What the process has written when it is ended; `nil` if it ends by itself.
        static func run(_ arguments: String..., until end: String? = nil) async throws -> (text: String, status: Int32)
        {
            let process = Process()
            let pipe = Pipe()
            process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment.merging([variable: "1"]) { $1 }
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = pipe
            process.standardError = pipe
            // Foundation copies every open descriptor into a table of fixed size when it starts a process.
            while let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"), open.count > 800 {
                // The tests that have them open need the processors.
                try await Task.sleep(for: .milliseconds(50))
            }
            try process.run()
            let output = pipe.fileHandleForReading
            // It waits for the process, so it isn't in a task.
            return await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    var data = Data()
                    while true {
                        let part = output.availableData
                        data += part
                        let text = String(decoding: data, as: UTF8.self)
                        if let end, text.contains(end) { process.terminate() }
                        guard part.isEmpty else { continue }
                        process.waitUntilExit()
                        return continuation.resume(returning: (text, process.terminationStatus))
                    }
                }
            }
        }
    }

    @Suite(.enabled(if: BrokenTest.isWanted), .limited)
    struct BrokenSwiftTests {
        @Test func anAnswerIsLeft() {
            _ = Atom.scripted(.status(204))
        }

        @Test func aRequestHasNoAnswer() async throws {
            try await Atom.withScript(.status(204)) { atom, _ in
                for _ in 0..<2 { _ = try? await atom.enqueue(Call()).resume() }
            }
        }

        @Test func nothingComes() async {
            let (_, wire) = Atom.scripted()
            wire.clock.patience = .milliseconds(100)
            await wire.idle()
        }

        /// Without a test's name, but it fails the run.
        @Test func theWireGoesAwayElsewhere() async {
            let wire = Guarded(Optional(Atom.scripted(.status(204))))
            await Task.detached { wire.clear() }.value
        }

        private final class Guarded<Value>: @unchecked Sendable {
            private let lock = NSLock()
            // Accessed only under `lock`.
            private var value: Value?

            init(_ value: Value?) { self.value = value }

            func clear() { lock.withLock { value = nil } }
        }
    }

    @Suite(.enabled(if: BrokenTest.isWanted), .limited)
    struct StuckSwiftTests {
        @Test func itAwaitsARetry() async throws {
            let clock = ManualClock()
            clock.patience = .milliseconds(100)
            let (atom, _) = Atom.scripted(.status(503).always, clock: clock) { $0.retryPolicy = .standard }
            try await atom.enqueue(Call()).resume()
        }
    }

    final class BrokenXCTests: XCTestCase {
        override func setUpWithError() throws {
            if !BrokenTest.isWanted { throw XCTSkip("It is for another process.") }
        }

        override class func tearDown() {
            guard BrokenTest.isWanted else { return }
            let (_, wire) = Atom.scripted()
            wire.on(.get, "/nobody-listens", times: 1) { _ in .status(204) }
        }

        func testAnAnswerIsLeft() {
            _ = Atom.scripted(.status(204))
        }
    }
#endif
