import Foundation

/// One session of bearer tokens: knows whether a refresh is needed or running, and runs it.
///
/// Its state is a ``SessionMachine`` under a lock, so that a request with a good token passes without suspending. The
/// synchronous methods send events to the machine from any thread, and perform what follows outside the lock. What the
/// actor itself isolates is the order of what suspends: whose turn it is at the store, and which call of the app's
/// provider is the last one.
///
/// All services that keep their tokens in the same object share one session. A
/// running refresh keeps it alive until the new tokens are stored.
actor SessionActor {
    nonisolated let gate: SessionGate
    nonisolated let keeper: SessionKeeper
    nonisolated let time: any TimeSource
    nonisolated let random: @Sendable () -> Double
    nonisolated let notices = HeldNotices()
    /// Tells the app's observers, in order: they take their time, and threads of tasks are few.
    nonisolated let announcements = DispatchQueue(label: "AtomNetworking.announcements", qos: .userInitiated)
    /// The token requests by the numbers of their refreshes, until they are answered.
    nonisolated let tokenRequests = Guarded<[Int: Task<Void, Never>]>([:])

    /// The end of the last turn at the store.
    private var lastTurn: FirstValue<Void>?
    /// The provider's call that was started last.
    var providerCall: Task<Result<TokenCredential, any Error>, Never>?

    init(
        keeper: SessionKeeper, policy: RefreshPolicy, time: any TimeSource,
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.keeper = keeper
        self.time = time
        self.random = random
        gate = SessionGate(
            SessionMachine(policy: policy, needsLoading: keeper.store != nil, tenure: Tenure(session: UUID())),
            keeper: keeper, time: time)
    }

    /// The next turn at the store, after all that were taken before; nobody waits for a variable.
    func takeTurn() -> SessionTurn {
        guard keeper.store != nil else { return SessionTurn(of: nil, after: nil) }
        let turn = SessionTurn(of: self, after: lastTurn)
        lastTurn = turn.end
        return turn
    }
}

// MARK: - Events of requests

nonisolated extension SessionActor {
    /// Asks the machine for a request that the gate has not let through.
    ///
    /// - Returns: Whether it is sent now; otherwise `released` or `refused` will be called, or was called already.
    func ask(for waiter: any SessionWaiter, until deadline: MonotonicInstant, anew isAnew: Bool) -> Bool {
        let means = waiter.refreshMeans
        while true {
            let read = gate.readCurrent()
            let now = moment
            let (admission, actions) = gate.ask { machine in
                let ticket = waiter.ticket
                let isBound = ticket?.isBound ?? false
                let result = machine.asked(
                    waiter, by: means, of: ticket?.tenure, isBound: isBound, isNew: ticket?.isNew,
                    ticket: isAnew ? nil : ticket?.number, read: read, deadline: deadline, now: now)
                func keepTicket(_ number: Int, isWaiting: Bool) {
                    waiter.ticket = SessionTicket(
                        number: number, tenure: machine.tenure, isBound: isBound, isWaiting: isWaiting)
                }
                switch result.0 {
                case .go(let number): keepTicket(number, isWaiting: false)
                case .wait(let number): keepTicket(number, isWaiting: true)
                // It may wait for a network, and belongs to whoever is signed in now.
                case .refuse where ticket == nil: waiter.ticket = SessionTicket(tenure: machine.tenure)
                case .refuse: waiter.ticket?.isNew = false
                case .readAgain: break
                }
                return result
            }
            // The request is told before the app is told that the session has ended.
            if case .refuse(let error) = admission { waiter.refused(error) }
            perform(actions, for: waiter)
            switch admission {
            case .go: return true
            case .wait:
                // A request of the provider itself would wait for the provider's own result.
                if isInProvider, left(waiter) { waiter.refused(.missingCredential(delivery: .notSent)) }
                return false
            case .refuse: return false
            case .readAgain: continue
            }
        }
    }

    /// The server has answered a first attempt, signed with this token, with a 401.
    func rejected(tokenNumber: Int) {
        let now = moment
        gate.with { $0.rejected(tokenNumber: tokenNumber, now: now) }
    }

    /// A waiter was cancelled, or its deadline has passed; returns whether it was still waiting.
    @discardableResult
    func left(_ waiter: any SessionWaiter) -> Bool {
        gate.with { machine in
            guard let ticket = waiter.ticket, ticket.isWaiting else { return false }
            waiter.ticket?.isWaiting = false
            machine.left(ticket: ticket.number)
            return true
        }
    }

    /// Whose session it is; the app's variable is read for this.
    var tenure: Tenure {
        observe()
        return gate.tenure
    }

    /// Whether a response of this tenure may still be read.
    ///
    /// What another process has stored is most often the same person's, so it
    /// counts only when something is sent. The app's variable is read for this.
    func mayRead(_ tenure: Tenure) -> Bool {
        gate.isUnchanged(since: tenure) || keeper.store == nil && self.tenure.isUnbroken(since: tenure)
    }

    /// Whether this is called by the provider, while the session waits for it.
    var isInProvider: Bool { SessionOperation.ofProvider?.isRunning(for: self) ?? false }

    var moment: Moment { Moment(instant: time.now, date: time.date) }
}

