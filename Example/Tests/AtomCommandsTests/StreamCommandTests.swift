import AirlineServer
import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

@Suite(.timeLimit(.minutes(5))) struct StreamCommandTests {
    private struct Run {
        let status: RequestExitStatus
        let output: String
        let notes: String
    }

    /// Runs `atom stream server/path …`; the body runs meanwhile.
    private func stream(
        _ path: String, _ arguments: String...,
        during body: @escaping @Sendable (AirlineServer, RecordingTerminal) async throws -> Void = { _, _ in }
    ) async throws -> Run {
        let server = try await AirlineServer.start()
        let command = try #require(
            try AtomCommand.parseAsRoot(["stream", server.baseURL + path] + arguments) as? StreamCommand)
        let output = RecordingTerminal()
        let notes = RecordingTerminal()
        async let meanwhile: Void = body(server, output)
        let status = try await command.perform(
            body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
        try await meanwhile
        await server.stop()
        return Run(status: status, output: output.text, notes: notes.text)
    }

    /// The IDs at the beginning of the lines.
    private func ids(in text: String) -> [Int?] {
        text.split(separator: "\n").map { Int($0.prefix { $0 != " " }) }
    }

    @Test func eventsAreReadable() async throws {
        let run = try await stream("/gates?count=3&milliseconds=1", "--events")
        #expect(run.status == .success)
        #expect(run.output.hasPrefix(#"1 gate: {"announcedAt":"#))
        #expect(ids(in: run.output) == [1, 2, 3])
        #expect(run.notes.contains("HTTP 200 OK"))
        #expect(run.notes.contains("3 events, "))
    }

    @Test func anEventIsShownBeforeTheNextOneIsSent() async throws {
        // The second one would come after a minute.
        let run = try await stream("/gates?milliseconds=60000", "--lines", "--quiet") { server, output in
            while !output.text.contains("welcome") { try await Task.sleep(for: .milliseconds(5)) }
            await server.stop()
        }
        #expect(run.status == .connectionLost)
        #expect(run.output.hasPrefix("retry: 1000\n: welcome at the gates\n"))
    }

    @Test func aStreamGoesOnAfterItsConnectionHasEnded() async throws {
        let run = try await stream(
            "/gates?count=60&milliseconds=10&retry=1", "--events", "--reconnect"
        ) { server, output in
            while !output.text.contains("\n2 gate: ") { try await Task.sleep(for: .milliseconds(2)) }
            server.endStreams()
        }
        #expect(run.status == .success)
        #expect(ids(in: run.output) == Array(1...60))
        #expect(run.notes.contains("60 events, 3 connections"))
    }

    @Test func withoutReconnectTheStreamEndsWithItsConnection() async throws {
        let run = try await stream("/gates?milliseconds=5", "--events", "--quiet") { server, output in
            while output.text.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            server.endStreams()
        }
        #expect(run.status == .success)
        #expect(run.notes.isEmpty)
    }

    @Test func anEarlierStreamIsContinued() async throws {
        let run = try await stream("/gates?count=4&milliseconds=1", "--events", "--last-event-id", "2")
        #expect(ids(in: run.output) == [3, 4])
        let end = try await stream("/gates?count=4", "--events", "--last-event-id", "4")
        #expect(end.status == .success)
        #expect(end.output.isEmpty)
        #expect(end.notes.contains("0 events"))
    }

    @Test func linesAndBytesComeAsTheyAre() async throws {
        let lines = try await stream("/gates?count=1&milliseconds=1", "--lines")
        #expect(lines.output.hasPrefix("retry: 1000\n: welcome at the gates\n\nid: 1\nevent: gate\ndata: {"))
        #expect(lines.notes.contains("7 lines, "))
        let bytes = try await stream("/flights")
        #expect(bytes.output.hasPrefix("[{") && bytes.output.hasSuffix("}]"))
        #expect(bytes.notes.contains("kB, ") || bytes.notes.contains("bytes, "))
    }

    @Test func whatFailsSaysSo() async throws {
        let noEvents = try await stream("/flights", "--events")
        #expect(noEvents.status == .failure)
        #expect(noEvents.notes.contains("no stream of events"))
        let missing = try await stream("/errors/404", "--events")
        #expect(missing.status == .errorStatus)
        #expect(missing.output.contains("as_requested"))
        #expect(try await stream("/downloads/1000", "--lines").status == .failure)
        #expect(try await stream("/errors/hang-up").status == .connectionLost)
        #expect(try await stream("/gates?milliseconds=60000", "--timeout", "0.2").status == .timedOut)
        #expect(try await stream("/a/../b").status == .invalidRequest)
    }
}

@Suite struct StreamTextTests {
    @Test func aCharacterMayArriveInTwoParts() {
        var text = PrintableText()
        let bytes = Data("aé✓😀\u{1B}[2J\n".utf8)
        #expect(bytes.map { text.take(Data([$0])) }.joined() == "aé✓😀\u{FFFD}[2J\n")
        #expect(text.take(Data([0x80, 0x80, 0x80, 0x80])).allSatisfy { $0 == "\u{FFFD}" })
        #expect(text.take(Data()) == "")
    }

    @Test func furtherLinesOfAnEventAreIndented() {
        #expect(EventText.of(ServerSentEvent(data: "a")) == "message: a")
        #expect(EventText.of(ServerSentEvent(type: "gate", data: "a\n\nb", id: "7")) == "7 gate: a\n    \n    b")
    }
}
