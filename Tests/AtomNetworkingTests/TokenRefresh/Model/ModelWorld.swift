import Foundation

@testable import AtomNetworking

/// A credential as the model knows it: numbers instead of tokens, 0 for none.
struct ModelCredential: Hashable {
    var access = 0
    var refresh = 0
    var expiresAt = 0

    var isEmpty: Bool { access == 0 && refresh == 0 }

    init(access: Int = 0, refresh: Int = 0, expiresAt: Int = 0) {
        self.access = access
        self.refresh = refresh
        self.expiresAt = expiresAt
    }

    init(_ credential: TokenCredential) {
        guard !credential.isEmpty else { return }
        access = Int(credential.accessToken.dropFirst()) ?? 0
        refresh = Int(credential.refreshToken.dropFirst()) ?? 0
        expiresAt = Int(credential.expiresAt.timeIntervalSince1970.rounded()) - ModelClock.epoch
    }

    var real: TokenCredential {
        guard !isEmpty else { return .empty }
        return TokenCredential(
            accessToken: Self.accessTokens[access],
            expiresAt: Date(timeIntervalSince1970: Double(ModelClock.epoch + expiresAt)),
            refreshToken: Self.refreshTokens[refresh])
    }

    private static let accessTokens = [""] + (1..<64).map { "a\($0)" }
    private static let refreshTokens = [""] + (1..<64).map { "r\($0)" }
}

/// Seconds on both clocks.
enum ModelClock {
    static let epoch = 1_790_000_000
    private static let start = MonotonicInstant.now

    static func instant(_ seconds: Int) -> MonotonicInstant { start.advanced(by: .seconds(seconds)) }

    static func moment(_ seconds: Int) -> Moment {
        Moment(instant: instant(seconds), date: Date(timeIntervalSince1970: Double(epoch + seconds)))
    }

    static func seconds(_ instant: MonotonicInstant) -> Int { Int(start.duration(to: instant).seconds.rounded()) }
}

/// What the world outside the machine knows about an access token.
struct ModelToken: Hashable {
    /// To which of the two people it belongs.
    var account = 0
    /// When the server stops accepting it.
    var serverExpiry = 0
    var isRevoked = false
    /// When the session knows it to expire, and to be due for a refresh.
    var expiry = Int.max
    var due = Int.max
    /// The expiry as it was read when the session computed its own.
    var expiresAtAsRead: Int?
    /// Whether the session knows that a first attempt with it was refused.
    var isRejected = false
    var isAccepted = false
    var isGranted = false
    var isCounted = false
    var isWritten = false
    /// Whether it came too late.
    var isDropped = false
    /// How often somebody has signed in with it, who says by that that it is good.
    var signIns = 0

    func isDead(at now: Int) -> Bool { isRejected || now >= expiry }
}

/// What the server knows about a refresh token, and what it has told.
struct ModelRefreshToken: Hashable {
    var account = 0
    var isValid = true
    var isKnownRefused = false
    /// Whether a refresh of the session's has exchanged it for another one.
    var isSpent = false
    /// Its successor, unless that was signed out.
    var successor: ModelCredential?
}

struct ModelRequest: Hashable {
    enum State: Hashable {
        case idle
        case asks
        case reading(version: Int, ModelCredential)
        case waiting
        /// Out of the session's queue, and not in the lane yet.
        case released
        case inSlotQueue
        case onWire(tokenNumber: Int, access: Int, isAccepted: Bool)
        case done
    }

    var state = State.idle
    /// Its ticket, until it is sent.
    var ticket: Int?
    /// The machine's tenure at its admission, and the model's own count.
    var tenure: Tenure?
    var ownGeneration: Int?
    /// When it joined the queue, as a number that only grows.
    var joined = 0
    var hasRetried = false
    /// Whether the gate has not let it through: it asks the session next.
    var isTurnedAway = false
    /// Its place in the lane, until it is sent.
    var slotPlace: Int?
    /// Whether it joined the queue without having been admitted before.
    var isNew = false
    /// How often somebody had signed in with its token when it was signed.
    var signIns = 0
    /// Since when it has waited.
    var waitsSince = 0
    var deadline = 100_000

    var isUnderWay: Bool { state != .idle && state != .done }
}

/// The machine and everything around it: callers, the transport's order, the
/// store, the app, an authorization server.
///
/// It has its own rules for what may happen, and throws when something else
/// happens.
struct ModelWorld {
    struct Violation: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    struct Refresh: Hashable {
        let number: Int
        let credential: ModelCredential
        let sentAt: Int
        /// Whether its success may be kept.
        var isOutdated = false
        /// Whether the session that it was for has been signed out.
        var isSignedOut = false
        /// Whether its time is over.
        var isOverdue = false
    }

