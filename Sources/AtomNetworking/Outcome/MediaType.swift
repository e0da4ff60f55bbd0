import Foundation

/// The parts of a `Content-Type` that a response is read by.
struct MediaType {
    /// In lower case, as the charset.
    let name: String
    let charset: String?

    init?(_ field: String?) {
        guard let field else { return nil }
        let parts =
            field.utf8.contains(UInt8(ascii: "\""))
            ? Self.unquoted(field) : field.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        name = parts[0].trimmingCharacters(in: .whitespaces).lowercased()
        let parameters = parts.dropFirst().lazy.map { part in
            part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        }
        charset = parameters.first { $0.count == 2 && $0[0] == "charset" }?[1].trimmingCharacters(in: ["\""])
    }

    /// The parts: a quoted text may contain semicolons, and a backslash before any character (RFC 9110 §5.6.4).
    ///
    /// Asked for only with quotation marks: it took 9,000 instructions of each request (`count-instructions`).
    private static func unquoted(_ field: String) -> [String] {
        var (parts, isQuoted, rest) = ([""], false, field.unicodeScalars[...])
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"" where isQuoted || parts[parts.count - 1].unicodeScalars.last == "=": isQuoted.toggle()
            case ";" where !isQuoted: parts.append("")
            case "\\" where isQuoted: parts[parts.count - 1].unicodeScalars.append(rest.popFirst() ?? scalar)
            default: parts[parts.count - 1].unicodeScalars.append(scalar)
            }
        }
        return parts
    }

    /// RFC 8259, RFC 6839 §3.1.
    var isJSON: Bool { name == "application/json" || name == "text/json" || name.hasSuffix("+json") }

    /// RFC 7303 §9, except XHTML.
    var isXML: Bool { name == "text/xml" || name == "application/xml" || name.hasSuffix("+xml") && !isHTML }

    var isHTML: Bool { name == "text/html" || name == "application/xhtml+xml" }
}

/// The body of a response as text, in its charset (RFC 9110 §8.3.2).
enum ResponseText {
    static func text(of response: AtomResponse) throws(AtomError) -> String {
        let name = MediaType(response.headerFields["Content-Type"])?.charset ?? "utf-8"
        guard let encoding = encodings[name] else {
            throw .undecodable("The charset of the text, “\(Redaction.name(name))”, is not supported.")
        }
        guard let text = String(data: response.data, encoding: encoding) else {
            throw .undecodable("The text is not valid in its charset, “\(Redaction.name(name))”.")
        }
        // A byte order mark is no part of the text.
        return text.first == "\u{FEFF}" ? String(text.dropFirst()) : text
    }

    private static let encodings: [String: String.Encoding] = [
        "utf-8": .utf8, "utf8": .utf8, "us-ascii": .ascii, "ascii": .ascii, "iso-8859-1": .isoLatin1,
        "latin1": .isoLatin1, "iso-8859-2": .isoLatin2, "windows-1252": .windowsCP1252, "utf-16": .utf16,
        "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian, "utf-32": .utf32,
    ]
}
