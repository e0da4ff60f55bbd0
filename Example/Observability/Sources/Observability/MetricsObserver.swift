import AtomNetworking
import Metrics

/// Measures each attempt of a request with swift-metrics, by OpenTelemetry's conventions for HTTP clients.
///
/// ```swift
/// configuration.observers.append(MetricsObserver())
/// ```
///
/// ``MetricName`` lists the metrics. Their dimensions have few values: no path,
/// no number of a request, no message of an error.
public final class MetricsObserver: RequestObserver {
    private struct Content {
        var records: [UInt64: AttemptRecord] = [:]
        /// By name and dimensions; a backend may make another one at each call.
        var metrics: [[String]: any Sendable] = [:]
    }

    private let factory: any MetricsFactory
    private let template: @Sendable (RequestEvent) -> String?
    private let content = Locked(Content())

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - factory: Makes the metrics; by default the one of `MetricsSystem`.
    ///   - urlTemplate: The value of `url.template` for an endpoint, for example
    ///     `/flights/{number}`; one of few.
    public init(
        factory: any MetricsFactory = MetricsSystem.factory,
        urlTemplate: @escaping @Sendable (RequestEvent) -> String? = { _ in nil }
    ) {
        self.factory = factory
        template = urlTemplate
    }

    /// Counts and measures attempts.
    public func observe(_ event: RequestEvent) {
        guard let id = event.requestID, event.request != nil else { return }
        let change = content.withLock { content in
            let change = content.records[id, default: AttemptRecord()].note(event)
            if case .finished = event.kind { content.records[id] = nil }
            return change
        }
        if let begun = change.begun { activeRequests(begun, event).increment() }
        if let judged = change.judged { activeRequests(judged, event).decrement() }
        for attempt in change.complete { record(attempt, of: event) }
    }

    private func record(_ attempt: Attempt, of event: RequestEvent) {
        guard let endedAt = attempt.endedAt else { return }
        var dimensions = dimensions(attempt, event)
        if let failure = attempt.failure { dimensions.append((AttributeName.errorType, failure.type)) }
        if let head = attempt.head { dimensions.append((AttributeName.responseStatusCode, "\(head.statusCode)")) }
        if let version = attempt.protocolVersion { dimensions.append((AttributeName.protocolVersion, version)) }
        kept(MetricName.requestDuration, dimensions) {
            Timer(label: $0, dimensions: $1, preferredDisplayUnit: .seconds, factory: factory)
        }.recordNanoseconds(Int64((endedAt - attempt.startedAt) / .nanoseconds(1)))
        // Only an answer shows that the body has been transferred.
        if attempt.head != nil, let length = attempt.request.bodyLength, length > 0 {
            recorder(MetricName.requestBodySize, dimensions).record(length)
        }
        if let bytes = attempt.bytesReceived { recorder(MetricName.responseBodySize, dimensions).record(bytes) }
    }

    private func dimensions(_ attempt: Attempt, _ event: RequestEvent) -> [(String, String)] {
        var dimensions = [
            (AttributeName.requestMethod, attempt.method.value), (AttributeName.serverAddress, attempt.serverAddress),
            (AttributeName.serverPort, "\(attempt.request.port)"),
            (AttributeName.urlScheme, attempt.request.scheme.rawValue),
        ]
        if let template = template(event) { dimensions.append((AttributeName.urlTemplate, template)) }
        return dimensions
    }

    private func activeRequests(_ attempt: Attempt, _ event: RequestEvent) -> Meter {
        kept(MetricName.activeRequests, dimensions(attempt, event)) {
            Meter(label: $0, dimensions: $1, factory: factory)
        }
    }

    private func recorder(_ name: String, _ dimensions: [(String, String)]) -> Recorder {
        kept(name, dimensions) { Recorder(label: $0, dimensions: $1, factory: factory) }
    }

    private func kept<Metric: Sendable>(
        _ name: String, _ dimensions: [(String, String)], make: (String, [(String, String)]) -> Metric
    ) -> Metric {
        let key = [name] + dimensions.flatMap { [$0.0, $0.1] }
        return content.withLock { content in
            if let metric = content.metrics[key] as? Metric { return metric }
            let metric = make(name, dimensions)
            content.metrics[key] = metric
            return metric
        }
    }
}
