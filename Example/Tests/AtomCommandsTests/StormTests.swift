import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite(.limited) struct StormTests {
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
        let picture = StormPicture(timeline, .light).svg()
        #expect(picture.contains("\(report.answered) answered") && picture.contains("every 4th request"))
        let isWellFormed = XMLParser(data: Data(picture.utf8)).parse()
        #expect(isWellFormed)
    }

    @Test func thePictureShowsWhatHappened() {
        var request = Timeline.Request(number: 1)
        request.spans = [
            .init(phase: .wire, start: 2, end: 2.02), .init(phase: .waiting, start: 2.02, end: 2.06),
            .init(phase: .again, start: 2.06, end: 2.1),
        ]
        request.refusals = [2.02]
        let timeline = Timeline(requests: [request], refreshes: [.init(phase: .wire, start: 2.03, end: 2.05)])
        let (light, dark) = (StormPicture(timeline, .light).svg(), StormPicture(timeline, .dark).svg())
        // The axis, 892 wide, begins at the first request and is 0.1 s long.
        func bar(_ x: String, _ y: String, _ width: String, _ height: String, _ fill: String) -> String {
            #"<rect x="\#(x)" y="\#(y)" width="\#(width)" height="\#(height)" fill="\#(fill)""#
        }
        #expect(light.contains(bar("84.0", "129.0", "178.4", "7.0", "#0072b2")))
        #expect(light.contains(bar("262.4", "131.0", "356.8", "3.0", "#a3b1bf")))
        #expect(light.contains(bar("619.2", "129.0", "356.8", "7.0", "#e08e00")))
        #expect(light.contains(bar("262.4", "128.0", "2.0", "9.0", "#c4310a")))
        #expect(light.contains(bar("351.6", "106.0", "178.4", "40.0", "#a6498c") + #" fill-opacity="0.18""#))
        #expect(dark.contains(bar("84.0", "129.0", "178.4", "7.0", "#56b4e9")))
        #expect(light.contains("1 answered, 0 failed, 1 × 401, 1 refresh; each request"))
        for label in [">0<", ">20<", ">100<"] { #expect(light.contains(label)) }
        // Viewers without style sheets would draw all in black.
        for picture in [light, dark] { #expect(!picture.contains("<style") && !picture.contains("class=")) }
        // The two differ in nothing but colours.
        let colour = /#[0-9a-f]{6}/
        #expect(light.replacing(colour, with: "") == dark.replacing(colour, with: ""))
        #expect(Set(light.matches(of: colour).map(\.output)).isDisjoint(with: dark.matches(of: colour).map(\.output)))
    }

    @Test func thePicturesAreInTheirFiles() async throws {
        let folder = try TemporaryFolder()
        let path = folder.url.appendingPathComponent("storm.svg").path
        let darkPath = folder.url.appendingPathComponent("storm-dark.svg").path
        let command = try #require(
            try AtomCommand.parseAsRoot([
                "storm", "-n", "20", "--token-lifetime", "60", "--timeline", path, "--dark-timeline", darkPath,
            ]) as? StormCommand)
        let output = RecordingTerminal()
        #expect(try await command.perform(output: output.terminal()).report.isAsExpected)
        #expect(output.text.contains("refresh tokens used twice"))
        let (light, dark) = (StormPicture.Palette.light, StormPicture.Palette.dark)
        for (path, palette) in [(path, light), (darkPath, dark)] {
            let picture = try String(contentsOfFile: path, encoding: .utf8)
            #expect(picture.contains("Storm of 20 requests") && picture.contains(palette.paper))
        }
        #expect(throws: (any Error).self) {
            try AtomCommand.parseAsRoot(["storm", "--timeline", folder.url.path + "/none/storm.svg"])
        }
    }
}
