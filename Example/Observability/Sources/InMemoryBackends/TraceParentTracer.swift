import InMemoryTracing
import Tracing

/// A tracer that keeps its spans in memory and propagates them as `traceparent` (W3C Trace Context).
///
/// A real one, for example swift-otel's, sends them to a collector.
public struct TraceParentTracer: Tracer {
    private let spans: InMemoryTracer

    /// Creates a tracer without spans.
    public init() {
        spans = InMemoryTracer(
            idGenerator: InMemoryTracer.IDGenerator(
                nextTraceID: { Self.hexadecimal(.random(in: 1 ... .max)) + Self.hexadecimal(.random(in: 0 ... .max)) },
                nextSpanID: { Self.hexadecimal(.random(in: 1 ... .max)) }),
            recordInjections: false, recordExtractions: false)
    }

    /// The spans that have ended, in that order.
    public var finishedSpans: [FinishedInMemorySpan] { spans.finishedSpans }

    /// How many spans have begun and not ended.
    public var activeSpanCount: Int { spans.activeSpans.count }

    /// Begins a span.
    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> InMemorySpan {
        spans.startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID,
            line: line)
    }

    /// Does nothing: nothing is sent anywhere.
    public func forceFlush() {}

    /// Adds `traceparent`.
    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let span = context.inMemorySpanContext else { return }
        injector.inject("00-\(span.traceID)-\(span.spanID)-01", forKey: "traceparent", into: &carrier)
    }

    /// Does nothing: nobody sends it requests.
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {}

    private static func hexadecimal(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension FinishedInMemorySpan {
    /// All attributes, as texts.
    public var texts: [String: String] {
        var texts: [String: String] = [:]
        // swift-format-ignore: ReplaceForEachWithForLoop
        attributes.forEach { name, value in
            switch value {
            case .string(let text): texts[name] = text
            case .int64(let number): texts[name] = "\(number)"
            default: texts[name] = "\(value)"
            }
        }
        return texts
    }
}
