import AtomNetworking
import Foundation

/// Writes text for a POSIX shell, so that the shell reads exactly this text.
enum ShellWord {
    /// One word of a command: the text in single quotes, in which a shell expands nothing.
    ///
    /// Characters that a terminal would obey, or that can't be seen, are written
    /// by `printf`, so the command can be read, copied and pasted.
    static func quoted(_ text: String) -> String {
        if !text.isEmpty, text.utf8.allSatisfy({ bare.contains($0) }) { return text }
        var word = ""
        var run = ""
        var isPlainRun = true
        func flush() {
            guard !run.isEmpty else { return }
            word += isPlainRun ? inQuotes(run) : "\"$(printf \(format(run.utf8)))\""
            run = ""
        }
        for scalar in text.unicodeScalars {
            // A command substitution would lose a line break at its end.
            let isPlain = isPlain(scalar)
            if isPlain != isPlainRun {
                flush()
                isPlainRun = isPlain
            }
            run.unicodeScalars.append(scalar)
        }
        flush()
        return word.isEmpty ? "''" : word
    }

    /// Whether the bytes are text that a terminal shows as it is.
    static func isPlain(_ data: Data) -> Bool {
        guard let text = String(data: data, encoding: .utf8), text.utf8.count == data.count else { return false }
        return text.unicodeScalars.allSatisfy(isPlain)
    }

    /// A format for `printf`, in quotes, that writes exactly these bytes.
    static func format(_ bytes: some Sequence<UInt8>) -> String {
        var format: [UInt8] = [quote]
        for byte in bytes {
            switch byte {
            // A dash at the beginning would be an option.
            case UInt8(ascii: "-") where format.count == 1: format += Array("\\055".utf8)
            case 0x0A: format += Array("\\n".utf8)
            case UInt8(ascii: "%"): format += Array("%%".utf8)
            case UInt8(ascii: "\\"): format += Array("\\\\".utf8)
            case quote: format += Array("\\047".utf8)
            case 0x20..<0x7F: format.append(byte)
            default: format += [UInt8(ascii: "\\"), 0x30 + byte >> 6, 0x30 + byte >> 3 & 7, 0x30 + byte & 7]
            }
        }
        format.append(quote)
        return String(decoding: format, as: UTF8.self)
    }

    private static let quote = UInt8(ascii: "'")
    private static let bare = ByteSet.alphanumeric.union("-._/:@%+,")

    private static func inQuotes(_ text: String) -> String {
        // By bytes: a quote with an accent is another `Character`, and ends the word all the same.
        var word: [UInt8] = [quote]
        for byte in text.utf8 { word += byte == quote ? Array("'\\''".utf8) : [byte] }
        return String(decoding: word + [quote], as: UTF8.self)
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar == "\n" || scalar == "\t" || (0x20..<0x7F).contains(scalar.value) }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return false
        default: return true
        }
    }
}
