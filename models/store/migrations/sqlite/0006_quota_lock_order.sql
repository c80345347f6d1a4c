-- PostgreSQL's: SQLite locks no rows.
-- +goose Up
SELECT 1;
