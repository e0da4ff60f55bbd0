import Foundation

/// A request that a session keeps waiting.
protocol SessionWaiter: AnyObject, Sendable {
    /// Where it stands with the session that admitted it; read and written by
    /// the session only, under its lock.
    var sessionPlace: SessionPlace? { get set }

    /// When the request's own time is up.
    var totalDeadline: MonotonicInstant { get }

    /// How its service gets another credential.
    var renewalMeans: RenewalMeans { get }

    /// Whose configuration a refresh uses that this request sets off.
    var service: any RenewalService { get }

    /// The session is good: start. Called outside every lock, one waiter
    /// after the other.
    func released()

    /// The request will not be sent. Called outside every lock.
    func refused(_ error: AuthenticationError)
}

/// Where a request stands with its session.
struct SessionPlace {
    /// Its place in the order of all who asked, until it has been sent.
    var ticket: Int
    /// The sign-in that it belongs to.
    var generation: Int
    /// Whether it is in the queue.
    var isWaiting: Bool
}

/// One session of bearer tokens: tracks whether a refresh is needed or
/// running, and runs it.
///
/// What is known lives in a ``SessionMachine`` under a lock, so that a request
/// with a good token passes without suspending. The synchronous methods feed
/// it events from any thread; the actor itself runs what suspends, the
/// refresh, and reports back with events of its own. Under the lock nothing is
/// awaited, no code of the app's runs and nobody is called back.
///
/// Everything that keeps its tokens in the same object shares one of these. A
/// running refresh keeps it alive until the new tokens are stored.
actor SessionActor {
    /// What becomes of a request.
    enum Verdict {
        /// It goes straight on.
        case go
        /// It waits: `released` or `refused` will be called, or have been.
        case wait
    }

    nonisolated let guarded: GuardedMachine
    nonisolated let source: CredentialSource
    nonisolated let time: any TimeSource
    nonisolated let random: @Sendable () -> Double
    nonisolated let hub = SessionEventHub()

    /// The last operation on the store: they run one after the other.
    var lastOperation: Task<Void, Never>?
    /// The refresh that was started last.
    var refreshTask: Task<Void, Never>?
    /// The provider's call that was started last.
    var providerCall: Task<Result<TokenCredential, any Error>, Never>?
    /// Wakes the session to write what could not be written.
    var writeAlarm: (any Alarm)?
    /// Failed writes in a row.
    var failedWrites = 0

    init(
        source: CredentialSource, policy: RefreshPolicy, time: any TimeSource,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.source = source
        self.time = time
        self.random = random
        let isStore = if case .store = source { true } else { false }
        guarded = GuardedMachine(SessionMachine(policy: policy, needsLoading: isStore))
    }

    deinit {
        guarded.invalidateAlarm()
    }
}

// MARK: - Events of requests

extension SessionActor {
    /// A request asks to be sent.
    ///
    /// - Parameter isAnew: Whether it has been sent, and answered by a 401 or a
    ///   redirect: it joins the queue anew. One that has only waited keeps its
    ///   place.
    nonisolated func admit(_ waiter: any SessionWaiter, anew isAnew: Bool) -> Verdict {
        while true {
            let read = readWritable()
            let now = moment
            let (admission, actions) = guarded.ask { machine in
                let result = machine.asked(
                    waiter, by: waiter.renewalMeans, of: waiter.sessionPlace?.generation,
                    ticket: isAnew ? nil : waiter.sessionPlace?.ticket,
                    read: read, deadline: waiter.totalDeadline, now: now)
                switch result.0 {
                case .go(let ticket, let generation):
                    waiter.sessionPlace = SessionPlace(ticket: ticket, generation: generation, isWaiting: false)
                case .wait(let ticket, let generation):
                    waiter.sessionPlace = SessionPlace(ticket: ticket, generation: generation, isWaiting: true)
                case .refuse, .readAgain: break
                }
                return result
            }
            if case .refuse(let error) = admission {
                // It hears before the app is told that its session has ended.
                waiter.refused(error)
                perform(actions, for: waiter)
                return .wait
            }
            if !actions.actions.isEmpty { perform(actions, for: waiter) }
            switch admission {
            case .go: return .go
            case .wait, .refuse: return .wait
            case .readAgain: continue
            }
        }
    }

    /// What a request that is about to start is signed with.
    nonisolated func signature(for waiter: any SessionWaiter) -> SessionSignature {
        let now = time.now
        return guarded.with { machine in
            // Not with `??`: its closure would take a copy of the machine.
            guard let place = waiter.sessionPlace else { return machine.signature(of: machine.generation, at: now) }
            return machine.signature(of: place.generation, ticket: place.ticket, at: now)
        }
    }

    /// The server answered a request signed with this version.
    ///
    /// - Parameter isRejected: Whether it was a first attempt, answered 401.
    nonisolated func answered(version: Int, isRejected: Bool) {
        if isRejected {
            let now = moment
            guarded.with { $0.rejected(version: version, now: now) }
        } else {
            guarded.with { $0.accepted(version: version) }
        }
    }

    /// A waiter was cancelled, or its deadline passed.
    nonisolated func left(_ waiter: any SessionWaiter) {
        guarded.with { machine in
            guard let place = waiter.sessionPlace, place.isWaiting else { return }
            waiter.sessionPlace?.isWaiting = false
            machine.left(ticket: place.ticket)
        }
    }

