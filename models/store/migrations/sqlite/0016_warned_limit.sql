-- Of which limit an account was warned: after a change of plan, the same percentage is news again.
-- +goose Up

ALTER TABLE usage_warnings ADD COLUMN daily_limit INTEGER NOT NULL DEFAULT 0;
