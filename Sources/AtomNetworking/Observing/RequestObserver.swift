/// Hears what happens to each request of a service: for logs, metrics, traces and recordings.
///
/// Events hold no secrets: see ``RequestEvent``. <doc:Observing> has examples.
public protocol RequestObserver: Sendable {
    /// Hears an event.
    ///
    /// The events of one request come in order, one at a time, on any thread; those of
    /// different requests at the same time. The last comes before the caller is told,
    /// unless another event of the request is being heard: then directly after that.
    ///
    /// The request goes on when this method returns, so it must not wait. It is also
    /// called inside `resume` and `cancel`, and where a task is cancelled: hold no lock
    /// around those that this method takes. It may start and cancel requests.
    func observe(_ event: RequestEvent)
}
