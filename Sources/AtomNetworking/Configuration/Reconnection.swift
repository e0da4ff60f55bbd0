/// Whether a stream of server-sent events goes on after its connection has ended.
public struct Reconnection: Sendable, Hashable {
    /// How many connections in a row may fail, or not last.
    let maximumAttempts: Int
    /// The time before the next connection, if the server doesn't say.
    let delay: Duration

    /// The stream ends with its connection.
    public static let never = Reconnection(maximumAttempts: 0, delay: .zero)

    /// The request is sent again, with the last event's ID, after the time that the server asked for.
    ///
    /// It is signed with the session's newest token, but only for the person that the stream began with: after a
    /// sign-in or a sign-out it ends with ``AuthenticationError/signedOut(delivery:)``. So it does after another
    /// process has refreshed, since nobody can tell whose tokens those are. A response with status 204 ends the stream
    /// (WHATWG HTML §9.2).
    ///
    /// What a ``RetryPolicy`` would send again counts as an attempt, and so does a refresh that failed for now; any
    /// other failure ends the stream. A connection that stays open for a second, and at least as long as the pause
    /// before it, ends the row of attempts.
    ///
    /// Each attempt in a row doubles the time, up to a minute, and it is made longer at random by up to a half. With
    /// `retry` a server can ask for a second to ten minutes, and with `Retry-After` for up to ten minutes.
    ///
    /// - Parameters:
    ///   - delay: The time before the next connection, until the server says
    ///     another one. It may be shorter than a second.
    ///   - maximumAttempts: How many attempts may be made in a row.
    public static func automatic(after delay: Duration = .seconds(3), maximumAttempts: Int = 10) -> Reconnection {
        Reconnection(maximumAttempts: maximumAttempts, delay: delay)
    }
}
