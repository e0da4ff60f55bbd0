import AtomNetworking
import Tracing

/// Adds the trace context of an attempt's span to its header fields: `traceparent`, or what the tracer uses.
///
/// The span is the one of the ``TracingObserver``, which begins here: the service must have both. Signers aren't called
/// after a redirect to another origin, nor for the SDK's own requests; these get a span, and no header field.
public struct TraceContextSigner: RequestSigner {
    private let observer: TracingObserver

    /// Creates a signer.
    ///
    /// - Parameter observer: Makes the spans; it must be one of the service's observers.
    public init(_ observer: TracingObserver) {
        self.observer = observer
    }

    /// Begins the span of an attempt and adds its context.
    ///
    /// - Throws: An error of the SDK if the tracer has made a header field that can't be sent.
    public func sign(_ request: inout SignableRequest) throws {
        guard let id = request.requestID,
            let context = observer.context(of: request.attempt, of: id, method: request.method, at: request.date)
        else { return }
        for field in observer.fields(for: context) { try request.setHeader(field.name, to: field.value) }
    }
}
