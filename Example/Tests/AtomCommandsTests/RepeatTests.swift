import AirlineServer
import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct RepeatReportTests {
    private func report(_ results: Result<AtomResponse, AtomError>...) -> RepeatReport {
        var report = RepeatReport(requests: results.count)
        for result in results { _ = report.note(result) }
        return report
    }

    private func answer(_ status: Int) -> Result<AtomResponse, AtomError> {
        .success(AtomResponse(statusCode: status))
    }

    private func refusal(_ status: Int) -> Result<AtomResponse, AtomError> {
        .failure(.response(AtomResponse(statusCode: status)))
    }

    @Test func outcomesAreCountedByStatusAndByKind() {
        let report = report(
            answer(200), answer(304), answer(200), refusal(503), refusal(503), refusal(404),
            .failure(.session(URLError(.timedOut))), .failure(.session(URLError(.timedOut))))
        #expect(report.successes == [.status(200): 2, .status(304): 1])
        #expect(report.failures == [.status(503): 2, .status(404): 1, .failure(.timedOut): 2])
        #expect(report.succeeded == 3 && report.failed == 5)
    }

    @Test func onlyAnAnswerHasALatency() {
        var report = RepeatReport(requests: 4)
        let results = [
            answer(200), refusal(500), .failure(.session(URLError(.timedOut))), .failure(.cancelled(.maybeSent)),
        ]
        let count = results.map { report.note($0) }
        #expect(count == [true, true, false, false])
    }

    @Test func theFirstFailureDecides() {
        func status(_ report: RepeatReport, signal: Int32? = nil) -> RequestExitStatus {
            RequestExitStatus(report.result, signal: signal)
        }
        #expect(status(report(answer(200), answer(304))) == .success)
        #expect(status(report(answer(200), .failure(.session(URLError(.timedOut))), refusal(500))) == .timedOut)
        #expect(status(report(refusal(500), .failure(.session(URLError(.timedOut))))) == .errorStatus)
    }

    @Test func whatWasInterruptedSaysSo() {
        var report = report(refusal(500), .failure(.cancelled(.maybeSent)))
        #expect(RequestExitStatus(report.result, signal: SIGINT) == .cancelled)
        #expect(RequestExitStatus(report.result, signal: SIGTERM) == .terminated)
        report = self.report(answer(200))
        report.notSent = 1
        #expect(RequestExitStatus(report.result, signal: SIGINT) == .cancelled)
    }

    @Test func theReportIsATableAndAHistogram() throws {
        var report = report(refusal(503), answer(200), answer(200), .failure(.session(URLError(.timedOut))))
        report.latencies = Latencies([.milliseconds(2), .milliseconds(4), .milliseconds(4)])
        report.elapsed = .milliseconds(500)
        report.concurrency = 2
        let output = RecordingTerminal()
        report.show(on: output.terminal())
        let rows = output.lines.map { $0.split(separator: " ").joined(separator: " ") }
        let table = [
            "requests 4", "at once, at most 2", "succeeded 2", "HTTP 200 2", "failed 2", "HTTP 503 1",
            "the request timed out 1", "time 500 ms", "throughput 8.0 /s", "latency minimum 2.00 ms",
            "latency mean 3.33 ms", "latency p50 4.00 ms", "latency p90 4.00 ms", "latency p95 4.00 ms",
            "latency p99 4.00 ms", "latency p99.9 4.00 ms", "latency maximum 4.00 ms",
        ]
        #expect(Array(rows.dropFirst(2).prefix(table.count)) == table)
        #expect(rows.contains { $0.hasPrefix("2.0-2.2 ms ###") && $0.hasSuffix("# 1") })
        #expect(rows.contains { $0.hasPrefix("4.0-4.2 ms ######") && $0.hasSuffix("# 2") })
        #expect(output.text.contains("First failure: error status: "))
        #expect(!output.text.contains("cancelled") && !output.text.contains("not sent"))
    }

    @Test func withoutAnAnswerThereIsNoLatency() {
        let output = RecordingTerminal()
        report(.failure(.session(URLError(.timedOut)))).show(on: output.terminal())
        #expect(!output.text.contains("latency") && !output.text.contains("#"))
    }
}

