// Performing the actions of events, and events that read what is kept.
extension SessionActor {
    /// Performs the actions of an event.
    ///
    /// - Parameters:
    ///   - waiter: The request that the event is about; if there is none, the
    ///     first one that is refused.
    ///   - report: The refresh that the event is about, if it runs in an
    ///     exchange with the keeper.
    nonisolated func perform(
        _ batch: SessionActions, for waiter: (any SessionWaiter)? = nil, in report: RefreshReport? = nil
    ) {
        // Last: the requests that waited are told before.
        defer { if batch.hasNewStage { hub.noteNewState() } }
        guard !batch.actions.isEmpty else { return }
        var waiter = waiter
        var number = batch.firstNumber
        func announce(_ event: SessionEvent, isOver: Bool = true) {
            // A session without a refresh token may end before any refresh.
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
                // Detached: no caller's cancellation, priority or task-local value reaches it.
                Task.detached(priority: .userInitiated) {
                    await self.beginRefresh(number, replacing: credential, for: service)
                }
            case .store(let credential, let version):
                guard let report else {
                    // The exchange is over: somebody may have written another credential since.
                    keeper.rewrite(credential, version: version, for: self)
                    continue
                }
                report.note(.granted(credential, version: version))
                keeper.write(credential, version: version, for: self)
            case .rewrite(let credential, let version):
                keeper.rewrite(credential, version: version, for: self)
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
                // After an early refresh that failed, the token is still good.
                let isOver = !guarded.with { $0.held?.isUsable(at: now) ?? false }
                announce(.refreshFailed(failure), isOver: isOver)
            case .announceStaleStore:
                guarded.lastService?.log?.note("The token store still holds a credential that was replaced")
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
                // A request that came after the end of a session belongs to the next one.
                next.0?.sessionPlace?.generation = machine.generation
                return next
            }
            guard let waiter else { return perform(actions) }
            waiter.released()
        }
    }

    /// Reads what is kept now, and tells the machine; does nothing where it has
    /// to be loaded.
    nonisolated func observe() {
        reading { machine, read, now in read.map { machine.observed($0, now: now) } ?? [] }
    }

    /// Runs an event with what is kept now; reads again if the machine has
    /// changed meanwhile.
    ///
    /// - Parameters:
    ///   - report: The refresh that the event is about, if it runs in an
    ///     exchange with the keeper.
    ///   - event: Given `nil` where what is kept has to be loaded.
    nonisolated func reading(
        in report: RefreshReport? = nil,
        for event: (inout GuardedMachine.Machine, TokenCredential?, Moment) -> [GuardedMachine.Machine.Action]
    ) {
        var isDone = false
        while !isDone {
            let read = readCurrent()
            let now = moment
            let actions: SessionActions
            (isDone, actions) = guarded.ask { machine in
                if let read, read.version != machine.version { return (false, []) }
                return (true, event(&machine, read?.credential, now))
            }
            perform(actions, in: report)
        }
    }

    /// A credential has been written: the session goes on with it.
    nonisolated func stored(version: Int) {
        // Otherwise the app has signed in or out meanwhile, and its own write counts.
        guard guarded.with({ $0.mayStore(version: version) }) else { return observe() }
        let read = keeper.current
        let now = moment
        perform(guarded.act { $0.stored(version: version, read: read, now: now) })
    }

    /// A credential could not be written: the session goes on with it all the
    /// same.
    nonisolated func notStored(version: Int, _ error: any Error) {
        let failure = AuthenticationError.credentialNotStored(cause: error, delivery: .notSent)
        let now = moment
        perform(guarded.act { $0.notStored(version: version, failure, now: now) })
    }

    /// Tells the app about something that the machine doesn't know.
    nonisolated func announce(_ event: SessionEvent) {
        perform(guarded.act { _ in [.announce(event)] })
    }

    private nonisolated func wokeUp() {
        let now = moment
        perform(guarded.act { $0.wokeUp(now: now) })
    }
}
