/// What a sign-out has ended, and so revokes.
struct EndedSession: Sendable {
    /// What the session used.
    let held: TokenCredential?
    /// What the app's variable held.
    let read: TokenCredential?
    /// What was known of the store.
    let store: StoreMemory

    /// What is to be revoked, the newest first.
    ///
    /// What another process has stored is newer than what was held, but what had failed to be written is newer than what
    /// it should have replaced.
    ///
    /// - Parameter replaced: What the store held that the sign-out has emptied, or that a later sign-in overwrites; `nil`
    ///   if neither is so: what a sign-out finds that somebody has signed in with since is somebody else's.
    func credentials(replacing replaced: TokenCredential?) -> [TokenCredential] {
        guard let newest = store.intended(over: replaced) ?? held ?? read ?? replaced else { return [] }
        // It may be somebody else's by now, and whoever has signed out here was promised this.
        guard let held, !newest.hasTokens(of: held) else { return [newest] }
        return [newest, held]
    }
}
