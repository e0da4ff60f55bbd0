/// What goes wrong at the token endpoint, and how often.
public struct TokenEndpointFaults: Sendable, Codable, Hashable {
    /// How many calls to come are answered with 503, before anything is processed.
    public var unavailable = 0

    /// The `Retry-After` of those answers, in whole seconds; `nil` sends none.
    public var retryAfter: Int?

    /// How long every call waits before it is processed; ten minutes at most.
    public var delayMilliseconds = 0

    /// How many answers to come are lost: the call is processed, tokens
    /// rotate, and the client doesn't hear of it.
    public var lostAnswers = 0

    /// What the client sees of a lost answer.
    public var lossStyle = LossStyle.hangUp

    /// Nothing goes wrong.
    public init() {}

    /// What the client sees of a lost answer.
    public enum LossStyle: String, Sendable, Codable, CaseIterable {
        /// The connection is closed without a byte.
        case hangUp
        /// Nothing at all: the connection stays open for two minutes.
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
    /// What happens to one call.
    struct Fate {
        var delayMilliseconds: Int
        var isUnavailable = false
        var retryAfter: Int?
        var lossStyle: LossStyle?
    }

    /// Decides the next call's fate and counts it off.
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