    struct Write: Hashable {
        let credential: ModelCredential
        let tokenNumber: Int
        var isDone = false
    }

    let settings: ModelSettings
    var sut: ModelledMachine
    var now = 0
    var requests: [ModelRequest]
    var slotQueue: [Int] = []
    var slotPlaces = 0
    var joins = 0
    var isReleasing = false
    var wakeAt: Int?

    // The server and the store.
    var tokens: [ModelToken] = [ModelToken()]
    var refreshTokens: [ModelRefreshToken] = [ModelRefreshToken(isValid: false)]
    var inFlight: [Refresh] = []
    /// The refreshes whose time is over, and that the server still has to answer.
    var overdue: [Refresh] = []
    /// What each sign-out has ended, by the machine's tenure, and whose that was.
    var endings: [Tenure: (ended: EndedSession, account: Int?)] = [:]
    var store = ModelCredential()
    var writes: [Write] = []
    var operations: [ModelOperation] = []
    /// What the store held for loads that the session wasn't told of.
    var loads: [ModelLoad] = []
    /// The refreshes that the app's provider is asked for.
    var provided: [ModelProviderCall] = []
    /// The refreshes that nobody waits for any more.
    var leftBehind: [Int] = []
    /// A failed write, and what the store held then.
    var missed: (credential: ModelCredential, over: ModelCredential)?
    /// What the store has to hold when all is quiet, if nobody else writes.
    var lastWord: ModelCredential?
    /// Whether the session is being told what the store holds, or that it can't
    /// be read.
    var isLookingAtStore = false
    var isUnreadable = false
    /// The credential of a sign-in, or an empty one of a sign-out: the session
    /// was told, and the variable is about to be set.
    var signing: ModelCredential?
    /// The credential of each person when the other one's was stored: an app that
    /// switches between them puts it back.
    var shelf = [ModelCredential](repeating: ModelCredential(), count: 2)

    // What the session knows, as the model counts.
    var current: ModelCredential?
    /// What it read or wrote in the store last; `nil` before the first time.
    var seen: ModelCredential?
    /// What it has overwritten, until it has read what it wrote.
    var beneath: [ModelCredential] = []
    /// What the app's variable is being set to.
    var pending: [ModelCredential] = []
    var generation = 0
    var hasFailedEarly = false
    var failures = 0
    var notBefore = Int.min
    /// The overdue refresh that the next one waits for.
    var pausesFor: Int?
    var fruitless: [Int] = []
    /// Whether renewal without a refresh token has failed for good.
    var isAcquisitionRefused = false

    // What may still happen.
    var disturbancesLeft: Int
    var timeStepsLeft: Int

    init(_ settings: ModelSettings, bug: PlantedBug? = nil) {
        self.settings = settings
        var policy = RefreshPolicy()
        policy.fruitlessLimit = settings.fruitlessLimit
        policy.backOffBase = .seconds(20)
        policy.backOffCap = .seconds(60)
        sut = ModelledMachine(SessionMachine(policy: policy, needsLoading: settings.hasStore), bug: bug)
        requests = Array(repeating: ModelRequest(), count: settings.requests)
        for (index, deadline) in settings.deadlines.enumerated() { requests[index].deadline = deadline }
        disturbancesLeft = settings.limit
        timeStepsLeft = settings.timeSteps
        if !settings.isStoreEmpty { store = issue(life: settings.firstLife, to: 0) }
    }

    /// A credential that the server has just made.
    ///
    /// - Parameter refresh: The refresh token that it keeps, if it keeps one.
    mutating func issue(life: Int, to account: Int, refresh: Int? = nil) -> ModelCredential {
        tokens.append(ModelToken(account: account, serverExpiry: now + life))
        let life = settings.saysNoLifetime ? 0 : life
        guard settings.renewal == .refreshToken else {
            return ModelCredential(access: tokens.count - 1, expiresAt: now + life)
        }
        if let refresh, refresh != 0 {
            return ModelCredential(access: tokens.count - 1, refresh: refresh, expiresAt: now + life)
        }
        refreshTokens.append(ModelRefreshToken(account: account))
        return ModelCredential(access: tokens.count - 1, refresh: refreshTokens.count - 1, expiresAt: now + life)
    }

    /// Whose credential it is.
    func account(of credential: ModelCredential) -> Int { tokens[credential.access].account }
}

