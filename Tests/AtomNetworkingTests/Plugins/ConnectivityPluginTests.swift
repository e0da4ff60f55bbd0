import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("A plugin refuses requests of a device that is offline", .limited)
struct ConnectivityPluginTests {
    private struct Monitor: ConnectivityMonitoring {
        var snapshot: ConnectivitySnapshot
    }

    private func service(_ isOffline: Bool?, for duration: Duration, settling: Duration = .seconds(2)) -> SharingFixture
    {
        let monitor = Monitor(snapshot: ConnectivitySnapshot(isOffline: isOffline, duration: duration))
        return SharingFixture(plugins: ConnectivityPlugin(monitor: monitor, settlingInterval: settling))
    }

    @Test("It does so at once, after the settling interval")
    func refuses() async throws {
        let service = service(true, for: .milliseconds(2_001))
        let error = try #require(await service.call(PathEndpoint()).error())
        guard case .session(let cause as URLError) = error else { return #expect(Bool(false), "another error") }
        #expect(cause.code == .notConnectedToInternet)
        #expect(error.delivery == .notSent && error.isOffline && error.isConnectivityFailure)
        #expect(error.request?.description == "GET https://api.example.com/x")
        #expect(service.count == 0)
    }

    @Test(
        "Before that, with a network, and where nobody knows, everything is sent",
        arguments: [(true, 2), (false, 60), (nil, 60)] as [(Bool?, Int)])
    func sends(isOffline: Bool?, seconds: Int) async {
        let service = service(isOffline, for: .seconds(seconds))
        let call = service.call(PathEndpoint())
        await service.transport.exchange(0).answer()
        #expect(await call.status() == 200)
    }

    @Test("An endpoint that uses the cache is passed on")
    func cache() async {
        struct Cached: Requestable {
            let caching = ResponseCaching.whileCacheFresh

            func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
        }
        let service = service(true, for: .seconds(60))
        let call = service.call(Cached())
        await service.transport.exchange(0).answer()
        #expect(await call.status() == 200)
    }

    @Test("What waits for a network knows since when there is none")
    func since() {
        let time = ManualClock()
        let network = NetworkWaiters(time: time)
        #expect(network.snapshot == ConnectivitySnapshot(isOffline: nil))
        time.advance(by: .seconds(5))
        network.changed(isOffline: true)
        time.advance(by: .seconds(3))
        network.changed(isOffline: true)
        #expect(network.snapshot == ConnectivitySnapshot(isOffline: true, duration: .seconds(3)))
        network.changed(isOffline: false)
        #expect(network.snapshot == ConnectivitySnapshot(isOffline: false))
    }

    @Test(
        "An error says whether the device is offline, also of its cause",
        arguments: [
            (URLError.Code.notConnectedToInternet, true), (.dataNotAllowed, true), (.internationalRoamingOff, true),
            (.callIsActive, true), (.cannotConnectToHost, false), (.networkConnectionLost, false), (.timedOut, false),
        ])
    func isOffline(code: URLError.Code, expected: Bool) {
        let error = AtomError.session(URLError(code))
        #expect(error.isOffline == expected)
        let refresh = AuthenticationError.refreshFailed(cause: error, retryAt: nil, delivery: .notSent)
        #expect(AtomError.authentication(refresh).isOffline == expected)
        #expect(!AtomError.unexpected.isOffline)
    }

    @Test("Atom 5's pattern matches a failure of the network")
    func pattern() {
        func matches(_ error: AtomError) -> Bool {
            switch error {
            case .connectivity: true
            default: false
            }
        }
        #expect(matches(.session(URLError(.notConnectedToInternet))))
        #expect(matches(.session(URLError(.cannotFindHost))))
        #expect(!matches(.session(URLError(.timedOut))))
        #expect(!matches(.unexpected))
        do throws(AtomError) {
            throw .session(URLError(.networkConnectionLost))
        } catch .connectivity {
        } catch {
            Issue.record("\(error)")
        }
    }
}
