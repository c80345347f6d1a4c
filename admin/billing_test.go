package admin_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lottery/billing/sandbox"
	"lottery/billing/sandbox/sandboxtest"
)

// till is an operator's desk where Pro is sold. There are no webhooks: we know of Stripe only what commands read.
type till struct {
	*desk

	stand *sandbox.Sandbox
}

func newTill(t *testing.T) *till {
	t.Helper()
	s := &till{desk: newDesk(t)}
	s.now = time.Now()
	s.stand, s.stripe = sandboxtest.Start(t)
	s.run(0, "db", "migrate")
	s.run(0, "billing", "setup")
	return s
}

// account creates an account and returns its id.
func (s *till) account(email string) string {
	s.t.Helper()
	return s.object("accounts", "create", "--email", email)["id"].(string)
}

func (s *till) checkout(account string) (session string) {
	s.t.Helper()
	return s.object("billing", "checkout", account)["session_id"].(string)
}

// pay pays a checkout session, and reports whether that was possible.
func (s *till) pay(session string) bool {
	s.t.Helper()
	_, paid, err := s.stand.Pay(session, sandbox.CardOK)
	if err != nil {
		s.t.Fatal(err)
	}
	return paid
}

func (s *till) wantFlags(account string, want ...string) {
	s.t.Helper()
	var kinds []string
	for _, f := range s.object("billing", "status", account)["flags"].([]any) {
		kinds = append(kinds, f.(map[string]any)["kind"].(string))
	}
	if !slices.Equal(kinds, want) {
		s.t.Errorf("flags %v, want %v", kinds, want)
	}
}

// The flags of a closed account are shown and cleared like those of any other, by the account's id.
func TestFlagsOfAClosedAccount(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	ada := s.account("ada@example.com")
	s.account("eve@example.com")
	if !s.pay(s.checkout(ada)) {
		t.Fatal("the checkout cannot be paid")
	}
	price := s.object("billing", "sync", ada)["price_id"].(string)
	customer := s.object("billing", "status", ada)["customer_id"].(string)
	s.run(0, "accounts", "delete", ada, "--yes")
	s.wantFlags(ada)
	if _, err := s.stand.NewSubscription(customer, price, "active", nil); err != nil {
		t.Fatal(err)
	}
	s.run(0, "billing", "sync", ada)
	for _, sub := range s.stand.Subscriptions(customer) {
		if sub.Status != "canceled" {
			t.Errorf("%+v", sub)
		}
	}
	s.wantFlags(ada, "closed_but_subscription")
	for _, args := range [][]string{{"--flagged"}, {"--status", "closed"}, {"--status", "closed", "--flagged", "--search", ada}} {
		found := s.list(append([]string{"accounts", "list"}, args...)...)
		if len(found) != 1 || found[0]["id"] != ada || found[0]["status"] != "closed" || found[0]["email"] != nil || found[0]["name"] != nil {
			t.Errorf("%v: %v", args, found)
		}
	}
	for _, args := range [][]string{{}, {"--status", "active"}, {"--search", "acc_"}} {
		if found := s.list(append([]string{"accounts", "list"}, args...)...); len(found) != 1 || found[0]["id"] == ada {
			t.Errorf("%v: %v", args, found)
		}
	}
	if events := s.list("billing", "events", "--account", ada); len(events) != 0 {
		t.Errorf("%v", events)
	}
	_, messages := s.run(0, "billing", "clear-flags", ada)
	if !strings.Contains(messages, "Cleared 1 flag.\nclosed_but_subscription sub_") || !strings.Contains(messages, ", raised 20") {
		t.Errorf("what was cleared is not told: %q", messages)
	}
	s.wantFlags(ada)
	if found := s.list("accounts", "list", "--flagged"); len(found) != 0 {
		t.Errorf("cleared, and still listed: %v", found)
	}
	s.run(4, "billing", "status", "ada@example.com") // its address is deleted
	s.run(4, "billing", "checkout", ada)
	s.run(4, "accounts", "set-limit", ada, "7")
	s.run(0, "accounts", "show", ada) // what remains of the account
}

// ask calls Stripe as its dashboard does.
func (s *till) ask(path string, form url.Values) (made struct{ ID string }) {
	s.t.Helper()
	if err := sandboxtest.Ask(s.t.Context(), http.DefaultTransport, http.MethodPost, s.stripe+path, form, &made); err != nil {
		s.t.Fatal(err)
	}
	return made
}

// An open checkout is closed once paying would no longer gain the account anything.
func TestOpenCheckoutIsClosed(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{
		"suspended": {"accounts", "suspend", "ada@example.com", "--yes"}, "granted": {"accounts", "set-plan", "ada@example.com", "free"},
	} {
		s := newTill(t)
		ada := s.account("ada@example.com")
		session := s.checkout(ada)

		off := *s.desk
		off.stripe = ""
		if _, messages := off.run(0, command...); !strings.Contains(messages, "can be paid until") {
			t.Errorf("%s, without a key: %q", name, messages)
		}
		s.stand.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError})
		out, messages := s.run(1, command...)
		if !strings.Contains(out, "acc_") || !strings.Contains(messages, "can still be paid") {
			t.Errorf("%s, Stripe is away: %q %q", name, out, messages)
		}
		if entry := s.list("audit", "list", "--limit", "1")[0]; entry["result"] != "failed: unavailable" || entry["account_id"] != ada {
			t.Errorf("%s, Stripe is away: %v", name, entry)
		}
		s.stand.ClearFaults()
		s.run(0, command...)
		if s.pay(session) {
			t.Errorf("%s: the open checkout can still be paid", name)
		}
	}
}

