-- PostgreSQL's, see there: no server takes the place of a SQLite file. The columns are here so that both have the same.
-- +goose Up

ALTER TABLE quota_counters ADD COLUMN server INTEGER;
ALTER TABLE quota_counters ADD COLUMN former TEXT;
