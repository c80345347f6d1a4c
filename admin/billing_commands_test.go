package admin_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/configs"
	"lottery/models"
)

// Setup says what it made, shows a new secret once, and finds nothing to do the second time; doctor tells what is wrong,
// and how to mend it.
func TestBillingSetupAndDoctor(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	stripe := configs.Stripe{SecretKey: sandbox.DefaultKey, APIURL: s.stripe, WebhookSecrets: []string{"whsec_0123456789abcdefghijklmnop"}}
	public := httptest.NewServer(billing.New(billing.Options{Store: s.open(), Stripe: stripe}).Webhook())
	defer public.Close()
	config := filepath.Join(s.dir, "moved.yaml")
	write(t, config, fmt.Sprintf("public_url: %s\nstripe_webhook_secret: %s\n", public.URL, stripe.WebhookSecrets[0]))

	doctor := func(code int) (list []map[string]any, messages string) {
		t.Helper()
		out, messages := s.run(code, "billing", "doctor", "--config", config, "-o", "json")
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			if c["check"] == "" || c["found"] == "" || (c["remedy"] == nil) != c["ok"].(bool) {
				t.Errorf("%v", c)
			}
		}
		return list, messages
	}
	list, messages := doctor(1)
	if want := fmt.Sprintf("lotteryadmin: 2 of %d checks failed\n", len(list)); messages != want { // the endpoint and the portal
		t.Errorf("%q, want %q: %v", messages, want, list)
	}

	summary := func(code int) string { // of `doctor`
		t.Helper()
		out, _ := s.run(code, "doctor", "--config", config, "-o", "csv")
		_, line, _ := strings.Cut(out, "\nstripe,")
		line, _, _ = strings.Cut(line, "\n")
		return line
	}
	if got := summary(1); !strings.HasPrefix(got, "failed,") || !strings.Contains(got, "webhook endpoint: Stripe has none for "+public.URL) || !strings.Contains(got, "; portal: ") ||
		!strings.HasSuffix(got, ",\"check public_url, then run `lotteryadmin billing setup`; `lotteryadmin billing doctor` has the details\"") {
		t.Error(got)
	}

	first, messages := s.run(0, "billing", "setup", "--config", config, "-o", "json")
	if !strings.Contains(first, `"mode": "test"`) {
		t.Error(first)
	}
	secret := "whsec_" + strings.Split(strings.SplitN(first, `"webhook_secret": "whsec_`, 2)[1], `"`)[0]
	if !strings.Contains(first, "\"made\": [\n    \"portal\",\n    \"webhook\"\n  ]") || strings.Count(first, secret) != 2 || !strings.HasPrefix(messages, "This is the only time") {
		t.Errorf("%s%q", first, messages)
	}
	second, messages := s.run(0, "billing", "setup", "--config", config, "-o", "json")
	if !strings.Contains(second, `"made": [],`) || !strings.Contains(second, `"webhook_secret": null`) || messages != "" {
		t.Errorf("%s%q", second, messages)
	}
	if entry := s.list("audit", "list", "--limit", "1")[0]; entry["action"] != "billing setup" || entry["object"] != "test" {
		t.Errorf("%v", entry)
	}
	if got := summary(0); !strings.HasPrefix(got, "ok,\"mode, secret key, ") {
		t.Error(got)
	}
	if list, messages := doctor(0); len(list) < 5 || messages != "" {
		t.Errorf("%v %q", list, messages)
	}
}

