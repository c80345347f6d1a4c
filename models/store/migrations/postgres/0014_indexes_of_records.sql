-- Records grow for 400 days: what looks through them must not read a whole table. Imports are sought by feed; mails by
-- account, by age and for those that were given up; events by customer.
-- +goose Up

CREATE INDEX import_runs_feed ON import_runs (feed, id);
CREATE INDEX import_runs_finished ON import_runs (finished_at);
CREATE INDEX mails_account ON mails (account_id, id);
CREATE INDEX mails_created ON mails (created_at);
CREATE INDEX mails_failed ON mails (id) WHERE failed_at IS NOT NULL;
CREATE INDEX stripe_events_customer ON stripe_events (customer_id, received_at);