// MARK: - Performing the actions of events

nonisolated extension SessionActor {
    /// Performs the actions of an event.
    ///
    /// - Parameter waiter: Whom it is about; otherwise the first one that is refused.
    func perform(_ batch: SessionActions, for waiter: (any SessionWaiter)? = nil) {
        // Not in a turn at the store, where an observer would hold everybody up who uses the store.
        if waiter == nil, let turn = SessionOperation.onStore, turn.defers({ self.perform(batch) }, of: self) { return }
        if batch.hasNewRetry { followRetry() }
        // Last: the requests that waited are told before.
        defer { if batch.hasNewStage { gate.hub.noteNewState() } }
        guard !batch.actions.isEmpty else { return }
        // What an observer starts isn't a call of the store, even if the session has its turn there.
        SessionOperation.$onStore.withValue(nil) { performActions(of: batch, for: waiter) }
    }

    private func performActions(of batch: SessionActions, for waiter: (any SessionWaiter)?) {
        var waiter = waiter
        var number = batch.turns?.numbers.lowerBound ?? 0
        func announce(_ event: SessionEvent, isOver: Bool = true) {
            // A session without a refresh token may end before any refresh.
            if let service = gate.lastService ?? waiter?.service {
                announcements.async { service.announce(event, isOver: isOver) }
            }
            gate.hub.send(event, number: number)
            number += 1
        }
        for action in batch.actions {
            switch action {
            case .announceFailure, .announceStaleStore, .announce: break
            case .load(let number):
                Task.detached(name: "Load", priority: .userInitiated) { await self.load(number) }
            case .refresh(let number, let credential, let waiter):
                let service = waiter.service
                // No caller's cancellation, priority or task-local value reaches it.
                let task = Task.detached(name: "Refresh", priority: .userInitiated) {
                    await self.refresh(number, replacing: credential, for: service)
                }
                gate.keep(task, of: number)
            case .set(let credential, let tokenNumber):
                if case .variable(let variable) = keeper { set(variable, to: credential, of: tokenNumber) }
            case .writeAgain: writeAgain()
            case .release:
                release()
            case .refuse(let waiters, let error):
                gate.with { _ in for waiter in waiters { waiter.ticket?.isWaiting = false } }
                for waiter in waiters { waiter.refused(error) }
                waiter = waiter ?? waiters.first
            case .wake:
                gate.pauseAlarm.follow(
                    of: time, { [weak self] in self?.tell { $0.wokeUp(now: $1) } },
                    { gate.with { $0.wakeTime } })
            case .revoke(let credential):
                gate.lastService?.revoke(credential)
            }
        }
        // Last: an observer takes its time.
        for action in batch.actions {
            switch action {
            case .announceFailure(let failure):
                let now = time.now
                // After an early refresh that failed, the token is still good.
                let isOver = !gate.with { $0.held?.isUsable(at: now) ?? false }
                announce(.refreshFailed(failure), isOver: isOver)
            case .announceStaleStore:
                gate.lastService?.log?.note("The token store still holds a credential that was replaced")
            case .announce(let event):
                announce(event)
            case .set(_, let tokenNumber):
                // The app hears of what came before.
                stored(tokenNumber: tokenNumber)
            case .load, .refresh, .writeAgain, .release, .refuse, .wake, .revoke: break
            }
        }
    }

    private func release() {
        while true {
            let now = moment
            let (waiter, actions) = gate.ask { machine in
                let next = machine.nextReleased(now: now)
                next.0?.ticket?.isWaiting = false
                // A request that came after the end of a session belongs to the next one.
                if next.0?.ticket?.isBound == false { next.0?.ticket?.tenure = machine.tenure }
                return next
            }
            guard let waiter else { return perform(actions) }
            waiter.released()
        }
    }

    /// Tells the machine of an event, and performs what follows.
    func tell(_ event: (inout SessionGate.Machine, Moment) -> [SessionGate.Machine.Action]) {
        let now = moment
        perform(gate.act { event(&$0, now) })
    }

    /// Reads what is kept now, unless it has to be loaded, and tells the machine.
    func observe() {
        reading { machine, read, now in read.map { machine.observed($0, now: now) } ?? [] }
    }

    /// Performs an event with what is kept now, or `nil` where that has to be loaded;
    /// reads again if the machine has changed meanwhile.
    func reading(
        for event: (inout SessionGate.Machine, TokenCredential?, Moment) -> [SessionGate.Machine.Action]
    ) {
        while true {
            let read = gate.readCurrent()
            let now = moment
            let (isDone, actions) = gate.ask { machine in
                if let read, read.version != machine.version { return (false, []) }
                return (true, event(&machine, read?.credential, now))
            }
            perform(actions)
            if isDone { return }
        }
    }
}

