// These stand beside the machine and not in it: what is nested in a generic type is looked up at run time for every
// request.

/// What the session is doing.
enum SessionPhase {
    /// The store is being read: it may hold a credential that isn't known yet.
    ///
    /// - Parameter end: The end of the session, unless the store holds
    ///   something else; `nil` when nobody is signed in.
    case loading(end: PossibleEnd?)
    /// There is a credential; whether it is good depends on the time.
    case active
    /// A refresh is on its way, or an outdated one whose end is waited for.
    case refreshing
    /// A new credential is committed and not stored yet.
    case storing
    /// A refresh failed; none is started before the instant.
    case backingOff(until: MonotonicInstant)
    /// Nothing can be done before the stored credential changes.
    case ended(AuthenticationError)
    /// There is no credential.
    case signedOut
}

/// The end of a session that a look at the store may still prevent.
struct PossibleEnd {
    let error: AuthenticationError
    /// Whether the app has been told of this end before.
    let isAnnounced: Bool
}

/// What becomes of a request that asks to be sent.
enum SessionAdmission {
    /// Go straight on, as a request of this generation; the ticket is for
    /// asking again.
    case go(ticket: Int, generation: Int)
    /// Wait, as a request of this generation; `left` takes the ticket.
    case wait(ticket: Int, generation: Int)
    /// Don't.
    case refuse(AuthenticationError)
    /// The credential was read before it was replaced: read it again.
    case readAgain
}

/// What a request that is about to start is signed with.
enum SessionSignature: Equatable {
    /// This value of the `Authorization` field, of this version.
    case authorization(String, version: Int)
    /// Nothing yet: ask to be admitted again.
    case none
    /// Never: the request belongs to a session that is over.
    case outdated
}

/// A request in a session's queue.
struct SessionWaiting<Waiter> {
    let waiter: Waiter
    /// How it would have another credential got.
    let means: RenewalMeans
    /// Whether it has not been admitted to any session before.
    let isNew: Bool
}

extension SessionWaiting: Sendable where Waiter: Sendable {}
