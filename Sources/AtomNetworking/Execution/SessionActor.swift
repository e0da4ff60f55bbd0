import Foundation

/// A request that a session keeps waiting.
protocol SessionWaiter: AnyObject, Sendable {
    /// Where it stands with the session that admitted it; read and written by
    /// the session only, under its lock.
    var sessionPlace: SessionPlace? { get set }

    /// When the request's own time is up.
    var totalDeadline: MonotonicInstant { get }

    /// Whose configuration a refresh uses that this request sets off.
    var manager: RequestableQueueManager { get }

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
        /// It will not be sent.
        case refuse(AuthenticationError)
    }

    private nonisolated let guarded: GuardedMachine
    private nonisolated let writable: any TokenCredentialWritable
    private nonisolated let time: any TimeSource
    private nonisolated let random: @Sendable () -> Double

    init(
        writable: any TokenCredentialWritable, policy: RefreshPolicy, time: any TimeSource,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.writable = writable
        self.time = time
        self.random = random
        guarded = GuardedMachine(SessionMachine(policy: policy))
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
            let version = guarded.with { $0.version }
            let read = writable.tokenCredential
            let now = moment
            let (admission, actions) = guarded.with { machine in
                let result = machine.asked(
                    waiter, of: waiter.sessionPlace?.generation, ticket: isAnew ? nil : waiter.sessionPlace?.ticket,
                    read: (read, version), deadline: waiter.totalDeadline, now: now)
                switch result.0 {
                case .go(let ticket, let generation):
                    waiter.sessionPlace = SessionPlace(ticket: ticket, generation: generation, isWaiting: false)
                case .wait(let ticket, let generation):
                    waiter.sessionPlace = SessionPlace(ticket: ticket, generation: generation, isWaiting: true)
                case .refuse, .readAgain: break
                }
                return result
            }
            perform(actions)
            switch admission {
            case .go: return .go
            case .wait: return .wait
            case .refuse(let error): return .refuse(error)
            case .readAgain: continue
            }
        }
    }

    /// What a request that is about to start is signed with.
    nonisolated func signature(for waiter: any SessionWaiter) -> SessionMachine<any SessionWaiter>.Signature {
        let now = time.now
        return guarded.with { $0.signature(of: waiter.sessionPlace?.generation ?? $0.generation, at: now) }
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

    private nonisolated var moment: Moment { Moment(instant: time.now, date: time.date) }
}

// MARK: - Actions

extension SessionActor {
    private nonisolated func perform(_ actions: [SessionMachine<any SessionWaiter>.Action]) {
        for action in actions {
            switch action {
            case .load:
                // A writable hands its credential over with every request; there is nothing to load.
                break
            case .refresh(let number, let credential, let waiter):
                let manager = waiter.manager
                // Not a child of any caller's task: nobody's cancellation reaches it.
                Task { await refresh(number, credential, for: manager) }
            case .store(let credential, let version):
                store(credential, version)
            case .release:
                release()
            case .refuse(let waiters, let error):
                guarded.dismiss(waiters)
                for waiter in waiters { waiter.refused(error) }
            case .wake:
                guarded.setAlarm(time: time) { [weak self] in self?.wokeUp() }
            case .announceFailure(let failure):
                guarded.lastManager?.announce(failure)
            case .announceStaleStore:
                guarded.lastManager?.log("The token store still holds a credential that was replaced")
            }
        }
    }

    private nonisolated func release() {
        while true {
            let now = moment
            let (waiter, actions) = guarded.with { machine in
                let next = machine.nextReleased(now: now)
                next.0?.sessionPlace?.isWaiting = false
                return next
            }
            guard let waiter else { return perform(actions) }
            waiter.released()
        }
    }

    private nonisolated func store(_ credential: TokenCredential, _ version: Int) {
        guard guarded.with({ $0.mayStore(version: version) }) else { return }
        writable.tokenCredential = credential
        let now = moment
        perform(guarded.with { $0.stored(version: version, now: now) })
    }

    private nonisolated func wokeUp() {
        let now = moment
        perform(guarded.with { $0.wokeUp(now: now) })
    }

    /// Sends a refresh over a channel of its own and tells the machine how it
    /// ended.
    private func refresh(_ number: Int, _ credential: TokenCredential, for manager: RequestableQueueManager) async {
        guarded.lastManager = manager
        let sentAt = moment
        let result = await manager.refresh(credential)
        perform(ended(number, credential, result, sentAt: sentAt))
    }

    private func ended(
        _ number: Int, _ credential: TokenCredential, _ result: Result<AtomResponse, AtomError>, sentAt: Moment
    ) -> [SessionMachine<any SessionWaiter>.Action] {
        let answer: TokenAnswer =
            switch result {
            case .success(let response): TokenAnswer(response, replacing: credential, sentAt: sentAt.date)
            case .failure(let error): .failed(error, retryAfter: nil)
            }
        let dice = random()
        switch answer {
        case .granted(let new, let lifetime):
            while true {
                // Somebody may have signed out by the store while no request came to notice.
                let version = guarded.with { $0.version }
                let read = writable.tokenCredential
                let now = moment
                let actions = guarded.with { machine -> [SessionMachine<any SessionWaiter>.Action]? in
                    // Or a request came, noticed, and what was read is out of date.
                    guard machine.version == version else { return nil }
                    return machine.refreshSucceeded(
                        number: number, new, lifetime: lifetime, sentAt: sentAt.instant, read: read, now: now)
                }
                if let actions { return actions }
            }
        case .rejected(let error):
            let read = writable.tokenCredential
            let now = moment
            return guarded.with { $0.refreshRejected(number: number, error, read: read, now: now) }
        case .failed(let cause, let retryAfter):
            let now = moment
            return guarded.with {
                $0.refreshFailed(number: number, cause: cause, retryAfter: retryAfter, random: dice, now: now)
            }
        }
    }
}

/// The machine under its lock, with what has to be kept beside it.
private final class GuardedMachine: @unchecked Sendable {
    // All is touched under `lock` only.
    private let lock = NSLock()
    private var machine: SessionMachine<any SessionWaiter>
    private var alarm: (any Alarm)?
    private weak var manager: RequestableQueueManager?

    init(_ machine: SessionMachine<any SessionWaiter>) {
        self.machine = machine
    }

    func with<T>(_ body: (inout SessionMachine<any SessionWaiter>) -> T) -> T {
        lock.withLock { body(&machine) }
    }

    /// Whose refresh ran last; announcements go where its callers are told.
    var lastManager: RequestableQueueManager? {
        get { lock.withLock { manager } }
        set { lock.withLock { manager = newValue } }
    }

    /// Notes that these are not in the queue any more.
    func dismiss(_ waiters: [any SessionWaiter]) {
        lock.withLock {
            for waiter in waiters { waiter.sessionPlace?.isWaiting = false }
        }
    }

    /// Sets the alarm for the end of the pause that the machine is in by now:
    /// whoever is late with an older one must not put it off.
    func setAlarm(time: any TimeSource, ring: @escaping @Sendable () -> Void) {
        lock.withLock {
            guard let instant = machine.pauseEnd else { return }
            let alarm = self.alarm ?? time.makeAlarm(ring: ring)
            self.alarm = alarm
            alarm.set(instant)
        }
    }

    func invalidateAlarm() {
        lock.withLock { alarm }?.invalidate()
    }
}
