import AtomNetworking
import Foundation

/// One run of one check: its transport, and what it has seen.
final class TransportTrial: Sendable {
    let patience: Duration
    let findings = Findings()
    let make: @Sendable () throws -> any Transport
    private let recorders = Guarded<[ExchangeRecorder]>([])

    init(patience: Duration, make: @escaping @Sendable () throws -> any Transport) {
        self.patience = patience
        self.make = make
    }

    /// A check ends with the order of the events of all its exchanges; later events than those of the last exchange are
    /// found here.
    func finish() {
        for recorder in recorders.withLock({ $0 }) {
            for problem in recorder.disorder { findings.note(problem) }
            recorder.letGo()
        }
    }

    func request(
        _ server: LoopbackServer, _ path: String = "/", method: String = "GET", query: [QueryItem] = [],
        fields: [(String, String)] = [], body: Data? = nil, isFresh: Bool = false, wantsMetrics: Bool = false
    ) throws -> TransportRequest {
        try TransportRequest(
            method: method, base: BaseURL(scheme: .http, host: server.host, port: server.port),
            path: path == "/" ? URLPath("/x") : URLPath(path), queryItems: query,
            headerFields: HeaderFields(fields.map { HeaderItem(name: $0.0, value: $0.1) }), body: body,
            idleTimeout: .seconds(600), needsFreshConnection: isFresh, wantsMetrics: wantsMetrics)
    }

    /// Starts an exchange, whose events are recorded.
    @discardableResult
    func start(
        _ request: TransportRequest, over transport: any Transport,
        _ prepare: (ExchangeRecorder) -> Void = { _ in }
    ) -> ExchangeRecorder {
        let recorder = ExchangeRecorder(wantsMetrics: request.wantsMetrics)
        recorders.withLock { $0.append(recorder) }
        prepare(recorder)
        recorder.start(request, over: transport)
        return recorder
    }

    /// Runs a whole exchange.
    @discardableResult
    func run(_ request: TransportRequest, over transport: any Transport) async -> ExchangeRecorder {
        let recorder = start(request, over: transport)
        _ = await recorder.hasEnded(within: patience)
        return recorder
    }

    /// A server that answers, and a transport, until the check ends.
    func with(
        _ handler: @escaping LoopbackServer.Handler,
        run body: (LoopbackServer, any Transport) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(handler: handler)
        defer { server.stop() }
        try await body(server, try make())
    }

    func run(_ check: TransportContract.Check) async throws {
        switch check {
        case .eventsInOrder: try await eventsInOrder()
        case .oneEventAtATime: try await oneEventAtATime()
        case .brokenResponsesFail: try await brokenResponsesFail()
        case .brokenHeadsFail: try await brokenHeadsFail()
        case .differingLengthsFail: try await differingLengthsFail()
        case .requestsAreSentOnce: try await requestsAreSentOnce()
        case .deliveryIsHonest: try await deliveryIsHonest()
        case .cancelledExchangesEnd: try await cancelledExchangesEnd()
        case .cancelIsQuiet: try await cancelIsQuiet()
        case .lateCancelDoesNothing: try await lateCancelDoesNothing()
        case .cancelInsideReceive: try await cancelInsideReceive()
        case .startDoesNotWait: try await startDoesNotWait()
        case .requestsKeepTheirOrder: try await requestsKeepTheirOrder()
        case .redirectsAreNotFollowed: try await redirectsAreNotFollowed()
        case .cookiesAreNotKept: try await cookiesAreNotKept()
        case .responsesAreNotKept: try await responsesAreNotKept()
        case .challengesAreNotAnswered: try await challengesAreNotAnswered()
        case .targetsAreExact: try await targetsAreExact()
        case .headerFieldsAreSent: try await headerFieldsAreSent()
        case .headerFieldLinesAreExact: try await headerFieldLinesAreExact()
        case .headerFieldsAreNotAdded: try await headerFieldsAreNotAdded()
        case .headerFieldsAreReceived: try await headerFieldsAreReceived()
        case .bodiesAreSent: try await bodiesAreSent()
        case .streamedBodiesAreSent: try await streamedBodiesAreSent()
        case .streamsAreReadOnDemand: try await streamsAreReadOnDemand()
        case .bodiesAreReceived: try await bodiesAreReceived()
        case .bodiesAreDecoded: try await bodiesAreDecoded()
        case .interimResponsesAreSkipped: try await interimResponsesAreSkipped()
        case .freshConnections: try await freshConnections()
        case .exchangesSideBySide: try await exchangesSideBySide()
        case .metricsAreInPlace: try await metricsAreInPlace()
        case .pauseHoldsBack: try await pauseHoldsBack()
        case .exchangesOutliveTheTransport: try await exchangesOutliveTheTransport()
        }
    }
}
