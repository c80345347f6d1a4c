-- The schedule looks at when a job last succeeded, the mail before a key expires finds keys by their end, and the audit
-- log holds what operators do, beside what happened to plans.
-- +goose Up

ALTER TABLE job_runs ADD COLUMN succeeded_at TIMESTAMPTZ;

CREATE INDEX api_keys_expires ON api_keys (expires_at) WHERE revoked_at IS NULL;

-- who: the person; origin: the machine, and the address that they came from; object: what was changed, by its id;
-- result: done, or why not. All are empty where no operator was at work.
ALTER TABLE audit_entries ADD COLUMN who TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_entries ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_entries ADD COLUMN object TEXT NOT NULL DEFAULT '';
ALTER TABLE audit_entries ADD COLUMN result TEXT NOT NULL DEFAULT '';
CREATE INDEX audit_entries_at ON audit_entries (at);
