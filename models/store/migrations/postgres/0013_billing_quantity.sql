-- A subscription may charge its price several times. The customer's page says what is charged.
-- +goose Up

ALTER TABLE billing_accounts ADD COLUMN quantity BIGINT;
