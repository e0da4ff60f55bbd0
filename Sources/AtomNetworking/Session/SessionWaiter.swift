/// A request that a session keeps waiting.
protocol SessionWaiter: AnyObject, Sendable {
    /// Where it stands with the session that admitted it; read and written by
    /// the session only, under its lock.
    var sessionPlace: SessionPlace? { get set }

    /// When the request's own time is up.
    var totalDeadline: MonotonicInstant { get }

    /// How its service gets another credential.
    var renewalMeans: RenewalMeans { get }

    /// Whose configuration a refresh uses that this request sets off.
    var service: any RenewalService { get }

    /// The session is good: start. Called outside every lock, for one waiter
    /// after the other.
    func released()

    /// The request will not be sent. Called outside every lock.
    func refused(_ error: AuthenticationError)
}

/// Where a request stands with its session.
struct SessionPlace {
    /// Its place in the order of all requests, until it has been sent.
    var ticket: Int
    /// The sign-in that it belongs to.
    var generation: Int
    /// Whether it is in the queue.
    var isWaiting: Bool
}
