import AirlineServer
import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// What an XML parser finds in a picture.
private final class ParsedPicture: NSObject, XMLParserDelegate {
    struct Element {
        let name: String
        let attributes: [String: String]
        var text = ""
    }

    private(set) var elements: [Element] = []
    private var open: [Int] = []

    /// - Throws: The parser's error if the text is not well-formed.
    init(_ text: String) throws {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        guard parser.parse() else { throw parser.parserError ?? CommandFailure("not well-formed") }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        open.append(elements.count)
        elements.append(Element(name: name, attributes: attributes))
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        if let last = open.last { elements[last].text += text }
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        open.removeLast()
    }

    func all(_ name: String, _ shape: String? = nil) -> [Element] {
        elements.filter { $0.name == name && (shape == nil || $0.attributes["class"] == shape) }
    }

    var texts: [String] { elements.filter { ["text", "title", "desc"].contains($0.name) }.map(\.text) }

    func says(_ text: String) -> Bool { texts.contains { $0.contains(text) } }
}

/// Tells the first one who asks from all others.
private final class First: @unchecked Sendable {
    private let lock = NSLock()
    private var isOver = false

    var isNow: Bool {
        lock.withLock {
            defer { isOver = true }
            return !isOver
        }
    }
}

@Suite struct StormPictureTests {
    /// Requests that start every millisecond, each with these attempts.
    private func timeline(
        _ count: Int, planned: Int? = nil, _ outcome: StormTimeline.Outcome = .answered
    ) -> StormTimeline {
        var timeline = StormTimeline(planned: planned ?? count)
        for number in 0..<count {
            let start = Double(number) / 1000
            timeline.note(
                .init(
                    number: number + 1, start: start, end: start + 0.01,
                    attempts: [.init(start: start + 0.004, end: start + 0.01, status: 200)], outcome: outcome))
        }
        return timeline
    }

    private func picture(_ timeline: StormTimeline, server: String? = nil) throws -> ParsedPicture {
        try ParsedPicture(StormPicture(timeline, concurrency: 10, server: server).svg())
    }

    @Test func aStormWithoutRequestsIsAPicture() throws {
        let picture = try picture(timeline(0, planned: 5))
        #expect(picture.elements.first?.name == "svg")
        #expect(picture.says("Storm of 5 requests") && picture.says("No request was sent"))
        #expect(picture.says("0 answered, 0 failed, 5 not sent, 0 × 401, 0 refreshes"))
        #expect(picture.all("g").isEmpty && picture.all("rect", "wire").isEmpty)
    }

    @Test func oneRequestIsOneRow() throws {
        let picture = try picture(timeline(1))
        #expect(picture.says("Storm of 1 request"))
        #expect(picture.says("Each request, in the order of their start"))
        #expect(picture.says("Request 1, 10.0 ms, waiting 4.00 ms, on the wire 6.00 ms"))
        // 892 wide, and the first of them in the legend.
        #expect(picture.all("rect", "waiting").map { $0.attributes["width"] } == ["12", "356.8"])
        #expect(picture.all("rect", "wire").map { $0.attributes["x"] } == ["84", "440.8"])
        #expect(picture.all("text", "small middle").map(\.text) == ["0", "2", "4", "6", "8", "10"])
        #expect(picture.says("milliseconds") && picture.says("No refresh"))
    }

    @Test func ofTenThousandASampleIsDrawn() throws {
        let timeline = timeline(10_000)
        let text = StormPicture(timeline, concurrency: 10).svg()
        let picture = try ParsedPicture(text)
        #expect(picture.says("Storm of 10,000 requests"))
        #expect(picture.says("A sample: every 125th request, in the order of their start"))
        #expect(picture.says("All requests: how many there were at once, averaged over 32 ms"))
        #expect(picture.all("g").count == 80)
        #expect(picture.says("seconds") && !picture.says("milliseconds"))
        #expect(text.utf8.count < 100_000)
        // All of them are in the load: ten at once, six of them on the wire.
        #expect(picture.all("text", "small end").map(\.text).dropFirst().prefix(2) == ["0", "10"])
    }

    @Test func itSaysWhatItIsToThoseWhoCanNotSeeIt() throws {
        let picture = try picture(timeline(3))
        let root = try #require(picture.elements.first)
        #expect(root.attributes["role"] == "img")
        #expect(root.attributes["aria-labelledby"] == "storm-title storm-description")
        #expect(picture.elements.first { $0.attributes["id"] == "storm-title" }?.text == "Storm of 3 requests")
        let description = picture.elements.first { $0.attributes["id"] == "storm-description" }?.text ?? ""
        #expect(description.contains("3 answered, 0 failed") && description.contains("Each request"))
    }

