import ArgumentParser
import AtomNetworking
import Foundation

/// Sends a file, and shows the progress.
struct UploadCommand: StatusCommand {
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

    /// Sends the file and shows the response.
    func perform(on console: Console) async throws -> RequestExitStatus {
        let tap = WireTap()
        let printer = ResponsePrinter(console: console, tap: tap, isQuiet: quiet)
        let meter = TransferMeter("Upload", on: quiet ? .silent : console.notes)
        let queue = DispatchQueue(label: "atom.upload")
        let (result, notStored) = await exchange.send(
            method, url, body: requestBody, accepting: 200...399, over: tap, notes: console.notes, calling: queue
        ) { (service) async throws(AtomError) in
            try await service.resume(progress: { meter.update($0) }, expecting: Data.self)
        }
        await queue.drained()
        meter.finish()
        switch result {
        case .success(let data): printer.show(AtomResponse(data: data, statusCode: tap.records.last?.status))
        case .failure(let error): printer.show(error, exchange.advice(on: error))
        }
        if case .failure(.requestable(.invalidBody)) = result, !isReadable { return .fileFailed }
        return exchange.status(of: result, notStored: notStored, notes: console.notes)
    }

    /// Whether the file is one that can be sent; if not, the body was refused because of it.
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
