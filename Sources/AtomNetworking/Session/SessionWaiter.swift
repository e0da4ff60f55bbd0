/// A request that a session keeps waiting.
protocol SessionWaiter: AnyObject, Sendable {
    /// Read and written by the session only, under its lock.
    var ticket: SessionTicket? { get set }

    /// How its service gets another credential.
    var refreshMeans: RefreshMeans { get }

    /// The service whose configuration a refresh uses that this request starts.
    var service: any RefreshService { get }

    /// The request may be sent. Called outside all locks, for one waiter after the other.
    func released()

    /// The request will not be sent. Called outside all locks.
    func refused(_ error: AuthenticationError)
}

/// What a session knows about a request that it has admitted, or that is for one tenure only.
struct SessionTicket {
    /// Its place in the order of admission, until it has been sent.
    var number = 0
    /// Whose it is: it is sent for no other sign-in.
    var tenure: Tenure
    /// Whether it is sent only if that is unbroken: a stream that goes on, and a link.
    var isBound = false
    /// Whether it is in the queue.
    var isWaiting = false
    /// Whether the session has not been asked yet.
    var isNew = false
}

/// What a session needs from the service whose request starts a refresh; services
/// that share a session may differ in all of it.
protocol RefreshService: AnyObject, Sendable {
    var provider: (any TokenCredentialProvider)? { get }

    /// The longest time that the provider may take; `nil` for no limit.
    var providerDeadline: Duration? { get }

    var log: RequestLog? { get }

    /// Asks the token endpoint; the request waits in no queue. Cancelling the task ends it.
    ///
    /// - Parameters:
    ///   - sentAt: The time now, from which the token's lifetime counts.
    ///   - overdue: Called at most once, when the time for the refresh is over and the request may have reached the
    ///     server; the answer, or that the connection has ended, still follows.
    func token(
        replacing credential: TokenCredential?, sentAt: Moment, overdue: @escaping @Sendable (AtomError) -> Void
    ) async -> TokenResponse

    /// Whether there is an endpoint that revokes tokens.
    var revokes: Bool { get }

    /// Revokes a credential, if there is an endpoint for it; nobody waits.
    func revoke(_ credential: TokenCredential)

    /// Revokes a credential, if there is an endpoint for it, and returns why that failed.
    func revocation(of credential: TokenCredential) async -> AtomError?

    /// Tells the app what happened to the session, after the requests that waited for it.
    ///
    /// - Parameter isOver: Whether nothing can be signed any more.
    func announce(_ event: SessionEvent, isOver: Bool)
}
