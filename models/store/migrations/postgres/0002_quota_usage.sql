-- Daily quotas and what was requested.
-- +goose Up

-- How many requests of a period were granted: spent, or held by a node in a block that it gives back.
-- period_start is in Unix seconds; an account's period is the UTC day.
CREATE TABLE quota_counters (
  account_id   TEXT NOT NULL,
  period_start BIGINT NOT NULL,
  used         BIGINT NOT NULL,
  PRIMARY KEY (account_id, period_start)
);
CREATE INDEX quota_counters_period ON quota_counters (period_start);

-- Counted requests, for dashboards and support; kept 400 days. class is the first digit of the status.
CREATE TABLE usage_days (
  account_id TEXT NOT NULL,
  day        DATE NOT NULL,
  endpoint   TEXT NOT NULL,
  class      SMALLINT NOT NULL,
  requests   BIGINT NOT NULL,
  PRIMARY KEY (account_id, day, endpoint, class)
);
CREATE INDEX usage_days_day ON usage_days (day);

-- Which accounts were found at 80 or 100 percent of a day's quota: each once, whichever node saw it.
CREATE TABLE usage_warnings (
  account_id TEXT NOT NULL,
  day        DATE NOT NULL,
  percent    SMALLINT NOT NULL,
  warned_at  TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account_id, day, percent)
);
CREATE INDEX usage_warnings_day ON usage_warnings (day);

-- A batch of operations on counters in one round trip; what each does is told in models/store/quota.go, whose
-- QuotaOp.apply does the same for SQLite. The operations come ordered by key, so that two nodes lock rows in the same
-- order. now_us is this server's clock in microseconds since 1970.
-- +goose StatementBegin
CREATE FUNCTION quota_apply(
  skew_us bigint, kinds smallint[], keys text[], periods bigint[], starts bigint[],
  needs bigint[], recents bigint[], helds bigint[], limits bigint[], ns bigint[]
) RETURNS TABLE (now_us bigint, granted bigint, used_after bigint, started bigint) LANGUAGE plpgsql AS $$
DECLARE
  before bigint;
  remaining bigint;
BEGIN
  now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + skew_us;
  FOR i IN 1 .. coalesce(array_length(kinds, 1), 0) LOOP
    started := starts[i];
    IF kinds[i] NOT IN (1, 4) THEN -- all but add and floor act on the present period
      started := now_us / 1000000;
      started := started - started % periods[i];
    END IF;
    SELECT q.used INTO before FROM quota_counters q WHERE q.account_id = keys[i] AND q.period_start = started FOR UPDATE;
    IF NOT FOUND THEN
      INSERT INTO quota_counters (account_id, period_start, used) VALUES (keys[i], started, 0) ON CONFLICT DO NOTHING;
      SELECT q.used INTO before FROM quota_counters q WHERE q.account_id = keys[i] AND q.period_start = started FOR UPDATE;
    END IF;
    granted := 0;
    used_after := before;
    CASE kinds[i]
      WHEN 0 THEN -- take
        granted := least(needs[i], greatest(limits[i] - before, 0));
        remaining := limits[i] - before - granted;
        IF remaining > 256 THEN
          granted := granted + greatest(0, least(remaining / 16, recents[i]) - helds[i]);
        END IF;
        used_after := before + granted;
      WHEN 1 THEN used_after := greatest(0, before + ns[i]);
      WHEN 3 THEN used_after := 0;
      WHEN 4 THEN used_after := greatest(before, ns[i]);
      ELSE NULL; -- peek
    END CASE;
    IF used_after <> before THEN
      UPDATE quota_counters q SET used = used_after WHERE q.account_id = keys[i] AND q.period_start = started;
    END IF;
    RETURN NEXT;
  END LOOP;
END
$$;
-- +goose StatementEnd
