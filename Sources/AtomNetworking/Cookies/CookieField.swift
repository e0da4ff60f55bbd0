/// The `Cookie` field of one request (RFC 6265bis §5.8.3).
///
/// A server can set more cookies than any server accepts, and every later request
/// would get a 431. So the line has at most 8,190 octets, as with curl and Apache.
/// The cookies that were set or sent last are chosen first; one that doesn't fit is
/// skipped.
struct CookieField: Equatable {
    static let maximumLength = 8_190 - "Cookie: ".utf8.count

    /// As they are sent: longer paths first, then those that were set first.
    let cookies: [Cookie]

    /// Chooses from the cookies that match the request.
    init(of matching: [Cookie]) {
        cookies = Self.fitting(matching).sorted(by: Self.isEarlier)
    }

    /// `nil` for none.
    var value: String? {
        cookies.isEmpty ? nil : cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    private static func fitting(_ matching: [Cookie]) -> [Cookie] {
        // No semicolon and space follow the last cookie.
        var room = maximumLength + 2
        guard matching.reduce(0, { $0 + length(of: $1) }) > room else { return matching }
        let latest = matching.sorted { one, other in
            one.lastAccess == other.lastAccess ? isEarlier(one, other) : one.lastAccess > other.lastAccess
        }
        return latest.filter { cookie in
            guard length(of: cookie) <= room else { return false }
            room -= length(of: cookie)
            return true
        }
    }

    private static func length(of cookie: Cookie) -> Int {
        cookie.name.utf8.count + 1 + cookie.value.utf8.count + 2
    }

    private static func isEarlier(_ one: Cookie, _ other: Cookie) -> Bool {
        (other.path.utf8.count, one.creation) < (one.path.utf8.count, other.creation)
    }
}
