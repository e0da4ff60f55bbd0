import ArgumentParser
import AtomNetworking
import AtomNetworkingExports
import AtomNetworkingTesting
import Foundation

/// The options that show, record or replay what is sent.
struct ExportOptions: ParsableArguments {
    @Flag(
        name: .customLong("curl"),
        help: "Write a curl command for each attempt to standard error, without credentials.")
    var showsCommands = false

    @Flag(
        name: .customLong("show-credentials"),
        help: "Write these commands with credentials. Whoever reads them can use the session.")
    var showsCredentials = false

    @OptionGroup var archive: ArchiveOption

    @Option(
        name: .customLong("record"),
        help: .init(
            """
            Write the requests and the responses with their bodies to this HAR file, without credentials, and say \
            what a person must look at before the file is committed. An existing file is replaced.
            """, valueName: "file"),
        completion: .file())
    var recordPath: String?

    @Option(
        name: .customLong("replay"),
        help: .init("Use no network, but answer from this HAR file.", valueName: "file"),
        completion: .file())
    var replayPath: String?

    /// Checks the files before anything is sent.
    func validate() throws {
        guard showsCommands || !showsCredentials else {
            throw ValidationError("--show-credentials requires --curl.")
        }
        guard recordPath == nil || replayPath == nil else {
            throw ValidationError("Use only one of --record and --replay.")
        }
        try checkOutput(recordPath, of: "--record")
        _ = try makeTransport()
    }

    /// What hears the requests.
    ///
    /// - Parameter notes: Gets the commands.
    func observers(notes: Terminal) -> [any RequestObserver] {
        guard showsCommands else { return [] }
        return [SentCommands(disclosure: showsCredentials ? .everything : .allButCredentials, notes: notes)]
    }

    /// What answers in the place of the network; `nil` if the network does.
    func makeTransport() throws -> ScriptedTransport? {
        guard let replayPath else { return nil }
        // The error of a request that isn't in the file says so.
        let wire = ScriptedTransport(onProblem: { _ in })
        do {
            wire.replay(try HTTPArchive(contentsOf: URL(fileURLWithPath: replayPath)), mustUseAll: false)
        } catch {
            throw ValidationError("--replay: \(error.description)")
        }
        return wire
    }

    /// A recording for each file that is wanted.
    func makeRecordings() -> [Recording] {
        let reviewed = recordPath.map { path in
            let recorder = HARRecorder(showing: .allButCredentials, responseBodiesUpTo: 1 << 20)
            return Recording(path: path, recorder: recorder, isReviewed: true)
        }
        return [archive.makeRecording(), reviewed].compactMap(\.self)
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
    func validate() throws { try checkOutput(path, of: "--har") }

    /// A recording, if there is a file for it.
    func makeRecording() -> Recording? { path.map { Recording(path: $0, recorder: HARRecorder()) } }
}

/// A HAR file that the tool writes.
struct Recording {
    let path: String
    let recorder: HARRecorder
    /// Whether the tool says what a person must look at.
    var isReviewed = false

    /// Writes what was recorded.
    ///
    /// - Returns: Whether the file is written. Otherwise the notes say why.
    func write(notes: Terminal) -> Bool {
        let file = URL(fileURLWithPath: path)
        do {
            try recorder.write(to: file)
            if isReviewed { notes.print("\(try HTTPArchive(contentsOf: file).review)") }
            return true
        } catch {
            notes.print("\(error)")
            return false
        }
    }
}

/// Finds out before anything is sent whether a file can be written.
func checkOutput(_ path: String?, of option: String) throws {
    guard let file = path.map({ URL(fileURLWithPath: $0) }) else { return }
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

/// Writes each command at once: the program may end right after the response.
private struct SentCommands: RequestObserver {
    let disclosure: RequestDisclosure
    let notes: Terminal

    func observe(_ event: RequestEvent) {
        if case .sent(let request) = event.kind { notes.print(request.curlCommand(showing: disclosure)) }
    }
}
