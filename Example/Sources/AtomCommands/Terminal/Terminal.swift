import Foundation

/// The output of a command line tool, and its abilities.
///
/// Colour and redrawing are for users: they are enabled only if the output is a terminal, `TERM` isn't `dumb` and, for
/// colour, `NO_COLOR` is unset or empty (no-color.org). In a pipe everything is plain text, line by line.
struct Terminal: Sendable {
    /// Whether a user sees the output, so that lines may be redrawn.
    let isInteractive: Bool

    private let usesColor: Bool

    /// Whether symbols outside ASCII may be written.
    let usesSymbols: Bool

    private let sink: @Sendable (String) -> Void

    /// - Parameters:
    ///   - isTerminal: Whether the output is a terminal.
    ///   - environment: The environment with `NO_COLOR`, `TERM` and the locale.
    ///   - sink: Gets the text in pieces, including newlines.
    init(isTerminal: Bool, environment: [String: String], sink: @escaping @Sendable (String) -> Void) {
        isInteractive = isTerminal && environment["TERM"] != "dumb"
        usesColor = isInteractive && environment["NO_COLOR", default: ""].isEmpty
        usesSymbols = isInteractive && Self.isUTF8(environment)
        self.sink = sink
    }

    static var standardOutput: Terminal { terminal(for: .standardOutput) }

    static var standardError: Terminal { terminal(for: .standardError) }

    /// No output at all.
    static var silent: Terminal { Terminal(isTerminal: false, environment: [:]) { _ in } }

    private static func terminal(for file: FileHandle) -> Terminal {
        Terminal(
            isTerminal: isatty(file.fileDescriptor) != 0, environment: ProcessInfo.processInfo.environment
        ) { file.write(Data($0.utf8)) }
    }

    /// The first of these that is set decides, as in the C library.
    private static func isUTF8(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        let name = (locale ?? "").lowercased()
        return name.contains("utf-8") || name.contains("utf8")
    }

    func write(_ text: String) { sink(text) }

    /// Writes a line.
    func print(_ line: String = "") { sink(line + "\n") }

    /// Replaces the line that the cursor is in, which must not be wider than the terminal; an empty text removes it.
    ///
    /// Only an interactive terminal can do that.
    func redraw(_ line: String) {
        // Return to the start of the line, overwrite it, and clear the rest.
        write("\r\(line)\u{1B}[K")
    }

    /// The text in a style, or unchanged without colour.
    func styled(_ text: String, _ styles: TextStyle...) -> String {
        guard usesColor, !styles.isEmpty, !text.isEmpty else { return text }
        return "\u{1B}[\(styles.map(\.rawValue).joined(separator: ";"))m\(text)\u{1B}[0m"
    }
}

/// The codes of styles.
enum TextStyle: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
}
