import ArgumentParser
import AtomNetworking
import Foundation

/// Writes a response to a file, and shows the progress.
struct DownloadCommand: StatusCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Writes a response to a file, and shows the progress.",
        discussion: """
            The file appears when it is complete, in place of an older one. A download that fails, or that Ctrl-C \
            cancels, leaves nothing. With --resume it leaves what has arrived, and the same command goes on from \
            there, if the server sends strong entity tags:

              atom download http://127.0.0.1:8080/downloads/50000000 film.bin --resume

            The exit status is that of “atom request”: 56 if the connection was lost, 18 if the rest doesn't fit \
            what is there, 63 if the file is larger than --max-size, 74 if it can't be written.
            """
    )

    @Argument(help: "An absolute http or https URL.")
    var url: String

    @Argument(help: "The file; its folder must exist.", completion: .file())
    var file: String

    @Flag(help: "Keep what has arrived if the download fails, and go on from there.")
    var resume = false

    @Option(help: .init("The largest size of the file (default: unlimited)", valueName: "bytes"))
    var maxSize: Int64?

    @OptionGroup var exchange: ExchangeOptions

    @Flag(name: .shortAndLong, help: "Write only errors.")
    var quiet = false

    func validate() throws {
        guard maxSize ?? 0 >= 0 else { throw ValidationError("--max-size must not be negative.") }
    }

    /// Downloads the file, and says how it went.
    ///
    /// The body of an error response goes to the output.
    func perform(on console: Console) async throws -> RequestExitStatus {
        let tap = WireTap()
        let printer = ResponsePrinter(console: console, tap: tap, isQuiet: quiet)
        let meter = TransferMeter("Download", on: quiet ? .silent : console.notes)
        let queue = DispatchQueue(label: "atom.download")
        let (result, notStored) = await exchange.send("GET", url, over: tap, notes: console.notes, calling: queue) {
            (service) async throws(AtomError) in
            try await service.download(
                progress: { meter.update($0) }, to: fileURL, isResumable: resume, maximumSize: maxSize)
        }
        // In a task of its own: a cancelled one would not wait.
        await Task { await tap.settle() }.value
        await queue.drained()
        if result.error != nil, let partialSize, let progress = meter.progress {
            // More may have arrived since the last progress.
            meter.update(TransferProgress(completed: partialSize, total: progress.total))
        }
        meter.finish()
        switch result {
        case .success(let response):
            let way = response.statusCode == 206 ? "continued from an earlier download, " : ""
            printer.note("\(ResponsePrinter.printable(file)): \(way)\(ResponsePrinter.duration(tap.seconds))")
        case .failure(let error):
            printer.show(error, exchange.advice(on: error))
            if case .response = error { break }
            showRest(hadProgress: meter.progress != nil, on: console.notes)
        }
        return exchange.status(of: result, notStored: notStored, notes: console.notes)
    }

    /// Says what is left of a download, and how to go on.
    private func showRest(hadProgress: Bool, on notes: Terminal) {
        if let partialSize {
            notes.print(
                """
                \(Quantity.bytes(partialSize)) are kept in \(ResponsePrinter.printable(file)).partial. \
                Run the same command again to go on from there.
                """)
        } else if hadProgress {
            let advice = resume ? "The server sends no strong entity tag." : "With --resume you could go on later."
            notes.print("Nothing is kept. \(advice)")
        }
    }

    /// The size of what a later download can go on with; `nil` if there is nothing.
    private var partialSize: Int64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: fileURL.path + ".partial")
        return resume ? (attributes?[.size] as? NSNumber)?.int64Value : nil
    }

    private var fileURL: URL { URL(fileURLWithPath: file) }
}
