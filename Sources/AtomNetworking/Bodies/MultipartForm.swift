import Foundation

/// Fields and files that are sent as `multipart/form-data` (RFC 7578).
///
/// The parts are sent in the order in which they were appended; a name may occur several times. <doc:SendingData> has
/// an example. The bytes are those that a browser sends, so they follow the HTML Standard (“multipart/form-data
/// encoding algorithm”) where RFC 7578 leaves a choice:
///
/// - All text is UTF-8.
/// - In a name and in the text of a field each line break (CR, LF or CR LF)
///   becomes CR LF. File names, data and files are not changed.
/// - In a name and in a file name `"` is sent as `%22`, CR as `%0D` and LF as
///   `%0A`. Nothing else is escaped, not even `%` and `\`.
///
/// A form without parts is sent as the final boundary alone. Browsers do this
/// too, but some servers refuse it, because RFC 2046 §5.1.1 asks for one part.
public struct MultipartForm: Sendable {
    private var parts: [Part] = []

    private struct Part: Sendable {
        /// The header fields, and the empty line after them.
        let head: String
        let contentType: String?
        let content: Content
    }

    private enum Content: Sendable {
        case data(Data)
        case file(URL)
    }

    /// Creates a form without parts.
    public init() {}

    /// Adds a field.
    ///
    /// It has no `Content-Type`, as the HTML Standard demands. Line breaks in the text become CR LF.
    public mutating func append(_ value: String, name: String) {
        append(.data(Data(Self.lineBreaksNormalized(value.utf8))), name, nil, nil)
    }

    /// Adds data as if it were a file.
    ///
    /// If the media type is invalid (RFC 9110 §8.3.1), the request fails with
    /// ``RequestableError/invalidBody(_:)`` before the network is used.
    public mutating func append(
        _ data: Data, name: String, fileName: String, contentType: String = "application/octet-stream"
    ) {
        append(.data(data), name, fileName, contentType)
    }

    /// Adds a file, which is read only while the form is sent.
    ///
    /// It must be a regular file that can be read, and the media type must be valid (RFC 9110 §8.3.1), or the request
    /// fails with ``RequestableError/invalidBody(_:)``. If the file is changed after that, it fails with
    /// ``TransferError/Reason/bodyLengthChanged``.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - name: The name of the field.
    ///   - fileName: The name that the server gets; by default the last component of the URL.
    ///   - contentType: The media type. It isn't guessed from the name.
    public mutating func append(
        fileAt url: URL, name: String, fileName: String? = nil, contentType: String = "application/octet-stream"
    ) {
        append(.file(url), name, fileName ?? url.lastPathComponent, contentType)
    }

    private mutating func append(_ content: Content, _ name: String, _ fileName: String?, _ contentType: String?) {
        var head = "Content-Disposition: form-data; name=\"\(Self.escaped(Self.lineBreaksNormalized(name.utf8)))\""
        if let fileName { head += "; filename=\"\(Self.escaped(fileName.utf8))\"" }
        if let contentType { head += "\r\nContent-Type: \(contentType)" }
        parts.append(Part(head: head + "\r\n\r\n", contentType: contentType, content: content))
    }

    /// A text of random characters that separates the parts.
    ///
    /// It doesn't occur in what is in memory. Files are not searched: the chance is
    /// about 2^-140 for each of their bytes.
    func makeBoundary(using generator: inout some RandomNumberGenerator) -> String {
        while true {
            var boundary = Array(Self.boundaryPrefix.utf8)
            for _ in 0..<3 {
                var number = generator.next()
                for _ in 0..<8 {
                    let (rest, digit) = number.quotientAndRemainder(dividingBy: UInt64(Self.boundaryDigits.count))
                    // 32 bits: it is less than the number of digits.
                    boundary.append(Self.boundaryDigits[Int(digit)])
                    number = rest
                }
            }
            if !contains(boundary) { return String(decoding: boundary, as: UTF8.self) }
        }
    }

    /// The media type of the body; the boundary needs no quotes.
    func contentType(boundary: String) -> String { "multipart/form-data; boundary=\(boundary)" }

    /// The body, after all checks of media types and files.
    func segments(boundary: String) throws(AtomError) -> BodySegments {
        var segments: [BodySegments.Segment] = []
        var data = Data()
        for part in parts {
            if let type = part.contentType, !HTTPGrammar.isMediaType(type) {
                let reason = "the media type of a part is a type and a subtype, such as image/png (RFC 9110 §8.3.1)"
                throw .requestable(.invalidBody(.init(subject: type, reason: reason)))
            }
            data.append(contentsOf: "--\(boundary)\r\n\(part.head)".utf8)
            switch part.content {
            case .data(let content): data.append(content)
            case .file(let url):
                segments += [.data(data), .file(try FileSegment(url: url))]
                data = Data()
            }
            data.append(contentsOf: "\r\n".utf8)
        }
        data.append(contentsOf: "--\(boundary)--\r\n".utf8)
        segments.append(.data(data))
        return try BodySegments(segments)
    }

    /// Whether the bytes occur in something that is in memory.
    private func contains(_ needle: [UInt8]) -> Bool {
        parts.contains { part in
            var head = part.head
            if head.withUTF8({ Self.occurs(needle, in: UnsafeRawBufferPointer($0)) }) { return true }
            guard case .data(let data) = part.content else { return false }
            return data.withUnsafeBytes { Self.occurs(needle, in: $0) }
        }
    }

    private static func occurs(_ needle: [UInt8], in bytes: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place + needle.count <= bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + place, CInt(needle[0]), bytes.count - needle.count - place + 1)
        {
            if memcmp(found, needle, needle.count) == 0 { return true }
            place = UnsafeRawPointer(found) - base + 1
        }
        return false
    }

    /// Escapes a name or a file name as the HTML Standard does.
    private static func escaped(_ text: some Sequence<UInt8>) -> String {
        var escaped: [UInt8] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), 0x0A, 0x0D: PercentEncoding.append(byte, to: &escaped)
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Bytes, because CR LF is a single `Character`.
    private static func lineBreaksNormalized(_ text: String.UTF8View) -> [UInt8] {
        var normalized: [UInt8] = []
        normalized.reserveCapacity(text.count)
        var previous: UInt8 = 0
        for byte in text {
            switch byte {
            case 0x0D: normalized += [0x0D, 0x0A]
            // The CR before it has brought the LF.
            case 0x0A where previous == 0x0D: break
            case 0x0A: normalized += [0x0D, 0x0A]
            default: normalized.append(byte)
            }
            previous = byte
        }
        return normalized
    }

    private static let boundaryPrefix = "AtomFormBoundary"

    /// All are allowed in a boundary (RFC 2046 §5.1.1) and in a token.
    private static let boundaryDigits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
}

extension MultipartForm: Redacted {
    /// Shows the number of parts and files; never names and contents.
    public var description: String {
        let files = parts.count { if case .file = $0.content { true } else { false } }
        return "MultipartForm(parts: \(parts.count), files: \(files))"
    }
}
