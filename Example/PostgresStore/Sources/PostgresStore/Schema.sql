-- What PostgresTokenCredentialStore needs. Its prepare() runs this file; running
-- it with psql does the same, and running it twice does no harm. The names are
-- looked up along the search_path, so a schema of your own is chosen with
-- options=-csearch_path=NAME in the connection string.
--
-- Whoever may read these tables may use the tokens. The service's role needs
-- SELECT, INSERT and UPDATE on the first, and SELECT, INSERT, UPDATE and DELETE
-- on the second.

BEGIN;

-- Two services that prepare at once would both find nothing, and one would fail.
SELECT pg_advisory_xact_lock(7230815561203);

-- One row for each session. Whoever exchanges the tokens holds the row's lock.
-- Signing out sets the credential to NULL and leaves the row, so that there is
-- always something to lock. json, not jsonb: what is read is what was written.
CREATE TABLE IF NOT EXISTS atom_token_credentials (
    session text PRIMARY KEY,
    credential json,
    stored_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Refresh tokens that are about to be spent. A row is written by a connection
-- other than the one that holds the lock, since it must survive that one's end;
-- a foreign key would therefore wait for its own session for ever.
CREATE TABLE IF NOT EXISTS atom_refresh_intents (
    session text PRIMARY KEY,
    refresh_token_sha256 bytea NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMIT;
