-- PostgreSQL's: SQLite counts in a log.
-- +goose Up
SELECT 1;
