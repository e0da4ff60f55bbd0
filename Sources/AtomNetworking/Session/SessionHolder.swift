/// Whose session it is: another value after each sign-in, sign-out and takeover,
/// but the same one after a refresh.
struct SessionHolder: Hashable, Sendable {
    /// Counts sign-ins and sign-outs.
    let generation: Int
    /// Counts the credentials that somebody else has put in place.
    let takeoverCount: Int
}

/// What tells whose token has signed a request; each of these is enough.
struct SessionSigner: Sendable {
    /// The session's holder, for no longer than this process lives.
    let holder: String
    /// The refresh token and those that it has replaced, or the access token if
    /// there is none.
    let tokens: [String]
}

extension SessionMachine {
    /// Whose session it is, as far as the machine knows.
    var holder: SessionHolder { SessionHolder(generation: generation, takeoverCount: takeoverCount) }

    /// The tokens that tell whose the access token with this number is; `nil` if
    /// the session has another one.
    func tokens(of version: Int) -> [String]? {
        guard version == tokenNumber, let credential = held?.credential else { return nil }
        guard !credential.refreshToken.isEmpty else { return [credential.accessToken] }
        return [credential.refreshToken] + spent.predecessors(of: credential)
    }
}
