/// Notifications of a session's end that wait for callers.
///
/// A caller is told before the app. If its 401 is still arriving, the
/// notification waits.
final class HeldNotices: Sendable {
    private struct State {
        /// How many callers have to be told first.
        var holders = 0
        var reasons: [AuthenticationError] = []
    }

    private let state = Guarded(State())

    /// A caller may have to be told first; a `release` follows.
    func hold() { state.withLock { $0.holders += 1 } }

    /// The caller of one `hold` has been told.
    ///
    /// - Returns: The notifications to post now.
    func release() -> [AuthenticationError] {
        state.withLock { state in
            state.holders -= 1
            guard state.holders == 0 else { return [] }
            defer { state.reasons = [] }
            return state.reasons
        }
    }

    /// Keeps a notification until the callers have been told.
    ///
    /// - Returns: `false` if no caller has to be told first.
    func keep(_ reason: AuthenticationError) -> Bool {
        state.withLock { state in
            guard state.holders > 0 else { return false }
            state.reasons.append(reason)
            return true
        }
    }
}
