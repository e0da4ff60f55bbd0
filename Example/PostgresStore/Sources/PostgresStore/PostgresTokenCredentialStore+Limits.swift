extension PostgresTokenCredentialStore {
    /// How long a store waits, and for what.
    ///
    /// The times belong together: ``exchange`` must exceed the refresh's own
    /// deadline (`BearerAuthentication.deadline`, or `timeout.resource`, 30 s by
    /// default), or the server takes the row away from a refresh that is only
    /// slow, and the refresh token that it has spent is lost. ``turn`` must
    /// exceed ``exchange``, or those who wait behind a stopped process give up
    /// before the server lets them in.
    public struct Limits: Sendable, Hashable {
        /// The longest time to make a connection, for each host of the
        /// connection string; whole seconds, at least 2.
        public var connection: Duration = .seconds(5)

        /// The longest time to wait while others hold the session's row.
        public var turn: Duration = .seconds(60)

        /// The longest time that an exchange may hold the session's row.
        ///
        /// When it is up the server itself ends the exchange, so that a process
        /// that was stopped, or whose machine has vanished, holds up the others
        /// no longer than this.
        public var exchange: Duration = .seconds(45)

        /// The longest time to wait for the server's answer to a statement that
        /// waits for nobody.
        public var answer: Duration = .seconds(10)

        /// Limits with every value at its default.
        public init() {}
    }
}

extension Duration {
    /// Whole milliseconds as the server's settings take them: 0 would mean for
    /// ever, and 2,147,483,647 is the most.
    var settingInMilliseconds: String { String(min(max(inMilliseconds, 1), Int64(Int32.max))) }

    /// Rounded up, from nothing to about thirty years.
    var inMilliseconds: Int64 {
        guard self > .zero else { return 0 }
        let (seconds, attoseconds) = components
        return min(seconds, 1_000_000_000) * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    }
}
