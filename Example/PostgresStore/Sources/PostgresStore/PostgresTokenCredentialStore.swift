import AtomNetworking

/// Keeps a session's tokens in PostgreSQL, shared by all processes and machines that can connect to the server.
///
/// All stores with the same ``session`` share it. ``exchange(_:)`` locks the session's row, so at most one refresh runs
/// among all of them, and the others read what it stored.
///
/// ```swift
/// let store = PostgresTokenCredentialStore("service=tokens", session: "partner-api")
/// try await store.prepare()
/// ```
///
/// Each call opens its own connection and closes it: a forked process shares no connection, a restarted server needs no
/// special handling, and a session needs only a few calls. In an exchange there are two connections while a note is
/// written. The store's own errors are ``PostgresStoreError``s.
public final class PostgresTokenCredentialStore: RefreshIntentRecording {
    /// The name under which the tokens are stored.
    public let session: String

    /// How long this store waits.
    public let limits: Limits

    private let connectionString: String

    /// Creates a store; it doesn't connect yet.
    ///
    /// - Parameters:
    ///   - connectionString: In libpq's format: `host=db dbname=tokens`, or
    ///     `postgresql://db/tokens`; `""` uses the environment (`PGHOST`, …).
    ///     Put a password into a password file or a service file.
    ///   - session: The name under which the tokens are stored.
    ///   - limits: How long to wait.
    public init(_ connectionString: String, session: String = "default", limits: Limits = Limits()) {
        self.connectionString = connectionString
        self.session = session
        self.limits = limits
    }

    /// Creates the tables if they don't exist, with the file `Schema.sql`.
    ///
    /// - Throws: A ``PostgresStoreError``.
    public func prepare() async throws {
        let connection = try await connect()
        try await connection.run(.makeTables, within: limits.answer)
    }

    // MARK: Tokens

    /// The session's tokens; `nil` when there are none.
    ///
    /// It waits for a running exchange.
    ///
    /// - Throws: A ``PostgresStoreError``.
    public func load() async throws -> TokenCredential? {
        let connection = try await begin()
        let row = try await connection.run(.read(session), within: turn).first
        await rollBack(connection)
        return try Self.credential(in: row)
    }

    /// Stores tokens in place of the old ones; `nil` removes them.
    ///
    /// It waits for a running exchange.
    ///
    /// - Throws: A ``PostgresStoreError``; the old ones are still stored then,
    ///   except for ``PostgresStoreError/outcomeUnknown``.
    public func save(_ credential: TokenCredential?) async throws {
        let statement = try Statement.store(credential, for: session)
        let connection = try await begin()
        try await connection.run(statement, within: turn)
        try await commit(connection)
    }

    /// Reads the tokens, computes new ones and stores them, with exclusive access.
    ///
    /// The session's row is locked while `body` runs, for at most ``Limits-swift.struct/exchange``. After that the
    /// server unlocks it, and a later result of `body` isn't stored. If this process dies, the row is unlocked at once.
    /// Don't call this store's ``load()``, ``save(_:)`` or ``exchange(_:)`` in `body`: they would wait for it.
    ///
    /// - Throws: The error of `body`, or a ``PostgresStoreError``.
    public func exchange(
        _ body: @Sendable (TokenCredential?) async throws -> TokenCredential?
    ) async throws -> TokenCredential? {
        let connection = try await begin()
        let old = try Self.credential(in: try await lockRow(connection))
        let new: TokenCredential?
        do {
            new = try await body(old)
        } catch {
            await rollBack(connection)
            throw error
        }
        guard new != old else {
            await rollBack(connection)
            return new
        }
        try await connection.run(.store(new, for: session), within: limits.answer)
        try await commit(connection)
        return new
    }

    /// Locks the session's row, and creates it if it doesn't exist.
    private func lockRow(_ connection: Connection) async throws(PostgresStoreError) -> [String?]? {
        let row = try await connection.run(.lock(session), within: turn).first
        if let row { return row }
        // Committed before it is locked: others must see it, and wait.
        try await connection.run(.makeRow(for: session), within: turn)
        try await connection.run(.commit, within: limits.answer)
        try await begin(on: connection)
        guard let made = try await connection.run(.lock(session), within: turn).first else {
            // Without a row there is no lock, and an exchange without a lock isn't exclusive.
            throw .refused(sqlState: "02000", message: "The session's row can't be seen.")
        }
        return made
    }

    private static func credential(in row: [String?]?) throws(PostgresStoreError) -> TokenCredential? {
        guard let text = row?.first ?? nil else { return nil }
        return try StoredCredential(text: text).credential
    }

    // MARK: Refresh notes

    /// Records that the refresh token of this credential is about to be sent.
    ///
    /// A separate connection writes and commits the note, so that it exists even if the connection that locks the row
    /// is lost. The note is a hash of the token.
    ///
    /// - Returns: Whether there was already a note for the same token.
    /// - Throws: A ``PostgresStoreError``.
    public func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool {
        let connection = try await begin()
        let answer = try await connection.run(.note(credential.refreshToken, for: session), within: turn)
        try await commit(connection)
        return answer.first?.first == "t"
    }

    /// Removes the note: the server has answered without using up the refresh token.
    public func removeRefreshIntent(for credential: TokenCredential) async {
        guard let connection = try? await begin() else { return }
        guard (try? await connection.run(.removeNote(of: credential.refreshToken, for: session), within: turn)) != nil
        else { return }
        try? await commit(connection)
    }

    // MARK: Transactions

    /// The client's limit for a statement that waits for a lock; the server's own limit comes first.
    private var turn: Duration { limits.turn + limits.answer }

    private func connect() async throws(PostgresStoreError) -> Connection {
        try await Connection.open(connectionString, limits)
    }

    private func begin() async throws(PostgresStoreError) -> Connection {
        let connection = try await connect()
        try await begin(on: connection)
        return connection
    }

    private func begin(on connection: Connection) async throws(PostgresStoreError) {
        try await connection.run(.begin, within: limits.answer)
        try await connection.run(.bounds(limits), within: limits.answer)
    }

    /// Rolls back, or leaves that to the end of the connection.
    private func rollBack(_ connection: Connection) async {
        _ = try? await connection.run(.rollback, within: limits.answer)
    }

    /// Commits; if the connection is lost in the meantime, the outcome is unknown.
    private func commit(_ connection: Connection) async throws(PostgresStoreError) {
        do throws(PostgresStoreError) {
            try await connection.run(.commit, within: limits.answer)
        } catch {
            switch error {
            case .connectionLost, .noAnswer: throw .outcomeUnknown
            default: throw error
            }
        }
    }
}

extension PostgresTokenCredentialStore: CustomStringConvertible, CustomReflectable {
    /// Shows the session's name, and nothing of the connection string.
    public var description: String { "PostgresTokenCredentialStore(session: \(session))" }

    /// Prevents `dump` from showing a password.
    public var customMirror: Mirror { Mirror(self, children: ["session": session]) }
}
