import ArgumentParser
import AtomNetworking
import Foundation

/// Shows a response while it arrives.
struct StreamCommand: StatusCommand {
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

    /// Shows the response until it ends.
    func perform(on console: Console) async throws -> RequestExitStatus {
        let tap = WireTap()
        let printer = ResponsePrinter(console: console, tap: tap, isQuiet: quiet)
        let (result, notStored) = await exchange.send("GET", url, over: tap, notes: console.notes) {
            (service) async throws(AtomError) in
            if events { return try await showEvents(of: service, with: printer) }
            return lines
                ? try await showLines(of: service, with: printer) : try await showBytes(of: service, with: printer)
        }
        switch result {
        case .success(let count):
            let times = reconnect ? ", \(tap.records.count) connections" : ""
            printer.note("\(count)\(times), \(ResponsePrinter.duration(tap.seconds))")
        case .failure(let error): printer.show(error, exchange.advice(on: error))
        }
        return exchange.status(of: result, notStored: notStored, notes: console.notes)
    }

    // Each shows the parts of the response, and returns how many there were.

    private func showEvents(of service: Service, with printer: ResponsePrinter) async throws(AtomError) -> String {
        let stream = try await service.serverSentEvents(
            reconnection: reconnect ? .automatic() : .never, lastEventID: lastEventID ?? "")
        printer.showHead(stream.response)
        var events = stream.makeAsyncIterator()
        var count = 0
        while let event = try await events.next() {
            count += 1
            let head = event.id.isEmpty ? event.type : "\(event.id) \(event.type)"
            let text = "\(head): \(event.data.replacing("\n", with: "\n    "))"
            printer.console.output.print(ResponsePrinter.printable(text, keeping: "\n\t"))
        }
        return count == 1 ? "1 event" : "\(count) events"
    }

    private func showLines(of service: Service, with printer: ResponsePrinter) async throws(AtomError) -> String {
        let stream = try await service.lines()
        printer.showHead(stream.response)
        let output = printer.console.output
        var lines = stream.makeAsyncIterator()
        var count = 0
        while let line = try await lines.next() {
            count += 1
            output.print(output.isInteractive ? ResponsePrinter.printable(line, keeping: "\t") : line)
        }
        return count == 1 ? "1 line" : "\(count) lines"
    }

    private func showBytes(of service: Service, with printer: ResponsePrinter) async throws(AtomError) -> String {
        let stream = try await service.bytes()
        printer.showHead(stream.response)
        let output = printer.console.output
        var parts = stream.makeAsyncIterator()
        var count: Int64 = 0
        while let part = try await parts.next() {
            count += Int64(part.count)
            if output.isInteractive {
                output.write(ResponsePrinter.printable(String(decoding: part, as: UTF8.self), keeping: "\n\t"))
            } else {
                printer.console.writeBytes(part)
            }
        }
        return Quantity.bytes(count)
    }
}
