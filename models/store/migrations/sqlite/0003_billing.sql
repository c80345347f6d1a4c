-- Money: what was read at Stripe last, the webhook inbox, and what follows from both.
-- +goose Up

-- One row for each account that ever went to checkout.
CREATE TABLE billing_accounts (
  account_id           TEXT PRIMARY KEY REFERENCES accounts (id),
  customer_id          TEXT UNIQUE,
  attempt              INTEGER NOT NULL DEFAULT 0,
  session_id           TEXT,
  session_url          TEXT,
  session_expires_at   TIMESTAMP,
  subscription_id      TEXT,
  status               TEXT,
  price_id             TEXT,
  period_end           TIMESTAMP,
  cancel_at_period_end BOOLEAN NOT NULL DEFAULT FALSE,
  past_due_since       TIMESTAMP,
  grace_ends_at        TIMESTAMP,
  synced_at            TIMESTAMP
);
CREATE INDEX billing_accounts_grace ON billing_accounts (grace_ends_at);

-- The prices that give a plan. Old ones stay: there are subscriptions to them.
CREATE TABLE known_prices (
  price_id    TEXT PRIMARY KEY,
  product_id  TEXT NOT NULL,
  plan        TEXT NOT NULL,
  unit_amount BIGINT NOT NULL,
  currency    TEXT NOT NULL,
  current     BOOLEAN NOT NULL DEFAULT FALSE,
  livemode    BOOLEAN NOT NULL DEFAULT FALSE,
  added_at    TIMESTAMP NOT NULL
);

-- What set-up made at Stripe, by name.
CREATE TABLE billing_settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

-- The inbox: an event is here before Stripe gets its 200. What it says is not kept, it is asked for again.
CREATE TABLE stripe_events (
  id          TEXT PRIMARY KEY,
  type        TEXT NOT NULL,
  livemode    BOOLEAN NOT NULL DEFAULT FALSE,
  api_version TEXT NOT NULL DEFAULT '',
  object_id   TEXT NOT NULL DEFAULT '',
  customer_id TEXT NOT NULL DEFAULT '',
  account_id  TEXT NOT NULL DEFAULT '',
  state       TEXT NOT NULL,
  attempts    INTEGER NOT NULL DEFAULT 0,
  next_at     TIMESTAMP NOT NULL,
  outcome     TEXT NOT NULL DEFAULT '',
  created_at  TIMESTAMP NOT NULL,
  received_at TIMESTAMP NOT NULL,
  done_at     TIMESTAMP
);
CREATE INDEX stripe_events_due ON stripe_events (state, next_at);
CREATE INDEX stripe_events_received ON stripe_events (received_at);

-- Why an operator should look at an account; each reason once.
CREATE TABLE account_flags (
  id         INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL,
  kind       TEXT NOT NULL,
  ref        TEXT NOT NULL DEFAULT '',
  detail     TEXT NOT NULL DEFAULT '',
  raised_at  TIMESTAMP NOT NULL,
  cleared_at TIMESTAMP,
  UNIQUE (account_id, kind, ref)
);

-- Who changed what, and why. Nothing here is ever changed.
CREATE TABLE audit_entries (
  id         INTEGER PRIMARY KEY,
  at         TIMESTAMP NOT NULL,
  actor      TEXT NOT NULL,
  action     TEXT NOT NULL,
  account_id TEXT NOT NULL DEFAULT '',
  was        TEXT NOT NULL DEFAULT '',
  became     TEXT NOT NULL DEFAULT '',
  reason     TEXT NOT NULL DEFAULT '',
  event_id   TEXT NOT NULL DEFAULT ''
);
CREATE INDEX audit_entries_account ON audit_entries (account_id, id);

-- Mails to be sent, written in the transaction of what they tell; once names the occasion.
CREATE TABLE mails (
  id         INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL,
  kind       TEXT NOT NULL,
  data       TEXT NOT NULL DEFAULT '{}',
  once       TEXT NOT NULL UNIQUE,
  created_at TIMESTAMP NOT NULL,
  next_at    TIMESTAMP NOT NULL,
  attempts   INTEGER NOT NULL DEFAULT 0,
  sent_at    TIMESTAMP,
  failed_at  TIMESTAMP,
  last_error TEXT NOT NULL DEFAULT ''
);
CREATE INDEX mails_due ON mails (next_at) WHERE sent_at IS NULL AND failed_at IS NULL;

-- Locks that hold over all nodes: a holder's until, in microseconds since 1970, by the database's clock.
CREATE TABLE leases (
  name     TEXT PRIMARY KEY,
  holder   TEXT NOT NULL,
  until_us BIGINT NOT NULL
);
