import Foundation
import Testing

@testable import AtomNetworking

/// No date of a server may end the process.
@Suite(.limited) struct CookieDateFuzzTests {
    private let address = CookieAddress("https://a.example.com/")

    /// Every part may be there twice, be missing, be huge, or be in any place.
    private static let parts = [
        "Mon,", "31", "30", "29", "1", "0", "00", "99", "Feb", "feb", "Dec", "Jan", "Jun", "1600", "1601", "1969",
        "2000",
        "2038", "9999", "10000", "99999", "2147483648", "9223372036854775808", "99999999999999999999", "23:59:59",
        "24:00:00", "00:00:00", "99:99:99", "2147483648:0:0", "::", ":", "-", "é", "\u{0}", "GMT", "٣", "🕰",
    ]

    @Test func everyMixtureOfPartsIsADateOrNone() {
        var random = SeededGenerator(seed: 32)
        var count = 0
        let texts = TestExtent.isWhole ? 20_000 : 5_000
        for _ in 0..<texts {
            let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in
                Self.parts[Int.random(in: 0..<Self.parts.count, using: &random)]
            }.joined(separator: [" ", "-", ",", ";", "/"][Int.random(in: 0..<5, using: &random)])
            guard let date = HTTPDate.cookieDate(text) else { continue }
            count += 1
            // From 1601 on; a year has at most four digits.
            #expect((-11_644_473_600...253_402_300_799).contains(date.timeIntervalSince1970), "\(text)")
        }
        #expect(count > texts / 200)
    }

    @Test func everyFieldOfBytesIsReadWithoutATrap() {
        var random = SeededGenerator(seed: 64)
        let now = Date(timeIntervalSince1970: 1_900_000_000)
        for _ in 0..<(TestExtent.isWhole ? 20_000 : 5_000) {
            let count = Int.random(in: 0...40, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let value = String(decoding: bytes, as: UTF8.self)
            for field in ["a=b; Expires=\(value)", "a=b; Max-Age=\(value)"] {
                guard let expires = Cookie(field, from: address, at: now)?.expires else { continue }
                #expect(expires <= now.addingTimeInterval(400 * 86_400), "\(field)")
            }
        }
    }

    @Test(
        "A lifetime that no integer holds is limited",
        arguments: [
            "2147483647", "2147483648", "9223372036854775807", "9223372036854775808", "99999999999999999999999999",
            "-2147483649", "-9223372036854775809",
        ])
    func hugeLifetime(text: String) throws {
        let now = Date(timeIntervalSince1970: 1_900_000_000)
        let cookie = try #require(Cookie("a=b; Max-Age=\(text)", from: address, at: now))
        let expires = try #require(cookie.expires)
        #expect(text.hasPrefix("-") ? expires <= now : expires == now.addingTimeInterval(400 * 86_400))
    }
}
