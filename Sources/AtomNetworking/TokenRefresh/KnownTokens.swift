/// What a session has learned about access tokens that it held before.
///
/// One that was refused or has expired stays dead when somebody puts it back;
/// what lies beside it, the refresh token, may be as good as ever.
struct KnownTokens: Sendable {
    private var tokens: [HeldCredential] = []

    /// What is known of this access token.
    func find(_ accessToken: String) -> HeldCredential? {
        tokens.last { $0.credential.accessToken == accessToken }
    }

    /// Keeps what is known of a credential that is about to be replaced.
    mutating func insert(_ held: HeldCredential) {
        guard !held.credential.accessToken.isEmpty else { return }
        tokens.removeAll { $0.credential.accessToken == held.credential.accessToken }
        tokens.append(held)
        if tokens.count > Self.limit { tokens.removeFirst() }
    }

    private static let limit = 16
}
