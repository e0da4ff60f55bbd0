// These types are not nested in the machine: the metadata of a type nested in a generic one is looked up at run time,
// for every request.

/// What a session is doing, with what is true then.
///
/// Indirect: the machine takes credentials out of it in many places, and that code is a third smaller so.
indirect enum SessionPhase {
    /// The store has to be read, by the load with this number if one is running; it may hold a credential that isn't
    /// known yet. Otherwise the session ends so, if somebody was signed in.
    case loading(number: Int?, end: SessionEnd?)
    case signedOut
    /// There is a credential; time decides whether it is good.
    case signedIn(HeldCredential)
    case refreshing(HeldCredential?, SessionRefresh)
    /// A refresh has to come home first that was left behind.
    case waiting(HeldCredential?)
    /// This new credential is committed, but not stored yet.
    case storing(HeldCredential)
    /// A refresh has failed; the next one starts at this instant or later.
    case backingOff(HeldCredential?, until: MonotonicInstant)
    /// The session has ended until the stored credential changes.
    case ended(SessionEnd)

    /// The credential that is held; another one takes its place in the same phase.
    var held: HeldCredential? {
        get {
            switch self {
            case .signedIn(let held), .storing(let held): held
            case .refreshing(let held, _), .waiting(let held), .backingOff(let held, _): held
            case .ended(let end): end.held
            case .loading(_, let end): end?.held
            case .signedOut: nil
            }
        }
        set {
            guard let newValue else { return }
            switch self {
            case .signedIn: self = .signedIn(newValue)
            case .storing: self = .storing(newValue)
            case .refreshing(_, let refresh): self = .refreshing(newValue, refresh)
            case .waiting: self = .waiting(newValue)
            case .backingOff(_, let until): self = .backingOff(newValue, until: until)
            case .ended(var end):
                end.held = newValue
                self = .ended(end)
            case .loading(let number, var end):
                end?.held = newValue
                self = .loading(number: number, end: end)
            case .signedOut: break
            }
        }
    }
}

/// How a session has ended, or ends unless the store holds something new.
struct SessionEnd {
    /// The credential that can't be renewed.
    var held: HeldCredential?
    let error: AuthenticationError
    /// The means of the refresh that has ended it.
    let means: RefreshMeans
    /// Whether the app has been told.
    var isAnnounced = true
}

/// A refresh that has not come home yet.
struct SessionRefresh {
    let number: Int
    /// How the request that started it would get another credential.
    let asked: RefreshMeans
    /// How the refresh does.
    var means: RefreshMeans
    /// The credential that it replaces.
    var credential: TokenCredential?
    /// Whether the session that it was started for has been signed out.
    var isSignedOut = false
    /// Whether the app's provider has returned a credential.
    var isProvided = false
    /// Whether requests have waited for it as long as they could, and are sent with the old token while that is valid.
    var isSilent = false
    /// Whether its time is over.
    var isOverdue = false
}

/// What failed refreshes say about the next one.
struct SessionSetback {
    /// In a row.
    var count = 0
    var notBefore: MonotonicInstant
    let failure: AuthenticationError
    /// The overdue refresh whose answer the next one waits for.
    var overdueNumber: Int?
}

/// The answer to a request that asks to be sent.
enum SessionAdmission {
    /// Send it, as a request of the present tenure; if it has to ask again, it shows the ticket.
    case go(ticket: Int)
    /// Let it wait; `left` takes the ticket.
    case wait(ticket: Int)
    case refuse(AuthenticationError)
    /// The credential was read before it was replaced: read and ask again.
    case readAgain
}

/// A request in a session's queue.
struct SessionWaiting<Waiter> {
    let waiter: Waiter
    let means: RefreshMeans
    let joinedAt: MonotonicInstant
    let deadline: MonotonicInstant
    /// Whether no session has admitted it before.
    let isNew: Bool
    /// Whether it is for whoever was there when it began: nobody signs in for it.
    let isBound: Bool
}

extension SessionWaiting: Sendable where Waiter: Sendable {}
