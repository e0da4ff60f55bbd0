import Foundation

/// The field with which a server says when to come back (RFC 9110 §10.2.3).
enum RetryAfter {
    /// The time to wait, at most a day; `nil` if the server doesn't say.
    ///
    /// A date counts from the server's own `Date`, if it has one.
    static func duration(in fields: HeaderFields, now: Date) -> Duration? {
        guard let text = fields["Retry-After"]?.trimmingCharacters(in: .whitespaces) else { return nil }
        func untilDate() -> Double? {
            let serverDate = fields["Date"].flatMap { HTTPDate.date($0, now: now) } ?? now
            return HTTPDate.date(text, now: now)?.timeIntervalSince(serverDate)
        }
        guard let seconds = Double(text) ?? untilDate(), seconds.isFinite else { return nil }
        return .seconds(min(max(seconds, 0), 86_400))
    }
}
