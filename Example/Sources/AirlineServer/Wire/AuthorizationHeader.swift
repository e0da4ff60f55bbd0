import Foundation

/// What an `Authorization` header of the scheme Basic holds (RFC 7617).
struct BasicCredentials: Equatable {
    let user: String
    let password: String

    /// `nil` if the header is missing, of another scheme or malformed.
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
    /// What follows the scheme; `nil` if the scheme is another.
    static func value(of header: String, scheme: String) -> String? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].caseInsensitiveCompare(scheme) == .orderedSame else { return nil }
        return parts[1].trimmingCharacters(in: .whitespaces)
    }
}
