/// The `Cookie` field of one request (RFC 6265bis §5.8.3).
///
/// It is bounded, since a server can set more than any server reads: forty
/// cookies of 4 KB, and every later request would be answered with a 431. The
/// whole line has at most 8,190 octets, as with curl: Apache takes no longer
/// one, and nginx reads a line into a buffer of 8 KB.
///
/// What was set or sent last goes first, so that a new sign-in always has its
/// cookie sent, whatever came before it; one that no longer fits is passed over
/// for smaller ones. Browsers have no such limit: there a person can clear the
/// cookies.
struct CookieField: Equatable {
    static let maximumLength = 8_190 - "Cookie: ".utf8.count

    /// What is sent, in its order: longer paths first, then what was set first.
    let cookies: [Cookie]

    /// Chooses among those that would go with the request.
    init(of matching: [Cookie]) {
        cookies = Self.fitting(matching).sorted(by: Self.isEarlier)
    }

    /// `nil` for none.
    var value: String? {
        cookies.isEmpty ? nil : cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    private static func fitting(_ matching: [Cookie]) -> [Cookie] {
        // The last one has no semicolon and blank behind it.
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
