import ArgumentParser
import AtomNetworking

/// Sends any request through the SDK.
struct RequestCommand: StatusCommand {
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

            With --cache responses are kept in a folder, and with --offline only those are used:

              atom request GET http://127.0.0.1:8080/flights --cache kept
              atom request GET http://127.0.0.1:8080/flights --cache kept --offline

            With --curl the same request is written as a curl command, and with --har all of it, redirects and \
            refreshes too, goes into a file for a browser's developer tools:

              atom request GET http://127.0.0.1:8080/account --session --curl --har account.har

            With --record the responses are written too, for tests, and the tool says what a person must look at \
            before the file is committed. With --replay the file answers, and no network is used:

              atom request GET http://127.0.0.1:8080/account --session --record account.har
              atom request GET http://127.0.0.1:8080/account --session --replay account.har

            Ctrl-C cancels the request; a second one doesn't wait for the session's new tokens. Exit status:

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

    @OptionGroup var kept: CacheOptions

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

    /// Sends the request and shows the response.
    func perform(on console: Console) async throws -> RequestExitStatus {
        let tap = WireTap(over: try exports.makeTransport())
        let printer = ResponsePrinter(console: console, tap: tap, includesHead: include, isQuiet: quiet)
        let recordings = exports.makeRecordings()
        let cache = kept.makeCache()
        // After redirects, the remaining 3xx statuses are not errors: a 304 for
        // a conditional request, or a redirect that isn't followed.
        let (result, notStored) = await exchange.send(
            method, url, body: try requestBody(), accepting: 200...399, cache: cache, caching: kept.caching,
            over: tap, notes: console.notes,
            toldTo: exports.observers(notes: console.notes) + recordings.map { $0.recorder }
        ) { (service) async throws(AtomError) in try await service.resume() }
        // Otherwise the process would end before the response is on the disk.
        await cache?.settle()
        switch result {
        case .success(let response): printer.show(response)
        case .failure(let error): printer.show(error, exchange.advice(on: error))
        }
        let areWritten = recordings.map { $0.write(notes: console.notes) }
        let status = exchange.status(of: result, notStored: notStored, notes: console.notes)
        return status == .success && areWritten.contains(false) ? .fileFailed : status
    }

    private func requestBody() throws -> RequestBody? {
        if let json { return .data(try json.json(), contentType: "application/json") }
        if let body { return .data(try body.data()) }
        return form.isEmpty ? nil : .form(form.map(\.item))
    }
}
