import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

/// An endpoint that shares unless it is told not to.
struct SharedEndpoint: Requestable {
    var pathText = "/x"
    var method: HTTPMethod = .get
    var queryItems: [QueryItem]?
    var headerItems: [HeaderItem]?
    var requiresAuthorization = true
    var acceptableStatusCodes = 200...299
    var timeout: ServiceTimeout?
    var retryPolicy: RetryPolicy?
    var idempotency: Idempotency?
    var sharesIdenticalRequests = true

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
    func path() throws(AtomError) -> URLPath { try URLPath(pathText) }
}

/// A service with a clock and a network that the test controls.
struct SharingFixture {
    let time = ManualClock()
    let transport: ScriptedTransport
    let atom: Atom
    let lines = Locked<[String]>([])

    init(
        exchangesPerOrigin: Int? = nil, endsOnCancel: Bool = true, script: ScriptedTransport.Script? = nil,
        changing change: (inout ServiceConfiguration) -> Void = { _ in }
    ) {
        transport = ScriptedTransport.held(
            exchangesPerOrigin: exchangesPerOrigin, endsOnCancel: endsOnCancel, script: script)
        var configuration = ServiceConfiguration(
            dispatchQueue: DispatchQueue(label: "completions"), timeout: ServiceTimeout(request: 10, resource: 30),
            isLogEnabled: true)
        configuration.transport = transport
        configuration.logHandler = { [lines] line in lines.with { $0.append(line) } }
        change(&configuration)
        atom = Atom(configuration, time: time)
    }

    func call(_ endpoint: any Requestable = SharedEndpoint()) -> Call { atom.call(endpoint) }

    /// The exchange that was started last.
    var last: ScriptedExchange {
        get throws { try #require(transport.exchanges.last) }
    }

    var count: Int { transport.exchanges.count }
    var counts: (exchanges: Int, callers: Int) { atom.sharing.counts }
}

extension AtomResponse {
    var body: String { String(decoding: data, as: UTF8.self) }
}

extension Atom {
    func call() -> Call { call(SharedEndpoint()) }
}
