-- Deleting an account looks through its events, and may not read everybody's: on SQLite all other changes wait meanwhile.
-- +goose Up

CREATE INDEX stripe_events_account ON stripe_events (account_id, received_at);
