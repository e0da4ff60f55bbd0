import Foundation

/// Dates in header fields (RFC 9110 §5.6.7).
enum HTTPDate {
    /// Parses a date, in the only format that is still sent.
    static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE',' dd MMM yyyy HH':'mm':'ss 'GMT'"
        return formatter.date(from: text)
    }
}
