import Foundation

/// Lets the requests of one ``Atom`` use its cache.
///
/// It stands around exchanges, also shared ones, as these don't know of it. What it keeps is one person's: see
/// ``CacheKey``, and ``SignOutWatch``.
final class RequestCaching: Sendable {
    private struct State {
        /// What is asked for behind the callers' backs.
        var revalidations: Set<CacheKey.Identity> = []
        /// Whose session it was at the last request.
        var lastTenure: Tenure?
        /// Where the session's responses are stored, by the tenure and the number of its access token.
        var place: (tenure: Tenure, tokenNumber: Int, group: String)?
    }

    let cache: ResponseCache
    let sharing: RequestSharing
    private let watch: SignOutWatch?
    private let state = Guarded(State())

    var manager: RequestableQueueManager { sharing.manager }

    init?(_ cache: ResponseCache?, _ sharing: RequestSharing) {
        guard let cache else { return nil }
        self.cache = cache
        self.sharing = sharing
        watch = sharing.manager.gate.map { SignOutWatch($0, of: sharing.manager) }
        watch?.begin { [weak self] in self?.personHasGone(to: $0) }
    }

    deinit { watch?.end() }

    /// Answers a request from the cache, or starts or queues it, before it returns; only a disk is waited for.
    ///
    /// - Parameter progress: With one, nothing is answered from the cache.
    func begin(
        _ request: consuming PreparedRequest, _ caching: ResponseCaching, listener: Exchange.Listener,
        progress: ProgressReporter?
    ) -> any RunningRequest {
        var policy = CachePolicy(caching, method: request.method, headerFields: request.headerFields)
        if progress != nil, !policy.isOnlyKept {
            policy = CachePolicy(.disabled, method: request.method, headerFields: request.headerFields)
        }
        guard !policy.isOff || CachePolicy.isUnsafe(request.method),
            let key = key(for: request) ?? (policy.isOnlyKept ? .ofNobody(request.target.absoluteString) : nil)
        else { return run(request, listener: listener, of: nil, progress: progress) }
        let call = CachedRequest(request, policy, key, listener: listener, progress: progress, caching: self)
        call.start()
        return call
    }

    /// Sends a request, shared if it may be.
    func run(
        _ request: consuming PreparedRequest, listener: Exchange.Listener, of tenure: Tenure?,
        progress: ProgressReporter?
    ) -> any RunningRequest {
        guard request.sharesIdenticalRequests, progress == nil else {
            return manager.run(
                request, listener: listener, progress: progress, of: tenure.map { manager.cookies.give(to: $0).0 },
                isShared: tenure != nil)
        }
        return sharing.begin(request, listener: listener, of: tenure)
    }

    /// What responses to a request are found by; `nil` if it isn't known whose they are.
    private func key(for request: borrowing PreparedRequest) -> CacheKey? {
        // A provider's own request would wait for itself. Without a session only the app's signers know who asks.
        guard manager.session?.isInProvider != true,
            manager.session != nil || !manager.hasSigners || !request.takesSigners
        else { return nil }
        var tenure = manager.tenure
        noteDeparture(tenure)
        // Before whose it is now: whoever goes in between keeps nothing.
        let counts = cache.counts
        tenure = manager.gate?.tenure ?? tenure
        if let person = request.tenure, !tenure.isSamePerson(as: person) { return nil }
        let isSigned = isSigned(request)
        let (given, cookie) = cookie(for: request.target, request.headerFields, of: tenure)
        let query = request.target.pathAndQuery.split(separator: "?", maxSplits: 1).dropFirst().joined()
        return CacheKey(
            request.target.absoluteString, request.headerFields, cookie: cookie,
            // What is not signed is apart, whatever cookies it has.
            of: isSigned ? tenure.with(cookiesOf: .nobody) : given.known(byCookies: true), isSigned: isSigned,
            // A link may be signed itself, and an app's signers may say who asks.
            hasCredential: isSigned || request.tenure != nil || manager.hasSigners && request.takesSigners
                || Redaction.namesCredential(query),
            counts: counts)
    }

    /// Somebody else's tokens are in the app's variable: nobody has told the session of a sign-out.
    private func noteDeparture(_ tenure: Tenure) {
        guard let session = manager.session, session.keeper.store == nil else { return }
        let last = state.withLock { state in
            defer { state.lastTenure = tenure }
            return state.lastTenure
        }
        if let last, last.isSameSignIn(as: tenure), tenure.isAfterDeparture(since: last) { personHasGone(to: tenure) }
    }

    /// Whether the service's authentication method signs it.
    func isSigned(_ request: borrowing PreparedRequest) -> Bool {
        request.requiresAuthorization && manager.signsRequests
    }

    private func cookie(
        for target: TargetURL, _ fields: HeaderFields, of tenure: Tenure
    ) -> (Tenure, String?) {
        let (given, mayHaveCookies) = manager.cookies.give(to: tenure)
        guard mayHaveCookies, !fields.contains("Cookie") else { return (given, nil) }
        return (given, manager.cookies.field(for: target.cookieAddress, of: given, at: manager.time.date))
    }

    /// Whether a response is for whoever the request was made for, and that is still so.
    ///
    /// - Parameter response: `nil` for one that is kept.
    func isStillOf(_ key: CacheKey, _ request: borrowing PreparedRequest, _ response: AtomResponse? = nil) -> Bool {
        guard key.owner == nil || key.epoch == cache.counts.epoch else { return false }
        guard isSigned(request) else {
            // The cookies tell whose it is: those that it was sent with, and those of now.
            let now = cookie(for: request.target, request.headerFields, of: manager.gate?.tenure ?? manager.tenure).1
            return (now ?? request.headerFields["Cookie"]) == key.cookie
                && response.map { $0.sentFields?["Cookie"] == key.cookie } ?? true
        }
        guard manager.gate.map({ $0.tenure.with(cookiesOf: .nobody) == key.owner }) ?? true else { return false }
        return response.map { $0.tenure?.with(cookiesOf: .nobody) == key.owner } ?? true
    }
}