@Suite(.timeLimit(.minutes(5))) struct RepeatTests {
    private struct Run {
        let status: RequestExitStatus
        let output: String
        let notes: String
        let counters: Counters

        /// The number behind a label of the table.
        func count(_ label: String) -> Int? {
            let line = output.split(separator: "\n").first {
                $0.trimmingCharacters(in: .whitespaces).hasPrefix(label + " ")
            }
            return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
        }
    }

    private func run(_ server: AirlineServer, _ arguments: [String]) async throws -> Run {
        let command = try #require(try AtomCommand.parseAsRoot(["request"] + arguments) as? RequestCommand)
        let output = RecordingTerminal()
        let notes = RecordingTerminal()
        let status = try await command.perform(
            body: output.terminal(), notes: notes.terminal(), writeBytes: output.write)
        return Run(status: status, output: output.text, notes: notes.text, counters: server.counters)
    }

    /// Runs `atom request METHOD server/path …`.
    private func request(_ method: String, _ path: String, _ arguments: String...) async throws -> Run {
        let server = try await AirlineServer.start()
        do {
            let run = try await run(server, [method, server.baseURL + path] + arguments)
            await server.stop()
            return run
        } catch {
            await server.stop()
            throw error
        }
    }

    @Test func everyRequestIsSentAndCounted() async throws {
        let run = try await request("GET", "/flights", "--repeat", "200", "--concurrency", "4")
        #expect(run.status == .success)
        #expect(run.counters.requests == 200)
        #expect((1...4).contains(run.counters.peakConcurrentRequests))
        #expect(run.count("succeeded") == 200 && run.count("HTTP 200") == 200 && run.count("failed") == 0)
        #expect(run.output.contains("latency p99.9") && run.output.contains("#"))
        // No body.
        #expect(!run.output.contains("AS100"))
    }

    @Test func asManyAsAllowedAreSentAtOnce() async throws {
        let wide = try await request("GET", "/slow?milliseconds=1000", "--repeat", "4", "--concurrency", "9")
        #expect(wide.counters.peakConcurrentRequests == 4)
        #expect(wide.count("at once, at most") == 4)
        let narrow = try await request("GET", "/slow?milliseconds=1", "--repeat", "8")
        #expect(narrow.counters.peakConcurrentRequests == 1)
        #expect(narrow.count("at once, at most") == 1)
    }

    @Test func whoeverWaitsForAConnectionIsTold() async throws {
        #if os(Linux)
            if CurlTransport.libraryVersion != nil {
                let run = try await request(
                    "GET", "/flights", "--repeat", "6", "--concurrency", "3", "--connections", "2")
                #expect(run.notes.contains("at most 2 requests are on the wire"))
                #expect(run.status == .success)
            }
        #endif
        #expect(try await request("GET", "/flights", "--repeat", "6", "--concurrency", "2").notes.isEmpty)
    }

    #if os(Linux)
        @Test func theConnectionIsKept() async throws {
            let server = try await AirlineServer.start()
            let url = server.baseURL + "/flights"
            let run = try await run(server, ["GET", url, "--repeat", "50"])
            // All connections of the last minute, also those that are closed.
            // Not String(contentsOfFile:), which reads only one block of it.
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/net/tcp"))
            let table = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
            let port = ":" + String(format: "%04X", Int(server.port))
            let clients = table.split(separator: "\n").filter { line in
                let fields = line.split(separator: " ")
                return fields.count > 2 && fields[2].hasSuffix(port)
            }
            await server.stop()
            #expect(run.counters.requests == 50)
            // One, and those of an earlier server that had this port.
            #expect((1...25).contains(clients.count))
        }
    #endif

    @Test func aFailureIsShownAndDecides() async throws {
        let busy = try await request("GET", "/busy/me?times=3", "--repeat", "10")
        #expect(busy.status == .errorStatus)
        #expect(busy.count("HTTP 503") == 3 && busy.count("HTTP 200") == 7)
        #expect(busy.output.contains(/First failure: error status: GET http:\S+: the server answered HTTP 503/))
        let lost = try await request("GET", "/errors/hang-up", "--repeat", "3", "--concurrency", "3")
        #expect(lost.status == .connectionLost)
        #expect(lost.count("failed") == 3)
        #expect(!lost.output.contains("latency"))
    }

    @Test func whatFailsForNowIsSentAgain() async throws {
        let run = try await request("GET", "/busy/me?times=2", "--repeat", "5", "--retry")
        #expect(run.status == .success)
        #expect(run.count("succeeded") == 5)
        #expect(run.counters.requests == 7)
    }

    @Test func theBodyIsSentEachTime() async throws {
        let booking = #"{"flight": "AS100", "seat": "9C", "passenger": "Ada"}"#
        let run = try await request("POST", "/bookings", "--json", booking, "--repeat", "3")
        // A seat is booked once.
        #expect(run.count("HTTP 201") == 1 && run.count("HTTP 409") == 2)
        #expect(run.status == .errorStatus)
    }

    @Test func anInvalidRequestIsNotSent() async throws {
        let run = try await request("GET", "/a/../b", "--repeat", "3")
        #expect(run.status == .invalidRequest)
        #expect(run.counters.requests == 0)
        let server = try await AirlineServer.start()
        let nonsense = try await self.run(server, ["GET", "nonsense", "--repeat", "3"])
        await server.stop()
        #expect(nonsense.status == .invalidRequest)
        #expect(nonsense.notes.contains("Nothing was sent") && nonsense.output.isEmpty)
    }

    @Test func aSessionIsRefreshedOnceForAll() async throws {
        let folder = try TemporaryFolder()
        let session = ["--session-file", folder.session.url.path]
        let server = try await AirlineServer.start()
        let login = try #require(
            try AtomCommand.parseAsRoot(["login", "--server", server.baseURL, "--user", "ada"] + session)
                as? LoginCommand)
        let nobody = TerminalPrompt(input: -1, output: -1)
        let signedIn = await login.perform(
            notes: .silent, prompt: nobody, environment: ["ATOM_PASSWORD": "lovelace"])
        #expect(signedIn == .success)
        server.expireAccessTokens()
        let run = try await run(
            server,
            ["GET", server.baseURL + "/account", "--session", "--repeat", "40", "--concurrency", "6"] + session)
        await server.stop()
        #expect(run.status == .success)
        #expect(run.count("succeeded") == 40)
        #expect(run.counters.refreshes == 1)
    }

    @Test func interruptedItPrintsWhatIsDone() async throws {
        let server = try await AirlineServer.start()
        let url = server.baseURL + "/slow?milliseconds=5"
        let run = try await Tool.interrupt(["request", "GET", url, "--repeat", "1000000", "--concurrency", "2"]) {
            server.counters.requests > 5
        }
        await server.stop()
        #expect(run.status == RequestExitStatus.cancelled.rawValue)
        #expect(run.output.contains("latency p50") && run.output.contains("not sent"))
        let counts = Run(status: .cancelled, output: run.output, notes: run.notes, counters: Counters())
        let done = try #require(counts.count("succeeded"))
        #expect(done >= 4)
        #expect(done + (counts.count("cancelled") ?? 0) + (counts.count("not sent") ?? 0) == 1_000_000)
    }

    @Test func nonsenseIsRefused() {
        let request = ["request", "GET", "http://127.0.0.1:1/"]
        func refusal(_ arguments: String...) -> String? {
            do {
                _ = try AtomCommand.parseAsRoot(request + arguments)
                return nil
            } catch {
                return AtomCommand.exitCode(for: error).rawValue == 64 ? AtomCommand.message(for: error) : "not usage"
            }
        }
        #expect(refusal("--repeat", "0") == "--repeat must be from 1 to 1000000.")
        #expect(refusal("--repeat=-1") == "--repeat must be from 1 to 1000000.")
        #expect(refusal("--repeat", "1000001") == "--repeat must be from 1 to 1000000.")
        #expect(refusal("--repeat", "many")?.contains("many") == true)
        #expect(refusal("--repeat", "2", "--concurrency", "0") == "--concurrency must be from 1 to 10000.")
        #expect(refusal("--repeat", "2", "--concurrency=-3") == "--concurrency must be from 1 to 10000.")
        #expect(refusal("--concurrency", "2") == "--concurrency requires --repeat.")
        let shown = "--repeat shows no response, so it can't be used with --include or --quiet."
        #expect(refusal("--repeat", "2", "--include") == shown)
        #expect(refusal("--repeat", "2", "-q") == shown)
        #expect(refusal("--repeat", "1000000", "--concurrency", "10000", "--retry", "-H", "A: b") == nil)
    }

    @Test func theHelpExplainsIt() {
        let help = RequestCommand.helpMessage(columns: 100)
        #expect(help.contains("--repeat <number>") && help.contains("--concurrency <number>"))
        #expect(help.contains("Ctrl-C ends the repetition"))
    }
}