// MARK: - Writing

nonisolated extension SessionActor {
    /// Sets the app's variable to a credential that the session has committed to.
    private func set(
        _ variable: any TokenCredentialWritable, to credential: TokenCredential, of tokenNumber: Int
    ) {
        // Read once more: a credential that somebody else has put there meanwhile is not overwritten.
        observe()
        guard gate.with({ $0.mayStore(tokenNumber: tokenNumber) }) else {
            return gate.with { $0.wasSet(credential) }
        }
        set(variable, to: credential)
    }

    /// Sets the app's variable, and once more if it was set to something newer meanwhile.
    ///
    /// Several threads may set it at once, among them the app's: the thread that
    /// is last sets it to the newest credential.
    func set(_ variable: any TokenCredentialWritable, to credential: TokenCredential) {
        var credential = credential
        while true {
            variable.tokenCredential = credential
            gate.with { $0.wasSet(credential) }
            // A credential that somebody else has put there since stays.
            guard variable.tokenCredential.hasTokens(of: credential),
                let last = gate.with({ $0.nextToSet(after: credential) })
            else { return }
            credential = last
        }
    }

    /// A credential has been written: the session goes on with it.
    func stored(tokenNumber: Int) {
        // Otherwise the app has signed in or out meanwhile, and its own write counts.
        guard gate.with({ $0.mayStore(tokenNumber: tokenNumber) }) else { return observe() }
        let read = keeper.current
        tell { $0.stored(tokenNumber: tokenNumber, read: read, now: $1) }
    }

    /// Sets the alarm for a write that has failed; it holds the session until the store has taken the credential.
    private func followRetry() {
        gate.writeAlarm.follow(of: time, { self.writeAgain() }, { gate.with { $0.store.retryAt } })
    }

    /// Whether others have had the store for too long, and would be waited for again.
    private static func isLocked(_ error: any Error) -> Bool {
        if case TokenStoreError.lockTimedOut = error { true } else { false }
    }

    /// Writes what the store should hold and doesn't, unless it is known to hold something newer.
    func writeAgain() {
        Task.detached(name: "Write again", priority: .userInitiated) { [self] in
            await takeTurn().run { [self] in
                guard let tenure = gate.with({ $0.hasToWriteAgain ? $0.tenure : nil }) else { return }
                let (intended, written) = await keeper.transaction { [gate] stored in
                    let intended = gate.with { $0.intended(over: stored) }
                    return (intended, intended)
                }
                // Where nothing can be read, nothing can be exchanged; the app may have signed in or out since.
                let last = gate.with { machine in
                    machine.tenure.isSameSignIn(as: tenure) && machine.store.outstanding == .overAnything
                        ? machine.store.last : nil
                }
                guard intended == nil, case .failure(let error) = written, !Self.isLocked(error), let last else {
                    return tell { $0.wroteAgain(written, of: intended ?? nil, in: tenure, now: $1) }
                }
                let saved = await Result {
                    try await keeper.store?.save(last.isEmpty ? nil : last)
                    return TokenCredential?.some(last)
                }
                tell { $0.wroteAgain(saved, of: last, in: tenure, now: $1) }
            }
        }
    }
}

// MARK: - What the actor isolates

extension SessionActor {
    /// Loads the credential for the machine.
    private func load(_ number: Int) async {
        await takeTurn().run { [self] in
            let loaded = await Result { try await keeper.load() }
            // In its turn: after the next one it would be out of date.
            tell { machine, now in
                switch loaded {
                case .success(let stored): machine.loaded(number: number, stored, now: now)
                case .failure(let error): machine.loadingFailed(number: number, error)
                }
            }
        }
    }

