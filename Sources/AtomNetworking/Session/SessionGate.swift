import Foundation

/// The part of a session that a request with a good token goes through.
///
/// Nobody refers to it weakly, as the registry does to the session: an object that was ever referred to weakly is
/// slower to retain, and each request would pay for it.
final class SessionGate: Sendable {
    private let guarded: GuardedMachine
    private let keeper: SessionKeeper
    private let time: any TimeSource
    /// Another one for each session of each process.
    let mark = UUID()

    init(_ guarded: GuardedMachine, keeper: SessionKeeper, time: any TimeSource) {
        self.guarded = guarded
        self.keeper = keeper
        self.time = time
    }

    /// A request asks to be sent: one look under one lock, if its token is good.
    ///
    /// - Parameter isAnew: Whether it was answered by a 401 or a redirect, and joins
    ///   the end of the queue; one that has only waited keeps its place.
    /// - Returns: What it is signed with, if it may be sent now; `nil` if it has to ask the session.
    func admit(_ waiter: any SessionWaiter, anew isAnew: Bool) -> (SessionSignature, departures: Int)? {
        let current = keeper.current
        let now = time.now
        let means = waiter.refreshMeans
        return guarded.with { machine in
            let place = waiter.sessionPlace
            guard
                let (ticket, generation, signature) = machine.admitAtOnce(
                    by: means, of: place?.generation, takeover: place?.takeoverCount,
                    ticket: isAnew ? nil : place?.ticket, read: current, at: now)
            else { return nil }
            waiter.sessionPlace = SessionPlace(
                ticket: ticket, generation: generation, takeoverCount: place?.takeoverCount, isWaiting: false)
            return (signature, machine.departures)
        }
    }

    /// What a request is signed with that is about to be sent, and how many had gone by then.
    func signature(for waiter: any SessionWaiter) -> (SessionSignature, departures: Int) {
        let now = time.now
        return guarded.with { machine in
            // Not with `??`: its closure would copy the machine.
            guard let place = waiter.sessionPlace else {
                return (machine.signature(of: machine.generation, at: now), machine.departures)
            }
            let signature = machine.signature(
                of: place.generation, takeover: place.takeoverCount, ticket: place.ticket, at: now)
            return (signature, machine.departures)
        }
    }

    /// The place of whoever was there when so many had gone: nobody's, if more have gone since.
    func place(since departures: Int) -> SessionPlace {
        guarded.with { machine in
            SessionPlace(
                generation: departures == machine.departures ? machine.generation : -1,
                takeoverCount: machine.takeoverCount)
        }
    }

    /// Whether it is this holder's session, and a variable holds what was read last, or a store has been taken over at
    /// most: one look, as there is one before each element of a stream.
    func isUnchanged(of holder: SessionHolder) -> Bool {
        let current = keeper.current
        return guarded.with { machine in
            guard let current else { return machine.generation == holder.generation }
            return machine.holder == holder && machine.store.isUnchanged(current)
        }
    }

    /// How many people have gone: what was kept for one of them is nobody else's.
    var departures: Int { guarded.with { $0.departures } }

    /// Who has signed with this version; `nil` if the session has another token by now.
    func signer(of version: Int) -> SessionSigner? {
        guarded.with { [mark] machine in
            guard let tokens = machine.tokens(of: version) else { return nil }
            return SessionSigner(holder: machine.holder, mark: "\(mark)", tokens: tokens)
        }
    }

    /// The server has accepted a request signed with this unproven version.
    func accepted(version: Int) { guarded.with { $0.accepted(version: version) } }

    /// What is kept now, and the version before it was read; `nil` where it has to be loaded.
    func readCurrent() -> (credential: TokenCredential, version: Int)? {
        guard case .variable(let variable) = keeper else { return nil }
        let version = guarded.with { $0.version }
        return (variable.tokenCredential, version)
    }
}
