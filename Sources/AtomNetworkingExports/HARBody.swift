import AtomNetworking
import Foundation

/// The body of a response, as far as it is recorded.
struct HARBody {
    /// The bytes that arrived, decoded, also those that aren't recorded.
    private(set) var size: Int64 = 0
    /// `nil` if it isn't recorded.
    private(set) var data: Data?
    private(set) var isTooLong = false

    /// Adds a part.
    ///
    /// - Parameter limit: A longer body isn't recorded.
    mutating func append(_ part: Data, limit: Int) {
        size += Int64(part.count)
        guard !isTooLong else { return }
        guard part.count <= limit - (data?.count ?? 0) else {
            (data, isTooLong) = (nil, true)
            return
        }
        // In place: a stream may have many parts.
        if data == nil { data = Data() }
        data?.append(part)
    }
}

extension HARLog.Content {
    /// - Parameter recordsBodies: Whether bodies are wanted at all.
    init(_ attempt: HARAttempt, _ fields: HeaderFields, recordsBodies: Bool) {
        let type = fields["Content-Type"] ?? ""
        size = attempt.bytesReceived
        let disclosure = attempt.request.disclosure
        switch disclosure {
        case .everything: mimeType = type
        case .allButCredentials: mimeType = CredentialSearch.value(of: .init(name: "Content-Type", value: type))
        case .onlyHarmless: mimeType = Redaction.mediaType(type) ?? "x-unknown"
        }
        if attempt.leavesRest(fields) { comment = "The rest wasn't read." }
        guard recordsBodies, attempt.bytesReceived > 0 else { return }
        guard !attempt.body.isTooLong else {
            comment = "The body is longer than the recorder's limit."
            return
        }
        guard let body = attempt.body.data else {
            comment = "The body wasn't received."
            return
        }
        let shown =
            disclosure == .everything
            ? body : CredentialSearch.responseBody(body, type, coding: fields["Content-Encoding"])
        guard let shown else {
            comment = "The body is hidden: it may hold a credential, and can't be searched."
            return
        }
        (text, encoding) = HARLog.text(shown)
    }
}

extension HARLog {
    /// Text that is exactly these bytes, or base64; Foundation would drop a byte order mark.
    package static func text(_ data: Data) -> (text: String?, encoding: String?) {
        let text = String(decoding: data, as: UTF8.self)
        return text.utf8.elementsEqual(data) ? (text, nil) : (data.base64EncodedString(), "base64")
    }
}
