import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// A service with a policy, a clock, a network and chances that the test
/// controls.
struct RetryFixture {
    let time = ManualClock()
    let transport: ScriptedTransport
    let atom: Atom
    let lines = Locked<[String]>([])

    /// - Parameters:
    ///   - chance: With 0.5, the first pause of the standard policy takes
    ///     25 ms, and the second one 50 ms; throttled it is 0.5 s and 1 s.
    init(
        _ policy: RetryPolicy = .standard, chance: Double = 0.5, exchangesPerOrigin: Int? = nil,
        timeout: ServiceTimeout = ServiceTimeout(request: 10, resource: 30),
        script: ScriptedTransport.Script? = nil
    ) {
        transport = ScriptedTransport.held(exchangesPerOrigin: exchangesPerOrigin, script: script)
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "completions"), timeout: timeout, isLogEnabled: true)
        configuration.transport = transport
        configuration.retryPolicy = policy
        configuration.logHandler = { [lines] line in lines.with { $0.append(line) } }
        atom = Atom(configuration, time: time, random: { chance })
    }

    func call(
        _ path: String = "/x", method: HTTPMethod = .get, headers: [HeaderItem]? = nil, body: RequestBody? = nil,
        policy: RetryPolicy? = nil, idempotency: Idempotency? = nil, codes: ClosedRange<Int> = 200...299
    ) -> Call {
        let endpoint = RecordingEndpoint(
            path: path, method: method, headerItems: headers, body: body, retryPolicy: policy,
            idempotency: idempotency, acceptableStatusCodes: codes)
        let call = Call()
        call.keep(atom.enqueue(endpoint).resume { call.heard($0) })
        return call
    }

    /// The exchange that was started last.
    var last: ScriptedExchange {
        get throws { try #require(transport.exchanges.last) }
    }

    var count: Int { transport.exchanges.count }
    var quotaSpent: Int {
        atom.manager.quotas.spent(at: Origin(scheme: .https, host: "api.example.com", port: 443))
    }
    var deadlines: Int { atom.manager.deadlines.count }
}

extension ScriptedExchange {
    /// Says that the server has not processed the request.
    func refuse() {
        var failure = TransportFailure(URLError(.networkConnectionLost), delivery: .notSent)
        failure.isUnprocessed = true
        send(.failed(failure))
    }
}
