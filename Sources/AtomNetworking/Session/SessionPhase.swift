// These types are not nested in the machine: the metadata of a type nested in a generic one is looked up at run time,
// for every request.

/// What the session is doing.
enum SessionPhase {
    /// The store has to be read: it may hold a credential that isn't known yet.
    ///
    /// - Parameter end: How the session ends unless the store holds something
    ///   new; `nil` if nobody was signed in.
    case loading(end: PossibleEnd?)
    /// There is a credential; time decides whether it is good.
    case active
    /// A refresh is running, or an outdated refresh has to end first.
    case refreshing
    /// A new credential is committed, but not stored yet.
    case storing
    /// A refresh has failed; the next one starts at this instant or later.
    case backingOff(until: MonotonicInstant)
    /// The session has ended until the stored credential changes.
    case ended(AuthenticationError)
    /// There is no credential.
    case signedOut
}

/// The end of a session, unless the store holds something new.
struct PossibleEnd {
    let error: AuthenticationError
    /// Whether the app has been told of this end before.
    let isAnnounced: Bool
}

/// The answer to a request that asks to be sent.
enum SessionAdmission {
    /// Send it, as a request of this generation; if it has to ask again, it
    /// shows the ticket.
    case go(ticket: Int, generation: Int)
    /// Let it wait, as a request of this generation; `left` takes the ticket.
    case wait(ticket: Int, generation: Int)
    /// Do not send it.
    case refuse(AuthenticationError)
    /// The credential was read before it was replaced: read it again, and ask
    /// again.
    case readAgain
}

/// What a request is signed with that is about to be sent.
enum SessionSignature: Equatable {
    /// This value of the `Authorization` field, from the access token with this
    /// number.
    case authorization(String, version: Int)
    /// Nothing yet: the request has to ask again.
    case none
    /// Nothing: the request belongs to a session that is over.
    case outdated
}

/// A request in a session's queue.
struct SessionWaiting<Waiter> {
    let waiter: Waiter
    /// How its service gets another credential.
    let means: RefreshMeans
    /// Whether no session has admitted it before.
    let isNew: Bool
}

extension SessionWaiting: Sendable where Waiter: Sendable {}
