/// What a session needs from the service whose request starts a refresh.
///
/// Services that share a session may differ in all of it. The session knows
/// nothing else about the services.
protocol RefreshService: AnyObject, Sendable {
    /// The app's own way to get a credential, if the service is configured so.
    var provider: (any TokenCredentialProvider)? { get }

    /// The longest time that the provider may take; `nil` for no limit.
    var providerDeadline: Duration? { get }

    /// Where the session logs, if it does.
    var log: RequestLog? { get }

    /// Asks the token endpoint; the request waits in no queue.
    ///
    /// - Parameters:
    ///   - credential: The credential to replace, if there is one.
    ///   - sentAt: The time now, from which the token's lifetime counts.
    func token(replacing credential: TokenCredential?, sentAt: Moment) async -> TokenResponse

    /// Revokes a credential, if there is an endpoint for it; nobody waits for
    /// that.
    func revoke(_ credential: TokenCredential)

    /// Revokes a credential, if there is an endpoint for it, and waits for the
    /// answer.
    ///
    /// - Returns: Why that failed.
    func revocation(of credential: TokenCredential) async -> AtomError?

    /// Tells the app what happened to the session, after the requests that
    /// waited for it.
    ///
    /// - Parameter isOver: Whether nothing can be signed any more.
    func announce(_ event: SessionEvent, isOver: Bool)
}
