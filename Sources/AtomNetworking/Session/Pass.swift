/// What an attempt is made with.
struct Pass: Sendable {
    /// The value of the `Authorization` field; `nil` if nothing signs it, or if it has to ask the session again.
    var authorization: String?
    /// The number of the access token that it comes from, if it comes from a session.
    var tokenNumber: Int?
    /// Whether the session wants to hear that the server accepts the token.
    var isUnproven = false
    /// Whose the attempt is.
    var tenure: Tenure
}
