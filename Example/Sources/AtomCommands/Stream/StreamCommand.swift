import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// Shows a response while it arrives.
struct StreamCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stream",
        abstract: "Writes a response to standard output while it arrives.",
        discussion: """
            By default the bytes are written as they come. --lines writes whole lines, and --events shows the events \
            of an event stream, each with its ID, its type and its data:

              atom stream http://127.0.0.1:8080/gates --events --reconnect

            The stream ends when the server ends it, after --timeout seconds without a byte, or with Ctrl-C. The exit \
            status is that of “atom request”.
            """
    )

    @Argument(help: "An absolute http or https URL.")
    var url: String

    @Flag(help: "Show server-sent events.")
    var events = false

    @Flag(help: "Write line by line; the response must be UTF-8.")
    var lines = false

    @Flag(help: "Connect again when the connection of an event stream ends.")
    var reconnect = false

    @Option(help: .init("Go on after this event of an event stream.", valueName: "id"))
    var lastEventID: String?

    @OptionGroup var exchange: ExchangeOptions

    @Flag(name: .shortAndLong, help: "Write only what the server sends, and errors.")
    var quiet = false

    func validate() throws {
        guard !events || !lines else { throw ValidationError("Use only one of --events and --lines.") }
        guard events || !reconnect else { throw ValidationError("--reconnect requires --events.") }
        guard events || lastEventID == nil else { throw ValidationError("--last-event-id requires --events.") }
    }

    func run() async throws {
        let status = try await perform(body: .standardOutput, notes: .standardError) {
            FileHandle.standardOutput.write($0)
        }
        guard status == .success else { throw ExitCode(status.rawValue) }
    }

    /// Shows the response until it ends.
    func perform(
        body output: Terminal, notes: Terminal, writeBytes: @escaping @Sendable (Data) -> Void
    ) async throws -> RequestExitStatus {
        let stopwatch = Stopwatch()
        let tap = WireTap(stopwatch, over: ServiceConfiguration().makeDefaultTransport())
        let printer = ResponsePrinter(
            body: output, notes: notes, includesHead: false, isQuiet: quiet, writeBytes: writeBytes)
        let (command, exchange, url) = (self, exchange, url)
        let (result, signal) = await exchange.send(over: tap) { () throws(AtomError) in
            var request = try exchange.request("GET", url)
            // A redirect that isn't followed is no stream.
            request.acceptableStatusCodes = 200...299
            return request
        } _: { (service) async throws(AtomError) in
            try await command.show(service, with: printer)
        }
        switch result {
        case .success(let count):
            let times = command.reconnect ? ", \(tap.records.count) connections" : ""
            if !quiet {
                notes.print("\(count)\(times), \(ResponsePrinter.duration(stopwatch.seconds))")
            }
        case .failure(let error):
            printer.show(
                error, after: tap.records, seconds: stopwatch.seconds, advice: exchange.advice(on: error))
        }
        return RequestExitStatus(result, signal: signal)
    }

    /// Shows the parts of the response, and returns how many there were.
    private func show(_ service: Service, with printer: ResponsePrinter) async throws(AtomError) -> String {
        if events { return try await showEvents(of: service, with: printer) }
        return lines
            ? try await showLines(of: service, with: printer) : try await showBytes(of: service, with: printer)
    }

    private func showEvents(of service: Service, with printer: ResponsePrinter) async throws(AtomError) -> String {
        let stream = try await service.serverSentEvents(
            reconnection: reconnect ? .automatic() : .never, lastEventID: lastEventID ?? "")
        showHead(stream.response, with: printer)
        var events = stream.makeAsyncIterator()
        var count = 0
        while let event = try await events.next() {
            count += 1
            let head = event.id.isEmpty ? event.type : "\(event.id) \(event.type)"
            let text = "\(head): \(event.data.replacing("\n", with: "\n    "))"
            printer.body.print(ResponsePrinter.printable(text, keeping: "\n\t"))
        }
        return count == 1 ? "1 event" : "\(count) events"
    }

    private func showLines(of service: Service, with printer: ResponsePrinter) async throws(AtomError) -> String {
        let stream = try await service.lines()
        showHead(stream.response, with: printer)
        var lines = stream.makeAsyncIterator()
        var count = 0
        while let line = try await lines.next() {
            count += 1
            printer.body.print(
                printer.body.isInteractive ? ResponsePrinter.printable(line, keeping: "\t") : line)
        }
        return count == 1 ? "1 line" : "\(count) lines"
    }

    private func showBytes(of service: Service, with printer: ResponsePrinter) async throws(AtomError) -> String {
        let stream = try await service.bytes()
        showHead(stream.response, with: printer)
        var parts = stream.makeAsyncIterator()
        var count: Int64 = 0
        while let part = try await parts.next() {
            count += Int64(part.count)
            if printer.body.isInteractive {
                printer.body.write(
                    ResponsePrinter.printable(String(decoding: part, as: UTF8.self), keeping: "\n\t"))
            } else {
                printer.writeBytes(part)
            }
        }
        return Quantity.bytes(count)
    }

    private func showHead(_ response: AtomResponse, with printer: ResponsePrinter) {
        if !printer.isQuiet { printer.showHead(response, on: printer.notes) }
    }
}
