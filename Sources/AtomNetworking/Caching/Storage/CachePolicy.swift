import Foundation

/// What a cache does for a request, and with a response: the rules of RFC 9111 and RFC 5861 for a private cache, as a
/// pure value.
///
/// What the request's own `Cache-Control` says is added to what the endpoint says. `immutable` (RFC 8246) needs no rule:
/// a fresh response is never asked about, unless the endpoint or the request wishes it. `no-cache` with names of fields
/// counts as without: the response could be used without these fields only, which nobody who reads it expects. What is
/// of shared caches, such as `s-maxage` and `private`, makes no difference.
struct CachePolicy: Sendable {
    /// What is done for a request.
    enum Decision: Sendable, Equatable {
        /// What is kept is the response; `revalidates` says that the server is asked behind the caller's back.
        case use(isStale: Bool, revalidates: Bool)
        /// The server is asked whether what is kept still holds, with these fields.
        case revalidate([HeaderItem])
        /// The server is asked.
        case ask
        /// Nothing may be sent, and nothing is kept that may be used.
        case refuse
    }

    private let caching: ResponseCaching
    private let method: String
    /// The directives of the request.
    private let wishes: CacheDirectives
    /// Whether the request wants nothing that the server hasn't confirmed.
    private let wantsValidation: Bool
    /// Whether what is kept may answer the request, and its response be kept.
    private let isPlain: Bool
    /// Whether the request is answered by what is kept, or not at all.
    let isOnlyKept: Bool

    init(_ caching: ResponseCaching, method: String, headerFields: HeaderFields) {
        self.caching = caching
        self.method = method
        let isOn = caching.use != .nothing && (method == "GET" || method == "HEAD")
        wishes = isOn ? CacheDirectives(headerFields) : CacheDirectives()
        // `Pragma` is for servers and caches of HTTP/1.0 (RFC 9111 §5.4).
        let isOld = isOn && !headerFields.contains("Cache-Control")
        wantsValidation = (isOld ? CacheDirectives(headerFields, in: "Pragma") : wishes)["no-cache"] != nil
        isPlain = isOn && wishes["no-store"] == nil && !Self.namesOfParts.contains { headerFields.contains($0) }
        isOnlyKept = isOn && (caching.use == .onlyKept || wishes["only-if-cached"] != nil)
    }

    /// The app asks for a part, or has a response of its own.
    private static let namesOfParts = [
        "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
    ]

    /// Whether the cache has nothing to do with the request: nothing is looked up, and nothing is kept.
    ///
    /// It is never off where nothing may be sent: such a request is refused.
    var isOff: Bool { !isPlain && !isOnlyKept }

    /// - Parameter stored: For HEAD, what is kept for GET.
    func decision(on stored: StoredResponse?, at now: Moment) -> Decision {
        if isPlain, let stored, let use = use(of: stored, at: now) { return use }
        guard !isOnlyKept else { return .refuse }
        // A 304 to HEAD would tell the caller nothing.
        guard isPlain, method == "GET", let conditions = stored?.conditions, !conditions.isEmpty else { return .ask }
        return .revalidate(conditions)
    }

    private func use(of stored: StoredResponse, at now: Moment) -> Decision? {
        let directives = CacheDirectives(stored.headerFields)
        guard caching.use != .revalidating, !wantsValidation, directives["no-cache"] == nil,
            let age = stored.knownAge(at: now)
        else { return nil }
        let staleness = age - stored.lifetime(usesHeuristics: caching.usesHeuristics)
        // A limit that can't be read isn't kept. At the limit itself the server is asked: 0 always asks.
        if wishes["max-age"] != nil, age >= wishes.time("max-age") ?? .zero { return nil }
        if wishes["min-fresh"] != nil {
            guard let rest = wishes.time("min-fresh"), staleness + rest <= .zero else { return nil }
        }
        if staleness < .zero { return .use(isStale: false, revalidates: false) }
        // Who limits the age wants nothing stale, unless they say how stale (§5.2.1.1).
        guard !forbidsStale(stored, directives), wishes["max-age"] == nil || wishes["max-stale"] != nil
        else { return nil }
        let revalidates = !isOnlyKept && staleWhileRevalidate(directives).map { staleness <= $0 } ?? false
        guard revalidates || maxStale.map({ staleness <= $0 }) ?? false else { return nil }
        return .use(isStale: true, revalidates: revalidates)
    }

    /// Whether what is kept may be used though it is stale, because the server can't be asked, or answers with this.
    ///
    /// So may what is fresh, and would have been confirmed only; but nothing that the request itself wants confirmed, or
    /// whose age isn't known.
    func usesStale(_ stored: StoredResponse, insteadOf statusCode: Int?, at now: Moment) -> Bool {
        let directives = CacheDirectives(stored.headerFields)
        guard isPlain, !isOnlyKept, !wantsValidation, statusCode.map([500, 502, 503, 504].contains) ?? true,
            directives["no-cache"] == nil || caching.ignoresMustRevalidate, let age = stored.knownAge(at: now),
            let limit = staleIfError(directives)
        else { return false }
        let staleness = age - stored.lifetime(usesHeuristics: caching.usesHeuristics)
        return staleness < .zero || staleness <= limit && !forbidsStaleIfError(stored, directives)
    }

    func isStale(_ stored: StoredResponse, at now: Moment) -> Bool {
        stored.knownAge(at: now).map { $0 >= stored.lifetime(usesHeuristics: caching.usesHeuristics) } ?? true
    }

