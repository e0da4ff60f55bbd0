import AtomNetworking
import Foundation
import Tracing

/// Makes a client span of each attempt of a request with
/// swift-distributed-tracing, by OpenTelemetry's conventions for HTTP clients.
///
/// ```swift
/// let tracing = TracingObserver()
/// configuration.observers.append(tracing)
/// configuration.signers.append(TraceContextSigner(tracing))
/// ```
///
/// The spans are children of the span in which the app calls `resume`: the one of its task's `ServiceContext`.
public final class TracingObserver: RequestObserver {
    /// A span that hasn't ended.
    private struct OpenSpan {
        let span: any Span
        let startedAt: DefaultTracerClock.Timestamp

        func end(at instant: DefaultTracerClock.Timestamp) {
            // The two times may come from two clocks.
            span.end(at: max(startedAt, instant))
        }
    }

    private struct Trace {
        /// The context of the spans' parent.
        var context: ServiceContext
        /// The span of the whole request, if it has one.
        var whole: OpenSpan?
        /// The spans of the attempts, by number.
        var spans: [Int: OpenSpan] = [:]
        var record = AttemptRecord()
        var template: String?
    }

    private let tracer: any Tracer
    private let recordsRequests: Bool
    private let template: @Sendable (RequestEvent) -> String?
    /// The requests that haven't ended, by number.
    private let traces = Locked<[UInt64: Trace]>([:])

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - tracer: Makes the spans; by default the one of
    ///     `InstrumentationSystem`.
    ///   - recordsRequests: Whether there is also a span around all attempts of
    ///     a request, with the time that it waits.
    ///   - urlTemplate: The value of `url.template` for an endpoint, for example
    ///     `/flights/{number}`; one of few. It is a part of the span's name.
    public init(
        tracer: any Tracer = InstrumentationSystem.tracer, recordsRequests: Bool = false,
        urlTemplate: @escaping @Sendable (RequestEvent) -> String? = { _ in nil }
    ) {
        self.tracer = tracer
        self.recordsRequests = recordsRequests
        template = urlTemplate
    }

    /// Begins and ends spans.
    public func observe(_ event: RequestEvent) {
        guard let id = event.requestID, event.request != nil else { return }
        if case .described = event.kind { return begin(id, at: event) }
        let change = traces.withLock { $0[id]?.record.note(event) }
        guard let change else { return }
        if let begun = change.begun {
            let span = span(of: begun.number, of: id, method: begun.request.method, at: instant(of: event))
            span?.updateAttributes { self.describe(begun, of: id, in: &$0) }
        }
        for attempt in change.complete { end(attempt, of: id, at: event) }
        switch event.kind {
        case .queued(.session): note("waits for the session", id, at: event)
        case .queued(.slot): note("waits for its turn", id, at: event)
        case .admitted: note("goes on", id, at: event)
        case .finished(let summary): finish(id, summary, at: event)
        default: break
        }
    }

    // MARK: - The request

    private func begin(_ id: UInt64, at event: RequestEvent) {
        // It comes in the caller's task.
        var trace = Trace(context: .current ?? .topLevel)
        trace.template = template(event)
        if recordsRequests {
            let name = event.endpoint ?? "\(event.purpose)"
            let whole = start(name, trace.context, .internal, at: instant(of: event))
            trace.context = whole.span.context
            trace.whole = whole
        }
        traces.withLock { $0[id] = trace }
    }

    private func note(_ name: String, _ id: UInt64, at event: RequestEvent) {
        let whole = traces.withLock { $0[id]?.whole }
        whole?.span.addEvent(SpanEvent(name: name, at: instant(of: event)))
    }

    private func finish(_ id: UInt64, _ summary: RequestSummary, at event: RequestEvent) {
        guard let trace = traces.withLock({ $0.removeValue(forKey: id) }) else { return }
        let failure = summary.failure.map { Attempt.Failure($0, statusCode: summary.statusCode) }
        // What was signed and then not sent has nobody else who ends it.
        for open in trace.spans.values + (trace.whole.map { [$0] } ?? []) {
            if let failure { Self.mark(open.span, failure) }
            open.end(at: instant(of: event))
        }
    }

