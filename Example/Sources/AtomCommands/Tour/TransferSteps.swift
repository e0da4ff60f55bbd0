import AirlineServer
import AtomNetworking
import Foundation
import Terminal

/// Sends files and forms, and receives a file in two pieces.
struct TransferSteps {
    let tour: Tour

    private static let size = 1_500_000
    /// Where the server closes the connection of the first download.
    private static let cut = 1_000_000

    func run(_ checklist: inout Checklist) async {
        checklist.section("Send and receive files")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("atom-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let photo = folder.appendingPathComponent("passport.jpg")
        let content = Data(count: Self.size)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            try content.write(to: photo)
        } catch {
            checklist.check(false, "a file to send is written", detail: "\(error)")
            return
        }
        await upload(photo, content, &checklist)
        await sendForm(photo, content, &checklist)
        try? FileManager.default.removeItem(at: photo)
        await download(into: folder, &checklist)
    }

    // MARK: Sending

    private func upload(_ photo: URL, _ content: Data, _ checklist: inout Checklist) async {
        let queue = DispatchQueue(label: "atom.tour.upload")
        let reports = Reports()
        let receipt = await outcome { () async throws(AtomError) in
            let endpoint = TransferEndpoint.upload(tour.airline, .file(photo, contentType: "image/jpeg"))
            return try await tour.atom { $0.dispatchQueue = queue }.enqueue(endpoint)
                .resume(expecting: Receipt.self) { reports.add($0) }
        }
        await queue.drained()
        checklist.check(
            receipt.value?.bytes == content.count, "a file of \(Quantity.bytes(Int64(content.count))) is sent",
            detail: receipt.error?.description)
        checklist.check(reports.isComplete, "its progress reaches 100 %", detail: reports.summary)
    }

    private func sendForm(_ photo: URL, _ content: Data, _ checklist: inout Checklist) async {
        var form = MultipartForm()
        form.append("12A", name: "seat")
        form.append(fileAt: photo, name: "passport", contentType: "image/jpeg")
        let receipt = await outcome { () async throws(AtomError) in
            try await tour.atom().enqueue(TransferEndpoint.upload(tour.airline, .multipart(form)))
                .resume(expecting: Receipt.self)
        }
        checklist.check(
            receipt.value?.bytes ?? 0 > content.count, "the same file is sent in a form, with a field",
            detail: receipt.error?.description)
    }

    // MARK: Receiving

    private func download(into folder: URL, _ checklist: inout Checklist) async {
        let film = folder.appendingPathComponent("film.bin")
        tour.server.updateTransfers { $0.cutDownloadAt = Self.cut }
        let cut = await receive(film, Reports())
        let files = names(in: folder)
        checklist.check(
            cut.error?.wireCode == .networkConnectionLost && files == ["film.bin.partial", "film.bin.partial.json"],
            "a download that is cut leaves what has arrived", detail: cut.summary)

        let reports = Reports()
        let rest = await receive(film, reports)
        checklist.check(
            rest.value?.statusCode == 206, "the next one goes on with 206",
            detail: rest.error?.description ?? rest.value?.headerFields["Content-Range"])

        let whole = await outcome { () async throws(AtomError) in
            try await tour.atom().enqueue(TransferEndpoint.file(tour.airline, size: Self.size))
                .resume(expecting: Data.self)
        }
        let content = try? Data(contentsOf: film)
        checklist.check(
            whole.value?.count == Self.size && content == whole.value && names(in: folder) == ["film.bin"],
            "the file has the same bytes as one in one piece, and nothing else is left",
            detail: whole.error?.description)
        checklist.check(
            reports.isComplete, "its progress goes on too, and reaches 100 %", detail: reports.summary)
    }

    private func receive(_ file: URL, _ reports: Reports) async -> Result<AtomResponse, AtomError> {
        let queue = DispatchQueue(label: "atom.tour.download")
        let result = await outcome { () async throws(AtomError) in
            try await tour.atom { $0.dispatchQueue = queue }
                .enqueue(TransferEndpoint.file(tour.airline, size: Self.size))
                .download(to: file, isResumable: true) { reports.add($0) }
        }
        await queue.drained()
        return result
    }

    private func names(in folder: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }
}

/// The progress of one transfer.
private final class Reports: @unchecked Sendable {
    // Accessed only under `lock`.
    private var fractions: [Double] = []
    private let lock = NSLock()

    func add(_ progress: TransferProgress) {
        lock.withLock { fractions.append(progress.fraction ?? 0) }
    }

    /// Whether the reports grow until everything is there.
    var isComplete: Bool { lock.withLock { fractions == fractions.sorted() && fractions.last == 1 } }

    var summary: String {
        let percent = lock.withLock { fractions.map { "\(Int($0 * 100)) %" } }
        return "\(percent.count) reports, from \(percent.first ?? "nothing") to \(percent.last ?? "nothing")"
    }
}