extension ModelWorld {
    /// The steps that are possible now.
    var steps: [ModelStep] {
        var steps: [ModelStep] = []
        var hasIdle = false
        for (index, request) in requests.enumerated() {
            switch request.state {
            case .idle:
                // They differ only in their numbers, so they come in order.
                if !hasIdle { steps.append(.read(index)) }
                hasIdle = true
            case .asks: steps.append(.read(index))
            case .reading: steps.append(.ask(index))
            case .onWire: steps.append(.answer(index))
            case .released: steps.append(.enterLane)
            case .waiting, .inSlotQueue, .done: break
            }
            if case .waiting = request.state, now >= request.deadline { steps.append(.deadline(index)) }
            if request.isUnderWay, can(.cancel) { steps.append(.cancel(index)) }
        }
        if !slotQueue.isEmpty { steps.append(.slot) }
        if isReleasing, !requests.contains(where: { $0.state == .released }) { steps.append(.release) }
        if settings.hasStore {
            steps += storeSteps
        } else if let refresh = inFlight.first, signing == nil {
            if refreshTokens[refresh.credential.refresh].isValid {
                steps.append(.grant)
                if can(.refreshIsOverdue) { steps.append(.isOverdue) }
                if can(.refreshFails) { steps.append(.fail(retryAfter: nil, isAnswerLost: false)) }
                if can(.retryAfter) { steps.append(.fail(retryAfter: 20, isAnswerLost: false)) }
                if can(.answerLost) { steps.append(.fail(retryAfter: nil, isAnswerLost: true)) }
            } else {
                steps.append(.refuse)
            }
        }
        if let refresh = overdue.first, signing == nil {
            steps.append(.overdueEnds(isGranted: refreshTokens[refresh.credential.refresh].isValid))
        }
        if let write = writes.first, signing == nil { steps.append(write.isDone ? .written : .write) }
        if wakeAt != nil { steps.append(.ring) }
        if timeStepsLeft > 0, nextMoment != nil { steps.append(.time) }
        if signing != nil { steps.append(.appSigns) }
        if can(.signIn), signing == nil { steps.append(.signIn) }
        // The app knows what has been stored.
        if can(.signInAgain), signing == nil, current != nil, !isCommittedToStore { steps.append(.signInAgain) }
        if can(.signInOther), signing == nil { steps.append(.signInOther) }
        if can(.signInBack), signing == nil, !shelf[other].isEmpty { steps.append(.signInBack) }
        if can(.signOut), signing == nil { steps.append(.signOut) }
        // The app does one thing at a time.
        for change in Self.outsideChanges
        where can(change) && signing == nil && !isStoreLocked && isPossible(change) {
            steps.append(.outside(change))
        }
        if can(.revokeAccess), let current, !tokens[current.access].isRevoked { steps.append(.revokeAccess) }
        if can(.revokeSession), refreshTokens.contains(where: \.isValid) { steps.append(.revokeSession) }
        return steps
    }

    private static let outsideChanges: [ModelSettings.Disturbance] = [
        .outsideRenews, .outsideEmpties, .outsideProlongs, .outsideNewRefreshToken, .outsideNewAccess,
        .otherRefreshes, .outsideOther, .outsideBack,
    ]

    /// Whether what others do would change the store.
    private func isPossible(_ change: ModelSettings.Disturbance) -> Bool {
        switch change {
        case .outsideRenews, .outsideOther: true
        case .outsideBack: !shelf[other].isEmpty && shelf[other] != store
        case .otherRefreshes, .outsideNewAccess: !store.isEmpty && refreshTokens[store.refresh].isValid
        default: !store.isEmpty
        }
    }

    /// The person who is not in the store; if nobody is, the last one who was.
    var other: Int { store.isEmpty ? (shelf[1].isEmpty ? 0 : 1) : 1 - account(of: store) }

    func can(_ disturbance: ModelSettings.Disturbance) -> Bool {
        disturbancesLeft > 0 && settings.disturbances.contains(disturbance)
    }

    /// The next moment at which something becomes due.
    var nextMoment: Int? {
        var moments: [Int] = []
        if let current {
            moments.append(tokens[current.access].due)
            moments.append(tokens[current.access].expiry)
        } else if !store.isEmpty {
            moments.append(store.expiresAt)
        }
        moments.append(notBefore)
        moments.append(fruitlessPauseEnd)
        for request in requests {
            if case .waiting = request.state {
                moments.append(request.deadline)
                if let patience = patienceEnd(of: request) { moments.append(patience) }
            }
        }
        return moments.filter { $0 > now && $0 < 100_000 }.min()
    }

    /// Whether every caller has been told, and nothing is running.
    var isQuiet: Bool {
        !requests.contains { $0.isUnderWay } && inFlight.isEmpty && writes.isEmpty && !isReleasing
            && signing == nil && operations.isEmpty && loads.isEmpty && provided.isEmpty
            && leftBehind.isEmpty && overdue.isEmpty
    }
}
