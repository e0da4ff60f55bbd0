/// What a session needs of the service whose request set a refresh off.
///
/// Services that share a session may differ in all of it. The session knows
/// nothing else of who sends requests.
protocol RenewalService: AnyObject, Sendable {
    /// The app's own way to a credential, if that is how this service is
    /// configured.
    var provider: (any TokenCredentialProvider)? { get }

    /// The longest time that the provider may take; `nil` for any.
    var providerDeadline: Duration? { get }

    /// Where lines about the session go.
    var log: ExchangeLog { get }

    /// Asks the token endpoint, past every queue.
    ///
    /// - Parameters:
    ///   - credential: What is to be replaced, if there is something.
    ///   - sentAt: Now, from which the token's life counts.
    func token(replacing credential: TokenCredential?, sentAt: Moment) async -> TokenAnswer

    /// Revokes what a session was signed with, if there is an endpoint for it;
    /// nobody waits for that.
    func revoke(_ credential: TokenCredential)

    /// Tells the app what happened to the session, after those who waited for
    /// it.
    ///
    /// - Parameter isOver: Whether nothing can be signed any more.
    func announce(_ event: SessionEvent, isOver: Bool)
}
