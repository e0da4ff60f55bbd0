import Foundation
import Testing

@testable import AtomNetworking

@Suite("Dates of header fields", .limited)
struct HTTPDateTests {
    /// 2026-11-23 10:00:00.
    private static let now = Date(timeIntervalSince1970: 1_795_428_000)

    private func seconds(_ text: String) -> Double? {
        HTTPDate.date(text, now: Self.now)?.timeIntervalSince1970
    }

    @Test(
        "A date is read in all three formats (RFC 9110 §5.6.7)",
        arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func formats(text: String) {
        #expect(seconds(text) == 784_111_777)
    }

    @Test(
        "A cache reads only what has exactly one of the formats (RFC 9111 §5.3)",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", true), ("Sunday, 06-Nov-94 08:49:37 GMT", true),
            ("Sun Nov  6 08:49:37 1994", true), ("Sun Nov 06 08:49:37 1994", true),
            ("Sun, 6 Nov 1994 08:49:37 GMT", false), ("Sun 06 Nov 1994 08:49:37 GMT", false),
            ("Sun, 06 Nov 94 08:49:37 GMT", false), ("Sun, 06-Nov-1994 08:49:37 GMT", false),
            ("Sun, 06 Nov 1994 8:49:37 GMT", false), ("Sun, 06  Nov 1994 08:49:37 GMT", false),
            ("Sun, 06 Nov 1994 08:49:37 UTC", false), ("Sun, 06 Nov 1994 08:49:37 GMT ", false),
            ("Sun, 06 Nov 1994 24:49:37 GMT", false), ("", false), ("0", false),
        ])
    func exact(text: String, isDate: Bool) {
        let date = isDate ? Date(timeIntervalSince1970: 784_111_777) : nil
        #expect(HTTPDate.exactDate(text, now: Self.now) == date)
    }

    @Test("A year of two digits is at most 50 years in the future")
    func twoDigits() throws {
        for (year, meant) in [(26, 2026), (76, 2076), (77, 1977), (94, 1994), (0, 2000)] {
            let text = "Monday, 02-Jan-\(year < 10 ? "0" : "")\(year) 00:00:00 GMT"
            let date = try #require(HTTPDate.date(text, now: Self.now))
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
            #expect(calendar.dateComponents([.year], from: date).year == meant)
        }
        // 50 years and a month.
        #expect(try #require(seconds("Thursday, 31-Dec-76 00:00:00 GMT")) < Self.now.timeIntervalSince1970)
        #expect(
            HTTPDate.date("Monday, 02-Jan-10 00:00:00 GMT", now: Self.now.addingTimeInterval(2_000_000_000))
                == Date(timeIntervalSince1970: 4_418_064_000))
    }

    @Test("A leap second is the first one of the next minute")
    func leapSecond() {
        #expect(seconds("Sat, 31 Dec 2016 23:59:60 GMT") == 1_483_228_800)
        #expect(HTTPDate.cookieDate("Sat, 31 Dec 2016 23:59:60 GMT") == nil)
    }

    @Test(
        "What is no date is none",
        arguments: [
            "", "120", "1994", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 PST",
            "Sun Nov  6 08:49:37 PST 1994", "Sun Nov  6 08:49:37 +0100 1994", "Sun Nov  6 08:49:37PST 1994",
            "Sun 6 Nov 08:49:37 1994", "6 Nov 94 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 +0100 1994",
            "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49:37 +0100", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun Nov  6 24:49:37 1994", "GMT",
        ])
    func invalid(text: String) {
        #expect(seconds(text) == nil)
    }

    @Test(
        "Retry-After is read in all formats",
        arguments: [
            "120", "Mon, 23 Nov 2026 10:02:00 GMT", "Monday, 23-Nov-26 10:02:00 GMT", "Mon Nov 23 10:02:00 2026",
        ])
    func retryAfter(text: String) {
        let fields = HeaderFields([.init(name: "Retry-After", value: text)])
        #expect(RetryAfter.duration(in: fields, now: Self.now) == .seconds(120))
    }
}
