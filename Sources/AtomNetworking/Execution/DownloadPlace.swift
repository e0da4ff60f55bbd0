import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// Where a download goes.
struct DownloadPlace: Sendable {
    /// The path of the destination.
    let destination: String
    private let folder: String

    /// Checks the destination before anything is sent.
    init(_ url: URL) throws(AtomError) {
        guard url.isFileURL else { throw Self.unusable("its URL is not a file URL") }
        let path = url.absoluteURL.path
        guard !path.utf8.contains(0) else { throw Self.unusable("its path contains a NUL character") }
        let folder = url.absoluteURL.deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            throw Self.unusable("“\(Self.name(of: path))” is a folder; name a file in it")
        }
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw Self.unusable("there is no folder “\(Self.name(of: folder))”; create it first")
        }
        guard access(folder, W_OK) == 0 else {
            throw Self.unusable(
                "the folder “\(Self.name(of: folder))” can't be written: \(String(cString: strerror(errno)))")
        }
        destination = path
        self.folder = folder
    }

    /// The file that a later download goes on with.
    var partial: String { destination + ".partial" }

    /// What is known of the partial file.
    var notes: String { destination + ".partial.json" }

    /// A name of its own for a download that is not resumed.
    func makeTemporary() -> String {
        "\(folder)/.\(Self.name(of: destination)).\(UUID().uuidString.prefix(8)).download"
    }

    /// Checks that the disk has space for so many bytes, as far as that is
    /// known.
    func checkSpace(for count: Int64) throws(AtomError) {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder)
        guard let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value, free < count else { return }
        throw .transfer(
            TransferError(
                .noSpace, "The download needs \(count) bytes, and the disk has \(free) bytes left.",
                delivery: .answered))
    }

    static func name(of path: String) -> String {
        Redaction.subject(path.split(separator: "/").last.map(String.init) ?? path)
    }

    static func unusable(_ reason: String, delivery: AtomError.Delivery = .notSent) -> AtomError {
        .transfer(
            TransferError(
                .destinationUnusable, "The destination of the download can't be used: \(reason).",
                delivery: delivery))
    }
}
