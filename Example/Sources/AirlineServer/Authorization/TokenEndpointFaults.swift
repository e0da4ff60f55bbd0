/// The faults of the token endpoint, and how often they occur.
public struct TokenEndpointFaults: Sendable, Codable, Hashable {
    /// How many of the next calls get a 503 before they are processed.
    public var unavailable = 0

    /// The `Retry-After` of those responses, in whole seconds; `nil` for none.
    public var retryAfter: Int?

    /// How long every call waits before it is processed; at most ten minutes.
    public var delayMilliseconds = 0

    /// How many of the next responses are lost: the call is processed and
    /// tokens rotate, but the client gets no response.
    public var lostAnswers = 0

    /// How a lost response looks to the client.
    public var lossStyle = LossStyle.hangUp

    /// No faults.
    public init() {}

    /// How a lost response looks to the client.
    public enum LossStyle: String, Sendable, Codable, CaseIterable {
        /// The server closes the connection without a byte.
        case hangUp
        /// The server sends nothing and keeps the connection open for two
        /// minutes.
        case silence
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case unavailable
        case retryAfter
        case delayMilliseconds
        case lostAnswers
        case lossStyle
    }
}

extension TokenEndpointFaults {
    /// The faults of one call.
    struct Fate {
        var delayMilliseconds: Int
        var isUnavailable = false
        var retryAfter: Int?
        var lossStyle: LossStyle?
    }

    /// Determines the faults of the next call and counts them down.
    mutating func nextFate() -> Fate {
        var fate = Fate(delayMilliseconds: min(max(delayMilliseconds, 0), 600_000))
        if unavailable > 0 {
            unavailable -= 1
            fate.isUnavailable = true
            fate.retryAfter = retryAfter
        } else if lostAnswers > 0 {
            lostAnswers -= 1
            fate.lossStyle = lossStyle
        }
        return fate
    }
}
