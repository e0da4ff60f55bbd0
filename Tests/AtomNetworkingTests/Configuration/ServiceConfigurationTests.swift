import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

@Suite("The configuration of a service", .limited)
struct ServiceConfigurationTests {
    @Test("Its defaults are those that are documented")
    func defaults() {
        let configuration = ServiceConfiguration()
        guard case .none = configuration.authenticationMethod else {
            Issue.record("something signs")
            return
        }
        #expect(configuration.configuration == .ephemeral)
        #expect(configuration.dispatchQueue.label == DispatchQueue.main.label)
        #expect(configuration.multipathServiceType == .none)
        #expect(configuration.timeout == ServiceTimeout(request: 30, resource: 30))
        #expect(!configuration.isLogEnabled)
        #expect(configuration.redirectLimit == 20)
        #expect(configuration.maximumResponseSize == 256 * 1024 * 1024)
        #expect(configuration.maximumExchangesPerOrigin == nil)
        #expect(configuration.transport == nil)
        #expect(configuration.logHandler == nil)
    }

    @Test("A background session is refused before anything is sent, whatever the transport", arguments: [false, true])
    func background(hasTransport: Bool) {
        var configuration = ServiceConfiguration(configuration: .background("sync"))
        if hasTransport { configuration.transport = URLSessionTransport() }
        let manager = RequestableQueueManager(configuration)
        let error = refusal { () throws(AtomError) in try manager.prepare(RecordingEndpoint()) }
        guard case .unsupportedConfiguration(let violation) = error else {
            Issue.record("It was accepted")
            return
        }
        #expect(violation.subject == "background(sync)")
        #expect(violation.reason.contains("use .default or .ephemeral"))
    }

    @Test("The app's limit of exchanges takes precedence over its transport's")
    func exchangesPerOrigin() throws {
        var configuration = ServiceConfiguration()
        configuration.transport = ScriptedTransport.held(exchangesPerOrigin: 3)
        let request = try PreparedRequest(RecordingEndpoint(), timeout: ServiceTimeout())
        for (own, expected) in [(nil, 3), (1, 1), (0, 1), (5, 5)] as [(Int?, Int)] {
            configuration.maximumExchangesPerOrigin = own
            let manager = RequestableQueueManager(configuration, time: ManualClock())
            let exchanges = (0..<8).map { _ in manager.run(request, listener: .completion { _ in }) }
            #expect(manager.slots.counts == (expected, 8 - expected))
            for exchange in exchanges.reversed() { exchange.cancel() }
        }
    }

    @Test("A Basic credential that can't be sent is refused with the request that would carry it")
    func invalidCredential() throws {
        let manager = RequestableQueueManager(
            ServiceConfiguration(authenticationMethod: .basic(BasicCredential(password: "p", username: "a:b"))))
        guard
            case .invalidCredential = refusal(of: { () throws(AtomError) in try manager.prepare(RecordingEndpoint()) })
        else {
            Issue.record("It was accepted")
            return
        }
        _ = try manager.prepare(RecordingEndpoint(requiresAuthorization: false))
        _ = try manager.prepare(RecordingEndpoint(headerItems: ["Authorization": "own"]))
    }
}
