/// Hears what happens to each request of a service: for logs, metrics, traces
/// and recordings.
///
/// ```swift
/// import AtomNetworking
///
/// struct SlowRequests: RequestObserver {
///     func observe(_ event: RequestEvent) {
///         if case .finished(let summary) = event.kind, summary.duration > .seconds(2) {
///             print("Request \(event.requestID.map(String.init) ?? "") took \(summary.duration)")
///         }
///     }
/// }
///
/// var configuration = ServiceConfiguration()
/// configuration.observers = [SlowRequests()]
/// ```
///
/// Events hold no secrets: see ``RequestEvent``. <doc:Observing> has more.
public protocol RequestObserver: Sendable {
    /// Hears an event.
    ///
    /// The events of one request come in order, one at a time, on any thread.
    /// Events of different requests come at the same time. The last event comes
    /// before the caller is told, unless another event of the request is being
    /// heard at that moment: then directly after that one.
    ///
    /// The request goes on when this method returns, so it must not wait. It is
    /// also called inside `resume` and `cancel`, and where a task is cancelled:
    /// hold no lock around those that this method takes. It may start and cancel
    /// requests.
    func observe(_ event: RequestEvent)
}
