import Foundation

/// One call of a request that may use the cache.
///
/// It is told once: a kept response, the outcome of its exchange, or its own cancellation. What is done first, and what
/// is kept, a ``CachePolicy`` says. Nobody is told, sent or cancelled under the lock.
final class CachedRequest: EventTeller, CallerTeller, DeadlineBearer, @unchecked Sendable {
    // The deadline queue uses it, under its own lock.
    var deadlinePlace = DeadlinePlace()

    /// How long a disk, and the session's store before it, are waited for: then the server is asked.
    static let longestLook = Duration.seconds(1)

    private enum Stage {
        /// Nothing has been decided; a disk may be read.
        case looking
        /// What follows is being sent, or has been.
        case asking
        case told
    }

    private struct State {
        var stage = Stage.looking
        var isCancelled = false
        /// How often something was sent.
        var sends = 0
        /// What was sent last, until its outcome.
        var running: (any RunningRequest)?
        var caller: WaitingCaller
        var observation: RequestObservation?
        var events = NotedEvents()
    }

    private let request: PreparedRequest
    private let policy: CachePolicy
    let key: CacheKey
    /// Of a request that is sent in any case.
    private let progress: ProgressReporter?
    /// Whether somebody waits for it, and observers hear of what they get.
    private let isOfCaller: Bool
    private let caching: RequestCaching
    private let startedAt: MonotonicInstant
    private let state: Guarded<State>

    init(
        _ request: PreparedRequest, _ policy: CachePolicy, _ key: CacheKey, listener: Exchange.Listener,
        progress: ProgressReporter? = nil, isOfCaller: Bool = true, caching: RequestCaching
    ) {
        self.request = request
        self.policy = policy
        self.key = key
        self.progress = progress
        self.isOfCaller = isOfCaller
        self.caching = caching
        startedAt = caching.manager.time.now
        state = Guarded(State(caller: WaitingCaller(listener)))
    }

    var manager: RequestableQueueManager { caching.manager }
    private var moment: Moment { Moment(instant: manager.time.now, date: manager.time.date) }
}

// MARK: - What is kept

extension CachedRequest {
    /// Looks what is kept, and goes by it.
    func start() {
        if policy.isOff { return ask(about: nil) }
        if let kept = caching.cache.response(for: key) { return found(kept) }
        switch caching.place(for: key, request) {
        case .nowhere: found(nil)
        case .group(let group):
            limitLook()
            load(group)
        case .unknown:
            limitLook()
            Task.detached(name: "Look", priority: .userInitiated) { [self] in
                // If it can't be read, the exchange says so.
                _ = await Result { () async throws(AtomError) in try await manager.session?.loadedState() }
                guard case .group(let group) = caching.place(for: key, request) else { return found(nil) }
                load(group)
            }
        }
    }

    private func limitLook() {
        manager.deadlines.set(startedAt + min(Self.longestLook, request.timeouts.total), for: self, number: 1)
    }

    private func load(_ group: String) {
        caching.cache.load(
            key, in: group, note: { [caching] in caching.note($0) },
            completion: { [self] kept in
                // Not on the cache's queue: the app's signers and observers may take their time.
                DispatchQueue(label: "AtomNetworking.kept", qos: .userInitiated).async { [self] in found(kept) }
            })
    }

    func deadlinePassed(at now: MonotonicInstant) { found(nil) }

    /// Called once or more often: the first time counts.
    private func found(_ kept: StoredResponse?) {
        let isFirst = state.withLock { state in
            guard state.stage == .looking else { return false }
            state.stage = .asking
            return true
        }
        guard isFirst else { return }
        manager.deadlines.remove(self, number: 2)
        let now = moment
        // Since the look its person may have gone.
        let kept = kept.flatMap { caching.isStillOf(key, request) ? $0 : nil }
        switch policy.decision(on: kept, at: now) {
        case .use(let isStale, let revalidates):
            guard let kept else { break }
            use(kept, from: .cache(age: kept.age(at: now), isStale: isStale))
            if revalidates { caching.revalidate(kept, for: self) }
        case .revalidate(let conditions): send(request.asking(conditions), about: kept)
        case .ask: send(request.asking([]), about: kept)
        case .refuse:
            observe()
            let error = AtomError.session(
                URLError(
                    .resourceUnavailable, "The cache has no response that may be used, and nothing may be sent",
                    delivery: .notSent))
            let request = AtomError.Request(
                method: request.method, address: key.address, finalAddress: nil, attempts: 0,
                duration: startedAt.duration(to: manager.time.now))
            settle(.failure(error.noting(request)))
        }
    }

