-- Of which limit an account was warned: after a change of plan, the same percentage is news again.
-- +goose Up

ALTER TABLE usage_warnings ADD COLUMN daily_limit BIGINT NOT NULL DEFAULT 0;