    @Test func itsColoursFollowTheReader() throws {
        let style = try #require(try picture(timeline(1)).all("style").first?.text)
        #expect(style.contains("@media (prefers-color-scheme: dark)"))
        // Each class that is drawn has a rule.
        var timeline = timeline(1, planned: 4)
        timeline.note(
            .init(number: 2, start: 0, end: 1, attempts: [.init(start: 0, end: 1, status: 401)], outcome: .failed))
        timeline.note(.init(number: 3, start: 0, end: 1, attempts: [], outcome: .cancelled))
        timeline.note(.init(start: 0, end: 1, isSuccessful: false))
        for element in try picture(timeline).elements where element.name != "svg" {
            for name in element.attributes["class"]?.split(separator: " ") ?? [] {
                #expect(style.contains(".storm .\(name) "))
            }
        }
    }

    @Test func itNeedsNothingElse() throws {
        let text = StormPicture(timeline(100), concurrency: 1).svg()
        let addresses = text.components(separatedBy: "http").dropFirst()
        #expect(addresses.allSatisfy { $0.hasPrefix("://www.w3.org/2000/svg\"") })
        for word in ["href", "url(", "@import", "<script", "<image", "<foreignObject"] { #expect(!text.contains(word)) }
    }

    @Test func rowsAreInTheOrderOfTheNumbers() throws {
        var timeline = StormTimeline(planned: 3)
        for number in [2, 3, 1] {
            timeline.note(.init(number: number, start: 0, end: 1, attempts: [], outcome: .answered))
        }
        let labels = try picture(timeline).all("text", "small end").map(\.text)
        #expect(labels.suffix(3) == ["1", "2", "3"])
    }

    @Test func namesAreEscaped() throws {
        let server = #"http://<script>&"'\#u{1B}[2J]]>\#u{FFFE}"#
        let picture = try picture(timeline(1), server: server)
        #expect(picture.says(#"; server: http://<script>&"'\#u{FFFD}[2J]]>\#u{FFFD}"#))
        #expect(picture.all("script").isEmpty)
    }

    @Test func after401ThereIsAMarkAndAnotherColour() throws {
        var timeline = StormTimeline(planned: 1)
        timeline.note(
            .init(
                number: 1, start: 0, end: 1,
                attempts: [.init(start: 0, end: 0.25, status: 401), .init(start: 0.5, end: 1, status: 200)],
                outcome: .answered))
        timeline.note(.init(start: 0.25, end: 0.5, isSuccessful: true))
        let picture = try picture(timeline)
        #expect(picture.says("1 × 401, 1 refresh"))
        // Each sign is once in the legend, too.
        #expect(picture.all("rect", "again").map { $0.attributes["x"] }.last == "530")
        #expect(picture.all("path", "refused").map { $0.attributes["d"] }.last == "M307 302v16")
        let refresh = try #require(picture.all("rect", "refresh").last)
        let band = try #require(picture.all("rect", "band").last)
        #expect(refresh.attributes["x"] == "307" && refresh.attributes["width"] == "223")
        #expect(band.attributes["x"] == "307" && band.attributes["width"] == "223")
        #expect(picture.says("Refresh, 250 ms"))
        // The load: three areas.
        #expect(["wire", "again", "waiting"].allSatisfy { picture.all("path", $0).count == 1 })
    }

    @Test func whatFailedOrWasCancelledIsMarked() throws {
        let failed = try picture(timeline(3, .failed))
        #expect(failed.all("path", "failed").count == 4 && failed.says("on the wire 6.00 ms, failed"))
        let cancelled = try picture(timeline(3, .cancelled))
        #expect(cancelled.all("path", "cancelled").count == 4 && cancelled.says("3 cancelled"))
        #expect(try picture(timeline(3)).all("path", "failed").isEmpty)
    }

    @Test func refreshesThatAreNotDrawnAreNamed() throws {
        var timeline = StormTimeline(planned: 1)
        for number in 1...1003 { timeline.note(.init(start: Double(number), end: Double(number), isSuccessful: true)) }
        let picture = try picture(timeline)
        #expect(picture.says("3 later ones are not drawn"))
        #expect(picture.all("rect", "band").count == 1000)
    }

    @Test(arguments: [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (112, "112th"), (1021, "1,021st")])
    func numbersAreWords(_ number: Int, _ text: String) {
        #expect(StormPicture.ordinal(number) == text)
    }

    @Test func longNumbersAreGrouped() {
        #expect([0, 999, 1000, 1_234_567].map(StormPicture.grouped) == ["0", "999", "1,000", "1,234,567"])
    }
}

@Suite(.timeLimit(.minutes(5))) struct StormTimelineCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

    private func storm(_ arguments: String...) async throws -> (report: StormReport, output: String, notes: String) {
        let command = try #require(try AtomCommand.parseAsRoot(["storm"] + arguments) as? StormCommand)
        let output = RecordingTerminal()
        let notes = RecordingTerminal()
        let (report, _) = try await command.perform(output: output.terminal(), notes: notes.terminal())
        return (report, output.text, notes.text)
    }

