-- What a mailbox is sent is counted by a hash of its address as mail servers read it: a domain with letters beyond ASCII
-- can be written in many ways, each of which had an hour's number of links of its own, and the number outlives an account
-- that is deleted, of which no address may stay. Links of before are not counted: they work for a quarter of an hour.
-- +goose Up

ALTER TABLE links ADD COLUMN mailbox BLOB NOT NULL DEFAULT x'';
CREATE INDEX links_mailbox ON links (mailbox, created_at);
