import Foundation

// The store, and what the app says of it. Everything that touches a store runs one after the other.
extension SessionActor {
    /// Runs an operation on the store after those that were asked for before.
    ///
    /// Detached: it runs at the SDK's priority and with no task-local values
    /// but its own, whoever asked for it.
    func serially<T: Sendable>(_ operation: @escaping @Sendable () async -> T) -> Task<T, Never> {
        let earlier = lastOperation
        let mark = StoreOperation(of: self)
        let task = Task.detached(priority: .userInitiated) {
            await earlier?.value
            defer { mark.end() }
            return await StoreOperation.$current.withValue(mark, operation: operation)
        }
        lastOperation = Task.detached(priority: .userInitiated) { _ = await task.value }
        return task
    }

    /// Refuses what would wait for itself for ever: an operation on the store
    /// that is asked for in one of the store's own methods.
    private nonisolated func refuseInOperation() throws(TokenStoreError) {
        guard let operation = StoreOperation.current, operation.isRunning(for: self) else { return }
        throw .refused(
            "the store itself has called signIn(with:), signOut() or loadSession() and would wait for itself for ever")
    }

    /// Reads the store because the machine wants to know.
    func load(_ number: Int) async {
        guard case .store(let store) = source else { return }
        let result = await look(at: store).value
        let now = moment
        switch result {
        case .success(let look):
            perform(guarded.act { $0.loaded(number: number, look.intended, now: now) })
        case .failure(let error):
            perform(guarded.act { $0.loadingFailed(number: number, error) })
        }
    }

    /// Reads the store when it is this operation's turn, and says what it
    /// holds or should hold then.
    func look(at store: any TokenCredentialStore) -> Task<Result<StoreLook, any Error>, Never> {
        serially { [self] in
            await Result {
                let stored = try await store.load()
                return StoreLook(stored: stored, intended: guarded.intended(stored))
            }
        }
    }

    /// What is stored by now, when it is this operation's turn.
    func read(_ store: any TokenCredentialStore) async -> TokenCredential? {
        await serially { [self] in await contents(of: store) }.value
    }

    /// What is stored, an empty credential for nothing; `nil` when it can't be
    /// read.
    nonisolated func contents(of store: any TokenCredentialStore) async -> TokenCredential? {
        do {
            return guarded.intended(try await store.load()) ?? .empty
        } catch {
            return nil
        }
    }

    // MARK: Signing in and out

    /// The app signs in.
    ///
    /// - Throws: Why the credential could not be stored; the session goes by
    ///   it all the same.
    func signIn(with credential: TokenCredential) async throws(AuthenticationError) {
        do throws(TokenStoreError) {
            try refuseInOperation()
        } catch {
            throw .credentialNotStored(cause: error, delivery: .notSent)
        }
        switch source {
        case .writable(let writable):
            let read = writable.tokenCredential
            let now = moment
            // The session first: a request that still reads the old one knows it for what it is.
            let (successor, actions) = guarded.ask { $0.signedIn(credential, read: read, now: now) }
            cancelOutdatedRefresh()
            set(writable, to: successor)
            perform(actions)
            observe(writable)
        case .store(let store):
            let now = moment
            let (successor, actions) = guarded.ask { $0.signedIn(credential, now: now) }
            cancelOutdatedRefresh()
            let write = replaceStored(in: store, by: successor)
            perform(actions)
            _ = try await write.value.get()
        }
    }

