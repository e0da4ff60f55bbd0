import AtomNetworking
import AtomNetworkingTesting
import Foundation
import InMemoryBackends
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import Observability
import Tracing

/// A server, a service that calls it, and all that its observers have written.
struct Station {
    let server: LoopbackServer
    let tracer = TraceParentTracer()
    let metrics = TestMetrics()
    let log = InMemoryLogHandler()
    var configuration: ServiceConfiguration

    init(
        recordsRequests: Bool = false,
        template: @escaping @Sendable (RequestEvent) -> String? = { _ in nil },
        _ routes: [String: LoopbackServer.Handler] = [:]
    ) throws {
        server = try LoopbackServer(handler: LoopbackServer.routes(routes))
        configuration = ServiceConfiguration()
        configuration.retryPolicy = RetryPolicy(maximumAttempts: 3, baseDelay: .milliseconds(1))
        let tracing = TracingObserver(tracer: tracer, recordsRequests: recordsRequests, urlTemplate: template)
        var logger = Logger(label: "requests", factory: { [log] _ in log })
        logger.logLevel = .trace
        configuration.observers = [
            tracing, MetricsObserver(factory: metrics, urlTemplate: template), LoggingObserver(logger),
        ]
        configuration.signers = [TraceContextSigner(tracing)]
    }

    /// A service with a session, whose token the server may refuse.
    func signedIn(_ credential: TokenCredential) throws -> Atom {
        var configuration = configuration
        configuration.authenticationMethod = .bearer(
            try AuthorizationEndpoint(scheme: .http, host: "127.0.0.1", port: server.port, path: "/token"),
            ClientCredential(id: "app", secret: "client-secret"), InMemoryTokenCredentialStore(credential))
        return Atom(serviceConfiguration: configuration)
    }

    var atom: Atom { Atom(serviceConfiguration: configuration) }

    func endpoint(_ path: String) -> Endpoint { Endpoint(port: server.port, pathText: path) }

    /// The client spans, in the order in which they began.
    var spans: [FinishedInMemorySpan] {
        tracer.finishedSpans.filter { $0.kind == .client }
            .sorted { $0.startInstant.nanosecondsSinceEpoch < $1.startInstant.nanosecondsSinceEpoch }
    }

    /// The client spans of one path.
    func spans(at path: String) -> [FinishedInMemorySpan] {
        spans.filter { $0.text("url.full")?.hasSuffix(path) == true }
    }

    /// What the server got as `traceparent`, for each request to a path.
    func traceParents(at path: String) -> [String?] {
        server.requests.filter { $0.path == path }.map { $0["traceparent"] }
    }
}

struct Endpoint: Requestable {
    var port: Int
    var pathText: String
    var methodText = "GET"
    var body: RequestBody?
    var headerItems: [HeaderItem]?
    var queryItems: [QueryItem]?
    var requiresAuthorization = false

    var method: HTTPMethod { .token(methodText) }
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(scheme: .http, host: "127.0.0.1", port: port) }
    func path() throws(AtomError) -> URLPath { try URLPath(pathText) }

    func with(_ change: (inout Endpoint) -> Void) -> Endpoint {
        var other = self
        change(&other)
        return other
    }
}

extension FinishedInMemorySpan {
    var traceParent: String { "00-\(traceID)-\(spanID)-01" }
    func text(_ name: String) -> String? { texts[name] }
}
