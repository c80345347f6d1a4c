-- What a mailbox is sent is counted by its address as mail servers read it: a domain with letters beyond ASCII can be
-- written in many ways, and each had an hour's number of links of its own.
-- +goose Up

ALTER TABLE links ADD COLUMN mailbox TEXT NOT NULL DEFAULT '';
UPDATE links SET mailbox = email_key;
CREATE INDEX links_mailbox ON links (mailbox, created_at);
