import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite(.timeLimit(.minutes(5))) struct StormTests {
    @Test func everyRequestGetsItsOwnResponseAndARow() async throws {
        let recorder = TimelineRecorder()
        let storm = Storm(requests: 300, concurrency: 30, tokenLifetime: 0.4, workMilliseconds: 2, expireEvery: 0.1)
        let report = try await storm.run(observers: [recorder])
        // On a slow machine a request may be refused twice, which is an error.
        #expect(report.answered + report.failures.values.reduce(0, +) == 300)
        #expect(report.mixedUp == 0 && report.server.reuseDetected == 0)
        let timeline = recorder.timeline
        #expect(timeline.requests.map(\.number) == Array(1...300))
        #expect(timeline.refreshes.count == report.server.refreshes && report.server.refreshes > 0)
        #expect(timeline.requests.reduce(0) { $0 + $1.refusals.count } == report.server.apiRequestsWithDeadToken)
        for request in timeline.requests {
            #expect(zip(request.spans, request.spans.dropFirst()).allSatisfy { $0.end <= $1.start })
            #expect(request.isFailed || request.spans.contains { $0.phase == .again } == !request.refusals.isEmpty)
        }
        let picture = StormPicture(timeline).svg()
        #expect(picture.hasPrefix("<svg ") && picture.hasSuffix("</svg>\n"))
        #expect(picture.contains("\(report.answered) answered") && picture.contains("every 4th request"))
        let isWellFormed = XMLParser(data: Data(picture.utf8)).parse()
        #expect(isWellFormed)
    }

    @Test func thePictureIsInItsFile() async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.appendingPathComponent("storm.svg").path
        let command = try #require(
            try AtomCommand.parseAsRoot(["storm", "-n", "20", "--token-lifetime", "60", "--timeline", path])
                as? StormCommand)
        let output = RecordingTerminal()
        #expect(try await command.perform(output: output.terminal()).report.isAsExpected)
        #expect(output.text.contains("refresh tokens used twice"))
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("Storm of 20 requests"))
        #expect(throws: (any Error).self) {
            try AtomCommand.parseAsRoot(["storm", "--timeline", folder.url.path + "/none/storm.svg"])
        }
    }
}