    /// The app signs in.
    ///
    /// - Throws: Why the credential could not be stored; the session uses it nevertheless.
    func signIn(
        with credential: TokenCredential, for service: (any RefreshService)? = nil
    ) async throws(AtomError) {
        // It says so if the credential can't be stored.
        if gate.lastService == nil { gate.lastService = service }
        if let refusal { throw .authentication(.credentialNotStored(cause: refusal, delivery: .notSent)) }
        let read = keeper.current
        let now = moment
        // The machine first: then a request that still reads the old credential recognises it as old.
        let ((successor, tenure), actions) = gate.ask { machine in
            let (successor, actions) = machine.signedIn(credential, read: read, now: now)
            return ((successor, machine.tenure), actions)
        }
        let (_, failure, announcement) = await replace(by: successor, in: tenure, actions)
        await announcement.value
        if let failure { throw .authentication(failure) }
    }

    /// The app signs out.
    ///
    /// - Throws: Why the store could not be emptied, or the token not revoked; the session is over nevertheless.
    func signOut(
        for service: any RefreshService, waitingForRevocation waits: Bool
    ) async throws(AtomError) {
        if let refusal { throw .authentication(.credentialNotStored(cause: refusal, delivery: .notSent)) }
        // The same service revokes what a running refresh still gets, if it can.
        let last = gate.lastService
        if last == nil || service.revokes && last?.revokes == false { gate.lastService = service }
        // The app may have set its variable to somebody else, whose token is to be revoked.
        observe()
        let read = keeper.current
        let ((ended, tenure), actions) = gate.ask { machine in
            let (ended, actions) = machine.signedOut(read: read)
            return ((ended, machine.tenure), actions)
        }
        let (replaced, failure, announcement) = await replace(by: nil, in: tenure, actions)
        let credentials = ended.credentials(replacing: replaced)
        for other in credentials.dropFirst(waits ? 1 : 0) { service.revoke(other) }
        await announcement.value
        guard waits, let newest = credentials.first else {
            if let failure { throw .authentication(failure) }
            return
        }
        // In a task that nobody cancels.
        let call = Task.detached(name: "Revoke", priority: .userInitiated) { await service.revocation(of: newest) }
        let revocation = await BoundedWait.value(of: call, time: time)
        if let failure { throw .authentication(failure) }
        if let error = revocation ?? .cancelled(.maybeSent) {
            throw .authentication(.credentialNotRevoked(cause: error, delivery: .init(error.delivery)))
        }
    }

    /// Writes the credential of a sign-in or sign-out over whatever is kept, and
    /// tells the requests that wait for the old session.
    ///
    /// - Returns: What the store held before, if it was read and replaced, why it has not taken the credential, and what
    ///   tells those who wait and the app.
    private func replace(
        by credential: TokenCredential?, in tenure: Tenure, _ actions: SessionActions
    ) async -> (found: TokenCredential?, failure: AuthenticationError?, announcement: Task<Void, Never>) {
        if gate.cancelOutdatedRefresh() { providerCall?.cancel() }
        if case .variable(let variable) = keeper { set(variable, to: credential ?? .empty) }
        let turn = takeTurn()
        // Not on the actor, which an observer of one service would hold up for all others.
        let announcement = Task.detached(name: "Announce", priority: .userInitiated) { [self] in
            perform(actions)
            observe()
        }
        guard let store = keeper.store else { return (nil, nil, announcement) }
        // Whoever has called may be cancelled, and it is written nevertheless.
        let write = Task.detached(name: "Write", priority: .userInitiated) { [self] in
            await turn.run { await replace(by: credential, in: tenure, in: store) }
        }
        let (found, failure) = await write.value
        return (found, failure, announcement)
    }

    /// Loads the credential, unless somebody is signed in, and returns the new state.
    func loadedState() async throws(AtomError) -> SessionState {
        switch state {
        case .unknown, .signedOut, .ended: break
        case .signedIn, .refreshing: return state
        }
        if let refusal { throw .authentication(.credentialNotReadable(cause: refusal, delivery: .notSent)) }
        guard let store = keeper.store else { return state }
        let tenure = gate.tenure
        let turn = takeTurn()
        // Whoever has called may be cancelled, which isn't the store's business.
        let look = Task.detached(name: "Look", priority: .userInitiated) { [self] in
            await turn.run { [self] in
                let found = await Result { try await store.load() }
                if case .success(let stored) = found { tell { $0.lookedUp(stored, in: tenure, now: $1) } }
                return found
            }
        }
        if case .failure(let error) = await look.value {
            throw .authentication(.credentialNotReadable(cause: error, delivery: .notSent))
        }
        return state
    }
}

