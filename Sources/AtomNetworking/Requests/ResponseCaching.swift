/// How an endpoint uses the service's cache.
///
/// It has an effect for GET and HEAD, if the service has a ``ServiceConfiguration/cache``. <doc:Caching> explains the
/// rules, and what the cache keeps for whom.
public struct ResponseCaching: Sendable, Hashable {
    enum Use: Hashable, Sendable {
        case nothing
        case revalidating
        case whileFresh
        case onlyKept
    }

    let use: Use
    /// How long a stale response may be used while another one is fetched; `nil` for what the response says.
    private(set) var staleWhileRevalidate: Duration?
    /// How long a stale response may be used if the server can't be asked; `nil` for what the response says.
    private(set) var staleIfError: Duration?
    /// How stale a response may be that is used without a question.
    private(set) var maxStale: Duration?
    /// Whether a response that doesn't say how long it is fresh may count as fresh for a while.
    private(set) var usesHeuristics = false
    /// Whether the endpoint's word counts more than `must-revalidate` and `no-cache` if the server can't be asked.
    private(set) var ignoresMustRevalidate = false

    private init(_ use: Use) { self.use = use }

    /// Nothing is kept, and nothing that is kept is used; the default of an endpoint.
    public static let disabled = ResponseCaching(.nothing)

    /// The server is always asked, and says whether what is kept still holds (RFC 9111 §4.3).
    public static let revalidatingWithService = ResponseCaching(.revalidating)

    /// What is kept is used as long as it is fresh, and the server is asked afterwards (RFC 9111 §4.2).
    public static let whileCacheFresh = ResponseCaching(.whileFresh)

    /// What is kept is used if it is fresh, and nothing is ever sent (RFC 9111 §5.2.1.7).
    ///
    /// Without such a response the request fails with `URLError.resourceUnavailable`.
    public static let onlyIfCached = ResponseCaching(.onlyKept)

    /// The server is always asked; if it can't be reached, or answers 500, 502, 503 or 504, what is kept is used.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var caching: ResponseCaching { .revalidatingWithService(staleIfError: .seconds(86_400)) }
    /// ```
    ///
    /// - Parameters:
    ///   - staleIfError: How long after it has become stale a response is used so (RFC 5861 §4), in place of what the
    ///     response itself says.
    ///   - ignoringMustRevalidate: Whether that counts also for a response with `must-revalidate` or `no-cache`, which
    ///     forbid it. Some frameworks send them with everything.
    public static func revalidatingWithService(
        staleIfError: Duration, ignoringMustRevalidate: Bool = false
    ) -> ResponseCaching {
        var caching = revalidatingWithService
        caching.staleIfError = staleIfError.bounded
        caching.ignoresMustRevalidate = ignoringMustRevalidate
        return caching
    }

    /// What is kept is used as long as it is fresh, and in the cases that you allow also when it is stale.
    ///
    /// <!-- given the airline -->
    /// ```swift
    /// var caching: ResponseCaching { .whileCacheFresh(staleWhileRevalidate: .seconds(60), staleIfError: .seconds(86_400)) }
    /// ```
    ///
    /// - Parameters:
    ///   - staleWhileRevalidate: How long after it has become stale a response is used at once, while the server is
    ///     asked for the next call (RFC 5861 §3); `nil` for what the response itself says.
    ///   - staleIfError: How long after it has become stale a response is used if the server can't be reached, or
    ///     answers 500, 502, 503 or 504 (RFC 5861 §4); `nil` for what the response itself says.
    ///   - ignoringMustRevalidate: Whether that counts also for a response with `must-revalidate` or `no-cache`, which
    ///     forbid it. Some frameworks send them with everything.
    ///   - usingHeuristics: Whether a response with `Last-Modified` that doesn't say how long it is fresh counts as
    ///     fresh for a tenth of its age (RFC 9111 §4.2.2), at most a day.
    public static func whileCacheFresh(
        staleWhileRevalidate: Duration? = nil, staleIfError: Duration? = nil, ignoringMustRevalidate: Bool = false,
        usingHeuristics: Bool = false
    ) -> ResponseCaching {
        var caching = whileCacheFresh
        caching.staleWhileRevalidate = staleWhileRevalidate?.bounded
        caching.staleIfError = staleIfError?.bounded
        caching.ignoresMustRevalidate = ignoringMustRevalidate
        caching.usesHeuristics = usingHeuristics
        return caching
    }

    /// What is kept is used, also for a while after it has become stale, and nothing is ever sent.
    ///
    /// - Parameter maxStale: How long after it has become stale (RFC 9111 §5.2.1.2).
    public static func onlyIfCached(maxStale: Duration) -> ResponseCaching {
        var caching = onlyIfCached
        caching.maxStale = maxStale.bounded
        return caching
    }
}