// MARK: - Where a person's responses are stored

extension RequestCaching {
    enum Place: Equatable {
        /// In memory only.
        case nowhere
        case group(String)
        /// It will be known when the session has read its tokens.
        case unknown

        var group: String? { if case .group(let name) = self { name } else { nil } }
    }

    func place(for key: CacheKey, _ request: borrowing PreparedRequest) -> Place {
        guard cache.hasStorage else { return .nowhere }
        guard let owner = key.owner else { return .group(ResponseCache.open) }
        guard cache.storesSigned, request.requiresAuthorization, let gate = manager.gate else { return .nowhere }
        guard let (tenure, number, tokens) = gate.tokens() else {
            if case .unknown = manager.session?.state { return .unknown }
            return .nowhere
        }
        guard tenure.with(cookiesOf: .nobody) == owner else { return .nowhere }
        let groups = state.withLock { state -> (now: String, before: [String]) in
            if let place = state.place, place.tenure == tenure, place.tokenNumber == number { return (place.group, []) }
            let names = tokens.map(Self.group)
            let last = state.place.flatMap {
                $0.tenure.isSameSignIn(as: tenure) && $0.tenure.isSamePerson(as: tenure) ? $0.group : nil
            }
            state.place = (tenure, number, names[0])
            return (names[0], names.dropFirst() + [last].compactMap { $0 })
        }
        // A refresh has brought other tokens.
        if !groups.before.isEmpty { cache.move(groups.before, to: groups.now) }
        return .group(groups.now)
    }

    func keep(_ response: StoredResponse, for key: CacheKey, _ request: borrowing PreparedRequest) {
        cache.keep(response, for: key, in: place(for: key, request).group, note: { [weak self] in self?.note($0) })
    }

    /// Forgets what is kept for a request.
    func forget(_ key: CacheKey, _ request: borrowing PreparedRequest) {
        cache.remove([key.address], in: groups(for: key, request))
    }

    /// Where the same URL may be stored for whoever asks, signed or not.
    private func groups(for key: CacheKey, _ request: borrowing PreparedRequest) -> Set<String> {
        let groups = [ResponseCache.open, place(for: key, request).group, state.withLock { $0.place?.group }]
        return Set(groups.compactMap { $0 })
    }

    /// The app's log may take its time, and others wait for the cache.
    func note(_ text: String) {
        guard let log = manager.log else { return }
        DispatchQueue(label: "AtomNetworking.note").async { log.note(text) }
    }

    /// Whoever was signed in has gone, or somebody has signed in.
    ///
    /// - Parameter tenure: Of now.
    private func personHasGone(to tenure: Tenure) {
        let current = manager.gate?.tokens().map { Self.group(of: $0.tokens[0]) }
        let last = state.withLock { state -> String? in
            // A request of the next person may have come first.
            guard let place = state.place, place.group != current else { return nil }
            state.place = nil
            return place.group
        }
        cache.forgetSigned(by: tenure, in: last) { [weak self] in self?.note($0) }
    }

    private static func group(of token: String) -> String { SHA256.hex("responses of \(token)") }
}

// MARK: - Besides a caller

extension RequestCaching {
    /// Asks the server, for the next caller, whether a stale response still holds; once at a time.
    func revalidate(_ stored: StoredResponse, for call: CachedRequest) {
        let identity = call.key.identity
        guard state.withLock({ $0.revalidations.insert(identity).inserted }) else { return }
        let queue = manager.dispatchQueue
        call.again { [weak self] outcome in
            _ = self?.state.withLock { $0.revalidations.remove(identity) }
            if case .failure(let error) = outcome { AtomNotification.announceRefusal(error, on: queue) }
        }
        .ask(about: stored)
    }

    /// A request whose response is a stream or a file has gone past the cache, and may have changed what that has.
    func passed(_ request: borrowing PreparedRequest, _ outcome: Result<AtomResponse, AtomError>) {
        guard CachePolicy.isUnsafe(request.method), let key = key(for: request) else { return }
        forget(whatMayHaveChangedBy: request, key, outcome)
    }

    /// Forgets what a request may have changed: also if no response came, and it may have reached the server.
    func forget(
        whatMayHaveChangedBy request: borrowing PreparedRequest, _ key: CacheKey,
        _ outcome: Result<AtomResponse, AtomError>
    ) {
        let response: AtomResponse?
        switch outcome {
        case .success(let found), .failure(.response(let found)): response = found
        case .failure(let error):
            if error.delivery == .notSent { return }
            response = nil
        }
        let landed = response?.address.flatMap { TargetURL.resolving($0, against: nil) }
        let targets: [TargetURL]
        if let landed, landed != request.target {
            // A redirect was followed: what the response says is of another URL, and so is its status.
            targets = [request.target] + (landed.origin == request.target.origin ? [landed] : [])
        } else {
            let head = response.flatMap { response in response.statusCode.map { ($0, response.headerFields) } }
            targets = CachePolicy.invalidated(by: request.method, to: request.target, head)
        }
        if !targets.isEmpty { cache.remove(targets.map(\.absoluteString), in: groups(for: key, request)) }
    }
}
