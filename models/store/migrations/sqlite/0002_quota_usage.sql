-- Daily quotas and what was requested.
-- +goose Up

-- How many requests of a period were granted: spent, or held by a node in a block that it gives back.
-- period_start is in Unix seconds; an account's period is the UTC day.
CREATE TABLE quota_counters (
  account_id   TEXT NOT NULL,
  period_start INTEGER NOT NULL,
  used         INTEGER NOT NULL,
  PRIMARY KEY (account_id, period_start)
) WITHOUT ROWID;
CREATE INDEX quota_counters_period ON quota_counters (period_start);

-- Counted requests, for dashboards and support; kept 400 days. class is the first digit of the status.
CREATE TABLE usage_days (
  account_id TEXT NOT NULL,
  day        TEXT NOT NULL,
  endpoint   TEXT NOT NULL,
  class      INTEGER NOT NULL,
  requests   INTEGER NOT NULL,
  PRIMARY KEY (account_id, day, endpoint, class)
) WITHOUT ROWID;
CREATE INDEX usage_days_day ON usage_days (day);

-- Which accounts were found at 80 or 100 percent of a day's quota: each once, whichever node saw it.
CREATE TABLE usage_warnings (
  account_id TEXT NOT NULL,
  day        TEXT NOT NULL,
  percent    INTEGER NOT NULL,
  warned_at  TIMESTAMP NOT NULL,
  PRIMARY KEY (account_id, day, percent)
) WITHOUT ROWID;
CREATE INDEX usage_warnings_day ON usage_warnings (day);
