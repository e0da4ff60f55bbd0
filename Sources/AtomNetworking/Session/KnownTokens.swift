/// What a session knows about access tokens that it held before.
///
/// An access token that was refused or has expired stays dead when somebody
/// puts it back; the refresh token beside it may still be good.
struct KnownTokens: Sendable {
    private var tokens: [HeldCredential] = []

    /// What is known about this access token.
    func find(_ accessToken: String) -> HeldCredential? {
        tokens.last { $0.credential.accessToken == accessToken }
    }

    /// Keeps what is known about a credential that is about to be replaced.
    mutating func insert(_ held: HeldCredential) {
        guard !held.credential.accessToken.isEmpty else { return }
        tokens.removeAll { $0.credential.accessToken == held.credential.accessToken }
        tokens.append(held)
        if tokens.count > Self.limit { tokens.removeFirst() }
    }

    private static let limit = 16
}
