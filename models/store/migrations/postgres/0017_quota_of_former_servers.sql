-- A server that takes another's place may lack its last counts, and nodes then tell it what they know: each something
-- else, while requests are counted there already. So a counter is kept as what each server counted of it, and a report
-- raises each of these numbers by itself. Older programs go on with the function of migration 11.
-- +goose Up

ALTER TABLE quota_counters
  ADD COLUMN server BIGINT, -- which server counted the rest of used; NULL = one that does not tell, or none
  ADD COLUMN former TEXT;   -- how much of used each former server counted, as JSON, by its number; NULL = nothing

-- The sum of what former servers counted.
CREATE FUNCTION quota_sum(former text) RETURNS bigint LANGUAGE sql IMMUTABLE AS
  'SELECT coalesce(sum(value::bigint), 0)::bigint FROM jsonb_each_text(former::jsonb)';

-- What former servers counted of a counter once present counts, in whose row server does.
CREATE FUNCTION quota_former(former text, server bigint, used bigint, present bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE
    WHEN used = 0 AND former IS NULL THEN NULL
    ELSE nullif((coalesce(former::jsonb, '{}') || jsonb_build_object(coalesce(server::text, ''), used - quota_sum(former))) - coalesce(present::text, ''), '{}')::text
  END
$$;

-- As in migration 11, with the number of the server that is counted with, NULL if it does not tell, and a sixth kind, of
-- which reports has what each server counted.
-- +goose StatementBegin
CREATE FUNCTION quota_apply(
  skew_us bigint, kinds smallint[], keys text[], periods bigint[], starts bigint[],
  needs bigint[], recents bigint[], helds bigint[], limits bigint[], ns bigint[], reports text[], present bigint
) RETURNS TABLE (now_us bigint, granted bigint, used_after bigint, started bigint, formerly text) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  total int := coalesce(array_length(kinds, 1), 0);
  last int := 0; -- of the operations on one key
  now_s bigint;
  before bigint;
  counting bigint; -- the server that is in the row
  own bigint;
  others jsonb;
  id text;
  n bigint;
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
          INSERT INTO quota_counters (account_id, period_start, used, server) VALUES (keys[i], started, 0, present) ON CONFLICT DO NOTHING;
          PERFORM 1 FROM quota_counters q WHERE q.account_id = keys[i] AND q.period_start = started FOR UPDATE;
        END LOOP;
      END IF;
    END IF;
    started := starts[i];
    IF kinds[i] = 0 AND needs[i] > 0 AND recents[i] <= helds[i] THEN -- no advance is asked for
      UPDATE quota_counters q SET used = q.used + needs[i]
      WHERE q.account_id = keys[i] AND q.period_start = started AND q.used + needs[i] <= limits[i] AND q.server IS NOT DISTINCT FROM present
      RETURNING q.used, q.former INTO used_after, formerly;
      IF FOUND THEN
        granted := needs[i];
        RETURN NEXT;
        CONTINUE;
      END IF;
    END IF;
    SELECT q.used, q.former, q.server INTO before, formerly, counting
    FROM quota_counters q WHERE q.account_id = keys[i] AND q.period_start = started FOR UPDATE;
    IF NOT FOUND THEN
      INSERT INTO quota_counters (account_id, period_start, used, server) VALUES (keys[i], started, 0, present) ON CONFLICT DO NOTHING;
      SELECT q.used, q.former, q.server INTO before, formerly, counting
      FROM quota_counters q WHERE q.account_id = keys[i] AND q.period_start = started FOR UPDATE;
    END IF;
    IF counting IS DISTINCT FROM present THEN
      formerly := quota_former(formerly, counting, before, present);
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
        own := before - quota_sum(formerly);
        others := coalesce(formerly, '{}');
        FOR id, n IN SELECT r.key, r.value::bigint FROM jsonb_each_text(reports[i]::jsonb) AS r LOOP
          IF id = coalesce(present::text, '') THEN
            own := greatest(own, n);
          ELSIF coalesce((others ->> id)::bigint < n, true) THEN
            others := others || jsonb_build_object(id, n);
          END IF;
        END LOOP;
        formerly := nullif(others, '{}')::text;
        used_after := greatest(0, own + quota_sum(formerly));
      ELSE NULL; -- peek
    END CASE;
    IF used_after <> before THEN
      UPDATE quota_counters q SET used = used_after, former = formerly, server = present
      WHERE q.account_id = keys[i] AND q.period_start = started;
    END IF;
    RETURN NEXT;
  END LOOP;
END
$$;
-- +goose StatementEnd
