-- The first schema: games and draws, who may read them, and what the product knows of itself.
-- +goose Up

-- What the product knows of this database. oldest_schema: see migrations.go.
CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO meta (name, value) VALUES ('oldest_schema', '1');

CREATE TABLE games (
  id           TEXT PRIMARY KEY,
  name         TEXT NOT NULL,
  digits       INTEGER NOT NULL CHECK (digits BETWEEN 1 AND 10),
  tods         TEXT NOT NULL,
  jurisdiction TEXT NOT NULL,
  timezone     TEXT NOT NULL,
  draw_days    TEXT NOT NULL DEFAULT '[]',
  builtin      BOOLEAN NOT NULL DEFAULT FALSE,
  created_at   TIMESTAMP NOT NULL
) WITHOUT ROWID;

-- Clustered by slot: a game's draws lie together in the order in which the index and exports read them.
CREATE TABLE draws (
  game_id     TEXT NOT NULL REFERENCES games (id),
  date        TEXT NOT NULL,
  tod         INTEGER NOT NULL CHECK (tod BETWEEN 1 AND 6),
  sequence    INTEGER NOT NULL CHECK (sequence BETWEEN 1 AND 99),
  number      TEXT NOT NULL,
  addons      TEXT NOT NULL DEFAULT '',
  feed        TEXT NOT NULL,
  revision    INTEGER NOT NULL DEFAULT 1,
  void        BOOLEAN NOT NULL DEFAULT FALSE,
  reason      TEXT NOT NULL DEFAULT '',
  ingested_at TIMESTAMP NOT NULL,
  PRIMARY KEY (game_id, date, tod, sequence)
) WITHOUT ROWID;

CREATE TABLE draw_revisions (
  id          INTEGER PRIMARY KEY,
  game_id     TEXT NOT NULL,
  date        TEXT NOT NULL,
  tod         INTEGER NOT NULL,
  sequence    INTEGER NOT NULL,
  revision    INTEGER NOT NULL,
  number      TEXT NOT NULL,
  addons      TEXT NOT NULL DEFAULT '',
  feed        TEXT NOT NULL,
  void        BOOLEAN NOT NULL DEFAULT FALSE,
  reason      TEXT NOT NULL DEFAULT '',
  replaced_at TIMESTAMP NOT NULL,
  replaced_by TEXT NOT NULL,
  UNIQUE (game_id, date, tod, sequence, revision)
);

CREATE TABLE import_runs (
  id          INTEGER PRIMARY KEY,
  feed        TEXT NOT NULL,
  source      TEXT NOT NULL,
  finished_at TIMESTAMP NOT NULL,
  summary     TEXT NOT NULL
);

-- One row: the state of games and draws. Every change of them moves it in the same transaction.
CREATE TABLE data_version (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  number     INTEGER NOT NULL,
  token      TEXT NOT NULL,
  updated_at TIMESTAMP NOT NULL
);
INSERT INTO data_version (id, number, token, updated_at)
VALUES (1, 0, lower(hex(randomblob(8))), strftime('%Y-%m-%d %H:%M:%S+00:00', 'now'));

CREATE TABLE accounts (
  id             TEXT PRIMARY KEY,
  email          TEXT,
  email_key      TEXT UNIQUE,
  name           TEXT NOT NULL DEFAULT '',
  status         TEXT NOT NULL,
  granted_plan   TEXT,
  billed_plan    TEXT,
  limit_override INTEGER CHECK (limit_override >= 0),
  created_at     TIMESTAMP NOT NULL,
  deleted_at     TIMESTAMP
) WITHOUT ROWID;

CREATE TABLE api_keys (
  id           TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts (id),
  name         TEXT NOT NULL DEFAULT '',
  prefix       TEXT NOT NULL,
  hash         BLOB NOT NULL UNIQUE,
  created_at   TIMESTAMP NOT NULL,
  expires_at   TIMESTAMP,
  grace_until  TIMESTAMP,
  last_used_at TIMESTAMP,
  revoked_at   TIMESTAMP
) WITHOUT ROWID;
CREATE INDEX api_keys_account ON api_keys (account_id, created_at);
CREATE INDEX api_keys_prefix ON api_keys (prefix);

-- Every change of an account or its keys leaves a row here, numbered in commit order (the one row of
-- account_version is locked until commit). Nodes poll it to forget what they hold in memory.
CREATE TABLE account_version (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  number INTEGER NOT NULL
);
INSERT INTO account_version (id, number) VALUES (1, 0);
CREATE TABLE account_changes (
  number     INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL,
  changed_at TIMESTAMP NOT NULL
);