    /// The app signs out.
    ///
    /// - Parameter service: Revokes the token, if it is configured to.
    /// - Throws: Why the store could not be emptied; the session is over all
    ///   the same.
    func signOut(for service: any RenewalService) async throws(AuthenticationError) {
        do throws(TokenStoreError) {
            try refuseInOperation()
        } catch {
            throw .credentialNotStored(cause: error, delivery: .notSent)
        }
        // What a refresh still brings is revoked by the same service.
        guarded.lastService = guarded.lastService ?? service
        let held = guarded.with { $0.held?.credential }
        switch source {
        case .writable(let writable):
            let read = writable.tokenCredential
            let actions = guarded.act { $0.signedOut(read: read) }
            cancelOutdatedRefresh()
            set(writable, to: .empty)
            perform(actions)
            observe(writable)
            service.revoke(held ?? read)
        case .store(let store):
            let unwritten = guarded.unwrittenCredential
            let actions = guarded.act { $0.signedOut() }
            cancelOutdatedRefresh()
            let write = replaceStored(in: store, by: nil)
            perform(actions)
            let result = await write.value
            // What another process has stored since is newer than what was held.
            var newest = (try? result.get()) ?? held
            if let unwritten, unwritten.isWanted(over: try? result.get()) { newest = unwritten.credential }
            if let newest { service.revoke(newest) }
            _ = try result.get()
        }
    }

    /// Writes what the app has said, whatever is stored, unless that isn't
    /// what counts any more.
    ///
    /// - Returns: What was stored before.
    private func replaceStored(
        in store: any TokenCredentialStore, by credential: TokenCredential?
    ) -> Task<Result<TokenCredential?, AuthenticationError>, Never> {
        // Until it is written, whoever reads the store is told what it should hold.
        let generation = guarded.with { $0.generation }
        guarded.unwrittenCredential = UnwrittenCredential(
            credential: credential, replaced: .unknown, generation: generation)
        return serially { [self] in
            // What the app says goes before whatever is stored, also if that can't be read.
            let found = await Result { try await store.load() }
            let stored = try? found.get()
            guard guarded.with({ $0.mayWrite(signedIn: credential, in: generation) }) else {
                guarded.forgetUnwritten(of: generation)
                return .success(stored)
            }
            do {
                try await store.save(credential)
                guarded.with { $0.written(credential ?? .empty) }
                if await written() { announce(.credentialStored) }
                return .success(stored)
            } catch {
                if guarded.with({ $0.mayWrite(signedIn: credential, in: generation) }) {
                    let isKnown = if case .success = found { true } else { false }
                    await keepUnwritten(credential, over: isKnown ? .known(stored) : .unknown)
                } else {
                    guarded.forgetUnwritten(of: generation)
                }
                let failure = AuthenticationError.credentialNotStored(cause: error, delivery: .notSent)
                announce(.credentialNotStored(failure))
                return .failure(failure)
            }
        }
    }

    /// Writes what a spent credential has come to, unless somebody has put
    /// another one there since.
    func rewrite(_ credential: TokenCredential, _ version: Int, in store: any TokenCredentialStore) async {
        await serially { [self] in
            let generation = guarded.with { $0.generation }
            let report = ExchangeReport()
            do {
                let stored = try await store.exchange { [self] stored in
                    report.note(stored: stored)
                    let isWanted = guarded.with {
                        $0.mayStore(version: version) && $0.isOutOfDate(stored ?? .empty)
                    }
                    return isWanted ? credential : stored
                }
                let isWritten = stored?.hasTokens(of: credential) ?? false
                if isWritten, guarded.with({ $0.mayStore(version: version) }) { await written() }
                let intended = guarded.intended(stored) ?? .empty
                let now = moment
                perform(
                    guarded.act { machine in
                        let isNews = !isWritten && machine.generation == generation
                        let news = isNews ? machine.observed(intended, now: now) : []
                        // Unless somebody else's is gone by now, those who wait go on.
                        return news + machine.stored(version: version, now: now)
                    })
            } catch {
                guard guarded.with({ $0.mayStore(version: version) }) else { return }
                await keepUnwritten(credential, over: report.stored)
                let failure = AuthenticationError.credentialNotStored(cause: error, delivery: .notSent)
                let now = moment
                perform(guarded.act { $0.notStored(version: version, failure, now: now) })
            }
        }.value
    }

