import Foundation

/// Whether a request that has failed is sent again, how often, and when.
///
/// A service has one in ``ServiceConfiguration/retryPolicy``, and an endpoint
/// may have its own in ``Requestable/retryPolicy``. <doc:Retrying> has examples.
///
/// A failed connection, a timeout and the policy's statuses, which are ``temporaryStatusCodes`` unless you give others,
/// are reasons to try again. A request is sent again if it can't have reached the server, or if
/// ``Requestable/idempotency`` allows it. A body that can be read only once, and has been read, is never sent again.
///
/// The time between two attempts is random, below a limit that doubles each time. A `Retry-After` makes it longer. If
/// the next attempt would begin after the request's deadline, the request fails at once. The retry after a 401, and
/// redirects, are no attempts in this sense, and a refresh of tokens isn't affected.
///
/// Each retry takes its cost from a quota of the server, which successes refill. So a server that is down gets next to
/// no additional load, however many requests fail.
public struct RetryPolicy: Sendable, Hashable {
    // What these are, the initializer says.
    private(set) var maximumAttempts: Int
    let baseDelay: Duration
    let throttledBaseDelay: Duration
    let maximumDelay: Duration
    let quota: Int
    let cost: Int
    let throttledCost: Int
    let statusCodes: Set<Int>
    let connectivityWait: Duration?

    /// A request is sent again once, and at once: if it can't have reached the
    /// server, for example because the connection was refused, and over libcurl if
    /// the server has closed a kept connection and the request is idempotent.
    ///
    /// With each policy, what a server of HTTP/2 says it has not processed (RFC 9113 §8.7) is sent again.
    ///
    /// This is the default of a service.
    public static let none = RetryPolicy(maximumAttempts: 1)

    /// The default of an endpoint whose policy isn't optional.
    static let ofService: RetryPolicy = {
        var policy = none
        policy.maximumAttempts = 0
        return policy
    }()

    var isOfService: Bool { maximumAttempts == 0 }

    /// Three attempts, with the arguments that ``init(maximumAttempts:baseDelay:throttledBaseDelay:maximumDelay:quota:cost:throttledCost:statusCodes:connectivityWait:)``
    /// has by default.
    public static let standard = RetryPolicy()

    /// 408, 425, 429, 500, 502, 503 and 504; `union([520])` has one more.
    public static let temporaryStatusCodes: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - maximumAttempts: How often a request is sent in all. With 1 or less,
    ///     only what ``none`` names is sent again: once, and at once.
    ///   - baseDelay: The longest time before the second attempt; it doubles before each later one.
    ///   - throttledBaseDelay: The same if the server wants fewer requests: it answered 429, or said `Retry-After`.
    ///   - maximumDelay: The time does not grow beyond this. The server may ask for more.
    ///   - quota: How much all retries at one server (scheme, host and port) may cost together. A success gives back
    ///     what its last retry has cost, or 1 if there was none.
    ///   - cost: What a retry costs. One after which the device had no network costs nothing.
    ///   - throttledCost: What a retry costs if the server wants fewer requests.
    ///   - statusCodes: The statuses after which a request is sent again, unless the endpoint accepts them. A 401 and
    ///     redirects are not among them, even if they are named.
    ///   - connectivityWait: How long a request waits for a network, in all, if the device has none; `nil` for not at
    ///     all. It is sent as soon as there is one, also if `maximumAttempts` have been made. So does a request whose
    ///     tokens can't be refreshed for want of a network. This needs a system that tells: one of Apple's, but
    ///     watchOS. Elsewhere it has no effect.
    public init(
        maximumAttempts: Int = 3,
        baseDelay: Duration = .milliseconds(50),
        throttledBaseDelay: Duration = .seconds(1),
        maximumDelay: Duration = .seconds(20),
        quota: Int = 500,
        cost: Int = 14,
        throttledCost: Int = 5,
        statusCodes: Set<Int> = temporaryStatusCodes,
        connectivityWait: Duration? = nil
    ) {
        self.maximumAttempts = max(maximumAttempts, 1)
        self.baseDelay = baseDelay.bounded
        self.throttledBaseDelay = throttledBaseDelay.bounded
        self.maximumDelay = maximumDelay.bounded
        self.quota = max(quota, 0)
        self.cost = max(cost, 0)
        self.throttledCost = max(throttledCost, 0)
        self.statusCodes = statusCodes
        self.connectivityWait = connectivityWait?.bounded
    }
}

