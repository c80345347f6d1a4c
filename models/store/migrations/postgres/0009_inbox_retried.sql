-- How long an event has waited is told since it was given to the servers last: one that an operator tries again weeks
-- after it was given up has waited for a moment.
-- +goose Up

ALTER TABLE stripe_events ADD COLUMN retried_at TIMESTAMPTZ;
