import ArgumentParser

/// The option for the session file.
struct SessionOptions: ParsableArguments {
    @Option(
        help: .init(
            """
            The file with the tokens (default: atom/session.json in $XDG_STATE_HOME or ~/.local/state, on Apple's \
            systems in Application Support)
            """, valueName: "file"))
    var sessionFile: String?

    var file: SessionFile { SessionFile(path: sessionFile) }
}