    /// Writes a credential over what this process has done away with.
    ///
    /// - Parameter spent: What the store holds, if this can't be written.
    func write(
        _ credential: TokenCredential, overSpent spent: TokenCredential?, in store: any TokenCredentialStore
    ) async {
        await serially { [self] in
            do {
                let stored = try await store.exchange { [self] stored in
                    guarded.with { $0.isOutOfDate(stored ?? .empty) } ? credential : stored
                }
                guard stored?.hasTokens(of: credential) ?? false else { return }
                guarded.with { $0.written(credential) }
            } catch {
                await keepUnwritten(credential, over: .known(spent))
            }
        }.value
    }

    // MARK: What could not be written

    /// Keeps what the store should hold, and tries again later.
    func keepUnwritten(_ credential: TokenCredential?, over replaced: UnwrittenCredential.Replaced) {
        guarded.unwrittenCredential = UnwrittenCredential(credential: credential, replaced: replaced)
        failedWrites += 1
        let delay = min(Duration.seconds(1) * (1 << min(failedWrites - 1, 6)), .seconds(60))
        // Until it is written the session stays, whoever lets go of it.
        let alarm =
            writeAlarm
            ?? time.makeAlarm { [self] in
                Task.detached(priority: .userInitiated) { await self.writeAgain() }
            }
        writeAlarm = alarm
        alarm.set(time.now.advanced(by: delay))
    }

    /// Everything is written.
    ///
    /// - Returns: Whether a write had failed before.
    @discardableResult
    func written() -> Bool {
        defer { failedWrites = 0 }
        guarded.unwrittenCredential = nil
        writeAlarm?.invalidate()
        writeAlarm = nil
        return failedWrites > 0
    }

    /// Writes what could not be written, unless the store holds something
    /// newer by now.
    private func writeAgain() async {
        guard case .store(let store) = source else { return }
        await serially { [self] in
            guard let unwritten = guarded.unwrittenCredential else { return }
            // What the app says meanwhile goes before it.
            let generation = guarded.with { $0.generation }
            do {
                let stored = try await store.exchange { stored in
                    unwritten.isWanted(over: stored) ? unwritten.credential : stored
                }
                guard guarded.with({ $0.generation == generation }) else { return guarded.forget(unwritten) }
                await written()
                let now = moment
                perform(
                    guarded.act { machine in
                        guard machine.generation == generation else { return [] }
                        guard stored == unwritten.credential else {
                            return machine.observed(stored ?? .empty, now: now)
                        }
                        machine.written(unwritten.credential ?? .empty)
                        return [.announce(.credentialStored)]
                    })
            } catch {
                guard guarded.with({ $0.generation == generation }) else { return guarded.forget(unwritten) }
                await keepUnwritten(unwritten.credential, over: unwritten.replaced)
            }
        }.value
    }

    // MARK: What is known

    /// The events from now on.
    nonisolated var events: AsyncStream<SessionEvent> { hub.events() }

    /// What the session is doing.
    nonisolated var state: SessionState {
        let handedOver: TokenCredential? =
            if case .writable(let writable) = source { writable.tokenCredential } else { nil }
        let now = time.now
        return guarded.with { machine in
            switch machine.phase {
            case .loading(let end): end.map { .ended($0.error) } ?? .unknown
            case .signedOut:
                // A request would find it there.
                handedOver.map(machine.isNews) == true ? .signedIn : .signedOut
            case .ended(let error): handedOver.map(machine.isNews) == true ? .signedIn : .ended(error)
            case .refreshing, .storing: machine.isGood(at: now, by: .refreshToken) ? .signedIn : .refreshing
            case .active, .backingOff: machine.held == nil ? .signedOut : .signedIn
            }
        }
    }

    /// Reads the store unless somebody is signed in, and says what it came to.
    func loadedState() async throws(AuthenticationError) -> SessionState {
        guard case .store(let store) = source else { return state }
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
        switch await look(at: store).value {
        case .success(let look):
            let now = moment
            perform(guarded.act { $0.lookedUp(look.intended, in: generation, now: now) })
            return state
        case .failure(let error):
            throw .credentialNotReadable(cause: error, delivery: .notSent)
        }
    }
}