    /// Observers hear of a request that is not sent; what is sent has events of its own.
    private func observe() {
        guard isOfCaller, let observation = manager.observation(of: request) else { return }
        state.withLock { $0.observation = observation }
        tellDescribed()
    }

    /// Tells a kept response.
    private func use(_ kept: StoredResponse, from source: AtomResponse.Source) {
        let response = AtomResponse(
            data: request.method == "HEAD" ? Data() : kept.body, statusCode: kept.statusCode,
            headerFields: kept.headerFields(from: source), address: kept.address, decoder: manager.decoder,
            tenure: caching.isSigned(request) ? key.owner : nil,
            record: RequestRecord(
                first: FirstAttempt(method: request.method, address: key.address, source: source), attempts: 0,
                startedAt: startedAt, hasLeftOrigin: false))
        let isAcceptable = request.acceptableStatusCodes.contains(kept.statusCode)
        let outcome: Result<AtomResponse, AtomError> =
            isAcceptable ? .success(response) : .failure(.response(response).about(response, until: manager.time.now))
        observe()
        tell(
            .cached(
                ReceivedHead(
                    TransportResponse(statusCode: kept.statusCode, headerFields: response.headerFields), attempt: 0),
                source), at: manager.time.now)
        settle(outcome)
    }
}

// MARK: - What is asked for

extension CachedRequest {
    /// The same request behind the caller's back.
    func again(_ listener: @escaping Exchange.Completion) -> CachedRequest {
        CachedRequest(request, policy, key, listener: .completion(listener), isOfCaller: false, caching: caching)
    }

    /// Asks the server, and whether this still holds if there is something.
    func ask(about kept: StoredResponse?) {
        state.withLock { $0.stage = .asking }
        send(policy.isOff ? request : request.asking(kept?.conditions ?? []), about: kept)
    }

    private func send(_ request: PreparedRequest, about kept: StoredResponse?) {
        var request = request
        let sentAt = moment
        let waited = startedAt.duration(to: sentAt.instant)
        // Only a disk is waited for. Callers with different deadlines would share nothing.
        if waited > .milliseconds(1), !request.sharesIdenticalRequests {
            request.timeouts = request.timeouts.ending(within: request.timeouts.total - waited)
        }
        let number = state.withLock { state in
            state.sends += 1
            return state.sends
        }
        let listener = Exchange.Listener.completion { [self] in answered($0, about: kept, sentAt: sentAt) }
        let running = caching.run(request, listener: listener, of: policy.isOff ? nil : tenure, progress: progress)
        let isCancelled = state.withLock { state in
            // It may have ended inside its start, and another one have followed.
            if state.stage == .asking, state.sends == number { state.running = running }
            return state.isCancelled
        }
        if isCancelled { running.cancel() }
    }

    /// For whom it is sent, and for nobody else.
    private var tenure: Tenure? { caching.isSigned(request) ? key.owner : nil }

    private func answered(_ outcome: Result<AtomResponse, AtomError>, about kept: StoredResponse?, sentAt: Moment) {
        let now = moment
        let response: AtomResponse? =
            switch outcome {
            case .success(let response), .failure(.response(let response)): response
            case .failure: nil
            }
        if policy.isOff {
            caching.forget(whatMayHaveChangedBy: request, key, outcome)
            return settle(outcome)
        }
        if let kept, response != nil || outcome.leavesServerUnasked,
            policy.usesStale(kept, insteadOf: response?.statusCode, at: now), caching.isStillOf(key, request)
        {
            return use(kept, from: .cache(age: kept.age(at: now), isStale: policy.isStale(kept, at: now)))
        }
        guard let response, let statusCode = response.statusCode else { return settle(outcome) }
        // A redirect has a response to something else.
        let isForThis =
            response.record?.hasLeftOrigin != true && response.fault == nil
            && response.address?.utf8.elementsEqual(key.address.utf8) == true
            && caching.isStillOf(key, request, response)
        if statusCode == 304, case .success = outcome, let kept {
            // What else the server speaks of is not known.
            guard isForThis,
                var fresh = kept.freshened(
                    by: response.headerFields, requestedAt: sentAt.date, receivedAt: now)
            else { return ask(about: nil) }
            fresh.exchangeInstant = response.record?.startedAt
            keep(fresh, at: now)
            return use(fresh, from: .revalidatedCache(age: fresh.age(at: now)))
        }
        if isForThis { learn(from: response, statusCode, kept, sentAt: sentAt, now) }
        settle(outcome)
    }