// From the checkout to Pro: each command says what is known of the account by then, and is about it in the audit log.
func TestBillingOfOneAccount(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	ada, eve := s.account("ada@example.com"), s.account("eve@example.com")
	if got := s.object("accounts", "show", ada)["billing"]; got != nil {
		t.Errorf("before the checkout: %v", got)
	}
	made := s.object("billing", "checkout", ada)
	session, _ := made["session_id"].(string)
	if until, err := time.Parse(time.RFC3339, made["expires_at"].(string)); err != nil || !until.After(s.now) || !strings.HasPrefix(made["url"].(string), s.stripe) {
		t.Errorf("%v", made)
	}
	if again := s.checkout("ADA@example.com"); again != session {
		t.Errorf("the open checkout %s became %s", session, again)
	}
	held := s.object("accounts", "export", ada)
	if checkout := held["billing"].(map[string]any); checkout["checkout_id"] != session || held["held_elsewhere"].(map[string]any)["stripe"] == nil {
		t.Errorf("%v", held)
	}
	s.pay(session)
	out, messages := s.run(0, "billing", "sync", "--all", "-o", "json")
	if !strings.Contains(out, fmt.Sprintf("{\n      \"account_id\": %q,\n      \"was\": \"free\",\n      \"became\": \"pro\"\n    }", ada)) || messages != ada+": was free, is pro\n" {
		t.Errorf("%s%q", out, messages)
	}
	if out, messages := s.run(0, "billing", "sync", "--all", "-o", "json"); !strings.Contains(out, `"repaired": []`) || messages != "" {
		t.Errorf("%s%q", out, messages)
	}
	if _, messages := s.run(0, "billing", "sync", ada); messages != "Nothing changed.\n" {
		t.Errorf("%q", messages)
	}
	if url := s.object("billing", "portal", ada)["url"].(string); !strings.HasPrefix(url, s.stripe) {
		t.Errorf("the portal is at %s", url)
	}
	if err := s.stand.Cancel(s.stand.Subscriptions("")[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, messages := s.run(0, "billing", "sync", ada); messages != "" {
		t.Errorf("%q", messages)
	}
	if status := s.object("billing", "status", ada); status["plan"] != "free" || status["status"] != "canceled" {
		t.Errorf("%v", status)
	}
	log, _ := s.run(0, "audit", "list", "-o", "csv")
	for want, times := range map[string]int{
		",billing checkout," + ada + ",,": 2, ",billing sync," + ada + ",,": 2, ",billing sync,,all accounts,": 2, ",billing portal," + ada + ",,": 1,
	} {
		if strings.Count(log, want) != times {
			t.Errorf("%q is not %d times in\n%s", want, times, log)
		}
	}

	// What was flagged is shown even if nothing else is known.
	if err := s.open().RaiseFlag(t.Context(), models.AccountFlag{AccountID: eve, Kind: models.FlagDispute, Ref: "dp_1", RaisedAt: s.now}); err != nil {
		t.Fatal(err)
	}
	if got := s.object("accounts", "show", eve)["billing"].(map[string]any); got["customer_id"] != nil || len(got["flags"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
	s.wantFlags(eve, "dispute")

	// The plan's history has what Stripe changed and what operators granted, and nothing else.
	for _, word := range []string{"pro", "pro", "billing"} {
		s.run(0, "accounts", "set-plan", ada, word)
	}
	s.run(0, "accounts", "set-limit", ada, "7")
	s.exec("INSERT INTO audit_entries (at, actor, action, account_id, reason) VALUES ('2026-03-01 00:00:00+00:00', 'customer', 'email.changed', '" + ada + "', 'confirmed at the new address')")
	var history []string
	for _, change := range s.object("billing", "status", ada)["history"].([]any) {
		c := change.(map[string]any)
		history = append(history, fmt.Sprintf("%s: %s-%s", c["actor"], c["was"], c["became"]))
	}
	if got := strings.Join(history, ", "); got != "operator: pro-billing, operator: billing-pro, operator: pro-free, reconcile: free-pro" {
		t.Errorf("%s", got)
	}
}

// Events are narrowed by state and account, and one that failed is tried again when somebody says so.
func TestBillingEvents(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ada := d.object("accounts", "create", "--email", "ada@example.com")["id"].(string)
	st := d.open()
	for i, state := range []models.EventState{models.EventDone, models.EventFailed, models.EventPending, models.EventIgnored} {
		e := models.StripeEvent{ID: fmt.Sprintf("evt_%d", i), Type: "invoice.paid", State: state, ReceivedAt: d.now.Add(time.Duration(i) * time.Minute)}
		if i < 2 {
			e.AccountID = ada
		}
		if _, err := st.AddEvent(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for flags, want := range map[string]string{
		"": "ignored,pending+,failed,done", "--failed": "failed", "--account ada@example.com": "failed,done", "--account ADA@example.com --limit 1": "failed",
	} {
		var got []string
		for _, e := range d.list(append([]string{"billing", "events"}, strings.Fields(flags)...)...) {
			state := e["state"].(string)
			if e["next_at"] != nil {
				state += "+"
			}
			got = append(got, state)
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s: %v, want %s", flags, got, want)
		}
	}
	out, messages := d.run(0, "billing", "events", "retry", "evt_1", "-o", "csv")
	if !strings.Contains(out, "\nevt_1,invoice.paid,pending,"+ada+",") || messages != "A running server will process it now.\n" {
		t.Errorf("%s%q", out, messages)
	}
	if log := d.list("audit", "list", "--account", ada, "--limit", "1"); log[0]["action"] != "billing events" || log[0]["object"] != "evt_1" {
		t.Errorf("%v", log)
	}
	for _, wrong := range []string{"evt_1", "retry", "try evt_1"} {
		if _, messages := d.run(2, append([]string{"billing", "events"}, strings.Fields(wrong)...)...); !strings.Contains(messages, "`billing events retry ID`") {
			t.Errorf("%s: %q", wrong, messages)
		}
	}
	d.run(4, "billing", "events", "retry", "evt_9")
	if len(d.list("audit", "list")) != 3 { // listing is none
		t.Error(d.list("audit", "list"))
	}
}
