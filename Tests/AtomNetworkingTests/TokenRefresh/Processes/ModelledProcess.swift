@testable import AtomNetworking

/// A process: the real machine of its session, a request after the other, and its
/// turns at the store.
struct ModelledProcess: Sendable {
    enum Request: Hashable, Sendable {
        case idle
        /// It asks again: after a 401, or because it could not be signed.
        case asks(ticket: Int?, tenure: Tenure?, hasRetried: Bool)
        case waits(ticket: Int, tenure: Tenure, hasRetried: Bool)
        case onWire(tokenNumber: Int, IssuedCredential, tenure: Tenure, hasRetried: Bool)
        case done
    }

    /// What the app has said in this process.
    struct Word: Hashable, Sendable {
        /// `nil` for a sign-out.
        let family: Int?
        /// How many words had reached the store by then; what came later is newer.
        var base: Int
        /// When it has reached the store.
        var landed: Int?
        /// Whether writing it has failed: then it replaces nothing newer.
        var hasFailed = false
        /// What the store held then.
        var over: IssuedCredential?
    }

    var machine: SessionMachine<Int>
    var requests: [Request]
    /// Its turns at the store; only the first one is under way.
    var operations: [StoreOperation] = []
    /// The token requests that nobody waits for any more.
    var adrift: [TokenCall] = []
    /// What its sign-outs have still to revoke, and what they have removed.
    var revocations: [IssuedCredential] = []
    var removed: [IssuedCredential] = []
    var words: [Word] = []
    /// How many the app had said before its request.
    var wordsBefore = 0
    /// The credentials that it has read or got.
    var touched: [IssuedCredential] = []
    /// Those whose refresh tokens it knows to be spent, or refused.
    var spent: [IssuedCredential] = []
    var refused: [IssuedCredential] = []
    /// What it has read last.
    var lastRead: IssuedCredential?
    /// Whether something has gone wrong in it.
    var hasFailed = false
    /// What it knew before it died, for a bug.
    var remembered: IssuedCredential?

    init(requests: Int) {
        var policy = RefreshPolicy()
        policy.fruitlessLimit = 100
        machine = SessionMachine(policy: policy, needsLoading: true)
        self.requests = Array(repeating: .idle, count: requests)
    }

    /// The request that is to be done, or under way.
    var current: Int? { requests.firstIndex { $0 != .done } }

    /// Whether there is nothing to lose.
    var isUntouched: Bool {
        guard operations.isEmpty, words.isEmpty, case .loading(nil, nil) = machine.phase else { return false }
        return true
    }

    var isQuiet: Bool {
        current == nil && operations.isEmpty && adrift.isEmpty && revocations.isEmpty
            && machine.store.retryAt == nil
    }

    mutating func touch(_ credential: IssuedCredential?) {
        if let credential, !touched.contains(credential) { touched.append(credential) }
    }
}