    /// Keeps what a response says, or forgets what it takes the place of.
    private func learn(
        from response: AtomResponse, _ statusCode: Int, _ kept: StoredResponse?, sentAt: Moment, _ now: Moment
    ) {
        let fields = response.headerFields
        if request.method == "HEAD" {
            guard let kept, (200...299).contains(statusCode) else { return }
            if let fresh = kept.freshened(by: fields, method: "HEAD", requestedAt: sentAt.date, receivedAt: now) {
                return keep(fresh, at: now)
            }
        } else if policy.keeps(statusCode, fields, receivedAt: now.date), let names = CachePolicy.varying(fields),
            let sent = response.sentFields, key.knows(names, of: sent, isSigned: tenure != nil)
        {
            return caching.keep(
                StoredResponse(
                    address: key.address, statusCode: statusCode, headerFields: CachePolicy.kept(fields),
                    body: response.data, varying: key.varying(names), requestedAt: sentAt.date, receivedAt: now.date,
                    receivedInstant: now.instant, exchangeInstant: response.record?.startedAt), for: key, request)
        }
        // What the server says now is something else, unless it says it of the request, or is in trouble.
        if kept != nil, statusCode < 500, ![401, 407, 408, 425, 429].contains(statusCode) { forget() }
    }

    /// Keeps what has new fields, unless these say otherwise.
    private func keep(_ fresh: StoredResponse, at now: Moment) {
        guard policy.isOfUse(fresh.statusCode, fresh.headerFields, receivedAt: now.date) else { return forget() }
        caching.keep(fresh, for: key, request)
    }

    private func forget() { caching.forget(key, request) }
}

// MARK: - The caller

extension CachedRequest {
    var observation: RequestObservation? { state.withLock { $0.observation } }

    func withEvents<T: Sendable>(_ body: (inout NotedEvents) -> T) -> T { state.withLock { body(&$0.events) } }

    func cancel() {
        let (running, isFirst) = state.withLock { state in
            let isFirst = state.stage == .looking
            if isFirst { state.stage = .asking }
            state.isCancelled = true
            return (state.running, isFirst)
        }
        running?.cancel()
        guard isFirst else { return }
        manager.deadlines.remove(self, number: 2)
        observe()
        settle(.failure(.cancelled(.notSent)))
    }

    /// Tells the outcome; called once.
    private func settle(_ outcome: Result<AtomResponse, AtomError>) {
        if let observation { tellEnd(outcome, observation, at: manager.time.now) }
        // The exchange holds this object.
        let running = state.withLock { state in
            state.stage = .told
            return state.running.take()
        }
        withExtendedLifetime(running) {}
        tellCaller(outcome)
    }

    func withCaller<T: Sendable>(_ body: (inout WaitingCaller) -> T) -> T { state.withLock { body(&$0.caller) } }
}

extension StoredResponse {
    /// The fields with its age (RFC 9111 §5.1).
    fileprivate func headerFields(from source: AtomResponse.Source) -> HeaderFields {
        var fields = headerFields
        switch source {
        case .cache(let age, _), .revalidatedCache(let age): fields["Age"] = "\(age.components.seconds)"
        case .server: break
        }
        return fields
    }
}

extension Result<AtomResponse, AtomError> {
    /// Whether the server couldn't be reached, or asked.
    fileprivate var leavesServerUnasked: Bool {
        guard case .failure(let error) = self else { return false }
        return switch error {
        case .session(let cause as URLError): cause.code == .timedOut || error.isConnectivityFailure
        case .authentication(.refreshFailed), .authentication(.waitedTooLong): true
        default: error.isConnectivityFailure
        }
    }
}
