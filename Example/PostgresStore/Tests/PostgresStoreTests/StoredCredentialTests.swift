import AtomNetworking
import Foundation
import Testing

@testable import PostgresStore

@Suite(.limited) struct StoredCredentialTests {
    @Test func everyExpiryReadsBackAsItWas() throws {
        var dates: [Date] = [
            .distantFuture, .distantPast, Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1.1),
            Date(timeIntervalSinceReferenceDate: -0.1), Date(timeIntervalSince1970: 1e12),
            Date(timeIntervalSinceReferenceDate: 1e-300),
        ]
        // Steps of the last bit of a time of our days.
        dates += (0..<1000).map { Date(timeIntervalSinceReferenceDate: 800_000_000.1 + Double($0) / 8_388_608) }
        for date in dates {
            let credential = TokenCredential.named("x", expiresAt: date)
            #expect(try StoredCredential(text: StoredCredential(credential).text()).credential == credential)
        }
    }

    @Test func whatTokenCredentialWritesCanBeRead() throws {
        let credential = TokenCredential.named("x", expiresAt: Date(timeIntervalSince1970: 2_000_000_000))
        let text = String(decoding: try JSONEncoder().encode(credential), as: UTF8.self)
        #expect(try StoredCredential(text: text).credential == credential)
    }

    @Test func anExpiryThatIsNoNumberIsRefused() {
        let credential = TokenCredential.named("x", expiresAt: Date(timeIntervalSinceReferenceDate: .infinity))
        #expect(throws: PostgresStoreError.unwritable) { try StoredCredential(credential).text() }
    }

    @Test func limitsFitIntoTheServersSettings() {
        #expect(Duration.zero.settingInMilliseconds == "1")
        #expect(Duration.seconds(-5).settingInMilliseconds == "1")
        #expect(Duration.nanoseconds(1).settingInMilliseconds == "1")
        #expect(Duration.milliseconds(1500).settingInMilliseconds == "1500")
        #expect(Duration.seconds(Int64.max).settingInMilliseconds == "2147483647")
    }
}
