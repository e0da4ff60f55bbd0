import Foundation

/// Dates in header fields (RFC 9110 §5.6.7).
enum HTTPDate {
    /// Parses a date in the format that is sent, or in an obsolete one, in which a year
    /// of two digits is at most 50 years later than now.
    static func date(_ text: String, now: Date = Date()) -> Date? {
        // Only the format of C's `asctime` names no time zone: `Sun Nov  6 08:49:37 1994`.
        let parts = text.utf8.split(separator: 0x20)
        let isCTime =
            parts.map { leadingNumber(of: $0).digits > 0 } == [false, false, true, true, true]
            && parts[3].count == 8 && parts[4].count == 4
        guard isCTime || text.hasSuffix(" GMT") else { return nil }
        let latest = now.addingTimeInterval(50 * 365.2425 * 86_400)
        let dates = [2_100, 2_000, 1_900].lazy.compactMap { century in
            date(inAnyOrder: text, lastSecond: 60) { $0 + century }
        }
        return dates.first { $0 <= latest } ?? dates.first
    }

    /// The same for a date that has exactly one of the formats: a cache takes any other for one in the past (RFC 9111
    /// §5.3).
    static func exactDate(_ text: String, now: Date = Date()) -> Date? {
        let shape = text.utf8.drop(while: \.isLetter).map { byte in
            byte.isDigit ? UInt8(ascii: "0") : byte.isLetter ? UInt8(ascii: "a") : byte
        }
        return shapes.contains(String(decoding: shape, as: UTF8.self)) ? date(text, now: now) : nil
    }

    /// The formats behind the name of the day.
    private static let shapes: Set = [
        ", 00 aaa 0000 00:00:00 aaa", ", 00-aaa-00 00:00:00 aaa", " aaa 00 00:00:00 0000", " aaa  0 00:00:00 0000",
    ]

    /// The date of a cookie, in any format that servers use (RFC 6265 §5.1.1).
    static func cookieDate(_ text: String) -> Date? { date(inAnyOrder: text) { $0 + ($0 < 70 ? 2_000 : 1_900) } }

    /// Parses a date with its parts in any position; `fullYear` says which year two digits mean.
    private static func date(inAnyOrder text: String, lastSecond: Int64 = 59, fullYear: (Int64) -> Int64) -> Date? {
        // 64 bits, because seconds since 1970 exceed 32 bits in 2038.
        var time: [Int64]?
        var day: Int64?
        var month: Int64?
        var year: Int64?
        for token in text.utf8.split(whereSeparator: delimiters.contains) {
            let number = leadingNumber(of: token)
            if time == nil, let parsed = timeOfDay(token) {
                time = parsed
            } else if day == nil, number.digits == 1 || number.digits == 2 {
                day = number.value
            } else if month == nil, let parsed = monthNumber(token) {
                month = parsed
            } else if year == nil, (2...4).contains(number.digits) {
                year = number.digits == 2 ? fullYear(number.value) : number.value
            }
        }
        guard let time, let day, let month, let year, year >= 1_601, time[0] < 24, time[1] < 60, time[2] <= lastSecond
        else { return nil }
        let date = days(until: month, of: year) + day - 1
        guard day >= 1, date < days(until: month + 1, of: year) else { return nil }
        return Date(timeIntervalSince1970: Double(date * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]))
    }

    private static let delimiters = ByteSet("\t !\"#$%&'()*+,-./;<=>?@[\\]^_`{|}~")

    private static func leadingNumber(of token: Substring.UTF8View) -> (value: Int64, digits: Int) {
        let digits = token.prefix(5).prefix(while: \.isDigit)
        return (digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }, digits.count)
    }

    private static func timeOfDay(_ token: Substring.UTF8View) -> [Int64]? {
        let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        let numbers = parts.map(leadingNumber)
        // Only the seconds may be followed by something else.
        guard parts.count == 3, numbers.allSatisfy({ (1...2).contains($0.digits) }),
            parts[0].count == numbers[0].digits, parts[1].count == numbers[1].digits
        else { return nil }
        return numbers.map(\.value)
    }

    private static func monthNumber(_ token: Substring.UTF8View) -> Int64? {
        let name = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
        return ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
            .firstIndex(of: name).map { Int64($0) + 1 }
    }

    /// Days from 1970 to the first of a month in the Gregorian calendar; the 13th is the next January.
    private static func days(until month: Int64, of year: Int64) -> Int64 {
        // A leap day is the last one of a year that begins in March.
        let shifted = month > 2 ? year : year - 1
        let daysOfMonths = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + daysOfMonths - 719_468
    }
}
