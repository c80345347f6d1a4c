-- Runs that were cut off are counted for themselves: a job that had failed before its node was killed is begun again at
-- once like any other.
-- +goose Up

ALTER TABLE job_runs ADD COLUMN cut_offs INTEGER NOT NULL DEFAULT 0;
