import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// Sends any request through the SDK.
struct RequestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Sends any request through the SDK and shows the response.",
        discussion: """
            The body goes to standard output, everything else to standard error:

              atom request GET http://127.0.0.1:8080/flights | jq .
              atom request POST http://127.0.0.1:8080/bookings --json '{"flight": "AS100", "seat": "9C", \
            "passenger": "Ada"}'
              atom request GET http://127.0.0.1:8080/me --basic ada:lovelace
              atom request GET http://127.0.0.1:8080/account --session

            With --session the request is signed with the session of “atom login”, whose access token is refreshed \
            when necessary. Any number of processes may use the session at once. The tokens are sent only to the \
            server that issued them.

            With --retry a request that fails for now is sent again:

              atom request GET http://127.0.0.1:8080/busy/me --retry

            With --curl the same request is written as a curl command, and with --har all of it, redirects and \
            refreshes too, goes into a file for a browser's developer tools:

              atom request GET http://127.0.0.1:8080/account --session --curl --har account.har

            With --record the responses are written too, for tests, and the tool says what a person must look at \
            before the file is committed. With --replay the file answers, and no network is used:

              atom request GET http://127.0.0.1:8080/account --session --record account.har
              atom request GET http://127.0.0.1:8080/account --session --replay account.har

            Ctrl-C cancels the request. Exit status:

            \(RequestExitStatus.table)
            """
    )

    @Argument(help: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, or any other method.")
    var method: String

    @Argument(help: "An absolute http or https URL.")
    var url: String

    @Option(help: .init("A JSON body, in a file or standard input (-) with @.", valueName: "text|@file"))
    var json: BodyArgument?

    @Option(help: .init("A raw body, in a file or standard input (-) with @.", valueName: "text|@file"))
    var body: BodyArgument?

    @Option(help: .init("A form item; may be repeated.", valueName: "name=value"))
    var form: [PairArgument] = []

    @OptionGroup var exchange: ExchangeOptions

    @Flag(name: .shortAndLong, help: "Write status and header fields to standard output, before the body.")
    var include = false

    @Flag(name: .shortAndLong, help: "Write only the body and errors.")
    var quiet = false

    @OptionGroup(title: "Options that show what is sent")
    var exports: ExportOptions

    func validate() throws {
        let bodies = [json != nil, body != nil, !form.isEmpty].filter { $0 }
        guard bodies.count <= 1 else { throw ValidationError("Use only one of --json, --body and --form.") }
    }

    func run() async throws {
        let status = try await perform(body: .standardOutput, notes: .standardError) {
            FileHandle.standardOutput.write($0)
        }
        guard status == .success else { throw ExitCode(status.rawValue) }
    }

    /// Sends the request and shows the response.
    func perform(
        body output: Terminal, notes: Terminal, writeBytes: @escaping @Sendable (Data) -> Void
    ) async throws -> RequestExitStatus {
        let stopwatch = Stopwatch()
        let wire = try exports.recording.makeTransport()
        let tap = WireTap(stopwatch, over: wire ?? ServiceConfiguration().makeDefaultTransport())
        let printer = ResponsePrinter(
            body: output, notes: notes, includesHead: include, isQuiet: quiet, writeBytes: writeBytes)
        let requestBody = try requestBody()
        let (exchange, method, url) = (exchange, method, url)
        let recorder = exports.archive.makeRecorder()
        let recording = exports.recording.makeRecorder()
        let observers = exports.observers(notes: notes) + [recorder, recording].compactMap(\.self)
        let (result, signal) = await exchange.send(over: tap, toldTo: observers) { () throws(AtomError) in
            try exchange.request(method, url, body: requestBody)
        } _: { (service) async throws(AtomError) in
            try await service.resume()
        }
        switch result {
        case .success(let response):
            printer.show(response, after: tap.records, seconds: stopwatch.seconds)
        case .failure(let error):
            printer.show(
                error, after: tap.records, seconds: stopwatch.seconds, advice: exchange.advice(on: error))
        }
        let areWritten = [
            exports.archive.write(recorder, notes: notes), exports.recording.write(recording, notes: notes),
        ]
        let status = RequestExitStatus(result, signal: signal)
        return status == .success && areWritten.contains(false) ? .fileFailed : status
    }

    private func requestBody() throws -> RequestBody? {
        if let json { return .data(try json.json(), contentType: "application/json") }
        if let body { return .data(try body.data()) }
        return form.isEmpty ? nil : .form(form.map(\.item))
    }
}
