import Foundation

/// The dates of cookies, in all formats that servers use (RFC 6265 §5.1.1).
enum CookieDate {
    /// The date in a text, with its parts in any position; `nil` if a part is
    /// missing or invalid.
    static func date(from text: String) -> Date? { HTTPDate.date(inAnyOrder: text) { $0 + ($0 < 70 ? 2_000 : 1_900) } }
}
