import ArgumentParser
import AtomNetworking
import AtomNetworkingExports
import AtomNetworkingTesting
import Foundation
import Terminal

/// The options that record a run for tests, and answer from a recording.
struct RecordingOptions: ParsableArguments {
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
        guard recordPath == nil || replayPath == nil else {
            throw ValidationError("Use only one of --record and --replay.")
        }
        if let recordFile { try ArchiveFile.check(recordFile, "--record") }
        if let replayPath { _ = try archive(replayPath) }
    }

    private var recordFile: URL? { recordPath.map { URL(fileURLWithPath: $0) } }

    private func archive(_ path: String) throws -> HTTPArchive {
        do {
            return try HTTPArchive(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ValidationError("--replay: \(error.description)")
        }
    }

    /// What answers in the place of the network; `nil` if the network does.
    func makeTransport() throws -> ScriptedTransport? {
        guard let replayPath else { return nil }
        // The error of a request that isn't in the file says so.
        let wire = ScriptedTransport(onProblem: { _ in })
        wire.replay(try archive(replayPath), mustUseAll: false)
        return wire
    }

    /// A recorder, if there is a file for it.
    func makeRecorder() -> HARRecorder? {
        recordPath.map { _ in HARRecorder(showing: .allButCredentials, responseBodiesUpTo: 1 << 20) }
    }

    /// Writes what was recorded, and says what to look at.
    ///
    /// - Returns: Whether the file is written, or none was wanted.
    func write(_ recorder: HARRecorder?, notes: Terminal) -> Bool {
        guard let recorder, let recordFile else { return true }
        guard ArchiveFile.write(recorder, to: recordFile, notes: notes) else { return false }
        guard let archive = try? HTTPArchive(contentsOf: recordFile) else { return false }
        notes.print("\(archive.review)")
        return true
    }
}
