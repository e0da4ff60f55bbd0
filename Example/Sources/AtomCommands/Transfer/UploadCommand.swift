import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// Sends a file, and shows the progress.
struct UploadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Sends a file, shows the progress, and then the response.",
        discussion: """
            The file is read while it is sent, so it may be of any size. The body of the response goes to standard \
            output, everything else to standard error:

              atom upload photo.jpg http://127.0.0.1:8080/uploads --content-type image/jpeg
              atom upload photo.jpg http://127.0.0.1:8080/uploads --multipart passport

            The exit status is that of “atom request”: 74 if the file can't be read, or changes while it is sent.
            """
    )

    @Argument(help: "The file.", completion: .file())
    var file: String

    @Argument(help: "An absolute http or https URL.")
    var url: String

    @Option(help: "POST, PUT, or any other method.")
    var method = "POST"

    @Option(help: .init("Send a form that has the file in this field.", valueName: "name"))
    var multipart: String?

    @Option(help: .init("What kind of file it is.", valueName: "media type"))
    var contentType = "application/octet-stream"

    @OptionGroup var exchange: ExchangeOptions

    @Flag(name: .shortAndLong, help: "Write only the body of the response and errors.")
    var quiet = false

    func run() async throws {
        let status = try await perform(body: .standardOutput, notes: .standardError) {
            FileHandle.standardOutput.write($0)
        }
        guard status == .success else { throw ExitCode(status.rawValue) }
    }

    /// Sends the file and shows the response.
    func perform(
        body output: Terminal, notes: Terminal, writeBytes: @escaping @Sendable (Data) -> Void
    ) async throws -> RequestExitStatus {
        let stopwatch = Stopwatch()
        let tap = WireTap(stopwatch, over: ServiceConfiguration().makeDefaultTransport())
        let printer = ResponsePrinter(
            body: output, notes: notes, includesHead: false, isQuiet: quiet, writeBytes: writeBytes)
        let meter = TransferMeter("Upload", on: quiet ? .silent : notes, stopwatch)
        let queue = DispatchQueue(label: "atom.upload")
        let (exchange, method, url, body) = (exchange, method, url, requestBody)
        let (result, signal) = await exchange.send(over: tap, calling: queue) { () throws(AtomError) in
            try exchange.request(method, url, body: body)
        } _: { (service) async throws(AtomError) in
            try await service.resume(expecting: Data.self) { meter.update($0) }
        }
        await queue.drained()
        meter.finish()
        switch result {
        case .success(let data):
            let response = AtomResponse(data: data, statusCode: tap.records.last?.status)
            printer.show(response, after: tap.records, seconds: stopwatch.seconds)
        case .failure(let error):
            printer.show(
                error, after: tap.records, seconds: stopwatch.seconds, advice: exchange.advice(on: error))
        }
        if case .failure(.requestable(.invalidBody)) = result, !isReadable { return .fileFailed }
        return RequestExitStatus(result, signal: signal)
    }

    /// Whether the file is one that can be sent; if not, the body was refused
    /// because of it.
    private var isReadable: Bool {
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: fileURL.resolvingSymlinksInPath().path)
        return attributes?[.type] as? FileAttributeType == .typeRegular
            && FileManager.default.isReadableFile(atPath: fileURL.path)
    }

    private var fileURL: URL { URL(fileURLWithPath: file) }

    private var requestBody: RequestBody {
        guard let multipart else { return .file(fileURL, contentType: contentType) }
        var form = MultipartForm()
        form.append(fileAt: fileURL, name: multipart, contentType: contentType)
        return .multipart(form)
    }
}
