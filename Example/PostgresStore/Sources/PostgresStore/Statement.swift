import AtomNetworking

/// An SQL statement with separate values.
struct Statement: Sendable {
    let sql: String
    var values: [String?] = []
    /// Whether a value is a token; then only the code of the server's error is kept.
    var carriesSecret = false

    private init(_ sql: String, _ values: [String?] = [], carriesSecret: Bool = false) {
        self.sql = sql
        self.values = values
        self.carriesSecret = carriesSecret
    }

    // MARK: Transactions

    // Specified explicitly: with a stricter default, a row that changed during the wait is an error.
    static let begin = Statement("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
    static let commit = Statement("COMMIT")
    static let rollback = Statement("ROLLBACK")

    /// Sets the limits of the transaction, and makes its commit durable.
    ///
    /// With the keepalives the server detects within about 20 s that a client's machine has failed.
    static func bounds(_ limits: PostgresTokenCredentialStore.Limits) -> Statement {
        Statement(
            """
            SELECT set_config('lock_timeout', $1, true),
                set_config('idle_in_transaction_session_timeout', $2, true),
                set_config('tcp_keepalives_idle', '10', true),
                set_config('tcp_keepalives_interval', '5', true),
                set_config('tcp_keepalives_count', '2', true),
                set_config('synchronous_commit', CASE current_setting('synchronous_commit')
                    WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)
            """,
            [limits.turn.settingInMilliseconds, limits.exchange.settingInMilliseconds])
    }

    // MARK: Tokens

    /// Reads the session's tokens, after running exchanges.
    static func read(_ session: String) -> Statement {
        Statement("SELECT credential FROM atom_token_credentials WHERE session = $1 FOR SHARE", [session])
    }

    /// Reads the session's tokens and locks them until the transaction ends.
    static func lock(_ session: String) -> Statement {
        Statement("SELECT credential FROM atom_token_credentials WHERE session = $1 FOR UPDATE", [session])
    }

    /// Creates a row for the session if there is none.
    static func makeRow(for session: String) -> Statement {
        Statement(
            "INSERT INTO atom_token_credentials (session) VALUES ($1) ON CONFLICT (session) DO NOTHING", [session])
    }

    /// Stores the session's tokens, and removes the refresh note.
    ///
    /// In this order, so that a caller that waits for an exchange here doesn't
    /// lock the note that the exchange is about to write.
    static func store(
        _ credential: TokenCredential?, for session: String
    ) throws(PostgresStoreError) -> Statement {
        let text: String?
        if let credential {
            text = try StoredCredential(credential).text()
        } else {
            text = nil
        }
        return Statement(
            """
            WITH stored AS (
                INSERT INTO atom_token_credentials (session, credential) VALUES ($1, $2::json)
                    ON CONFLICT (session) DO UPDATE
                    SET credential = excluded.credential, stored_at = clock_timestamp()
                    RETURNING session
            )
            DELETE FROM atom_refresh_intents USING stored WHERE atom_refresh_intents.session = stored.session
            """,
            [session, text], carriesSecret: true)
    }

    // MARK: Refresh notes

    /// Records a refresh token; returns whether the same one was recorded before.
    static func note(_ refreshToken: String, for session: String) -> Statement {
        Statement(
            """
            WITH earlier AS (SELECT refresh_token_sha256 AS hash FROM atom_refresh_intents WHERE session = $1)
            INSERT INTO atom_refresh_intents (session, refresh_token_sha256)
                VALUES ($1, sha256(convert_to($2, 'UTF8')))
                ON CONFLICT (session) DO UPDATE
                SET refresh_token_sha256 = excluded.refresh_token_sha256, begun_at = clock_timestamp()
                RETURNING coalesce((SELECT hash FROM earlier) = refresh_token_sha256, false)
            """,
            [session, refreshToken], carriesSecret: true)
    }

    /// Removes the note for a refresh token, if there is one.
    static func removeNote(of refreshToken: String, for session: String) -> Statement {
        Statement(
            """
            DELETE FROM atom_refresh_intents
                WHERE session = $1 AND refresh_token_sha256 = sha256(convert_to($2, 'UTF8'))
            """,
            [session, refreshToken], carriesSecret: true)
    }

    // MARK: Tables

    /// Creates the tables; several statements in one.
    static let makeTables = Statement(String(decoding: PackageResources.Schema_sql, as: UTF8.self))
}