// MARK: - The decision

extension RetryPolicy {
    /// What an attempt met, as far as it matters here.
    struct Setback: Sendable, Equatable {
        let failure: AttemptFailure
        let delivery: AtomError.Delivery
        /// The time that the server asked for; zero for one in the past.
        let serverDelay: Duration?
        /// Whether the server closed a kept connection as the request came.
        var isOfKeptConnection = false
        /// Whether the server has said that it has not processed the request.
        var isUnprocessed = false

        init(_ failure: AttemptFailure, delivery: AtomError.Delivery, serverDelay: Duration? = nil) {
            self.failure = failure
            self.delivery = delivery
            self.serverDelay = serverDelay
        }

        /// Whether the reason may be that there is no network.
        var isOfflineFailure: Bool {
            if case .connection(let code) = failure { Self.offlineCodes.contains(code) } else { false }
        }

        private static let offlineCodes = certainlyOfflineCodes.union([
            .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost,
        ])

        /// Whether there was no network, which no server is to blame for.
        var isCertainlyOffline: Bool {
            if case .connection(let code) = failure { Self.certainlyOfflineCodes.contains(code) } else { false }
        }

        private static let certainlyOfflineCodes: Set<URLError.Code> = [
            .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff,
        ]

        var isThrottled: Bool { failure == .status(429) || serverDelay != nil }
    }

    /// How long to wait after an attempt, from 1, with a chance in 0..<1; `nil` if there is no other one.
    func delay(after setback: Setback, attempt: Int, chance: Double) -> Duration? {
        guard isTemporary(setback.failure) else { return nil }
        guard maximumAttempts > 1 else {
            return attempt == 1 && (setback.delivery == .notSent || setback.isOfKeptConnection) ? .zero : nil
        }
        guard attempt < maximumAttempts else { return nil }
        let delay = Duration.backOff(
            base: setback.isThrottled ? throttledBaseDelay : baseDelay, doublings: attempt - 1,
            cap: maximumDelay, chance: chance)
        return setback.serverDelay.map { max($0, delay) } ?? delay
    }

    func cost(after setback: Setback) -> Int {
        if setback.isCertainlyOffline { return 0 }
        return setback.isThrottled ? throttledCost : cost
    }

    /// Whether the same request may succeed later, also after a failed refresh.
    func isTemporary(_ error: AtomError) -> Bool {
        switch error {
        case .session, .response: return isTemporary(error.attempts.last ?? .connection(.unknown))
        case .authentication(.refreshFailed(let cause, _, _)):
            // All is for now but what only the app's developers can mend, or nobody.
            if let error = cause as? OAuthError { return !Self.lastingCodes.contains(error.code) }
            if let status = error.response?.statusCode { return status != 400 && status != 401 }
            return (cause as? AtomError).map(isTemporary) ?? true
        // Nobody is asked to sign in again and again.
        case .authentication(.credentialNotProvided): return error.isConnectivityFailure
        case .authentication(.tooManyRefreshes), .authentication(.waitedTooLong),
            .authentication(.credentialNotReadable):
            return true
        case .authentication, .decoder, .requestable, .cancelled, .transfer, .unexpected: return false
        }
    }

    /// What a token endpoint says of the client (RFC 6749 §5.2).
    private static let lastingCodes: Set<String> = [
        "invalid_request", "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
    ]

    private func isTemporary(_ failure: AttemptFailure) -> Bool {
        switch failure {
        case .status(401), .status(300..<400): false
        case .status(let code): statusCodes.contains(code)
        case .connection(let code): Self.temporaryCodes.contains(code)
        }
    }

    /// What another attempt may cure: not an untrusted certificate, a response
    /// that isn't HTTP, or what the app or the system has forbidden.
    ///
    /// `unknown` is what a transport of the app's says of its own errors.
    private static let temporaryCodes: Set<URLError.Code> = [
        .timedOut, .cannotConnectToHost, .networkConnectionLost, .cannotFindHost, .dnsLookupFailed,
        .notConnectedToInternet, .secureConnectionFailed, .resourceUnavailable, .unknown,
    ]
}
