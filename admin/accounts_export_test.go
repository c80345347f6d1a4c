package admin

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"lottery/models/store"
	"lottery/models/store/storetest"
)

// exported says where `accounts export` shows the tables that hold something about an account; "" = it has no place for it.
var exported = map[string]string{
	"accounts": "account", "api_keys": "keys", "usage_days": "usage", "usage_warnings": "usage_warnings", "billing_accounts": "billing", "audit_entries": "changes",
	"account_flags": "flags", "stripe_events": "stripe_events", "mails": "mails", "sessions": "sessions", "links": "sign_in_links",
	"account_changes": "", // which accounts the nodes must read again
	"departures":      "", // of closed accounts
	"quota_counters":  "", // named in held_elsewhere
}

// renamed lists the columns that the export shows under another name.
var renamed = map[string]string{
	"accounts.granted_plan": "account.granted_plan", "usage_days.day": "usage.date", "usage_days.class": "usage.status",
	"usage_warnings.day": "usage_warnings.date", "usage_warnings.warned_at": "usage_warnings.at", "audit_entries.actor": "changes.by",
	"billing_accounts.session_id": "billing.checkout_id", "billing_accounts.session_url": "billing.checkout_url", "billing_accounts.session_expires_at": "billing.checkout_expires_at",
	"api_keys.grace_until": "keys.expires_at",
}

// withheld lists the columns that the export leaves out: what repeats others, hashes, the operator's own data, and marks
// that only the programs need.
var withheld = strings.Fields(`
	accounts.email_key accounts.deleted_at api_keys.hash sessions.hash links.hash links.email_key links.mailbox links.id links.intent
	audit_entries.id audit_entries.who audit_entries.origin audit_entries.result account_flags.id
	billing_accounts.attempt mails.id mails.once mails.next_at
	stripe_events.livemode stripe_events.api_version stripe_events.object_id stripe_events.created_at stripe_events.retried_at
`)

// Whoever asks what is stored about them gets all of it: a column that a migration adds to one of these tables, or a new
// table with an account in it, is exported, or said here not to be.
func TestExportHasEveryColumn(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + t.TempDir() + "/lottery.db"
	storetest.OpenURL(t, url, store.Options{})
	rows, err := storetest.SQL(t, url).QueryContext(t.Context(), "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns := map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		columns[table] = append(columns[table], column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	keys := jsonKeys(reflect.TypeFor[record](), "")
	for table, all := range columns {
		place, known := exported[table]
		if !known && slices.Contains(all, "account_id") {
			t.Errorf("the table %s is about accounts: let the export show it", table)
		}
		for _, column := range all {
			name, shown := table+"."+column, place+"."+column
			if as, ok := renamed[name]; ok {
				shown = as
			}
			if place != "" && column != "account_id" && !slices.Contains(withheld, name) && !slices.Contains(keys, shown) {
				t.Errorf("the column %s is not exported", name)
			}
		}
	}
}

// jsonKeys lists the keys of a type's JSON, those of inner objects behind a dot.
func jsonKeys(of reflect.Type, prefix string) (keys []string) {
	for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(of) {
		if key := f.Tag.Get("json"); key != "" {
			keys = append(append(keys, prefix+key), jsonKeys(f.Type, prefix+key+".")...)
		}
	}
	return keys
}
