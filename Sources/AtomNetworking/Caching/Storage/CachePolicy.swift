import Foundation

/// What a cache does for a request, and with a response: the rules of RFC 9111 and RFC 5861 for a private cache, as a
/// pure value.
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

    init(_ caching: ResponseCaching, method: String, headerFields: HeaderFields) {
        self.caching = caching
        self.method = method
    }

    /// Whether the cache has nothing to do with the request: nothing is looked up, and nothing is kept.
    var isOff: Bool { true }

    func decision(on stored: StoredResponse?, at now: Moment) -> Decision { .ask }

    /// The fields with which the server is asked whether a response still holds; none without a validator.
    func conditions(on stored: StoredResponse) -> [HeaderItem] { [] }

    func isStale(_ stored: StoredResponse, at now: Moment) -> Bool { false }

    /// Whether what is kept may be used though it is stale, because the server can't be asked, or answers with this.
    func usesStale(_ stored: StoredResponse, insteadOf statusCode: Int?, at now: Moment) -> Bool { false }

    /// Whether a response is kept.
    func keeps(_ statusCode: Int, _ headerFields: HeaderFields, receivedAt: Date) -> Bool { false }
}

extension CachePolicy {
    /// The names in `Vary`, in lower case and in order; `nil` if it says that no other request is alike.
    static func varying(_ headerFields: HeaderFields) -> [String]? { nil }

    /// What is kept of a response's fields.
    static func kept(_ headerFields: HeaderFields) -> HeaderFields { headerFields }

    /// Whether a method may change what the server has (RFC 9110 §9.2.1).
    static func isUnsafe(_ method: String) -> Bool {
        !["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"].contains(method)
    }

    /// The URLs of which nothing may be used any more, after a request that may have changed them (RFC 9111 §4.4).
    ///
    /// - Parameter head: `nil` if no response came, and the request may have reached the server.
    static func invalidated(
        by method: String, to target: TargetURL, _ head: (statusCode: Int, headerFields: HeaderFields)?
    ) -> [TargetURL] { [] }
}

extension StoredResponse {
    /// How old it is (RFC 9111 §4.2.3).
    func age(at now: Moment) -> Duration { .zero }

    /// The same with the fields of a 304, or of a response to HEAD (RFC 9111 §3.2); `nil` if those are of another
    /// representation.
    func freshened(by headerFields: HeaderFields, requestedAt: Date, receivedAt: Moment) -> StoredResponse? { nil }

    /// The bytes for a storage.
    var encoded: Data { Data() }

    /// - Returns: `nil` if these are not all bytes of a response that this version has written.
    init?(encoded: Data) { return nil }
}
