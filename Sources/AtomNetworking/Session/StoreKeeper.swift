/// Keeps a session's credential in a store.
///
/// A credential that could not be written counts as stored for this process.
/// The write is tried again until it succeeds, until somebody else has stored
/// something newer, or until it has failed for some ten minutes: then the next
/// refresh, sign-in or sign-out writes.
final class StoreKeeper: SessionKeeper {
    private struct State {
        /// The last operation on the store: they run one after the other.
        var lastOperation: Task<Void, Never>?
        /// What the store should hold and doesn't.
        var unwritten: UnwrittenCredential?
        /// Rings when the write is due again.
        var alarm: (any Alarm)?
        /// Failed writes in a row.
        var failedWrites = 0

        /// Whether the app has signed in or out since a generation.
        ///
        /// Its own write follows, and an older one must not take its place.
        func isMarked(since generation: Int) -> Bool {
            unwritten?.generation.map { $0 > generation } ?? false
        }
    }

    private let store: any TokenCredentialStore
    private let state = Guarded(State())

    init(_ store: any TokenCredentialStore) {
        self.store = store
    }

    var needsLoading: Bool { true }

    var current: TokenCredential? { nil }

    var journal: (any RefreshIntentRecording)? { store as? any RefreshIntentRecording }

    // MARK: Taking turns and reading

    func serially<T: Sendable>(
        for session: SessionActor, _ operation: @escaping @Sendable () async -> T
    ) -> Task<T, Never> {
        let mark = SessionOperation(of: session)
        let hub = session.hub
        return state.withLock { state in
            let earlier = state.lastOperation
            let task = Task.detached(priority: .userInitiated) {
                await earlier?.value
                defer {
                    mark.end()
                    // What has been written isn't waited for any more.
                    hub.noteNewState()
                }
                return await SessionOperation.$onStore.withValue(mark, operation: operation)
            }
            state.lastOperation = Task.detached(priority: .userInitiated) { _ = await task.value }
            return task
        }
    }

    func look(for session: SessionActor) -> Task<Result<CredentialLook?, any Error>, Never> {
        serially(for: session) { [self] in
            await Result { look(at: try await store.load()) }
        }
    }

    func contents(for session: SessionActor) async -> TokenCredential? {
        let read: @Sendable () async -> TokenCredential? = { [self] in
            do {
                return look(at: try await store.load()).intended ?? .empty
            } catch {
                return nil
            }
        }
        // Inside an operation it would wait for itself.
        if SessionOperation.onStore?.isRunning(for: session) == true { return await read() }
        return await serially(for: session, read).value
    }

    private func look(at stored: TokenCredential?) -> CredentialLook {
        let unwritten = state.withLock { $0.unwritten }
        let isWanted = unwritten?.isWanted(over: stored) == true
        return CredentialLook(stored: stored, intended: isWanted ? unwritten?.credential : stored)
    }

    // MARK: A refresh

    func exchange(
        _ report: RefreshReport, for session: SessionActor, _ body: @Sendable (CredentialLook?) async -> Void
    ) async throws {
        let run = SingleRun()
        let written = try await store.exchange { [self] stored in
            try await run.once {
                report.note(replaced: stored)
                let look = look(at: stored)
                await body(look)
                return report.granted ?? report.kept ?? look.intended
            }
        }
        if let granted = report.granted { notice(written, insteadOf: granted, for: session) }
    }

    /// Tells the machine what somebody else has saved while the refresh ran.
    ///
    /// A store that is not exclusive may hold such a credential. It is newer, and
    /// the waiters are signed with it.
    private func notice(_ written: TokenCredential?, insteadOf granted: TokenCredential, for session: SessionActor) {
        let written = look(at: written).intended ?? .empty
        // A store may keep only a part of a credential: one equal token is enough.
        guard written.accessToken != granted.accessToken,
            written.refreshToken.isEmpty || written.refreshToken != granted.refreshToken
        else { return }
        let now = session.moment
        session.perform(session.guarded.act { $0.observed(written, now: now) })
        if written.isEmpty { session.guarded.lastService?.revoke(granted) }
    }

    func write(_ credential: TokenCredential, version: Int, for session: SessionActor) {
        // The exchange writes it when it ends.
    }

