/// What the app is told of the end of its session, after the callers.
///
/// A caller whose 401 is still arriving comes first: until it has its response,
/// nothing is posted.
final class HeldNotices: Sendable {
    private struct State {
        /// How many callers have to be told first.
        var holders = 0
        var reasons: [AuthenticationError] = []
    }

    private let state = Guarded(State())

    /// A caller may have to be told first.
    func hold() { state.withLock { $0.holders += 1 } }

    /// One caller less has to be told first.
    ///
    /// - Returns: What is to be posted now.
    func release() -> [AuthenticationError] {
        state.withLock { state in
            state.holders -= 1
            guard state.holders == 0 else { return [] }
            defer { state.reasons = [] }
            return state.reasons
        }
    }

    /// Keeps a reason until the callers have been told.
    ///
    /// - Returns: `false` if nobody has to be told first.
    func keep(_ reason: AuthenticationError) -> Bool {
        state.withLock { state in
            guard state.holders > 0 else { return false }
            state.reasons.append(reason)
            return true
        }
    }
}
