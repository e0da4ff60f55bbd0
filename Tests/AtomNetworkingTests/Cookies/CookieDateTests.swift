import Foundation
import Testing

@testable import AtomNetworking

@Suite(.limited) struct CookieDateTests {
    @Test(
        "A date is read in all its forms",
        arguments: [
            "Wed, 21 Oct 2037 07:28:00 GMT", "Wednesday, 21-Oct-37 07:28:00 GMT", "Wed Oct 21 07:28:00 2037",
            "21 oct 2037 7:28:0", "2037 21 October 07:28:00 +0100",
            "21 Oct 2037 07:28:00:123", "21 Oct 2037 07:28:00Z",
        ])
    func date(text: String) {
        #expect(HTTPDate.cookieDate(text) == Date(timeIntervalSince1970: 2_139_722_880))
    }

    @Test(arguments: [
        "", "tomorrow", "21 Oct 07:28:00", "32 Oct 2037 07:28:00", "21 Oct 1600 07:28:00", "21 Oct 2037 24:00:00",
        "21 Oct 2037 07:60:00", "21 Oct 99999 07:28:00", "21 Oct 99999999999999999999 07:28:00",
        "21 Oct 2037 99999999999:0:0", "0 Oct 2037 07:28:00", "31 Jun 2037 07:28:00", "29 Feb 2037 07:28:00",
        "29 Feb 2100 07:28:00", "30 Feb 2000 07:28:00", "21 Oct 137 2037 07:28:00", "21 Oct 2037 07x:28:00",
        "21 Oct 2037 07:28x:00",
    ])
    func whatIsNoDateIsNone(text: String) {
        #expect(HTTPDate.cookieDate(text) == nil)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0), ("29 Feb 2000 12:00:00", 951_825_600),
        ("1 Jan 60 0:0:0", 2_840_140_800), ("31 Dec 69 23:59:59", 3_155_759_999), ("1 Jan 70 0:0:0", 0),
        ("31 Dec 99 23:59:59", 946_684_799), ("1 Jan 1601 0:0:0", -11_644_473_600),
        ("31 Dec 9999 23:59:59", 253_402_300_799),
    ])
    func theFirstAndTheLastDatesAreReadToo(text: String, seconds: Double) {
        #expect(HTTPDate.cookieDate(text)?.timeIntervalSince1970 == seconds)
    }

    @Test func everyMonthIsRead() {
        let days = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
        let names = ["Jan", "feb", "MAR", "April", "May", "june", "Jul", "August", "Sept", "oct", "NOV", "Dec"]
        for (name, day) in zip(names, days) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            #expect(HTTPDate.cookieDate("1 \(name) 1970 0:0:0") == date)
        }
    }
}
