/// A request that a session keeps waiting.
protocol SessionWaiter: AnyObject, Sendable {
    /// What the session that admitted it knows about it; read and written by
    /// the session only, under its lock.
    var sessionPlace: SessionPlace? { get set }

    /// When the request's own time is up.
    var totalDeadline: MonotonicInstant { get }

    /// How its service gets another credential.
    var refreshMeans: RefreshMeans { get }

    /// The service whose configuration a refresh uses that this request starts.
    var service: any RefreshService { get }

    /// The request may be sent. Called outside all locks, for one waiter after
    /// the other.
    func released()

    /// The request will not be sent. Called outside all locks.
    func refused(_ error: AuthenticationError)
}

/// What a session knows about a request that it has admitted.
struct SessionPlace {
    /// Its place in the order of admission, until it has been sent.
    var ticket: Int
    /// The sign-in that it belongs to.
    var generation: Int
    /// For the reconnection of a stream: the count of takeovers at which it
    /// may be sent; `nil` for any.
    var takeoverCount: Int?
    /// Whether it is in the queue.
    var isWaiting: Bool
}
