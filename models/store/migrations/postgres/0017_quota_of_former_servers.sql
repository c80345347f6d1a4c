-- A server that takes another's place may lack its last counts, and nodes then tell it what they know: each something
-- else, while requests are counted there already. So each counter keeps how much of it former servers counted, and only
-- that is made good. Older programs go on with the function of migration 11.
-- +goose Up

ALTER TABLE quota_counters
  ADD COLUMN server BIGINT,  -- which server the two columns are about; NULL = one that does not tell
  ADD COLUMN restored BIGINT; -- how much of used was counted by former servers

-- As in migration 11, with the number of the server that is counted with, NULL if it does not tell, and a sixth kind.
-- +goose StatementBegin
CREATE FUNCTION quota_apply(
  skew_us bigint, kinds smallint[], keys text[], periods bigint[], starts bigint[],
  needs bigint[], recents bigint[], helds bigint[], limits bigint[], ns bigint[], present bigint
) RETURNS TABLE (now_us bigint, granted bigint, used_after bigint, started bigint) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  total int := coalesce(array_length(kinds, 1), 0);
  last int := 0; -- of the operations on one key
  now_s bigint;
  before bigint;
  former bigint; -- how much of before was counted by former servers
  remaining bigint;
BEGIN
  now_us := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + skew_us;
  now_s := now_us / 1000000;
  FOR i IN 1 .. total LOOP
    IF kinds[i] NOT IN (1, 4, 5) THEN -- all but add, floor and restore act on the present period
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
      UPDATE quota_counters q SET used = q.used + needs[i],
        server = present, restored = CASE WHEN q.server = present THEN q.restored ELSE q.used END
      WHERE q.account_id = keys[i] AND q.period_start = started AND q.used + needs[i] <= limits[i]
      RETURNING q.used INTO used_after;
      IF FOUND THEN
        granted := needs[i];
        RETURN NEXT;
        CONTINUE;
      END IF;
    END IF;
    SELECT q.used, CASE WHEN q.server = present THEN q.restored ELSE q.used END INTO before, former
    FROM quota_counters q WHERE q.account_id = keys[i] AND q.period_start = started FOR UPDATE;
    IF NOT FOUND THEN
      INSERT INTO quota_counters (account_id, period_start, used) VALUES (keys[i], started, 0) ON CONFLICT DO NOTHING;
      SELECT q.used, CASE WHEN q.server = present THEN q.restored ELSE q.used END INTO before, former
      FROM quota_counters q WHERE q.account_id = keys[i] AND q.period_start = started FOR UPDATE;
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
      WHEN 5 THEN -- restore
        IF present IS NULL THEN
          used_after := greatest(before, ns[i]);
        ELSE
          used_after := before + greatest(0, ns[i] - former);
          former := greatest(former, ns[i]);
        END IF;
      ELSE NULL; -- peek
    END CASE;
    IF used_after <> before THEN
      UPDATE quota_counters q SET used = used_after, server = present, restored = former
      WHERE q.account_id = keys[i] AND q.period_start = started;
    END IF;
    RETURN NEXT;
  END LOOP;
END
$$;
-- +goose StatementEnd