    func keep(_ credential: TokenCredential, _ report: RefreshReport, for session: SessionActor) {
        report.note(kept: credential)
    }

    func wrote(
        _ credential: TokenCredential, over replaced: UnwrittenCredential.Replaced, error: (any Error)?,
        for session: SessionActor
    ) -> Bool {
        let generation = session.guarded.with { $0.generation }
        guard error != nil else { return everythingIsWritten(in: generation) }
        tryAgainLater(credential, over: replaced, in: generation, for: session)
        return false
    }

    // MARK: Writing over what is out of date

    func rewrite(_ credential: TokenCredential, version: Int, for session: SessionActor) {
        _ = serially(for: session) { [self] in
            let report = RefreshReport()
            let guarded = session.guarded
            let generation = guarded.with { $0.generation }
            do {
                let stored = try await store.exchange { stored in
                    report.note(replaced: stored)
                    let isWanted = guarded.with {
                        $0.mayStore(version: version) && $0.isOutOfDate(stored ?? .empty)
                    }
                    return isWanted ? credential : stored
                }
                let isWritten = stored?.hasTokens(of: credential) ?? false
                if isWritten, guarded.with({ $0.mayStore(version: version) }) {
                    _ = everythingIsWritten(in: generation)
                }
                let intended = look(at: stored).intended ?? .empty
                let now = session.moment
                session.perform(
                    guarded.act { machine in
                        let isNews = !isWritten && machine.generation == generation
                        let news = isNews ? machine.observed(intended, now: now) : []
                        // The waiters go on, unless somebody else's credential has replaced this one.
                        return news + machine.stored(version: version, now: now)
                    })
            } catch {
                guard guarded.with({ $0.mayStore(version: version) }) else { return }
                tryAgainLater(credential, over: report.replaced, in: generation, for: session)
                session.notStored(version: version, error)
            }
        }
    }

    func rewrite(_ credential: TokenCredential, overSpent spent: TokenCredential?, for session: SessionActor) async {
        await serially(for: session) { [self] in
            let guarded = session.guarded
            let generation = guarded.with { $0.generation }
            do {
                let stored = try await store.exchange { stored in
                    guarded.with { $0.isOutOfDate(stored ?? .empty) } ? credential : stored
                }
                guard stored?.hasTokens(of: credential) ?? false else { return }
                guarded.with { $0.written(credential) }
            } catch {
                tryAgainLater(credential, over: .known(spent), in: generation, for: session)
            }
        }.value
    }

    // MARK: Signing in and out

    func replace(
        by credential: TokenCredential?, in generation: Int, for session: SessionActor
    ) -> @Sendable () async -> Replacement {
        // From here on, a look at the store finds what it should hold.
        let earlier = state.withLock { state in
            defer {
                state.unwritten = UnwrittenCredential(
                    credential: credential, replaced: .unknown, generation: generation)
            }
            return state.unwritten
        }
        let write = serially(for: session) { [self] in
            var replacement = await replaceStored(by: credential, in: generation, for: session)
            // A write that had failed before is what the store should have held.
            if let earlier, earlier.isWanted(over: replacement.found) { replacement.found = earlier.credential }
            return replacement
        }
        return { await write.value }
    }

    /// Writes a sign-in or sign-out, unless the app has signed in or out since.
    private func replaceStored(
        by credential: TokenCredential?, in generation: Int, for session: SessionActor
    ) async -> Replacement {
        let guarded = session.guarded
        // It replaces whatever is stored, even if that can't be read.
        let found = await Result { try await store.load() }
        let stored = try? found.get()
        guard guarded.with({ $0.mayWrite(signedIn: credential, in: generation) }) else {
            forgetUnwritten(of: generation)
            return Replacement(found: stored)
        }
        do {
            try await store.save(credential)
            guarded.with { $0.written(credential ?? .empty) }
            if everythingIsWritten(in: generation) { session.announce(.credentialStored) }
            return Replacement(found: stored)
        } catch {
            if guarded.with({ $0.mayWrite(signedIn: credential, in: generation) }) {
                let isKnown = if case .success = found { true } else { false }
                tryAgainLater(
                    credential, over: isKnown ? .known(stored) : .unknown, in: generation, for: session)
            } else {
                forgetUnwritten(of: generation)
            }
            let failure = AuthenticationError.credentialNotStored(cause: error, delivery: .notSent)
            session.announce(.credentialNotStored(failure))
            return Replacement(found: stored, failure: failure)
        }
    }

