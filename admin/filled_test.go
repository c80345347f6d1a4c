package admin_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// empties returns the paths of what says nothing in a JSON document: null, "", 0, false, [] and {}.
func empties(path string, v any) (list []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			list = append(list, empties(path+"."+name, inner)...)
		}
		if len(v) > 0 {
			return list
		}
	case []any:
		for _, inner := range v {
			list = append(list, empties(path, inner)...)
		}
		if len(v) > 0 {
			return list
		}
	case nil:
	default:
		if v != "" && v != 0.0 && v != false {
			return nil
		}
	}
	return []string{strings.TrimPrefix(path, ".")}
}

// Whatever is stored about an account is shown: where every column is filled, no field of a result is empty, except
// those named here.
func TestNothingStoredIsLeftOut(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ada := d.object("accounts", "create", "--email", "ada@example.com", "--name", "Ada", "--plan", "pro")["id"].(string)
	d.run(0, "accounts", "set-limit", ada, "500")
	d.run(0, "keys", "create", "--account", ada, "--name", "laptop", "--expires", "90d")
	const at = "'2026-03-04 01:02:03+00:00'"
	d.exec(strings.NewReplacer("@ADA", "'"+ada+"'", "@AT", at).Replace(`
		UPDATE accounts SET billed_plan = 'pro';
		UPDATE api_keys SET last_used_at = @AT, grace_until = @AT;
		INSERT INTO usage_days VALUES (@ADA, '2026-03-03', 'recent', 2, 7);
		INSERT INTO usage_warnings VALUES (@ADA, '2026-03-03', 80, @AT, 500);
		INSERT INTO billing_accounts (account_id, customer_id, session_id, session_url, session_expires_at, subscription_id, status, price_id, quantity,
			period_end, cancel_at_period_end, past_due_since, grace_ends_at, synced_at)
			VALUES (@ADA, 'cus_1', 'cs_1', 'https://pay.example.com/cs_1', @AT, 'sub_1', 'past_due', 'price_1', 1, @AT, TRUE, @AT, @AT, @AT);
		INSERT INTO account_flags (account_id, kind, ref, detail, raised_at) VALUES (@ADA, 'refund', 'ch_1', 'all of it', @AT);
		INSERT INTO account_flags (account_id, kind, ref, detail, raised_at, cleared_at) VALUES (@ADA, 'refund', 'ch_2', 'half of it', @AT, @AT);
		INSERT INTO stripe_events (id, type, customer_id, account_id, state, attempts, next_at, outcome, created_at, received_at, done_at)
			VALUES ('evt_1', 'invoice.paid', 'cus_1', @ADA, 'pending', 3, @AT, 'Stripe is away', @AT, @AT, @AT);
		INSERT INTO mails (account_id, kind, data, once, created_at, next_at, attempts, sent_at, failed_at, last_error)
			VALUES (@ADA, 'welcome_pro', '{"plan":"pro"}', 'a', @AT, @AT, 2, @AT, @AT, 'greylisted'), (@ADA, 'welcome_pro', '{"plan":"pro"}', 'b', @AT, @AT, 2, NULL, NULL, 'greylisted');
		INSERT INTO sessions VALUES ('ses_1', @ADA, x'00', @AT, @AT);
		INSERT INTO links (hash, purpose, email, email_key, account_id, created_at, expires_at, spent_at) VALUES (x'00', 'sign_in', 'ada@example.com', 'ada@example.com', @ADA, @AT, @AT, @AT);
		DELETE FROM audit_entries;
		INSERT INTO audit_entries (at, actor, action, account_id, was, became, reason, event_id, who, origin, object, result)
			VALUES (@AT, 'stripe', 'plan.billed', @ADA, 'free', 'pro', 'paid', 'evt_1', 'root', 'vm', 'sub_1', '');`))
	for _, c := range []struct{ line, empty string }{
		{"accounts show " + ada, "usage_today.used"},
		{"billing status " + ada, ""},
		{"billing events", ""},
		{"keys list --all", ""},
		{"mails list", "failed_at next_at sent_at"},
		{"audit list", ""},
		{"accounts list", ""},
		{"usage show " + ada + " --days 2", "days.requests used"},
		{"accounts export " + ada, "flags.cleared_at mails.failed_at mails.sent_at"},
	} {
		out, _ := d.run(0, append(strings.Fields(c.line), "-o", "json")...)
		var v any
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Fatal(err)
		}
		got := empties("", v)
		slices.Sort(got)
		if got = slices.Compact(got); fmt.Sprint(got) != "["+c.empty+"]" {
			t.Errorf("%s: %v, want [%s]\n%s", c.line, got, c.empty, out)
		}
	}
}
