import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// Writes a response to a file, and shows the progress.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Writes a response to a file, and shows the progress.",
        discussion: """
            The file appears when it is complete, in place of an older one. A download that fails, or that Ctrl-C \
            cancels, leaves nothing. With --resume it leaves what has arrived, and the same command goes on from \
            there, if the server sends strong entity tags:

              atom download http://127.0.0.1:8080/downloads/50000000 film.bin --resume

            The exit status is that of “atom request”: 18 if only a part arrived, 63 if the file is larger than \
            --max-size, 74 if it can't be written.
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

    func run() async throws {
        let status = try await perform(body: .standardOutput, notes: .standardError) {
            FileHandle.standardOutput.write($0)
        }
        guard status == .success else { throw ExitCode(status.rawValue) }
    }

    /// Downloads the file, and says how it went.
    ///
    /// The body of an error response goes to the output.
    func perform(
        body output: Terminal, notes: Terminal, writeBytes: @escaping @Sendable (Data) -> Void
    ) async throws -> RequestExitStatus {
        let stopwatch = Stopwatch()
        let tap = WireTap(stopwatch, over: ServiceConfiguration().makeDefaultTransport())
        let printer = ResponsePrinter(
            body: output, notes: notes, includesHead: false, isQuiet: quiet, writeBytes: writeBytes)
        let meter = TransferMeter("Download", on: quiet ? .silent : notes, stopwatch)
        let queue = DispatchQueue(label: "atom.download")
        let (exchange, url, fileURL, resume, maxSize) = (exchange, url, fileURL, resume, maxSize)
        let (result, signal) = await exchange.send(over: tap, calling: queue) { () throws(AtomError) in
            var request = try exchange.request("GET", url)
            // A redirect that isn't followed is no file.
            request.acceptableStatusCodes = 200...299
            return request
        } _: { (service) async throws(AtomError) in
            try await service.download(to: fileURL, isResumable: resume, maximumSize: maxSize) { meter.update($0) }
        }
        await tap.settle()
        await queue.drained()
        if result.error != nil, let partialSize, let progress = meter.progress {
            // More may have arrived since the last progress.
            meter.update(TransferProgress(completed: partialSize, total: progress.total))
        }
        meter.finish()
        switch result {
        case .success(let response):
            if !quiet {
                let name = ResponsePrinter.printable(file)
                let way = response.statusCode == 206 ? "continued from an earlier download, " : ""
                notes.print("\(name): \(way)\(ResponsePrinter.duration(stopwatch.seconds))")
            }
        case .failure(let error):
            printer.show(
                error, after: tap.records, seconds: stopwatch.seconds, advice: exchange.advice(on: error))
            if case .response = error { break }
            showRest(after: error, hadProgress: meter.progress != nil, on: notes)
        }
        return RequestExitStatus(result, signal: signal)
    }

    /// Says what is left of a download, and how to go on.
    private func showRest(after error: AtomError, hadProgress: Bool, on notes: Terminal) {
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

    /// The size of what a later download can go on with; `nil` if there is
    /// nothing.
    private var partialSize: Int64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: fileURL.path + ".partial")
        return resume ? (attributes?[.size] as? NSNumber)?.int64Value : nil
    }

    private var fileURL: URL { URL(fileURLWithPath: file) }
}