    // MARK: What could not be written

    func hasToWrite(again: Bool) -> Bool {
        state.withLock { state in
            guard let unwritten = state.unwritten else { return false }
            // Without an alarm it has been given up.
            return unwritten.generation != nil || again && state.alarm != nil
        }
    }

    /// Keeps what the store should hold, and tries again later.
    ///
    /// - Returns: Whether it is; not after too many failures in a row.
    @discardableResult
    private func tryAgainLater(
        _ credential: TokenCredential?, over replaced: UnwrittenCredential.Replaced, in generation: Int,
        for session: SessionActor
    ) -> Bool {
        let last = state.withLock { state -> (any Alarm)? in
            guard !state.isMarked(since: generation) else { return nil }
            state.unwritten = UnwrittenCredential(credential: credential, replaced: replaced)
            state.failedWrites += 1
            guard state.failedWrites < Self.maximumWrites else {
                // The session is not held any longer, and what comes next has as many tries again.
                state.failedWrites = 1
                return state.alarm.take()
            }
            let delay = min(Duration.seconds(1) * (1 << min(state.failedWrites - 1, 6)), .seconds(60))
            // The alarm holds the session until the credential is written.
            let alarm =
                state.alarm
                ?? session.time.makeAlarm { [self] in
                    Task.detached(priority: .userInitiated) { await self.writeAgain(for: session) }
                }
            state.alarm = alarm
            alarm.set(session.time.now.advanced(by: delay))
            return nil
        }
        last?.invalidate()
        return last == nil
    }

    /// After 1, 2, 4, 8, 16 and 32 s, and then each minute for ten minutes.
    private static let maximumWrites = 17

    /// Notes that the store holds what it should.
    ///
    /// - Returns: Whether a write had failed before.
    private func everythingIsWritten(in generation: Int) -> Bool {
        let (alarm, hadFailed) = state.withLock { state in
            let isMarked = state.isMarked(since: generation)
            defer {
                if !isMarked { state.unwritten = nil }
                state.failedWrites = 0
            }
            return (state.alarm.take(), state.failedWrites > 0)
        }
        alarm?.invalidate()
        return hadFailed
    }

    /// The write of a sign-in or sign-out is not wanted any more.
    private func forgetUnwritten(of generation: Int) {
        state.withLock { if $0.unwritten?.generation == generation { $0.unwritten = nil } }
    }

    /// This write is not wanted any more; one that has replaced it stays.
    private func forget(_ unwritten: UnwrittenCredential) {
        state.withLock { state in
            guard let known = state.unwritten, known.generation == unwritten.generation,
                known.credential == unwritten.credential
            else { return }
            state.unwritten = nil
        }
    }

    /// Tries a failed write again, unless the store holds something newer.
    private func writeAgain(for session: SessionActor) async {
        await serially(for: session) { [self] in
            guard let unwritten = state.withLock({ $0.unwritten }) else { return }
            let guarded = session.guarded
            // A sign-in or sign-out meanwhile replaces it.
            let generation = guarded.with { $0.generation }
            do {
                let stored = try await store.exchange { stored in
                    unwritten.isWanted(over: stored) ? unwritten.credential : stored
                }
                guard guarded.with({ $0.generation == generation }) else { return forget(unwritten) }
                _ = everythingIsWritten(in: generation)
                let now = session.moment
                session.perform(
                    guarded.act { machine in
                        guard machine.generation == generation else { return [] }
                        guard stored == unwritten.credential else {
                            return machine.observed(stored ?? .empty, now: now)
                        }
                        machine.written(unwritten.credential ?? .empty)
                        return [.announce(.credentialStored)]
                    })
            } catch {
                guard guarded.with({ $0.generation == generation }) else { return forget(unwritten) }
                if !tryAgainLater(unwritten.credential, over: unwritten.replaced, in: generation, for: session) {
                    session.announce(.credentialNotStored(.credentialNotStored(cause: error, delivery: .notSent)))
                }
            }
        }.value
    }
}
