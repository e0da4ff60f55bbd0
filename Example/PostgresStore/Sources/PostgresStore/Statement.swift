import AtomNetworking

/// What is sent to the server: SQL that is written here, and values beside it.
struct Statement: Sendable {
    let sql: String
    var values: [String?] = []
    /// Whether a value is a token; what the server says of such a statement is
    /// kept to its code.
    var carriesSecret = false

    private init(_ sql: String, _ values: [String?] = [], carriesSecret: Bool = false) {
        self.sql = sql
        self.values = values
        self.carriesSecret = carriesSecret
    }
}

// MARK: - Transactions

extension Statement {
    // Named in full: where the default is stricter, a row that changed while
    // one waited for it is an error.
    static let begin = Statement("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
    static let commit = Statement("COMMIT")
    static let rollback = Statement("ROLLBACK")

    /// Bounds the transaction, and makes its commit durable.
    ///
    /// The keepalives let a server find out within about 20 s that a client's
    /// machine has vanished.
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
}

// MARK: - Tokens

extension Statement {
    /// Reads the session's tokens, after those who exchange them.
    static func read(_ session: String) -> Statement {
        Statement("SELECT credential FROM atom_token_credentials WHERE session = $1 FOR SHARE", [session])
    }

    /// Reads the session's tokens and keeps all others out until the
    /// transaction ends.
    static func lock(_ session: String) -> Statement {
        Statement("SELECT credential FROM atom_token_credentials WHERE session = $1 FOR UPDATE", [session])
    }

    /// Makes a row for the session if there is none.
    static func makeRow(for session: String) -> Statement {
        Statement(
            "INSERT INTO atom_token_credentials (session) VALUES ($1) ON CONFLICT (session) DO NOTHING", [session])
    }

    /// Stores the session's tokens, and forgets which were about to be spent.
    ///
    /// In this order: whoever waits for an exchange here must not hold the note
    /// meanwhile that the exchange is about to write.
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
}

// MARK: - Notes of what is about to be spent

extension Statement {
    /// Notes a refresh token; answers whether the same one was noted before.
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

    /// Removes the note of a refresh token, if it is there.
    static func removeNote(of refreshToken: String, for session: String) -> Statement {
        Statement(
            """
            DELETE FROM atom_refresh_intents
                WHERE session = $1 AND refresh_token_sha256 = sha256(convert_to($2, 'UTF8'))
            """,
            [session, refreshToken], carriesSecret: true)
    }
}

// MARK: - Tables

extension Statement {
    /// Makes the tables; several statements in one.
    static let makeTables = Statement(String(decoding: PackageResources.Schema_sql, as: UTF8.self))
}
