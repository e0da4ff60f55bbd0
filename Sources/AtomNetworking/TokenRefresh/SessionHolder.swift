/// Whose session it is: another value after each sign-in, sign-out and takeover,
/// but the same one after a refresh.
struct SessionHolder: Hashable, Sendable {
    /// Counts sign-ins and sign-outs.
    let generation: Int
    /// Counts the credentials that somebody else has put in place.
    let takeoverCount: Int
}

extension SessionMachine {
    /// Whose session it is, as far as the machine knows.
    var holder: SessionHolder { SessionHolder(generation: generation, takeoverCount: takeoverCount) }
}
