import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct URLSessionTransportTests {
    @Test("URLSession's timeout is whole and later than the SDK's", arguments: [1e-9, 0.3, 1, 29.5, 1e6, 3e7])
    func roundedUp(seconds: Double) {
        let interval = URLSessionTransport.timeoutInterval(above: .seconds(seconds))
        #expect(interval == interval.rounded() && interval >= seconds + 1)
    }

    @Test func aTimeoutOfAYearIsClamped() {
        #expect(URLSessionTransport.timeoutInterval(above: .seconds(31_536_000)) == 31_536_000)
    }

    @Test func aBrokenPipeIsALostConnection() {
        let error = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: "Send failure: Broken pipe"])
        let failure = WireFailure(error: error, hasResponse: false, isSecure: false).transportFailure
        #expect(failure.urlError(delivery: .maybeSent).code == .networkConnectionLost)
        #expect(failure.delivery == .maybeSent)
    }
}
