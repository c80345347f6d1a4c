-- SQLite's: on PostgreSQL counters are counted where they lie.
-- +goose Up
SELECT 1;
