/// Whether a stream of server-sent events goes on after its connection has
/// ended.
public struct Reconnection: Sendable, Hashable {
    /// How many connections in a row may end without an event.
    let maximumAttempts: Int
    /// The time before the next connection, if the server doesn't say.
    let delay: Duration

    /// The stream ends with its connection.
    public static let never = Reconnection(maximumAttempts: 0, delay: .zero)

    /// The request is sent again, with the last event's ID, after the time that
    /// the server asked for.
    ///
    /// It is signed with the session's newest token. A response with status 204
    /// ends the stream (WHATWG HTML §9.2). A lost connection, a 429 and a 5xx
    /// count as an attempt; any other failure ends the stream. Each attempt in a
    /// row doubles the time, up to a minute. The `Retry-After` of an error
    /// response makes it longer, up to a day.
    ///
    /// - Parameters:
    ///   - delay: The time before the next connection, until the server says
    ///     another one.
    ///   - maximumAttempts: How many attempts in a row may bring no event.
    public static func automatic(after delay: Duration = .seconds(3), maximumAttempts: Int = 10) -> Reconnection {
        Reconnection(maximumAttempts: maximumAttempts, delay: delay)
    }
}
