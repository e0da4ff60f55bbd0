import ArgumentParser
import Foundation

/// The option for the session file.
struct SessionOptions: ParsableArguments {
    @Option(
        help: .init(
            """
            The file with the tokens (default: atom/session.json in $XDG_STATE_HOME or ~/.local/state, on Apple's \
            systems in Application Support)
            """, valueName: "file"))
    var sessionFile: String?

    /// That file, or the default one.
    var file: SessionFile { SessionFile(url: sessionFile.map { URL(fileURLWithPath: $0) } ?? SessionFile.usual) }
}
