import Foundation

/// The parts of a body of the type `multipart/form-data` (RFC 7578).
struct MultipartBody {
    struct Part {
        var name: String
        var fileName: String?
        var contentType: String?
        var content: Data
    }

    static let mediaType = "multipart/form-data"

    private(set) var parts: [Part] = []

    /// `nil` if the body isn't such a form.
    init?(_ body: Data, contentType: String?) {
        guard let boundary = Self.parameter("boundary", of: contentType ?? "") else { return nil }
        // The first delimiter may be at the very beginning, without a line
        // break before it (RFC 2046 §5.1.1).
        let body = Data("\r\n".utf8) + body
        let delimiter = Data("\r\n--\(boundary)".utf8)
        guard var position = body.range(of: delimiter)?.upperBound else { return nil }
        while !body[position...].starts(with: Data("--".utf8)) {
            guard let next = body.range(of: delimiter, in: position..<body.endIndex),
                let head = body.range(of: Data("\r\n\r\n".utf8), in: position..<next.lowerBound),
                let part = Self.part(
                    head: String(decoding: body[position..<head.lowerBound], as: UTF8.self),
                    content: body.subdata(in: head.upperBound..<next.lowerBound))
            else { return nil }
            parts.append(part)
            position = next.upperBound
        }
    }

    private static func part(head: String, content: Data) -> Part? {
        var disposition: String?
        var contentType: String?
        for line in head.components(separatedBy: "\r\n") {
            let halves = line.split(separator: ":", maxSplits: 1)
            guard halves.count == 2 else { continue }
            let value = halves[1].trimmingCharacters(in: .whitespaces)
            switch halves[0].lowercased() {
            case "content-disposition": disposition = value
            case "content-type": contentType = value
            default: break
            }
        }
        guard let disposition, let name = parameter("name", of: disposition) else { return nil }
        return Part(
            name: name, fileName: parameter("filename", of: disposition), contentType: contentType, content: content)
    }

    /// The value of a parameter, without its quotes.
    private static func parameter(_ name: String, of field: String) -> String? {
        for item in field.components(separatedBy: ";").dropFirst() {
            let halves = item.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, halves[0].trimmingCharacters(in: .whitespaces).lowercased() == name else {
                continue
            }
            return halves[1].trimmingCharacters(in: CharacterSet(charactersIn: " \""))
        }
        return nil
    }
}
