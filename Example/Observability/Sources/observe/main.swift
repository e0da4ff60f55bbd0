import AirlineServer
import AtomNetworking
import InMemoryBackends
import Logging
import MetricsTestKit
import Observability
import Tracing

// Sends requests to an airline server that it starts itself, and prints what the
// observers have written: logs while it runs, then spans and metrics.

let tracer = TraceParentTracer()
let metrics = TestMetrics()
InstrumentationSystem.bootstrap(tracer)

var logger = Logger(label: "requests", factory: { _ in PlainLogHandler() })
logger.logLevel = .debug

/// The observers, which an app sets once.
let template: @Sendable (RequestEvent) -> String? = { event in
    // An app could look it up by the type of its endpoint, `event.endpoint`.
    event.request?.url.contains("/busy/") == true ? "/busy/{name}" : nil
}
let tracing = TracingObserver(recordsRequests: true, urlTemplate: template)
var configuration = ServiceConfiguration()
configuration.observers = [LoggingObserver(logger), MetricsObserver(factory: metrics, urlTemplate: template), tracing]
configuration.signers = [TraceContextSigner(tracing)]
configuration.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .milliseconds(20))

let server = try await AirlineServer.start()
await Visit(server: server, configuration: configuration).run()

Report.print(tracer.finishedSpans)
Report.print(metrics)
