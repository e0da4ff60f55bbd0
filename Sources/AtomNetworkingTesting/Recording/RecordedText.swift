import AtomNetworking
import AtomNetworkingExports
import Foundation

/// The word that stands in a HAR file for what the SDK's recorder has hidden.
enum HiddenValue {
    static let mark = CredentialSearch.hidden

    /// Whether a text is what was recorded; the mark stands for any characters.
    static func fits(_ text: String, recorded: String) -> Bool {
        let pieces = recorded.components(separatedBy: mark)
        guard pieces.count > 1, let first = pieces.first, let last = pieces.last else { return text == recorded }
        guard text.hasPrefix(first), text.count >= first.count + last.count, text.hasSuffix(last) else { return false }
        var rest = text.dropFirst(first.count).dropLast(last.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let range = rest.range(of: piece) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}

extension HiddenValue {
    /// What differs between two lists whose order doesn't matter; empty if nothing does.
    static func differences(
        _ items: [QueryItem], recorded: [QueryItem], _ subject: String
    ) -> [String] {
        var rest = items
        var open: [QueryItem] = []
        // Those that say most come first, so that a hidden value takes none of theirs.
        for item in recorded.sorted(by: { !isHidden($0) && isHidden($1) }) {
            if let index = rest.firstIndex(where: {
                $0.name == item.name && fits($0.value, recorded: item.value)
            }) {
                rest.remove(at: index)
            } else {
                open.append(item)
            }
        }
        var found: [String] = []
        for item in open {
            if let index = rest.firstIndex(where: { $0.name == item.name }) {
                rest.remove(at: index)
                found.append("\(subject) \(item.name) has another value")
            } else {
                found.append("\(subject) \(item.name) is missing")
            }
        }
        return found + rest.map { "\(subject) \($0.name) isn't recorded" }
    }

    private static func isHidden(_ item: QueryItem) -> Bool { item.value.contains(mark) }
}

/// The URL of a recorded request.
struct RecordedAddress: Sendable {
    /// Scheme, host and port, in lower case, as in `https://api.example.com`.
    let origin: String
    /// As it is sent, percent-encoded; without what is hidden in it.
    let path: String
    let query: [QueryItem]

    init?(_ text: String) {
        guard let components = URLComponents(string: text), let scheme = components.scheme?.lowercased(),
            let host = components.host?.lowercased(), !host.isEmpty
        else { return nil }
        origin = Self.origin(scheme, host, components.port)
        path = components.percentEncodedPath.isEmpty ? "/" : components.percentEncodedPath
        query = FormText.items(of: components.percentEncodedQuery ?? "")
    }

    static func origin(_ scheme: String, _ host: String, _ port: Int?) -> String {
        let usual = ["https": 443, "http": 80][scheme]
        return "\(scheme)://\(host)" + (port == nil || port == usual ? "" : ":\(port ?? 0)")
    }
}

/// A recorded body.
struct RecordedBody: Sendable {
    /// `nil` if it isn't in the file.
    let data: Data?
    let mediaType: String
    /// Why it isn't in the file, if the file says so.
    let comment: String?

    private init(data: Data?, mediaType: String?, comment: String? = nil) {
        self.data = data
        self.mediaType = mediaType ?? ""
        self.comment = comment
    }

    init(_ request: HARLog.Request) {
        let post = request.postData
        let data: Data?
        if let text = post?.text, !text.isEmpty {
            data = Self.bytes(text, post?.encoding)
        } else if let params = post?.params, !params.isEmpty {
            data = Data(
                params.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value ?? ""))" }.joined(separator: "&").utf8)
        } else {
            data = request.bodySize ?? 0 == 0 ? Data() : nil
        }
        self.init(data: data, mediaType: post?.mimeType)
    }

    /// The body of a response.
    ///
    /// An unknown size isn't an empty body.
    init(of entry: HARLog.Entry) {
        let (response, content) = (entry.response, entry.response.content)
        let data: Data?
        if let text = content?.text, !text.isEmpty {
            data = Self.bytes(text, content?.encoding)
        } else {
            let isEmpty =
                content?.size == 0 || response.bodySize == 0 || entry.request.method == "HEAD"
                || [204, 304].contains(response.status)
            data = isEmpty ? Data() : nil
        }
        self.init(data: data, mediaType: content?.mimeType, comment: content?.comment)
    }

    private static func bytes(_ text: String, _ encoding: String?) -> Data? {
        guard encoding?.lowercased() == "base64" else { return Data(text.utf8) }
        // Some tools break the lines.
        return Data(base64Encoded: text.filter { !$0.isWhitespace })
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    /// `application/json`, in lower case and without parameters.
    var type: String {
        mediaType.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }

    var isForm: Bool { type == "application/x-www-form-urlencoded" }

    /// The value of the media type's parameter `boundary`.
    static func boundary(of mediaType: String) -> String? {
        for parameter in mediaType.split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces).lowercased() == "boundary" else {
                continue
            }
            return parts[1].trimmingCharacters(in: CharacterSet(charactersIn: " \""))
        }
        return nil
    }
}
