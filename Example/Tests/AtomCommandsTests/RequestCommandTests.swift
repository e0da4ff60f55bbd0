import AirlineServer
import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

@Suite(.timeLimit(.minutes(5))) struct RequestCommandTests {
    private struct Run {
        let status: RequestExitStatus
        let output: String
        let notes: String
    }

    /// Runs `atom request METHOD server/path …`.
    private func request(_ method: String, _ path: String, _ arguments: String...) async throws -> Run {
        let server = try await AirlineServer.start()
        let command = try #require(
            try AtomCommand.parseAsRoot(["request", method, server.baseURL + path] + arguments) as? RequestCommand)
        let output = RecordingTerminal()
        let notes = RecordingTerminal()
        let status = try await command.perform(
            body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
        await server.stop()
        return Run(status: status, output: output.text, notes: notes.text)
    }

    @Test func theBodyGoesToTheOutputAndTheRestToTheNotes() async throws {
        let run = try await request("GET", "/flights?from=PDX")
        #expect(run.status == .success)
        #expect(run.output.hasPrefix("[{") && run.output.hasSuffix("}]"))
        #expect(run.notes.contains("HTTP 200 OK"))
        #expect(run.notes.contains("Content-Type: application/json"))
        #expect(run.notes.contains("ms"))
    }

    @Test func theHeadCanGoBeforeTheBody() async throws {
        let run = try await request("GET", "/flights", "--include", "--quiet")
        #expect(run.output.hasPrefix("HTTP 200 OK"))
        #expect(run.output.contains("\n\n[{"))
        #expect(run.notes.isEmpty)
    }

    @Test func anErrorStatusStillShowsItsBody() async throws {
        let run = try await request("POST", "/bookings", "--json", "{}")
        #expect(run.status == .errorStatus)
        #expect(run.output.contains("validation_failed"))
    }

    @Test func whatIsGivenIsSent() async throws {
        let run = try await request(
            "put", "/echo/x?a=1", "-H", "X-One: two", "--query", "b=c d", "--form", "name=Ada & Co", "--form", "n=1")
        let echo = try #require(
            try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        #expect(echo["method"] as? String == "PUT")
        #expect(echo["target"] as? String == "/echo/x?a=1&b=c%20d")
        #expect(echo["body"] as? String == "name=Ada+%26+Co&n=1")
    }

    @Test func basicAuthenticationIsRightOrWrong() async throws {
        #expect(try await request("GET", "/me", "--basic", "ada:lovelace").status == .success)
        #expect(try await request("GET", "/me", "--basic", "ada:byron").status == .errorStatus)
    }

    @Test func aRedirectIsFollowedOrShown() async throws {
        let followed = try await request("GET", "/redirect/2")
        #expect(followed.status == .success)
        #expect(followed.output.hasPrefix("[{"))
        #expect(followed.notes.contains("302 from GET http://127.0.0.1:"))
        let shown = try await request("GET", "/redirect/2", "--no-follow")
        #expect(shown.status == .success)
        #expect(shown.notes.contains("Location: /redirect/1"))
    }

    @Test func aBusyServerIsAskedAgain() async throws {
        let patient = try await request("GET", "/busy/me?times=2", "--retry")
        #expect(patient.status == .success)
        #expect(patient.output == #"{"attempts":3}"#)
        #expect(patient.notes.contains("503 from GET http://127.0.0.1:") && patient.notes.contains("2 retries"))
        let once = try await request("GET", "/busy/me?times=2")
        #expect(once.status == .errorStatus && once.output.contains("failure 1 of 2"))
        #expect(try await request("GET", "/busy/me?times=3", "--retry").status == .errorStatus)
        #expect(try await request("POST", "/busy/me?times=1", "--retry").status == .errorStatus)
    }

    @Test func whatFailsSaysSo() async throws {
        let late = try await request("GET", "/slow?milliseconds=30000", "--timeout", "0.2")
        #expect(late.status == .timedOut)
        #expect(late.notes.contains("may have reached the server"))
        let invalid = try await request("GET", "/a/../b")
        #expect(invalid.status == .invalidRequest)
        #expect(invalid.notes.contains("Nothing was sent"))
        #expect(invalid.output.isEmpty)
        #expect(try await request("GET", "/errors/hang-up").status == .connectionLost)
    }

    @Test func aServerCanNotRewriteTheScreen() {
        #expect(ResponsePrinter.printable("a\u{1B}[2Jb\tc") == "a\u{FFFD}[2Jb\u{FFFD}c")
        #expect(ResponsePrinter.printable("a\tb\n", keeping: "\n\t") == "a\tb\n")
    }

    @Test func binaryDataIsKeptFromATerminal() {
        let output = RecordingTerminal()
        let printer = ResponsePrinter(
            body: output.terminal(isTerminal: true), notes: output.terminal(), includesHead: false, isQuiet: true,
            writeBytes: output.write)
        printer.show(AtomResponse(data: Data([0xFF, 0x00]), statusCode: 200), after: [], seconds: 0)
        #expect(output.text == "(2 bytes that are not text; redirect them to a file)\n")
    }
}
