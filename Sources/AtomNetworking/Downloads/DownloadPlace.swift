import Foundation

/// Where a download goes.
struct DownloadPlace: Sendable {
    private let file: FileDestination
    /// What was there at first.
    private let found: FileSegment.State?

    /// The path of the destination.
    var destination: String { file.path }
    private var folder: String { file.folder }

    /// Checks the destination, and that of its notes, before anything is sent.
    init(_ url: URL, isResumable: Bool = false) throws(AtomError) {
        do throws(FileDestination.Refusal) {
            file = try FileDestination(url)
        } catch {
            throw Self.unusable(error.reason)
        }
        // A device that is replaced is lost for the machine.
        guard !file.isStream else {
            throw Self.unusable(
                "“\(Self.name(of: url.path))” is a device, a pipe or a socket, which would be replaced by a file")
        }
        found = Self.status(of: file.path).flatMap { FileSegment.State($0) }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw Self.unusable("there is no folder “\(Self.name(of: folder))”; create it first")
        }
        guard access(folder, W_OK) == 0 else {
            throw Self.unusable(
                "the folder “\(Self.name(of: folder))” can't be written: \(String(cString: strerror(errno)))")
        }
        var status = stat()
        // The file system knows what is too long for it.
        guard lstat(isResumable ? notes : destination, &status) == 0 || errno != ENAMETOOLONG else {
            throw Self.unusable(
                "the name “\(Self.name(of: isResumable ? notes : destination))” is too long for the file system")
        }
        for path in isResumable ? [partial, notes] : [] {
            guard let status = Self.status(of: path),
                status.st_mode & S_IFMT == S_IFDIR || FileDestination.isOfStranger(status, in: folder)
            else { continue }
            throw Self.unusable("“\(Self.name(of: path))” is a folder, or another user's; remove it first")
        }
    }

    /// The file that a later download goes on with.
    var partial: String { destination + ".partial" }

    /// What is known of the partial file.
    var notes: String { destination + ".partial.json" }

    /// A name of its own for a download that is not resumed.
    func makeTemporary() -> String { file.makeTemporary("download") }

    /// Who may use the file at the destination; `nil` if there is none.
    var mode: mode_t? { Self.status(of: destination).map { mode_t(truncatingIfNeeded: $0.st_mode & 0o777) } }

    /// Whether nobody has written a file there since.
    var isUnchanged: Bool { Self.status(of: destination).flatMap { FileSegment.State($0) } == found }

    private static func status(of path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    /// Checks that the disk has space for so many bytes, if that is known: some file systems tell no size, or zero.
    func checkSpace(for count: Int64) throws(AtomError) {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder)
        guard let size = (attributes?[.systemSize] as? NSNumber)?.uint64Value, size > 0,
            let unused = (attributes?[.systemFreeSize] as? NSNumber)?.uint64Value, unused < UInt64(max(count, 0))
        else { return }
        let free = max(unused, freeIfNeeded)
        guard free < UInt64(max(count, 0)) else { return }
        throw .transfer(.noSpace, "The download needs \(count) bytes, and the disk has \(free) bytes left.")
    }

    /// With what the system would make free, of caches for example; 0 if that isn't known.
    private var freeIfNeeded: UInt64 {
        #if os(iOS) || os(macOS) || os(visionOS)
            let key = URLResourceKey.volumeAvailableCapacityForImportantUsageKey
            let values = try? URL(fileURLWithPath: folder).resourceValues(forKeys: [key])
            return UInt64(max(values?.volumeAvailableCapacityForImportantUsage ?? 0, 0))
        #else
            return 0
        #endif
    }

    static func name(of path: String) -> String {
        Redaction.subject(path.split(separator: "/").last.map(String.init) ?? path)
    }

    static func unusable(_ reason: String, delivery: AtomError.Delivery = .notSent) -> AtomError {
        .transfer(
            .destinationUnusable, "The destination of the download can't be used: \(reason).", delivery: delivery)
    }
}
