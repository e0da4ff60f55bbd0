-- The tables of PostgresTokenCredentialStore. Its prepare() runs this file; you
-- can also run it with psql, and more than once. Names are resolved with the
-- search_path, so you can choose your own schema with
-- options=-csearch_path=NAME in the connection string.
--
-- Anyone who can read these tables can use the tokens. The service's role needs
-- SELECT, INSERT and UPDATE on the first, and SELECT, INSERT, UPDATE and DELETE
-- on the second.

BEGIN;

-- If two services prepare at once, both would find no tables, and one would
-- fail.
SELECT pg_advisory_xact_lock(7230815561203);

-- One row for each session. An exchange locks the row. Signing out sets the
-- credential to NULL and keeps the row, so that there is always a row to lock.
-- json, not jsonb: it returns exactly what was written.
CREATE TABLE IF NOT EXISTS atom_token_credentials (
    session text PRIMARY KEY,
    credential json,
    stored_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Refresh tokens that are about to be used. A separate connection writes a row,
-- because the row must survive the end of the connection that holds the lock.
-- With a foreign key it would wait forever for the lock of its own session.
CREATE TABLE IF NOT EXISTS atom_refresh_intents (
    session text PRIMARY KEY,
    refresh_token_sha256 bytea NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMIT;
