import AtomNetworkingTesting
import Foundation
import Testing

@testable import AtomNetworking

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An endpoint in which every member is a variable.
struct WireEndpoint: Requestable {
    var scheme = BaseURLScheme.http
    var host: String
    var port: Int?
    var rawPath = "/"
    var method = HTTPMethod.get
    var body: RequestBody?
    var headerItems: [HeaderItem]?
    var queryItems: [QueryItem]?
    var timeout: ServiceTimeout?
    var requiresAuthorization = true
    var acceptableStatusCodes = 200...299

    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(scheme: scheme, host: host, port: port) }
    func path() throws(AtomError) -> URLPath { rawPath == "/" ? .empty : try URLPath(rawPath) }
}

extension LoopbackServer {
    /// An endpoint on this server.
    func endpoint(
        _ path: String = "/", method: HTTPMethod = .get, headers: [HeaderItem]? = nil
    ) -> WireEndpoint {
        WireEndpoint(host: host, port: port, rawPath: path, method: method, headerItems: headers)
    }
}

extension RefusingPort {
    /// An endpoint that nobody serves.
    func endpoint(method: HTTPMethod = .get) -> WireEndpoint {
        WireEndpoint(host: "127.0.0.1", port: number, method: method)
    }
}

extension Atom {
    /// A service for a test, over a transport of its own and with a clock that
    /// stands still unless the test has given it another one: however slow the
    /// machine is, no timeout and no pause ends by itself.
    static func forTest(
        over transport: TransportUnderTest, request: Double = 60, resource: Double = 120,
        time: any TimeSource = ManualClock(), _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) -> Atom {
        Atom(.forTest(over: transport.make(), request: request, resource: resource, time: time, change))
    }

    /// Sends one request and returns its result.
    func outcome(of endpoint: WireEndpoint) async -> Result<AtomResponse, AtomError> {
        await enqueue(endpoint).outcome()
    }
}

extension ServiceConfiguration {
    /// A configuration for a test: a clock that stands still, an idle timeout of
    /// one minute, a total of two, and completions on any thread.
    static func forTest(
        over transport: any Transport, request: Double = 60, resource: Double = 120,
        time: any TimeSource = ManualClock(), _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) -> ServiceConfiguration {
        var configuration = ServiceConfiguration(
            dispatchQueue: .global(), timeout: ServiceTimeout(request: request, resource: resource))
        configuration.transport = transport
        configuration.timeSource = time
        change(&configuration)
        return configuration
    }
}

extension Service {
    func outcome() async -> Result<AtomResponse, AtomError> {
        do { return .success(try await resume()) } catch { return .failure(error) }
    }
}

extension Result where Success == AtomResponse, Failure == AtomError {
    /// The response, whether its status is acceptable or not.
    var response: AtomResponse? {
        switch self {
        case .success(let response), .failure(.response(let response)): response
        default: nil
        }
    }

    var error: AtomError? { if case .failure(let error) = self { error } else { nil } }

    var urlError: URLError? {
        if case .failure(.session(let error)) = self { error as? URLError } else { nil }
    }

    var text: String? { response.map { String(decoding: $0.data, as: UTF8.self) } }

    var isCancelled: Bool { error?.isCancelled == true }
}

/// Polls a condition that has no callback; `false` if it isn't met in time.
func eventually(
    seconds: Double = 240, sourceLocation: SourceLocation = #_sourceLocation,
    isolation: isolated (any Actor)? = #isolation, _ condition: () async -> Bool
) async -> Bool {
    await Limited.awaiting("a condition", at: sourceLocation) {
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        while await !condition() {
            guard ContinuousClock.now < end else { return false }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(3)) { continuation.resume() }
            }
        }
        return true
    }
}

extension ManualClock {
    /// Ends each pause and each timeout of at most this length as soon as a
    /// service makes it, while the operation runs.
    func skippingPauses<T>(upTo longest: Duration, while operation: () async throws -> T) async rethrows -> T {
        // What comes next may be the wire's turn, however long that takes.
        patience = .seconds(3_600)
        let skipping = Task {
            while await waitForAlarm(within: longest), let next = nextAlarm {
                // The alarm may be another one by now.
                advance(by: min(now.duration(to: next), longest))
            }
        }
        defer { skipping.cancel() }
        return try await operation()
    }
}

/// Forwards everything to another transport, and reports the events first.
struct SpyTransport: Transport {
    let base: any Transport
    let observe: @Sendable (TransportEvent) -> Void

    var exchangesPerOrigin: Int? { base.exchangesPerOrigin }

    func start(
        _ request: TransportRequest, receive: @escaping @Sendable (TransportEvent) -> Void
    ) -> any TransportExchange {
        base.start(request) { event in
            observe(event)
            receive(event)
        }
    }
}
