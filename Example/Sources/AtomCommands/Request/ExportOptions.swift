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

    @OptionGroup var recording: RecordingOptions

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
