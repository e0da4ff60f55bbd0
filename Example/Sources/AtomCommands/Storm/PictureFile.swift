import Foundation

/// A file for a picture, which appears when it is complete.
struct PictureFile: Sendable {
    /// The path as it was given.
    let name: String

    private let url: URL

    /// Checks that the file can be written, before there is anything to write.
    ///
    /// - Throws: ``CommandFailure`` that says why it can't.
    init(path: String) throws {
        name = path
        guard !path.isEmpty else { throw CommandFailure("The picture needs the name of a file.") }
        // The file that a link names is replaced, not the link.
        url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        if let type = attributes?[.type] as? FileAttributeType {
            guard type != .typeDirectory else { throw failure("it is a folder") }
            guard type == .typeRegular else { throw failure("it is not a regular file") }
            guard FileManager.default.isWritableFile(atPath: url.path) else { throw failure("it is read-only") }
        } else if path.hasSuffix("/") {
            throw failure("it is a folder")
        }
        // The picture becomes a new file in that folder, so this is the surest
        // question.
        let probe = url.deletingLastPathComponent().appendingPathComponent(".atom-\(UUID().uuidString)")
        do {
            try Data().write(to: probe, options: .withoutOverwriting)
            try FileManager.default.removeItem(at: probe)
        } catch {
            throw failure(Self.reason(error))
        }
    }

    /// Replaces the file.
    func write(_ text: String) throws {
        do {
            try Data(text.utf8).write(to: url, options: .atomic)
        } catch {
            throw failure(Self.reason(error))
        }
    }

    private func failure(_ reason: String) -> CommandFailure {
        CommandFailure("The picture can't be written to \(ResponsePrinter.printable(name)): \(reason).")
    }

    private static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileNoSuchFile, .fileReadNoSuchFile: "the folder doesn't exist"
        case .fileWriteNoPermission: "the folder can't be written to"
        case .fileWriteOutOfSpace: "there is no space left"
        case .fileWriteVolumeReadOnly: "the volume is read-only"
        default: "the folder can't be used"
        }
    }
}