// A paid checkout is not reported as open, and does not prevent deleting an account whose subscription has ended.
func TestPaidCheckoutIsNotOpen(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	ada := s.account("ada@example.com")
	s.pay(s.checkout(ada))
	s.run(0, "billing", "sync", ada)
	off := *s.desk
	off.stripe = ""
	for _, command := range [][]string{{"accounts", "suspend", ada, "--yes"}, {"accounts", "set-plan", ada, "free"}} {
		if _, messages := off.run(0, command...); strings.Contains(messages, "checkout") {
			t.Errorf("%q", messages)
		}
	}
	off.run(5, "accounts", "delete", ada, "--yes") // it pays
	if err := s.stand.Cancel(s.stand.Subscriptions("")[0].ID); err != nil {
		t.Fatal(err)
	}
	s.run(0, "billing", "sync", ada)
	off.run(0, "accounts", "delete", ada, "--yes")
}

// Stripe shows the webhook's secret only once: a later step that fails must not keep it from the operator.
func TestSetupThatFailsTellsTheSecretLater(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	s.stand.FaultAPI(sandbox.APIFault{Action: sandbox.ServerError, Path: "/v1/billing_portal/configurations"})
	file := filepath.Join(s.dir, "moved.yaml")
	write(t, file, "public_url: https://new.example.com\n")
	out, messages := s.run(1, "billing", "setup", "--config", file)
	s.stand.ClearFaults()
	again, _ := s.run(0, "billing", "setup", "--config", file)
	if !strings.Contains(out+messages+again, "whsec_") {
		t.Errorf("the secret of the new endpoint is nowhere: %s%s%s", out, messages, again)
	}
}

// A round of syncs that begins in the middle says so, and still covers every account.
func TestSyncAllSaysWhereItBegan(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	for _, email := range []string{"ada@example.com", "eve@example.com"} {
		s.checkout(s.account(email))
	}
	if err := s.open().SetBillingSetting(t.Context(), "sync_all_after", "acc_zzz"); err != nil {
		t.Fatal(err)
	}
	for _, said := range []bool{true, false} {
		out, messages := s.run(0, "billing", "sync", "--all", "--output=json")
		if !strings.Contains(out, `"accounts":2,`) && !strings.Contains(out, `"accounts": 2,`) || strings.Contains(messages, "It started after acc_zzz") != said {
			t.Errorf("%s %q", out, messages)
		}
	}
}

// Accounts that cannot be synced are named: in a message with the reason, in the JSON, and in the job's result.
func TestReconcileNamesWhoFailed(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	var lost []string
	for name := range strings.SplitSeq("abcdefg", "") {
		id := s.account(name + "@example.com")
		s.pay(s.checkout(id))
		lost = append(lost, id)
	}
	slices.Sort(lost)
	_, s.stripe = sandboxtest.Start(t) // another Stripe account, without these customers
	out, messages := s.run(1, "billing", "sync", "--all", "--output=json")
	var got struct {
		Accounts, Failed int
		FailedAccounts   []string `json:"failed_accounts"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got.Accounts != 7 || got.Failed != 7 || !slices.Equal(got.FailedAccounts, lost) {
		t.Errorf("%s", out)
	}
	for _, id := range lost {
		if !strings.Contains(messages, id+": read the customer's subscriptions: Stripe does not know it") {
			t.Errorf("%s is not named in %q", id, messages)
		}
	}
	_, messages = s.run(1, "jobs", "run", "reconcile", "--output=json")
	if want := "not compared: " + strings.Join(lost[:5], ", ") + " and 2 more; `lotteryadmin billing sync ACCOUNT` says why"; !strings.Contains(messages, want) {
		t.Errorf("%q does not say %q", messages, want)
	}
	if _, messages := s.run(1, "billing", "sync", lost[0]); !strings.Contains(messages, "Stripe does not know it") {
		t.Errorf("%q", messages)
	}
}

// Who pays for an account that is not here is named, with what to do about it.
func TestSyncAllNamesStrays(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	id := s.account("bob@example.com")
	s.pay(s.checkout(id))
	s.exec("DELETE FROM billing_accounts; DELETE FROM accounts") // the database is of before he signed up
	out, messages := s.run(0, "billing", "sync", "--all", "--output=json")
	var got struct {
		Accounts int
		Strays   []struct {
			Email, Status string
			AccountID     string `json:"account_id"`
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got.Accounts != 0 || len(got.Strays) != 1 || got.Strays[0].Email != "bob@example.com" || got.Strays[0].Status != "active" || got.Strays[0].AccountID != id {
		t.Errorf("%s", out)
	}
	for _, want := range []string{"(bob@example.com) has subscription sub_", "and names account " + id + ", which is not here", "metadata lottery_account"} {
		if !strings.Contains(messages, want) {
			t.Errorf("%q is not in %s", want, messages)
		}
	}
}
