import ArgumentParser
import AtomNetworking
import Foundation
import Terminal

/// The options that show or record what is sent.
struct ExportOptions: ParsableArguments {
    @Flag(
        name: .customLong("curl"),
        help: "Write a curl command for each sending to standard error, without credentials.")
    var showsCommands = false

    @Flag(
        name: .customLong("show-credentials"),
        help: "Write these commands with credentials. Whoever reads them can use the session.")
    var showsCredentials = false

    @OptionGroup var archive: ArchiveOption

    func validate() throws {
        guard showsCommands || !showsCredentials else {
            throw ValidationError("--show-credentials requires --curl.")
        }
    }

    /// What hears the requests.
    ///
    /// - Parameter notes: Gets the commands.
    func observers(notes: Terminal) -> [any RequestObserver] {
        guard showsCommands else { return [] }
        return [
            CurlCommandObserver(showing: showsCredentials ? .everything : .allButCredentials) { notes.print($0) }
        ]
    }
}

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
        guard let file else { return }
        let manager = FileManager.default
        var isFolder: ObjCBool = false
        if manager.fileExists(atPath: file.path, isDirectory: &isFolder), isFolder.boolValue {
            throw ValidationError("--har: \(file.path) is a folder; name a file in it.")
        }
        let folder = file.deletingLastPathComponent().path
        guard manager.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw ValidationError("--har: there is no folder \(folder); create it first.")
        }
        guard manager.isWritableFile(atPath: folder) else {
            throw ValidationError("--har: the folder \(folder) can't be written.")
        }
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
        do throws(AtomError) {
            try recorder.write(to: file)
            return true
        } catch {
            notes.print("\(error.description)")
            return false
        }
    }
}
