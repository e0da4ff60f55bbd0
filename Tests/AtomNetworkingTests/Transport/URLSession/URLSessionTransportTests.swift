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

    #if canImport(FoundationNetworking)
        @Test func onLinuxItsTimersAreNeverArmedAndItsMillisecondsFit() {
            let milliseconds = URLSessionTransport.timeoutInterval(above: .seconds(30)) * 1_000
            #expect(milliseconds < Double(Int.max))
            let interval = DispatchTimeInterval.milliseconds(Int(milliseconds))
            #expect(DispatchTime.now() + interval == .distantFuture)
        }
    #else
        @Test func aTimeoutOfAYearIsClamped() {
            #expect(URLSessionTransport.timeoutInterval(above: .seconds(31_536_000)) == 31_536_000)
        }
    #endif

    @Test func aBrokenPipeIsALostConnection() {
        let error = URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: "Send failure: Broken pipe"])
        let failure = WireFailure(error: error, hasResponse: false, isSecure: false).transportFailure
        #expect(failure.urlError(delivery: .maybeSent).code == .networkConnectionLost)
        #expect(failure.delivery == .maybeSent)
    }
}
