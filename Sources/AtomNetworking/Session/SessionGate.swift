/// The part of a session that a request with a good token goes through.
///
/// Nobody refers to it weakly, as the registry does to the session: an object that was ever referred to weakly is
/// slower to retain, and each request would pay for it.
final class SessionGate: Sendable {
    private let guarded: GuardedMachine
    private let keeper: SessionKeeper
    private let time: any TimeSource

    init(_ guarded: GuardedMachine, keeper: SessionKeeper, time: any TimeSource) {
        self.guarded = guarded
        self.keeper = keeper
        self.time = time
    }

    /// A request asks to be sent: one look under one lock, if its token is good.
    ///
    /// - Parameter isAnew: Whether it was answered by a 401 or a redirect, and joins
    ///   the end of the queue; one that has only waited keeps its place.
    /// - Returns: `nil` if it has to ask the session.
    func admit(_ waiter: any SessionWaiter, anew isAnew: Bool) -> Pass? {
        let current = keeper.current
        let now = time.now
        let means = waiter.refreshMeans
        return guarded.with { machine in
            let ticket = waiter.ticket
            let isBound = ticket?.isBound ?? false
            guard
                let (number, pass) = machine.admitAtOnce(
                    by: means, of: ticket?.tenure, isBound: isBound, ticket: isAnew ? nil : ticket?.number,
                    read: current, at: now)
            else { return nil }
            waiter.ticket = SessionTicket(number: number, tenure: pass.tenure, isBound: isBound)
            return pass
        }
    }

    /// What a request is sent with now; without authorization it has to ask again.
    func pass(for waiter: any SessionWaiter) -> Pass {
        let now = time.now
        return guarded.with { machine in
            let ticket = waiter.ticket
            return machine.pass(
                of: ticket?.tenure, isBound: ticket?.isBound ?? false, ticket: ticket?.number, at: now)
        }
    }

    /// Whether the session is that of this tenure, and a variable holds what was read last, or a store has been taken
    /// over at most: one look, as there is one before each element of a stream.
    func isUnchanged(since tenure: Tenure) -> Bool {
        let current = keeper.current
        return guarded.with { machine in
            guard let current else { return machine.tenure.isSameSignIn(as: tenure) }
            return machine.tenure.isUnbroken(since: tenure) && machine.store.isUnchanged(current)
        }
    }

    /// Whose session it is, as far as is known without a look at what is kept.
    var tenure: Tenure { guarded.with { $0.tenure } }

    /// What tells whose the access token with this number is; `nil` if the session has another one by now.
    ///
    /// Each of these is enough: the refresh token and those that it has replaced, or the access token if there is none.
    func tokens(of number: Int) -> [String]? { guarded.with { $0.tokens(of: number) } }

    /// The server has accepted a request signed with this unproven token.
    func accepted(tokenNumber: Int) { guarded.with { $0.accepted(tokenNumber: tokenNumber) } }

    /// What is kept now, and the version before it was read; `nil` where it has to be loaded.
    func readCurrent() -> (credential: TokenCredential, version: Int)? {
        guard case .variable(let variable) = keeper else { return nil }
        let version = guarded.with { $0.version }
        return (variable.tokenCredential, version)
    }
}
