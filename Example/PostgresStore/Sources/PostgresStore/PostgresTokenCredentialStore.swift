import AtomNetworking

/// Keeps a session's tokens in PostgreSQL, shared by all processes and machines
/// that reach the server.
///
/// All who name the same ``session`` share it. ``exchange(_:)`` holds the lock
/// of the session's row, so at most one refresh runs among all of them, and the
/// others read what it stored.
///
/// ```swift
/// let store = PostgresTokenCredentialStore("service=tokens", session: "partner-api")
/// try await store.prepare()
/// ```
///
/// Each call makes a connection of its own and closes it: nothing is shared
/// with a forked process, a restarted server is simply reached again, and a
/// token's life needs but a few calls. In an exchange there are two while a
/// note is written. What it throws of its own is a ``PostgresStoreError``.
public final class PostgresTokenCredentialStore: RefreshIntentRecording {
    /// The name that the tokens are stored under.
    public let session: String

    /// How long this store waits, and for what.
    public let limits: Limits

    private let connectionString: String

    /// Makes a store; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - connectionString: As libpq takes it: `host=db dbname=tokens`, or
    ///     `postgresql://db/tokens`; `""` goes by the environment (`PGHOST`, …).
    ///     A password is best left to a password or service file.
    ///   - session: The name that the tokens are stored under.
    ///   - limits: How long to wait.
    public init(_ connectionString: String, session: String = "default", limits: Limits = Limits()) {
        self.connectionString = connectionString
        self.session = session
        self.limits = limits
    }

    /// Makes the tables if they aren't there: what the file `Schema.sql` says.
    ///
    /// - Throws: A ``PostgresStoreError``.
    public func prepare() async throws {
        let connection = try await connect()
        try await connection.run(.makeTables, within: limits.answer)
    }
}

// MARK: - Tokens

extension PostgresTokenCredentialStore {
    /// The session's tokens; `nil` when there are none.
    ///
    /// Waits for an exchange that runs.
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
    /// Waits for an exchange that runs.
    ///
    /// - Throws: A ``PostgresStoreError``; the old ones are still there then,
    ///   but for ``PostgresStoreError/outcomeUnknown``.
    public func save(_ credential: TokenCredential?) async throws {
        let statement = try Statement.store(credential, for: session)
        let connection = try await begin()
        try await connection.run(statement, within: turn)
        try await commit(connection)
    }

    /// Reads the tokens, computes new ones and stores them, and lets nobody
    /// else do anything with them meanwhile.
    ///
    /// The session's row is locked while `body` runs, for
    /// ``Limits-swift.struct/exchange`` at most; the server then frees it, and
    /// what `body` returns later isn't stored. When this process dies the row
    /// is free at once. Don't call this store's ``load()``, ``save(_:)`` or
    /// ``exchange(_:)`` in `body`: they would wait for it.
    ///
    /// - Throws: What `body` throws, or a ``PostgresStoreError``.
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

    /// Locks the session's row, which is made first if it isn't there.
    private func lockRow(_ connection: Connection) async throws(PostgresStoreError) -> [String?]? {
        let row = try await connection.run(.lock(session), within: turn).first
        if let row { return row }
        // Committed before it is locked: others must find it, and wait.
        try await connection.run(.makeRow(for: session), within: turn)
        try await connection.run(.commit, within: limits.answer)
        try await begin(on: connection)
        guard let made = try await connection.run(.lock(session), within: turn).first else {
            // Without a row there is no lock, and an exchange alone is no exchange.
            throw .refused(sqlState: "02000", message: "The session's row can't be seen.")
        }
        return made
    }

    private static func credential(in row: [String?]?) throws(PostgresStoreError) -> TokenCredential? {
        guard let text = row?.first ?? nil else { return nil }
        return try StoredCredential(text: text).credential
    }
}

// MARK: - Notes of what is about to be spent

extension PostgresTokenCredentialStore {
    /// Notes, before it is sent, that the refresh token of this credential is
    /// about to be spent.
    ///
    /// Written and committed by a connection of its own, so that it is there
    /// when the one that holds the row is cut off. A hash of the token is kept.
    ///
    /// - Returns: Whether the same token was noted before.
    /// - Throws: A ``PostgresStoreError``.
    public func recordRefreshIntent(for credential: TokenCredential) async throws -> Bool {
        let connection = try await begin()
        let answer = try await connection.run(.note(credential.refreshToken, for: session), within: turn)
        try await commit(connection)
        return answer.first?.first == "t"
    }

    /// Removes the note: the server has answered, and the refresh token was
    /// not spent.
    public func removeRefreshIntent(for credential: TokenCredential) async {
        guard let connection = try? await begin() else { return }
        guard (try? await connection.run(.removeNote(of: credential.refreshToken, for: session), within: turn)) != nil
        else { return }
        try? await commit(connection)
    }
}

// MARK: - Transactions

extension PostgresTokenCredentialStore {
    /// How long this side waits for a statement that waits for others: the
    /// server's own limit comes first.
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

    /// Gives the row back, or leaves that to the end of the connection.
    private func rollBack(_ connection: Connection) async {
        _ = try? await connection.run(.rollback, within: limits.answer)
    }

    /// Commits; a connection that is lost meanwhile leaves open what came of it.
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
    /// The session's name, and nothing of the connection string.
    public var description: String { "PostgresTokenCredentialStore(session: \(session))" }

    /// Keeps `dump` from showing a password.
    public var customMirror: Mirror { Mirror(self, children: ["session": session]) }
}
