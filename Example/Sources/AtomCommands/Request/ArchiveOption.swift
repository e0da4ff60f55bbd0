import ArgumentParser
import AtomNetworking
import AtomNetworkingExports
import Foundation
import Terminal

/// The option for a file with the requests.
struct ArchiveOption: ParsableArguments {
    @Option(
        name: .customLong("har"),
        help: .init(
            """
            Write the requests to this file, in the HTTP Archive format that browsers open; without bodies and \
            values that may be secret. An existing file is replaced.
            """, valueName: "file"),
        completion: .file())
    var path: String?

    /// Checks the file before anything is sent.
    func validate() throws {
        if let file { try ArchiveFile.check(file, "--har") }
    }

    private var file: URL? { path.map { URL(fileURLWithPath: $0) } }

    /// A recorder, if there is a file for it.
    func makeRecorder() -> HARRecorder? { path.map { _ in HARRecorder() } }

    /// Writes what was recorded.
    ///
    /// - Returns: Whether the file is written, or none was wanted. Otherwise the
    ///   notes say why.
    func write(_ recorder: HARRecorder?, notes: Terminal) -> Bool {
        guard let recorder, let file else { return true }
        return ArchiveFile.write(recorder, to: file, notes: notes)
    }
}

/// A HAR file that the tool writes.
enum ArchiveFile {
    /// Finds out before anything is sent whether the file can be written.
    static func check(_ file: URL, _ option: String) throws {
        let manager = FileManager.default
        var isFolder: ObjCBool = false
        if manager.fileExists(atPath: file.path, isDirectory: &isFolder), isFolder.boolValue {
            throw ValidationError("\(option): \(file.path) is a folder; name a file in it.")
        }
        let folder = file.deletingLastPathComponent().path
        guard manager.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw ValidationError("\(option): there is no folder \(folder); create it first.")
        }
        guard manager.isWritableFile(atPath: folder) else {
            throw ValidationError("\(option): the folder \(folder) can't be written.")
        }
    }

    /// - Returns: Whether the file is written. Otherwise the notes say why.
    static func write(_ recorder: HARRecorder, to file: URL, notes: Terminal) -> Bool {
        do throws(AtomError) {
            try recorder.write(to: file)
            return true
        } catch {
            notes.print("\(error.description)")
            return false
        }
    }
}
