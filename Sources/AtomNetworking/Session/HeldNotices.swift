/// Notifications of a session's end that wait for callers.
///
/// A caller is told before the app. If its 401 is still arriving, the
/// notification waits.
final class HeldNotices: Sendable {
    typealias Post = @Sendable () -> Void

    private struct State {
        /// How many callers have to be told first.
        var holders = 0
        var posts: [Post] = []
    }

    private let state = Guarded(State())

    /// A caller may have to be told first; a `release` follows.
    func hold() { state.withLock { $0.holders += 1 } }

    /// The caller of one `hold` has been told.
    func release() {
        let posts = state.withLock { state -> [Post] in
            state.holders -= 1
            guard state.holders == 0 else { return [] }
            defer { state.posts = [] }
            return state.posts
        }
        for post in posts { post() }
    }

    /// Posts a notification now, or when the callers have been told.
    func post(_ post: @escaping Post) {
        let isHeld = state.withLock { state in
            if state.holders > 0 { state.posts.append(post) }
            return state.holders > 0
        }
        if !isHeld { post() }
    }
}
