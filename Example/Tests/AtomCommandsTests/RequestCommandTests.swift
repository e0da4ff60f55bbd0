import AirlineServer
import AtomNetworking
import Foundation
import Testing

@testable import AtomCommands

@Suite(.limited) struct RequestCommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Runs `atom request METHOD server/path …`.
    private func request(_ method: String, _ path: String, _ arguments: String...) async throws -> Run {
        try await AirlineServer.run { try await Run(["request", method, $0.baseURL + path] + arguments) }
    }

    @Test func theBodyGoesToTheOutputAndTheRestToTheNotes() async throws {
        let run = try await request("GET", "/flights?from=PDX")
        #expect(run.status == .success)
        #expect(run.output.hasPrefix("[{") && run.output.hasSuffix("}]"))
        #expect(run.notes.contains("HTTP 200 OK") && run.notes.contains("Content-Type: application/json"))
        let whole = try await request("GET", "/flights", "--include", "--quiet")
        #expect(whole.output.hasPrefix("HTTP 200 OK") && whole.output.contains("\n\n[{") && whole.notes.isEmpty)
    }

    @Test func anErrorStatusStillShowsItsBody() async throws {
        let run = try await request("POST", "/bookings", "--json", "{}")
        #expect(run.status == .errorStatus)
        #expect(run.output.contains("validation_failed"))
        #expect(try await request("GET", "/me", "--basic", "ada:lovelace").status == .success)
        #expect(try await request("GET", "/me", "--basic", "ada:byron").status == .errorStatus)
    }

    @Test func aHeaderFieldThatIsGivenTwiceIsAList() throws {
        let request = try URLEndpoint(
            "http://127.0.0.1/", methodName: "GET",
            headers: ["Accept": "a", "Cookie": "c=1", "accept": "b", "Cookie": "d=2"])
        let fields = HeaderFields(try #require(request.headerItems))
        #expect(fields["Accept"] == "a, b" && Set(fields.values(for: "accept")) == ["a, b"])
        #expect(fields["Cookie"] == "c=1; d=2")
    }

    @Test func aRedirectIsFollowedOrShown() async throws {
        let followed = try await request("GET", "/redirect/2")
        #expect(followed.status == .success && followed.output.hasPrefix("[{"))
        #expect(followed.notes.contains("302 from GET http://127.0.0.1:"))
        let shown = try await request("GET", "/redirect/2", "--no-follow")
        #expect(shown.status == .success && shown.notes.contains("Location: /redirect/1"))
    }

    @Test func aBusyServerIsAskedAgain() async throws {
        let patient = try await request("GET", "/busy/me?times=2", "--retry")
        #expect(patient.status == .success && patient.output == #"{"attempts":3}"#)
        #expect(patient.notes.contains("503 from GET http://127.0.0.1:") && patient.notes.contains("2 retries"))
        #expect(try await request("GET", "/busy/me?times=2").status == .errorStatus)
        #expect(try await request("POST", "/busy/me?times=1", "--retry").status == .errorStatus)
    }

    @Test func aKeptResponseIsUsedAsLongAsItIsFresh() async throws {
        try await AirlineServer.run { server in
            func get(_ path: String, _ arguments: String...) async throws -> Run {
                try await Run(["request", "GET", server.baseURL + path, "--cache", folder.url.path] + arguments)
            }
            let first = try await get("/flights")
            #expect(first.status == .success && !first.notes.contains("cache,"), "\(first.notes)")
            let kept = try await get("/flights")
            #expect(kept.output == first.output && server.counters.requests == 1)
            #expect(kept.notes.contains("from the cache, "), "\(kept.notes)")

            let asked = try await get("/flights", "--header", "Cache-Control: no-cache")
            #expect(asked.output == first.output && server.counters.requests == 2)
            #expect(asked.notes.contains("from the cache, confirmed by the server"), "\(asked.notes)")
            // What is signed isn't on the disk.
            for requests in 3...4 {
                _ = try await get("/flights", "--basic", "ada:lovelace")
                #expect(server.counters.requests == requests)
            }

            await server.stop()
            let stale = try await get("/flights", "--header", "Cache-Control: max-age=0")
            #expect(stale.status == .success && stale.output == first.output, "\(stale.notes)")
            let offline = try await get("/flights", "--offline")
            #expect(offline.status == .success && offline.output == first.output, "\(offline.notes)")
            let unknown = try await get("/flights?from=PDX", "--offline")
            #expect(unknown.status == .failure && unknown.notes.contains("Nothing was sent"), "\(unknown.notes)")
        }
    }

    @Test func whatFailsSaysSo() async throws {
        let late = try await request("GET", "/slow?milliseconds=30000", "--timeout", "0.2")
        #expect(late.status == .timedOut && late.notes.contains("may have reached the server"))
        let invalid = try await request("GET", "/a/../b")
        #expect(invalid.status == .invalidRequest && invalid.output.isEmpty)
        #expect(invalid.notes.contains("Nothing was sent"))
        #expect(try await request("POST", "/errors/hang-up").status == .connectionLost)
    }

    @Test func aServerCanNotRewriteTheScreen() {
        #expect(ResponsePrinter.printable("a\u{1B}[2Jb\tc") == "a\u{FFFD}[2Jb\u{FFFD}c")
        #expect(ResponsePrinter.printable("a\tb\n", keeping: "\n\t") == "a\tb\n")
    }

    // MARK: Exports

    @Test func eachSendingIsACommandWithoutCredentials() async throws {
        let run = try await request("GET", "/redirect/2", "--basic", "ada:lovelace", "--curl", "--quiet")
        #expect(run.notes.components(separatedBy: "\n").count { $0.hasPrefix("curl ") } == 3)
        #expect(run.notes.contains("--header 'Authorization: Basic HIDDEN'"))
        #expect(!run.notes.contains("YWRhOmxvdmVsYWNl") && !run.notes.contains("lovelace"))
        let open = try await request("GET", "/me", "--basic", "ada:lovelace", "--curl", "--show-credentials")
        #expect(open.notes.contains("--header 'Authorization: Basic YWRhOmxvdmVsYWNl'"))
    }

    @Test func theArchiveHasAnEntryForEachSending() async throws {
        let file = folder.url.appendingPathComponent("requests.har")
        _ = try await request("GET", "/redirect/2", "--basic", "ada:lovelace", "--har", file.path)
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let archive = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        #expect(((archive?["log"] as? [String: Any])?["entries"] as? [Any])?.count == 3)
        #expect(!text.contains("YWRhOmxvdmVsYWNl"))
    }

    @Test func aRecordingAnswersWithoutTheServer() async throws {
        let path = folder.url.appendingPathComponent("me.har").path
        let server = try await AirlineServer.start()
        let url = server.baseURL + "/me"
        let recorded = try await Run(["request", "GET", url, "--basic", "ada:lovelace", "--record", path])
        await server.stop()
        #expect(recorded.status == .success)
        #expect(recorded.notes.contains("1 entry: \(server.baseURL)"), "\(recorded.notes)")
        #expect(
            !String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self).contains(
                "YWRhOmxvdmVsYWNl"))

        let replayed = try await Run(["request", "GET", url, "--replay", path])
        #expect(replayed.status == .success && replayed.output == recorded.output && !replayed.output.isEmpty)
        let other = try await Run(["request", "GET", url, "--query", "a=b", "--replay", path])
        #expect(other.status == .invalidRequest)
        #expect(other.notes.contains("the query item a isn't recorded"), "\(other.notes)")
    }

    @Test func filesAreCheckedBeforeAnythingIsSent() throws {
        let wrong = [
            (["--har", folder.url.path], "is a folder"),
            (["--har", folder.url.path + "/none/a"], "there is no folder"),
            (["--replay", folder.url.path + "/none.har"], "The file none.har can't be read."),
            (["--show-credentials"], "--show-credentials requires --curl"),
        ]
        for (arguments, reason) in wrong {
            #expect {
                try AtomCommand.parseAsRoot(["request", "GET", "http://127.0.0.1:1/"] + arguments)
            } throws: {
                AtomCommand.message(for: $0).contains(reason)
            }
        }
    }
}
