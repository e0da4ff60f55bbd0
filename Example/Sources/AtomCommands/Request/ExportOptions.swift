import ArgumentParser
import AtomNetworking
import AtomNetworkingExports
import Foundation
import Terminal

/// The options that show or record what is sent.
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
        return [SentCommands(disclosure: showsCredentials ? .everything : .allButCredentials, notes: notes)]
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
