import Foundation

/// The content of an `Authorization` header with the scheme Basic (RFC 7617).
struct BasicCredentials: Equatable {
    let user: String
    let password: String

    /// `nil` if the header is missing, malformed or has another scheme.
    init?(authorization: String?) {
        guard
            let encoded = authorization.flatMap({ AuthorizationHeader.value(of: $0, scheme: "Basic") }),
            let data = Data(base64Encoded: encoded),
            let text = String(data: data, encoding: .utf8),
            let colon = text.firstIndex(of: ":")
        else { return nil }
        user = String(text[..<colon])
        password = String(text[text.index(after: colon)...])
    }
}

enum AuthorizationHeader {
    /// The text after the scheme; `nil` for another scheme.
    static func value(of header: String, scheme: String) -> String? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].caseInsensitiveCompare(scheme) == .orderedSame else { return nil }
        return parts[1].trimmingCharacters(in: .whitespaces)
    }
}