    /// What the app hands over, and the version before it was read; `nil` for
    /// a store, which the session reads.
    private nonisolated func readWritable() -> (credential: TokenCredential, version: Int)? {
        guard case .writable(let writable) = source else { return nil }
        let version = guarded.with { $0.version }
        return (writable.tokenCredential, version)
    }

    nonisolated var moment: Moment { Moment(instant: time.now, date: time.date) }
}

// MARK: - Actions

extension SessionActor {
    /// - Parameter waiter: Whose request they follow from; who is refused
    ///   counts as such.
    nonisolated func perform(_ batch: SessionActions, for waiter: (any SessionWaiter)? = nil) {
        guard !batch.actions.isEmpty else { return }
        var waiter = waiter
        var number = batch.firstNumber
        func announce(_ event: SessionEvent, isOver: Bool = true) {
            // A session that ends for want of a refresh token has never had a refresh.
            (guarded.lastService ?? waiter?.service)?.announce(event, isOver: isOver)
            hub.send(event, number: number)
            number += 1
        }
        for action in batch.actions {
            switch action {
            case .load(let number):
                Task.detached(priority: .userInitiated) { await self.load(number) }
            case .refresh(let number, let credential, let waiter):
                let service = waiter.service
                // Not of any caller's: nobody's cancellation, priority or task-local value reaches it.
                Task.detached(priority: .userInitiated) {
                    await self.startRefresh(number, replacing: credential, for: service)
                }
            case .store(let credential, let version):
                // A store writes it when the exchange that it was computed in ends.
                if case .writable(let writable) = source { write(credential, version, to: writable) }
            case .rewrite(let credential, let version):
                switch source {
                case .writable(let writable): write(credential, version, to: writable)
                case .store(let store):
                    Task.detached(priority: .userInitiated) { await self.rewrite(credential, version, in: store) }
                }
            case .release:
                release()
            case .refuse(let waiters, let error):
                guarded.dismiss(waiters)
                for waiter in waiters { waiter.refused(error) }
                waiter = waiter ?? waiters.first
            case .wake:
                guarded.setAlarm(time: time) { [weak self] in self?.wokeUp() }
            case .announceFailure(let failure):
                let now = time.now
                // An early refresh has failed: the token is still good.
                let isOver = !guarded.with { $0.held?.isUsable(at: now) ?? false }
                announce(.refreshFailed(failure), isOver: isOver)
            case .announceStaleStore:
                guarded.lastService?.log("The token store still holds a credential that was replaced")
            case .announce(let event):
                announce(event)
            case .revoke(let credential):
                guarded.lastService?.revoke(credential)
            }
        }
    }

    private nonisolated func release() {
        while true {
            let now = moment
            let (waiter, actions) = guarded.ask { machine in
                let next = machine.nextReleased(now: now)
                next.0?.sessionPlace?.isWaiting = false
                // One that came after the end of a session belongs to the next.
                next.0?.sessionPlace?.generation = machine.generation
                return next
            }
            guard let waiter else { return perform(actions) }
            waiter.released()
        }
    }

    private nonisolated func write(
        _ credential: TokenCredential, _ version: Int, to writable: any TokenCredentialWritable
    ) {
        // Looked at once more: what somebody else has put there meanwhile is not overwritten.
        observe(writable)
        guard guarded.with({ $0.mayStore(version: version) }) else {
            return guarded.with { $0.wasSet(credential) }
        }
        set(writable, to: credential)
        guard guarded.with({ $0.mayStore(version: version) }) else { return observe(writable) }
        let read = writable.tokenCredential
        let now = moment
        perform(guarded.act { $0.stored(version: version, read: read, now: now) })
    }

    /// Sets the app's variable to what the machine knows to be on its way.
    ///
    /// Two threads may be at it at once, or the app itself: who comes in last
    /// sets it to what counts.
    nonisolated func set(_ writable: any TokenCredentialWritable, to credential: TokenCredential) {
        var credential = credential
        while true {
            writable.tokenCredential = credential
            guarded.with { $0.wasSet(credential) }
            // What somebody else has put there after this is theirs to say.
            guard writable.tokenCredential.hasTokens(of: credential),
                let last = guarded.with({ $0.nextToSet(after: credential) })
            else { return }
            credential = last
        }
    }

    /// Reads the app's variable, and tells the machine what it holds.
    nonisolated func observe(_ writable: any TokenCredentialWritable) {
        reading(writable) { machine, read, now in machine.observed(read, now: now) }
    }

    /// Reads the app's variable for an event, again if what is known has
    /// changed meanwhile.
    nonisolated func reading(
        _ writable: any TokenCredentialWritable,
        for event: (inout GuardedMachine.Machine, TokenCredential, Moment) -> [GuardedMachine.Machine.Action]
    ) {
        var isDone = false
        while !isDone {
            let version = guarded.with { $0.version }
            let read = writable.tokenCredential
            let now = moment
            let actions: SessionActions
            (isDone, actions) = guarded.ask { machine in
                machine.version == version ? (true, event(&machine, read, now)) : (false, [])
            }
            perform(actions)
        }
    }

    /// Tells the app of something that the machine has no part in.
    nonisolated func announce(_ event: SessionEvent) {
        perform(guarded.act { _ in [.announce(event)] })
    }

    private nonisolated func wokeUp() {
        let now = moment
        perform(guarded.act { $0.wokeUp(now: now) })
    }
}
