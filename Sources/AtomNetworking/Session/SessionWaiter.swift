/// A request that a session keeps waiting.
protocol SessionWaiter: AnyObject, Sendable {
    /// Read and written by the session only, under its lock.
    var sessionPlace: SessionPlace? { get set }

    /// How its service gets another credential.
    var refreshMeans: RefreshMeans { get }

    /// The service whose configuration a refresh uses that this request starts.
    var service: any RefreshService { get }

    /// The request may be sent. Called outside all locks, for one waiter after the other.
    func released()

    /// The request will not be sent. Called outside all locks.
    func refused(_ error: AuthenticationError)
}

/// What a session knows about a request that it has admitted.
struct SessionPlace {
    /// Its place in the order of admission, until it has been sent.
    var ticket = 0
    /// The sign-in that it belongs to.
    var generation: Int
    /// For the reconnection of a stream, and a link: the count of takeovers at which it may be sent; `nil` for any.
    var takeoverCount: Int?
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

/// Whose session it is: another value after each sign-in, sign-out and takeover, but the same one after a refresh.
struct SessionHolder: Hashable, Sendable {
    let generation: Int
    let takeoverCount: Int
}

/// What tells whose token has signed a request; each of these is enough.
struct SessionSigner: Sendable {
    let holder: SessionHolder
    /// The session, for no longer than this process lives.
    let mark: String
    /// The refresh token and those that it has replaced, or the access token if there is none.
    let tokens: [String]
}
