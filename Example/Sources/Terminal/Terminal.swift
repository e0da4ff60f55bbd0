import Foundation

/// The output of a command line tool, and its abilities.
///
/// Colour and redrawing are for users: they are enabled only if the output is a
/// terminal, `TERM` isn't `dumb` and, for colour, `NO_COLOR` is unset or empty
/// (no-color.org). In a pipe everything is plain text, line by line.
///
/// ```swift
/// let terminal = Terminal.standardOutput
/// terminal.print(terminal.styled("done", .green, .bold))
/// ```
public struct Terminal: Sendable {
    /// Whether a user sees the output, so that lines may be redrawn.
    public let isInteractive: Bool

    /// Whether ``styled(_:_:)`` adds colour.
    public let usesColor: Bool

    /// Whether symbols outside ASCII may be written.
    public let usesSymbols: Bool

    private let sink: @Sendable (String) -> Void

    /// Creates a terminal that passes its text to a closure.
    ///
    /// - Parameters:
    ///   - isTerminal: Whether the output is a terminal.
    ///   - environment: The environment with `NO_COLOR`, `TERM` and the locale.
    ///   - sink: Gets the text in pieces, including newlines.
    public init(
        isTerminal: Bool, environment: [String: String], sink: @escaping @Sendable (String) -> Void
    ) {
        isInteractive = isTerminal && environment["TERM"] != "dumb"
        usesColor = isInteractive && environment["NO_COLOR", default: ""].isEmpty
        usesSymbols = isInteractive && Self.isUTF8(environment)
        self.sink = sink
    }

    /// Standard output.
    public static var standardOutput: Terminal { terminal(for: .standardOutput) }

    /// Standard error, for errors and progress.
    public static var standardError: Terminal { terminal(for: .standardError) }

    /// No output at all.
    public static var silent: Terminal { Terminal(isTerminal: false, environment: [:]) { _ in } }

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

    /// Writes text unchanged.
    public func write(_ text: String) {
        sink(text)
    }

    /// Writes a line.
    public func print(_ line: String = "") {
        sink(line + "\n")
    }

    /// Replaces the line that the cursor is in, which must not be wider than the
    /// terminal; an empty text removes it.
    ///
    /// Only an interactive terminal can do that.
    public func redraw(_ line: String) {
        // Return to the start of the line, overwrite it, and clear the rest.
        write("\r\(line)\u{1B}[K")
    }

    /// The text in a style, or unchanged without colour.
    public func styled(_ text: String, _ styles: TextStyle...) -> String {
        guard usesColor, !styles.isEmpty, !text.isEmpty else { return text }
        return "\u{1B}[\(styles.map(\.rawValue).joined(separator: ";"))m\(text)\u{1B}[0m"
    }
}

/// A text style.
public enum TextStyle: String, Sendable, CaseIterable {
    /// Bold.
    case bold = "1"
    /// Dimmed.
    case dim = "2"
    /// For failures.
    case red = "31"
    /// For success.
    case green = "32"
    /// For warnings.
    case yellow = "33"
    /// For waiting.
    case blue = "34"
    /// For special cases.
    case magenta = "35"
    /// For names and headings.
    case cyan = "36"
}

/// The width of text on a terminal.
enum TextWidth {
    /// The number of visible characters, without styles.
    static func of(_ text: String) -> Int {
        var width = 0
        var isEscape = false
        for character in text {
            if isEscape {
                isEscape = !character.isLetter
            } else if character == "\u{1B}" {
                isEscape = true
            } else {
                width += 1
            }
        }
        return width
    }
}
