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
let tracing = TracingObserver(recordsRequests: true) { request in
    // An app would take it from its endpoints: `request.endpoint` has the type.
    request.url.contains("/busy/") ? "/busy/{name}" : nil
}
var configuration = ServiceConfiguration()
configuration.observers = [LoggingObserver(logger), MetricsObserver(factory: metrics), tracing]
configuration.signers = [TraceContextSigner(tracing)]
configuration.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .milliseconds(20))

let server = try await AirlineServer.start()
let visit = Visit(server: server, configuration: configuration)
await visit.run()
await server.stop()
await visit.callNobody()

Report.print(tracer.finishedSpans)
Report.print(metrics)
