-- What the server does by itself: the feeds that it fetches, and the jobs that it runs.
-- +goose Up

-- One row for each address that a feed is fetched from.
CREATE TABLE feed_sources (
  feed          TEXT NOT NULL,
  address       TEXT NOT NULL,
  etag          TEXT NOT NULL DEFAULT '',
  last_modified TEXT NOT NULL DEFAULT '',
  size          BIGINT NOT NULL DEFAULT 0,
  rejected      TEXT NOT NULL DEFAULT '[]',
  checked_at    TIMESTAMP,
  succeeded_at  TIMESTAMP,
  whole_at      TIMESTAMP,
  error         TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (feed, address)
);

-- The last run of each job, whichever node ran it.
CREATE TABLE job_runs (
  job         TEXT PRIMARY KEY,
  started_at  TIMESTAMP NOT NULL,
  finished_at TIMESTAMP,
  node        TEXT NOT NULL DEFAULT '',
  outcome     TEXT NOT NULL DEFAULT '',
  failed      BOOLEAN NOT NULL DEFAULT FALSE,
  failures    INTEGER NOT NULL DEFAULT 0
);
