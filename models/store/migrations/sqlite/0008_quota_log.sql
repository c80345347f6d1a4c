-- Counting many accounts wrote a page of quota_counters for each, wherever its row lies. Counters are appended to a log
-- now, one row a contact, and brought to quota_counters later, many at once in the order of that table.
-- +goose Up

-- counters: [{"a": account_id, "s": period_start, "u": used}, …], what they became. A counter is what the newest row
-- that names it says, else what quota_counters says. Rows are taken away from the oldest on, and never the newest.
CREATE TABLE quota_log (
  id       INTEGER PRIMARY KEY,
  counters TEXT NOT NULL
);

-- A program that does not know the log would count less than was used.
UPDATE meta SET value = '8' WHERE name = 'oldest_schema';