    /// Whether a response is kept.
    func keeps(_ statusCode: Int, _ headerFields: HeaderFields, receivedAt: Date) -> Bool {
        method == "GET" && isOfUse(statusCode, headerFields, receivedAt: receivedAt)
    }

    /// Whether there may be a request that a response, or a kept one with new fields, can be used for.
    func isOfUse(_ statusCode: Int, _ headerFields: HeaderFields, receivedAt: Date) -> Bool {
        let directives = CacheDirectives(headerFields)
        guard isPlain, Self.understoodStatusCodes.contains(statusCode),
            // Who understands the status needn't mind a `no-store` for those who don't (§5.2.2.3).
            directives["no-store"] == nil || directives["must-understand"] == .missing,
            Self.varying(headerFields) != nil
        else { return false }
        let stored = StoredResponse(
            address: "", statusCode: statusCode, headerFields: headerFields, body: Data(), varying: [],
            requestedAt: receivedAt, receivedAt: receivedAt)
        if directives["no-cache"] == nil, stored.ageOnArrival < stored.lifetime() { return true }
        // The others are kept only for as long as the server says.
        guard [200, 203, 204, 300, 301, 308].contains(statusCode) else { return false }
        if !stored.conditions.isEmpty { return true }
        let isUsedStale = [staleWhileRevalidate(directives), maxStale].contains { $0 ?? .zero > .zero }
        return caching.use == .whileFresh && isUsedStale && !forbidsStale(stored, directives)
            || staleIfError(directives) ?? .zero > .zero && !forbidsStaleIfError(stored, directives)
    }

    /// Those of RFC 9110 that say something about the resource, and not about one request, and 451 (RFC 7725).
    private static let understoodStatusCodes: Set = [
        200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 403, 404, 405, 406, 410, 414, 451, 500, 501, 502, 503, 504,
    ]

    /// An old error isn't better than a new one.
    private func forbidsStale(_ stored: StoredResponse, _ directives: CacheDirectives) -> Bool {
        directives["must-revalidate"] != nil || directives["no-cache"] != nil || stored.statusCode >= 400
    }

    private func forbidsStaleIfError(_ stored: StoredResponse, _ directives: CacheDirectives) -> Bool {
        caching.ignoresMustRevalidate ? stored.statusCode >= 400 : forbidsStale(stored, directives)
    }

    private func staleWhileRevalidate(_ directives: CacheDirectives) -> Duration? {
        caching.staleWhileRevalidate ?? directives.time("stale-while-revalidate")
    }

    /// A request may say it, too (RFC 5861 §4).
    private func staleIfError(_ directives: CacheDirectives) -> Duration? {
        caching.staleIfError ?? wishes.time("stale-if-error") ?? directives.time("stale-if-error")
    }

    private var maxStale: Duration? {
        let wished = wishes["max-stale"] == .missing ? .century : wishes.time("max-stale")
        return [caching.maxStale, wished].compactMap { $0 }.max()
    }
}

extension CachePolicy {
    /// The names in `Vary`, in lower case and in order; `nil` if it says that no other request is alike, or can't be
    /// read.
    static func varying(_ headerFields: HeaderFields) -> [String]? {
        let names = elements(of: headerFields, "Vary")
        guard names.count <= 64 else { return nil }
        return names.allSatisfy { $0 != "*" && HTTPGrammar.isToken($0) } ? Set(names).sorted() : nil
    }

    /// The elements of a list, in lower case.
    private static func elements(of headerFields: HeaderFields, _ name: String) -> [String] {
        headerFields.values(for: name).flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ",")).map {
                String(decoding: $0, as: UTF8.self).trimmingCharacters(in: [" ", "\t"]).lowercased()
            }
        }.filter { !$0.isEmpty }
    }

    /// What is kept of a response's fields: nothing that belongs to one connection (RFC 9111 §3.1), and no cookies.
    static func kept(_ headerFields: HeaderFields) -> HeaderFields {
        // What says how a response may be used is for everybody, also if a server lists it (RFC 9110 §7.6.1).
        let listed = Set(elements(of: headerFields, "Connection")).subtracting([
            "age", "cache-control", "date", "expires", "vary",
        ])
        var kept = headerFields
        kept.removeAll { field in
            let name = field.name.lowercased()
            return namesOfConnection.contains(name) || name.hasPrefix("proxy-") || listed.contains(name)
        }
        return kept
    }

    private static let namesOfConnection: Set = [
        "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "set-cookie", "set-cookie2",
    ]

    /// Whether a request with this method may change what the server has (RFC 9110 §9.2.1, RFC 10008 §2).
    static func isUnsafe(_ method: String) -> Bool {
        !["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"].contains(method)
    }

    /// The URLs of which nothing may be used any more, after a request that may have changed them (RFC 9111 §4.4).
    ///
    /// - Parameter head: `nil` if no response came, and the request may have reached the server.
    static func invalidated(
        by method: String, to target: TargetURL, _ head: (statusCode: Int, headerFields: HeaderFields)?
    ) -> [TargetURL] {
        guard isUnsafe(method) else { return [] }
        guard let head else { return [target] }
        guard (200..<400).contains(head.statusCode) else { return [] }
        let named = ["Location", "Content-Location"].flatMap { head.headerFields.values(for: $0) }
            .compactMap { target.resolving(location: $0) }
            // A server can't speak for others.
            .filter { $0.origin == target.origin }
            // With the port spelled as in the target; the dot is for a path that begins with two slashes.
            .compactMap { target.resolving(location: "/." + $0.pathAndQuery) }
            .filter { $0 != target }
        return [target] + Set(named).sorted { $0.absoluteString < $1.absoluteString }
    }
}