    // MARK: - An attempt

    /// The context of an attempt's span, which begins now if it hasn't begun; `nil` for a request that isn't observed.
    func context(of number: Int, of id: UInt64, method: String, at date: Date) -> ServiceContext? {
        span(of: number, of: id, method: method, at: Self.instant(date))?.context
    }

    private func span(
        of number: Int, of id: UInt64, method: String, at instant: DefaultTracerClock.Timestamp
    ) -> (any Span)? {
        guard let trace = traces.withLock({ $0[id] }) else { return nil }
        if let open = trace.spans[number] { return open.span }
        let word = ConventionalMethod(method).word
        // An attempt is signed, sent and answered in this order, so no other thread begins the same span. The tracer
        // isn't called under the lock.
        let open = start(trace.template.map { "\(word) \($0)" } ?? word, trace.context, .client, at: instant)
        let isKept = traces.withLock { traces in
            traces[id]?.spans[number] = open
            return traces[id] != nil
        }
        // The request has ended while it was signed.
        if !isKept { open.end(at: instant) }
        return open.span
    }

    private func describe(_ attempt: Attempt, of id: UInt64, in attributes: inout SpanAttributes) {
        attributes[AttributeName.requestMethod] = attempt.method.value
        if let original = attempt.method.original { attributes[AttributeName.requestMethodOriginal] = original }
        attributes[AttributeName.serverAddress] = attempt.serverAddress
        attributes[AttributeName.serverPort] = attempt.request.port
        attributes[AttributeName.urlFull] = attempt.request.url
        attributes[AttributeName.urlScheme] = attempt.request.scheme.rawValue
        if let template = traces.withLock({ $0[id]?.template }) { attributes[AttributeName.urlTemplate] = template }
        if attempt.number > 1 { attributes[AttributeName.requestResendCount] = attempt.number - 1 }
    }

    private func end(_ attempt: Attempt, of id: UInt64, at event: RequestEvent) {
        guard let open = traces.withLock({ $0[id]?.spans.removeValue(forKey: attempt.number) }) else { return }
        open.span.updateAttributes { attributes in
            if let version = attempt.protocolVersion {
                attributes[AttributeName.protocolName] = "http"
                attributes[AttributeName.protocolVersion] = version
            }
            if let address = attempt.metrics?.remoteAddress { attributes[AttributeName.peerAddress] = address }
            if let port = attempt.metrics?.remotePort { attributes[AttributeName.peerPort] = port }
            if let head = attempt.head { attributes[AttributeName.responseStatusCode] = head.statusCode }
        }
        if let failure = attempt.failure { Self.mark(open.span, failure) }
        let sinceThen = event.elapsed - (attempt.endedAt ?? event.elapsed)
        open.end(at: Self.instant(event.date.addingTimeInterval(-(sinceThen / .seconds(1)))))
    }

    private static func mark(_ span: any Span, _ failure: Attempt.Failure) {
        span.attributes[AttributeName.errorType] = failure.type
        span.setStatus(SpanStatus(code: .error, message: failure.message))
    }

    private func start(
        _ name: String, _ context: ServiceContext, _ kind: SpanKind, at instant: DefaultTracerClock.Timestamp
    ) -> OpenSpan {
        OpenSpan(span: tracer.startSpan(name, context: context, ofKind: kind, at: instant), startedAt: instant)
    }

    // MARK: - For the signer

    /// Adds a context to header fields, as the tracer does it.
    func fields(for context: ServiceContext) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        tracer.inject(context, into: &fields, using: FieldInjector())
        return fields
    }

    private struct FieldInjector: Injector {
        func inject(_ value: String, forKey key: String, into fields: inout [(name: String, value: String)]) {
            fields.append((key, value))
        }
    }

    // MARK: - Time

    private func instant(of event: RequestEvent) -> DefaultTracerClock.Timestamp { Self.instant(event.date) }

    private static func instant(_ date: Date) -> DefaultTracerClock.Timestamp {
        DefaultTracerClock.Timestamp(
            nanosecondsSinceEpoch: UInt64(max(0, (date.timeIntervalSince1970 * 1_000_000).rounded())) * 1_000)
    }
}