    @Test func aStormIsDrawn() async throws {
        let file = path("storm.svg")
        let run = try await storm(
            "--requests", "40", "--concurrency", "10", "--work", "5", "--token-lifetime", "60", "--timeline", file)
        #expect(run.report.answered == 40)
        #expect(run.output.contains("throughput") && run.notes == "The picture is in \(file).\n")
        #expect(folder.names == ["storm.svg"])
        let timeline = try #require(run.report.timeline)
        #expect(timeline.requestCount == 40 && timeline.failedCount == 0)
        #expect(timeline.rows.map(\.number).sorted() == Array(1...40))
        #expect(timeline.refreshCount == 0 && timeline.refusedCount == 0)
        // Each was on the wire.
        #expect(timeline.rows.allSatisfy { $0.attempts.map(\.status) == [200] && $0.seconds(.onWire) > 0 })
        let picture = try ParsedPicture(String(contentsOfFile: file, encoding: .utf8))
        #expect(picture.says("Storm of 40 requests") && picture.says("40 answered, 0 failed"))
        #expect(picture.all("g").count == 40)
    }

    @Test func whatIsRefusedIsSentAgain() async throws {
        let server = try await AirlineServer.start()
        let plan = Storm.Plan(
            requests: 12, concurrency: 6, tokenLifetime: 60, workMilliseconds: 100, recordsTimeline: true)
        let first = First()
        let report = try await Storm(plan: plan, airline: try Airline(server)).run {
            if first.isNow { server.expireAccessTokens() }
        }
        await server.stop()
        #expect(report.answered == 12)
        let timeline = try #require(report.timeline)
        #expect(timeline.refusedCount >= 1 && timeline.refusedCount == report.server?.deadTokens)
        #expect(timeline.refreshCount == 1)
        #expect(timeline.refreshes.allSatisfy { $0.isSuccessful && $0.end > $0.start && $0.end <= timeline.end })
        let again = timeline.rows.filter { $0.attempts.count == 2 }
        #expect(again.count == timeline.refusedCount)
        #expect(again.allSatisfy { $0.refusals.count == 1 && $0.seconds(.again) > 0 })
    }

    @Test func withoutAPictureNothingIsRecorded() async throws {
        #expect(try await storm("--requests", "3").report.timeline == nil)
    }

    @Test func anotherServerIsNamed() async throws {
        let server = try await AirlineServer.start()
        _ = try await storm("--requests", "2", "--server", server.baseURL, "--timeline", path("a.svg"))
        await server.stop()
        let text = try String(contentsOfFile: path("a.svg"), encoding: .utf8)
        #expect(text.contains("; server: \(server.baseURL)<"))
    }

    @Test func aFileThatCanNotBeWrittenIsRefusedBeforeTheStorm() async throws {
        let server = try await AirlineServer.start()
        let folderName = folder.url.path
        for (file, reason) in [
            (path("nowhere/a.svg"), "the folder doesn't exist"), (folderName, "it is a folder"),
            (path("none") + "/", "it is a folder"), ("/dev/null", "it is not a regular file"),
        ] {
            do {
                _ = try await storm("--requests", "2", "--server", server.baseURL, "--timeline", file)
                Issue.record("\(file) was written")
            } catch {
                #expect("\(error)" == "The picture can't be written to \(file): \(reason).")
            }
        }
        #expect(server.counters.requests == 0)
        #expect(folder.names.isEmpty)
        await server.stop()
    }

    @Test func aFileIsReplacedAsAWhole() throws {
        let file = path("a.svg")
        try Data("old".utf8).write(to: URL(fileURLWithPath: file))
        func inode() throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? Int
        }
        let old = try inode()
        let picture = try PictureFile(path: file)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "old")
        try picture.write("new")
        #expect(try inode() != old && old != nil)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "new")
        #expect(folder.names == ["a.svg"])
    }

    @Test func aLinkIsFollowed() throws {
        try Data("old".utf8).write(to: URL(fileURLWithPath: path("real.svg")))
        try FileManager.default.createSymbolicLink(atPath: path("link.svg"), withDestinationPath: path("real.svg"))
        try PictureFile(path: path("link.svg")).write("new")
        #expect(try String(contentsOfFile: path("real.svg"), encoding: .utf8) == "new")
        let attributes = try FileManager.default.attributesOfItem(atPath: path("link.svg"))
        #expect(attributes[.type] as? FileAttributeType == .typeSymbolicLink)
    }

    @Test func interruptedItIsDrawnAsFarAsItCame() async throws {
        let server = try await AirlineServer.start()
        let file = path("a.svg")
        let run = try await Tool.interrupt([
            "storm", "--requests", "100000", "--concurrency", "4", "--work", "5", "--token-lifetime", "60",
            "--server", server.baseURL, "--timeline", file,
        ]) { server.counters.apiRequestsAccepted > 10 }
        await server.stop()
        #expect(run.status == 130)
        #expect(run.output.contains("cancelled") && run.notes.contains("The picture is in "))
        let picture = try ParsedPicture(String(contentsOfFile: file, encoding: .utf8))
        #expect(picture.says("Storm of 100,000 requests") && picture.says("not sent"))
    }
}
