// What the app asks and does, and loading the credential.
extension SessionActor {
    /// Loads the credential for the machine.
    func load(_ number: Int) async {
        let result = await keeper.look(for: self).value
        let now = moment
        switch result {
        case .success(let look):
            perform(guarded.act { $0.loaded(number: number, look?.intended, now: now) })
        case .failure(let error):
            perform(guarded.act { $0.loadingFailed(number: number, error) })
        }
    }

    /// The app signs in.
    ///
    /// - Throws: Why the credential could not be stored; the session uses it
    ///   nevertheless.
    func signIn(with credential: TokenCredential) async throws(AuthenticationError) {
        try refuseWriteInOperation()
        let read = keeper.current
        let now = moment
        // The machine first: then a request that still reads the old credential recognises it as old.
        let ((successor, generation), actions) = guarded.ask { machine in
            let (successor, actions) = machine.signedIn(credential, read: read, now: now)
            return ((successor, machine.generation), actions)
        }
        if let failure = await replace(by: successor, in: generation, actions).failure { throw failure }
    }

    /// The app signs out.
    ///
    /// - Parameters:
    ///   - service: Revokes the token, if it is configured to.
    ///   - waits: Whether the revocation is waited for.
    /// - Throws: Why the store could not be emptied, or the token not revoked;
    ///   the session is over nevertheless.
    func signOut(
        for service: any RefreshService, waitingForRevocation waits: Bool
    ) async throws(AuthenticationError) {
        try refuseWriteInOperation()
        // The same service revokes what a running refresh still gets.
        guarded.lastService = guarded.lastService ?? service
        let held = guarded.with { $0.held?.credential }
        let read = keeper.current
        let (generation, actions) = guarded.ask { machine in
            let actions = machine.signedOut(read: read)
            return (machine.generation, actions)
        }
        let replacement = await replace(by: nil, in: generation, actions)
        // What another process has stored since is newer than what was held.
        let newest = replacement.found ?? held ?? read
        guard waits, let newest else {
            if let newest { service.revoke(newest) }
            if let failure = replacement.failure { throw failure }
            return
        }
        // In a task that nobody cancels.
        let call = Task.detached(priority: .userInitiated) { await service.revocation(of: newest) }
        let revocation = await BoundedWait.valueUnlessCancelled(of: call)
        if let failure = replacement.failure { throw failure }
        if let error = revocation ?? .cancelled(.maybeSent) {
            throw .credentialNotRevoked(cause: error, delivery: .init(error.delivery))
        }
    }

    /// Writes the credential of a sign-in or sign-out, and tells the requests
    /// that wait for the old session.
    private func replace(
        by credential: TokenCredential?, in generation: Int, _ actions: SessionActions
    ) async -> Replacement {
        cancelOutdatedRefresh()
        let isWritten = keeper.replace(by: credential, in: generation, for: self)
        perform(actions)
        observe()
        return await isWritten()
    }

    private nonisolated func refuseWriteInOperation() throws(AuthenticationError) {
        do throws(TokenStoreError) {
            try refuseInOperation()
        } catch {
            throw .credentialNotStored(cause: error, delivery: .notSent)
        }
    }

    /// Refuses an operation on the store that one of the store's own methods
    /// asks for: it would wait for itself for ever.
    private nonisolated func refuseInOperation() throws(TokenStoreError) {
        guard let operation = SessionOperation.onStore, operation.isRunning(for: self) else { return }
        throw .refused(
            "the store itself has called signIn(with:), signOut() or loadSession() and would wait for itself for ever")
    }

    /// Waits until what a running refresh brings home is stored, and what a
    /// sign-in or sign-out has to write.
    ///
    /// - Parameter duration: The longest time; with one, a write that has failed
    ///   is waited for until it succeeds.
    nonisolated func finishRefresh(within duration: Duration?) async {
        // A method of the store would wait for itself.
        guard SessionOperation.onStore?.isRunning(for: self) != true else { return }
        // A refresh that begins later isn't waited for.
        let number = guarded.with { $0.unfinishedRefresh }
        let isFinished: @Sendable () -> Bool = { [self] in
            guard number == nil || guarded.with({ $0.unfinishedRefresh }) != number else { return false }
            return !keeper.hasToWrite(again: duration != nil)
        }
        // From before the first look, so that no change is missed.
        let changes = hub.changes()
        guard !isFinished(), duration.map({ $0 > .zero }) ?? true else { return }
        // Both tasks end with the caller's.
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in changes where isFinished() { return } }
            if let duration { group.addTask { [time] in await time.sleep(for: duration.bounded) } }
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: What is known

    /// The events from now on.
    nonisolated var events: AsyncStream<SessionEvent> { hub.events() }

    /// The present state, and each later one.
    nonisolated var states: AsyncStream<SessionState> {
        // From before the state is read, so that no change is missed.
        let changes = hub.changes()
        return AsyncStream(bufferingPolicy: .bufferingNewest(SessionEventHub.capacity)) { [weak self] continuation in
            let task = Task.detached(priority: .userInitiated) {
                var last: SessionState?
                func tell(_ state: SessionState?) {
                    guard let state, last?.isSame(as: state) != true else { return }
                    last = state
                    continuation.yield(state)
                }
                tell(self?.state)
                if case .unknown? = last {
                    tell(try? await self?.loadedState())
                }
                for await _ in changes { tell(self?.state) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// What the session is doing.
    nonisolated var state: SessionState {
        let current = keeper.current
        let now = time.now
        return guarded.with { machine in
            switch machine.phase {
            case .loading(let end): end.map { .ended($0.error) } ?? .unknown
            case .signedOut:
                // A request would find the credential there.
                current.map(machine.isNews) == true ? .signedIn : .signedOut
            case .ended(let error): current.map(machine.isNews) == true ? .signedIn : .ended(error)
            case .refreshing, .storing: machine.isGood(at: now, by: .refreshToken) ? .signedIn : .refreshing
            case .active, .backingOff: machine.held == nil ? .signedOut : .signedIn
            }
        }
    }

    /// Loads the credential, unless somebody is signed in, and returns the new
    /// state.
    func loadedState() async throws(AuthenticationError) -> SessionState {
        switch state {
        case .unknown, .signedOut, .ended: break
        case .signedIn, .refreshing: return state
        }
        do throws(TokenStoreError) {
            try refuseInOperation()
        } catch {
            throw .credentialNotReadable(cause: error, delivery: .notSent)
        }
        let generation = guarded.with { $0.generation }
        switch await keeper.look(for: self).value {
        case .success(let look):
            let now = moment
            perform(guarded.act { $0.lookedUp(look?.intended, in: generation, now: now) })
            return state
        case .failure(let error):
            throw .credentialNotReadable(cause: error, delivery: .notSent)
        }
    }
}
