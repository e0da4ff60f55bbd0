import AirlineServer
import AtomNetworking
import Foundation

extension Tour {
    private static let size = 1_500_000

    /// Sends files and forms, and receives a file in two pieces.
    mutating func transferFiles() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("atom-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let photo = folder.appendingPathComponent("passport.jpg")
        try Data(count: Self.size).write(to: photo)
        try await upload(photo)
        try FileManager.default.removeItem(at: photo)
        try await download(into: folder)
    }

    private mutating func upload(_ photo: URL) async throws {
        let queue = DispatchQueue(label: "atom.tour.upload")
        let reports = Locked<[Double]>([])
        let endpoint = TransferEndpoint.upload(airline, .file(photo, contentType: "image/jpeg"))
        let receipt = try await atom { $0.dispatchQueue = queue }.enqueue(endpoint)
            .resume(
                progress: { report in reports.withLock { $0.append(report.fraction ?? 0) } }, expecting: Receipt.self)
        await queue.drained()
        checklist.check(receipt.bytes == Self.size, "a file of \(Quantity.bytes(Int64(Self.size))) is sent")
        check(reports, "its progress reaches 100 %")

        var form = MultipartForm()
        form.append("12A", name: "seat")
        form.append(fileAt: photo, name: "passport", contentType: "image/jpeg")
        let filed = try await atom().enqueue(TransferEndpoint.upload(airline, .multipart(form)))
            .resume(expecting: Receipt.self)
        checklist.check(filed.bytes > Self.size, "the same file is sent in a form, with a field")
    }

    private mutating func download(into folder: URL) async throws {
        let film = folder.appendingPathComponent("film.bin")
        func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
        server.updateTransfers { $0.cutDownloadAt = 1_000_000 }
        let cut = await receive(film, Locked([]))
        checklist.check(
            try cut.error?.wireCode == .networkConnectionLost
                && files() == ["film.bin.partial", "film.bin.partial.json"],
            "a download that is cut leaves what has arrived", detail: cut.summary)

        let reports = Locked<[Double]>([])
        let rest = try await receive(film, reports).get()
        checklist.check(
            rest.statusCode == 206, "the next one goes on with 206", detail: rest.headerFields["Content-Range"])

        let whole = try await atom().enqueue(TransferEndpoint.file(airline, size: Self.size))
            .resume(expecting: Data.self)
        checklist.check(
            try whole.count == Self.size && Data(contentsOf: film) == whole && files() == ["film.bin"],
            "the file has the same bytes as one in one piece, and nothing else is left")
        check(reports, "its progress goes on too, and reaches 100 %")
    }

    private func receive(_ file: URL, _ reports: Locked<[Double]>) async -> Result<AtomResponse, AtomError> {
        let queue = DispatchQueue(label: "atom.tour.download")
        let result = await outcome { () async throws(AtomError) in
            try await atom { $0.dispatchQueue = queue }.enqueue(TransferEndpoint.file(airline, size: Self.size))
                .download(
                    progress: { progress in reports.withLock { $0.append(progress.fraction ?? 0) } }, to: file,
                    isResumable: true)
        }
        await queue.drained()
        return result
    }

    /// Checks that the reports of a transfer grow until everything is there.
    private mutating func check(_ reports: Locked<[Double]>, _ text: String) {
        let fractions = reports.withLock { $0 }
        let percent = fractions.map { "\(Int($0 * 100)) %" }
        checklist.check(
            fractions == fractions.sorted() && fractions.last == 1, text,
            detail: "\(percent.count) reports, from \(percent.first ?? "nothing") to \(percent.last ?? "nothing")")
    }
}
