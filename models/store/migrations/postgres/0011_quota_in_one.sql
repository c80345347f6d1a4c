-- As in migration 6, but a request that is counted singly and gets what it asks for is one statement, not two: where many
-- accounts ask at once, that is most of them.
-- +goose Up

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION quota_apply(
  skew_us bigint, kinds smallint[], keys text[], periods bigint[], starts bigint[],
  needs bigint[], recents bigint[], helds bigint[], limits bigint[], ns bigint[]
) RETURNS TABLE (now_us bigint, granted bigint, used_after bigint, started bigint) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  total int := coalesce(array_length(kinds, 1), 0);
  last int := 0; -- of the operations on one key
  now_s bigint;
  before bigint;
  remaining bigint;
BEGIN
  now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + skew_us;
  now_s := now_us / 1000000;
  FOR i IN 1 .. total LOOP
    IF kinds[i] NOT IN (1, 4) THEN -- all but add and floor act on the present period
      starts[i] := now_s - now_s % periods[i];
    END IF;
  END LOOP;
  FOR i IN 1 .. total LOOP
    IF i > last THEN
      last := i;
      WHILE last < total AND keys[last + 1] = keys[i] LOOP
        last := last + 1;
      END LOOP;
      IF last > i THEN
        FOR started IN SELECT DISTINCT s FROM unnest(starts[i:last]) AS s ORDER BY s LOOP
          INSERT INTO quota_counters (account_id, period_start, used) VALUES (keys[i], started, 0) ON CONFLICT DO NOTHING;
          PERFORM 1 FROM quota_counters q WHERE q.account_id = keys[i] AND q.period_start = started FOR UPDATE;
        END LOOP;
      END IF;
    END IF;
    started := starts[i];
    IF kinds[i] = 0 AND needs[i] > 0 AND recents[i] <= helds[i] THEN -- no advance is asked for
      UPDATE quota_counters q SET used = q.used + needs[i]
      WHERE q.account_id = keys[i] AND q.period_start = started AND q.used + needs[i] <= limits[i]
      RETURNING q.used INTO used_after;
      IF FOUND THEN
        granted := needs[i];
        RETURN NEXT;
        CONTINUE;
      END IF;
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
