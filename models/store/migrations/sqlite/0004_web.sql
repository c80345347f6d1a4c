-- People who sign in: sessions, links in mails, and what an account that was closed today has used.
-- +goose Up

-- Somebody signed in, in one browser. Only the token's SHA-256 is kept.
CREATE TABLE sessions (
  id           TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts (id),
  hash         BLOB NOT NULL UNIQUE,
  created_at   TIMESTAMP NOT NULL,
  last_seen_at TIMESTAMP NOT NULL
);
CREATE INDEX sessions_account ON sessions (account_id);
CREATE INDEX sessions_seen ON sessions (last_seen_at);

-- Links in mails: they work once, for a quarter of an hour.
CREATE TABLE links (
  id         INTEGER PRIMARY KEY,
  hash       BLOB NOT NULL UNIQUE,
  purpose    TEXT NOT NULL,
  email      TEXT NOT NULL,
  email_key  TEXT NOT NULL,
  account_id TEXT NOT NULL DEFAULT '',
  intent     TEXT NOT NULL DEFAULT '',
  created_at TIMESTAMP NOT NULL,
  expires_at TIMESTAMP NOT NULL,
  spent_at   TIMESTAMP
);
CREATE INDEX links_email ON links (email_key, created_at);
CREATE INDEX links_created ON links (created_at);

-- Accounts that were closed on a day, by a hash of their address: whoever signs up again on that day goes on counting
-- where they were. Rows of earlier days are taken away.
CREATE TABLE departures (
  account_id TEXT PRIMARY KEY,
  email_hash BLOB NOT NULL,
  day        TEXT NOT NULL
);
CREATE INDEX departures_email ON departures (email_hash, day);
