extension PostgresTokenCredentialStore {
    /// How long a store waits.
    ///
    /// The times depend on each other. ``exchange`` must exceed the refresh's own deadline
    /// (`BearerAuthentication.deadline`, or `timeout.resource`, 30 s by default); otherwise the server unlocks the row
    /// during a slow refresh, and the refresh token that was used is lost. ``turn`` must exceed ``exchange``; otherwise
    /// callers that wait behind a paused process give up before the server unlocks the row.
    public struct Limits: Sendable, Hashable {
        /// The longest time to connect, for each host of the connection string; whole seconds, at least 2.
        public var connection: Duration = .seconds(5)

        /// The longest time to wait while others lock the session's row.
        public var turn: Duration = .seconds(60)

        /// The longest time that an exchange may lock the session's row.
        ///
        /// After that time the server itself ends the exchange, so that a process that was paused, or whose machine
        /// failed, doesn't block the others for longer.
        public var exchange: Duration = .seconds(45)

        /// The longest time to wait for the server's response to a statement that waits for no lock.
        public var answer: Duration = .seconds(10)

        /// Limits with default values.
        public init() {}
    }
}

extension Duration {
    /// Whole milliseconds for the server's settings: 0 would mean unlimited, and the maximum is 2,147,483,647.
    var settingInMilliseconds: String { String(min(max(inMilliseconds, 1), Int64(Int32.max))) }

    /// Rounded up, from zero to about thirty years.
    var inMilliseconds: Int64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        return min(seconds, 1_000_000_000) * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