// MARK: - The store

nonisolated extension SessionActor {
    /// Writes a sign-in or sign-out, unless the app has signed in or out since.
    private func replace(
        by credential: TokenCredential?, in tenure: Tenure, in store: any TokenCredentialStore
    ) async -> (found: TokenCredential?, failure: AuthenticationError?) {
        // It replaces whatever is stored, even if that can't be read.
        var found = await Result { try await store.load() }
        var failure: AuthenticationError?
        guard gate.with({ $0.mayWrite(signedIn: credential, in: tenure) }) else {
            let read = try? found.get()
            return (gate.ask { ($0.notReplaced(in: tenure, found: read), []) }.0, nil)
        }
        do {
            if credential == nil {
                try await empty(store, found: &found)
            } else {
                try await store.save(credential)
            }
        } catch {
            failure = .credentialNotStored(cause: error, delivery: .notSent)
        }
        tell { $0.replaced(by: credential, in: tenure, found: found, failure: failure, now: $1) }
        return (try? found.get(), failure)
    }

    /// Empties a store for a sign-out, and says what it held then, which is to be
    /// revoked: while the store was locked, another process may have refreshed.
    private func empty(
        _ store: any TokenCredentialStore, found: inout Result<TokenCredential?, any Error>
    ) async throws {
        let (read, emptied) = await keeper.transaction { ($0, nil) }
        if let read { found = .success(read) }
        switch emptied {
        case .success(nil) where read != nil: return
        // Without a lock, somebody has saved meanwhile.
        case .success(let saved): if read != nil { found = .success(saved) }
        case .failure(let error):
            if read != nil { throw error }
            if Self.isLocked(error) { throw error }
        }
        try await store.save(nil)
    }

    /// Why one of the store's own methods can't ask for an operation on the store.
    var refusal: TokenStoreError? {
        guard isInStore else { return nil }
        return .refused(
            "the store itself has called signIn(with:), signOut() or loadSession() and would wait for itself for ever")
    }

    /// Whether this is called by the store, while the session waits for it.
    private var isInStore: Bool { SessionOperation.onStore?.isRunning(for: self) ?? false }
}

// MARK: - What is known

nonisolated extension SessionActor {
    var events: AsyncStream<SessionEvent> { gate.hub.events() }

    /// The present state, and each later one.
    var states: AsyncStream<SessionState> {
        // From before the state is read, so that no change is missed.
        let changes = gate.hub.changes()
        return AsyncStream(bufferingPolicy: .bufferingNewest(SessionEventHub.capacity)) { [weak self] continuation in
            let task = Task.detached(name: "States", priority: .userInitiated) { [weak self] in
                var last: SessionState?
                func tell(_ state: SessionState?) {
                    guard let state, last?.isSame(as: state) != true else { return }
                    last = state
                    continuation.yield(state)
                }
                tell(self?.state)
                if case .unknown? = last { tell(try? await self?.loadedState()) }
                for await _ in changes { tell(self?.state) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    var state: SessionState {
        let current = keeper.current
        let now = time.now
        return gate.with { $0.state(reading: current, at: now) }
    }

    /// Waits until what a running refresh brings home is stored, and what a sign-in or sign-out has to write.
    ///
    /// - Parameter duration: The longest time; with one, a write that has failed is waited for until it succeeds, if
    ///   it may soon.
    /// - Returns: What is lost if the process ends now.
    func finishRefresh(within duration: Duration?) async -> AuthenticationError? {
        // A refresh that begins later isn't waited for, nor for ever one whose time is over.
        let number = gate.with { $0.unfinishedRefresh(orOverdue: duration != nil) }
        let isFinished: @Sendable () -> Bool = { [gate] in
            gate.with { machine in
                (number == nil || machine.unfinishedRefresh(orOverdue: true) != number && !machine.isStoring)
                    && !machine.store.hasToWrite(again: duration != nil)
            }
        }
        // From before the first look, so that no change is missed.
        let changes = gate.hub.changes()
        // A method of the store would wait for itself.
        if !isInStore, !isFinished(), duration.map({ $0 > .zero }) ?? true {
            // Both tasks end with the caller's.
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in changes where isFinished() { return } }
                if let duration { group.addTask { [time] in await time.sleep(for: duration.bounded) } }
                await group.next()
                group.cancelAll()
            }
        }
        return gate.with { $0.loss }
    }
}
