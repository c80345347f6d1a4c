package billing_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/glebarez/go-sqlite"
	_ "github.com/jackc/pgx/v5/stdlib"
	"pgregory.net/rapid"

	"lottery/billing"
	"lottery/billing/sandbox"
	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// TestHistories lets random things happen to one account, with webhooks that get lost, repeated, held and reordered, a
// Stripe that fails, and workers that die. When all is quiet again and a reconcile has run, the plan must be what a
// fresh reading of the sandbox says. LOTTERY_BILLING_HISTORIES is how many histories each database gets.
func TestHistories(t *testing.T) {
	t.Parallel()
	wanted := 100
	if text := os.Getenv("LOTTERY_BILLING_HISTORIES"); text != "" {
		var err error
		if wanted, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	storetest.EachURL(t, func(t *testing.T, database string) {
		t.Parallel()
		driver, address := "pgx", database
		if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
			driver, address = "sqlite", path+"?_pragma=busy_timeout(5000)"
		}
		raw, err := sql.Open(driver, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = raw.Close() })
		var offset atomic.Int64
		st := storetest.OpenURL(t, database, store.Options{Now: func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }})
		done := 0
		var seen sights
		for done < wanted {
			rapid.Check(t, func(rt *rapid.T) {
				if done >= wanted {
					return
				}
				done++
				for _, table := range []string{"known_prices", "stripe_events", "billing_accounts", "billing_settings"} { // of the history before: its Stripe is gone
					if _, err := raw.ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
						rt.Fatal(err)
					}
				}
				offset.Store(0)
				h := newHistory(t, rt, st, &offset, done)
				h.unlock = func() {
					if _, err := raw.ExecContext(t.Context(), "DELETE FROM leases"); err != nil {
						rt.Fatal(err)
					}
				}
				h.seen = &seen
				h.run()
			})
			if t.Failed() {
				return
			}
		}
		t.Logf("%d histories: %+v", done, seen)
		if done >= 1000 && (seen.Upgrades < done/4 || seen.Ends == 0 || seen.Deaths < done/10 || seen.Doubles == 0 || seen.Grace == 0 || seen.Gone == 0) {
			t.Error("too little happens in them to show anything")
		}
	})
}

// sights is how often the histories came to what they are for.
type sights struct {
	Upgrades, Ends, Deaths int
	Doubles                int // a second subscription was paid, and cancelled
	Grace                  int // ended past due, within grace
	Gone                   int // ended with the customer deleted
}

// history is one account's story.
type history struct {
	rt      *rapid.T
	ctx     context.Context
	store   *store.Store
	offset  *atomic.Int64
	stripe  *sandbox.Sandbox
	cfg     configs.Stripe
	billing *billing.Service
	hook    atomic.Pointer[http.Handler]
	account models.Account
	price   string
	other   string // a price of our product that gives nothing
	granted bool

	seen   *sights
	unlock func()       // lets the locks of the dead run out
	doom   atomic.Int64 // the process dies at that many more requests to Stripe; 0 = it lives
	after  bool         // and not before the last of them was done
}

// killed runs what a process does that dies in the midst of it: its last request is made, or is not, and nothing that
// would have come then happens, no lock is given back, no word is stored.
func (h *history) killed(work func()) {
	h.doom.Store(int64(rapid.IntRange(1, 6).Draw(h.rt, "requests before death")))
	h.after = rapid.Bool().Draw(h.rt, "after the last")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		work()
	}()
	<-ended
	if h.doom.Swap(0) <= 0 {
		h.seen.Deaths++
	}
	h.unlock()
	h.serve()
}

// mortal is the way to Stripe of a process that may die.
func (h *history) mortal(r *http.Request) (*http.Response, error) {
	dies := h.doom.Load() > 0 && h.doom.Add(-1) == 0
	if !dies || h.after {
		res, err := h.stripe.Transport().RoundTrip(r)
		if !dies {
			return res, err
		}
	}
	h.unlock() // its other threads, which live on here, must not wait for it
	runtime.Goexit()
	return nil, nil //nolint:nilnil // never reached
}

// RoundTrip delivers a webhook.
func (h *history) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	(*h.hook.Load()).ServeHTTP(w, r)
	return w.Result(), nil
}

func newHistory(t *testing.T, rt *rapid.T, st *store.Store, offset *atomic.Int64, n int) *history {
	h := &history{rt: rt, ctx: t.Context(), store: st, offset: offset}
	base := time.Now()
	var err error
	h.stripe, err = sandbox.New(sandbox.Options{
		URL: "http://stripe.test", Now: func() time.Time { return base }, SignNow: time.Now, Client: &http.Client{Transport: h},
	})
	h.must(err)
	h.cfg = configs.Stripe{SecretKey: sandbox.DefaultKey, APIURL: "http://stripe.test", Grace: 7 * day}
	h.serve()
	setup, err := h.billing.Setup(h.ctx)
	h.must(err)
	h.cfg.WebhookSecrets, h.price = []string{setup.WebhookSecret}, setup.Steps[1].ID
	h.serve()
	var made struct{ ID string }
	h.read(http.MethodPost, "/v1/prices", "product=lottery_pro&unit_amount=100&currency=usd&recurring[interval]=month", &made)
	h.other = made.ID
	h.account, err = st.CreateAccount(h.ctx, store.NewAccount{Email: fmt.Sprintf("h%d-%d@example.com", n, base.UnixNano())})
	h.must(err)
	return h
}

// serve begins a new process.
func (h *history) serve() {
	h.billing = billing.New(billing.Options{
		Store: h.store, Stripe: h.cfg, PublicURL: "http://lottery.test", StripeNow: func() time.Time { return h.stripe.Now() },
		Transport: roundTrip(h.mortal), Pace: time.Nanosecond,
	})
	hook := h.billing.Webhook()
	h.hook.Store(&hook)
}

func (h *history) must(err error) {
	if err != nil {
		h.rt.Fatal(err)
	}
}

// read asks the sandbox as the dashboard does.
func (h *history) read(method, path, form string, into any) {
	r, err := http.NewRequestWithContext(h.ctx, method, "http://stripe.test"+path, strings.NewReader(form))
	h.must(err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Stripe-Version", billing.APIVersion)
	r.SetBasicAuth(sandbox.DefaultKey, "")
	res, err := h.stripe.Transport().RoundTrip(r)
	h.must(err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		h.rt.Fatalf("%s %s: %d", method, path, res.StatusCode)
	}
	h.must(json.NewDecoder(res.Body).Decode(into))
}

// customer is the account's customer, or "".
func (h *history) customer() string {
	b, err := h.store.BillingAccount(h.ctx, h.account.ID)
	h.must(err)
	if b.CustomerID == nil {
		return ""
	}
	return *b.CustomerID
}

// some is one of the account's subscriptions, or "".
func (h *history) some() string {
	cus := h.customer()
	if cus == "" {
		return ""
	}
	subs := h.stripe.Subscriptions(cus)
	if len(subs) == 0 {
		return ""
	}
	return subs[rapid.IntRange(0, len(subs)-1).Draw(h.rt, "which")].ID
}

func (h *history) run() {
	defer func() {
		h.stripe.ClearFaults()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = h.stripe.Close(ctx)
	}()
	for range rapid.SampledFrom([]int{4, 12, 30}).Draw(h.rt, "steps") {
		h.step()
	}
	h.quiet()
	h.judge()
}

// step is one thing that happens. Errors are what people and programs see of faults: the story goes on.
func (h *history) step() {
	kind := rapid.SampledFrom([]string{
		"buy", "buy", "buy", "checkout", "checkout", "pay", "pay", "again", "direct", "double", "double", "past due", "past due", "renew", "card", "retry", "status", "settle", "cancel", "at end", "undo",
		"refund", "dispute", "price", "price back", "delete", "grant", "take back", "email", "advance", "advance", "advance far",
		"api fault", "api fault", "lose", "repeat", "hold", "release", "delay", "clear", "work", "work", "work", "two nodes", "crash", "kill", "kill", "kill checkout", "end", "later", "sync", "return", "portal",
	}).Draw(h.rt, "step")
	cards := []sandbox.Card{sandbox.CardOK, sandbox.CardOK, sandbox.CardDeclined, sandbox.CardFailsLater, sandbox.BankPays, sandbox.BankFails}
	card := func() sandbox.Card { return rapid.SampledFrom(cards).Draw(h.rt, "card") }
	sub := func() string { return h.some() }
	switch kind {
	case "checkout", "again":
		_, _ = h.billing.Checkout(h.ctx, h.account.ID)
	case "pay":
		for _, s := range h.stripe.Sessions("") {
			if s.Status == "open" {
				_, _, _ = h.stripe.Pay(s.ID, card())
				break
			}
		}
	case "buy":
		if s, err := h.billing.Checkout(h.ctx, h.account.ID); err == nil {
			_, _, _ = h.stripe.Pay(s.ID, rapid.SampledFrom([]sandbox.Card{sandbox.CardOK, sandbox.CardOK, sandbox.CardFailsLater, sandbox.BankPays}).Draw(h.rt, "card"))
		}
	case "double":
		if cus := h.customer(); cus != "" {
			for range 2 {
				h.stripe.Advance(time.Second)
				_, _ = h.stripe.NewSubscription(cus, h.price, "active", nil)
			}
		}
	case "past due":
		if cus := h.customer(); cus != "" {
			_ = h.stripe.SetCard(cus, sandbox.CardDeclined)
			_ = h.stripe.Renew(sub())
		}
	case "direct":
		if cus := h.customer(); cus != "" {
			_, _ = h.stripe.NewSubscription(cus, h.price, rapid.SampledFrom([]string{"active", "trialing", "past_due", "canceled", "incomplete"}).Draw(h.rt, "status"), nil)
		}
	case "renew":
		_ = h.stripe.Renew(sub())
	case "card":
		if cus := h.customer(); cus != "" {
			_ = h.stripe.SetCard(cus, card())
		}
	case "retry":
		_ = h.stripe.RetryPayment(sub())
	case "status":
		_ = h.stripe.SetStatus(sub(), rapid.SampledFrom([]string{"active", "trialing", "past_due", "unpaid", "paused", "canceled"}).Draw(h.rt, "status"))
	case "settle":
		_ = h.stripe.Settle(sub(), rapid.Bool().Draw(h.rt, "paid"))
	case "cancel":
		_ = h.stripe.Cancel(sub())
	case "at end", "undo":
		_ = h.stripe.CancelAtPeriodEnd(sub(), kind == "at end")
	case "refund":
		_, _ = h.stripe.Refund(sub(), 500)
	case "dispute":
		_, _ = h.stripe.Dispute(sub(), rapid.Bool().Draw(h.rt, "inquiry"))
	case "price":
		_ = h.stripe.SetPrice(sub(), h.other)
	case "price back":
		_ = h.stripe.SetPrice(sub(), h.price)
	case "delete":
		if cus := h.customer(); cus != "" && rapid.IntRange(0, 2).Draw(h.rt, "really") == 0 {
			_ = h.stripe.DeleteCustomer(cus)
		}
	case "grant", "take back":
		pro := models.PlanPro
		grant := &pro
		if h.granted = kind == "grant"; !h.granted {
			grant = nil
		}
		_, err := h.store.GrantPlan(h.ctx, h.account.ID, grant)
		h.must(err)
	case "email":
		if cus := h.customer(); cus != "" {
			_ = h.stripe.SetEmail(cus, "new@example.com")
		}
	case "advance":
		h.stripe.Advance(time.Duration(rapid.IntRange(1, 96).Draw(h.rt, "hours")) * time.Hour)
	case "advance far":
		h.stripe.Advance(time.Duration(rapid.IntRange(5, 40).Draw(h.rt, "days")) * day)
	case "api fault":
		h.stripe.FaultAPI(sandbox.APIFault{
			Action: rapid.SampledFrom([]sandbox.Action{sandbox.RateLimit, sandbox.ServerError, sandbox.ErrorAfter, sandbox.LoseReply, sandbox.Withhold}).Draw(h.rt, "fault"),
			Method: rapid.SampledFrom([]string{"", http.MethodGet, http.MethodPost}).Draw(h.rt, "method"),
			Often:  sandbox.Often{Times: rapid.IntRange(1, 3).Draw(h.rt, "times")},
		})
	case "lose":
		h.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Drop, Often: sandbox.Often{Times: rapid.IntRange(1, 4).Draw(h.rt, "times")}})
	case "repeat":
		h.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Duplicate, Copies: 3, AtOnce: rapid.Bool().Draw(h.rt, "at once"), Often: sandbox.Often{Times: 3}})
	case "hold":
		h.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.Hold, Often: sandbox.Often{Times: rapid.IntRange(1, 6).Draw(h.rt, "times")}})
	case "delay":
		h.stripe.FaultDelivery(sandbox.DeliveryFault{Action: sandbox.DelayDelivery, Delay: 50 * time.Hour, Often: sandbox.Often{Times: 2}})
	case "release":
		_, _ = h.stripe.Release(h.ctx, rapid.SampledFrom([]string{sandbox.OrderSent, sandbox.OrderReversed, sandbox.OrderRandom}).Draw(h.rt, "order"))
	case "clear":
		h.stripe.ClearFaults()
	case "work":
		_ = h.stripe.Quiesce(h.ctx)
		_, _ = h.billing.Work(h.ctx)
	case "crash":
		ctx, cancel := context.WithTimeout(h.ctx, time.Duration(rapid.IntRange(0, 3000).Draw(h.rt, "microseconds"))*time.Microsecond)
		_, _ = h.billing.Work(ctx)
		cancel()
		h.serve()
	case "kill":
		_ = h.stripe.Quiesce(h.ctx)
		h.killed(func() { _, _ = h.billing.Work(h.ctx) })
	case "kill checkout":
		h.killed(func() { _, _ = h.billing.Checkout(h.ctx, h.account.ID) })
	case "two nodes":
		_ = h.stripe.Quiesce(h.ctx)
		first := h.billing
		h.serve()
		second := h.billing
		var both sync.WaitGroup
		both.Go(func() { _, _ = first.Work(h.ctx) })
		both.Go(func() { _, _ = second.Work(h.ctx) })
		both.Go(func() { _, _ = second.Sync(h.ctx, h.account.ID, cause()) })
		both.Wait()
	case "end":
		_, _ = h.billing.End(h.ctx, h.account.ID, cause())
	case "later":
		h.offset.Add(int64(time.Duration(rapid.IntRange(1, 900).Draw(h.rt, "seconds")) * time.Second))
	case "sync":
		_, _ = h.billing.Sync(h.ctx, h.account.ID, cause())
	case "return":
		for _, s := range h.stripe.Sessions("") {
			_, _, _ = h.billing.Return(h.ctx, h.account.ID, s.ID)
			break
		}
	case "portal":
		_, _ = h.billing.Portal(h.ctx, h.account.ID)
	}
}

// quiet ends all faults, and lets everything that is under way come to its end.
func (h *history) quiet() {
	h.stripe.ClearFaults()
	_, err := h.stripe.Release(h.ctx, sandbox.OrderRandom)
	h.must(err)
	h.must(h.stripe.Quiesce(h.ctx))
	for try := 0; ; try++ {
		h.offset.Add(int64(15 * time.Minute))
		_, err := h.billing.Work(h.ctx)
		h.must(err)
		waiting, _, err := h.store.InboxDepth(h.ctx)
		h.must(err)
		if waiting == 0 {
			break
		}
		if try == 40 {
			h.rt.Fatalf("%d events wait for ever", waiting)
		}
	}
	done, err := h.billing.Reconcile(h.ctx, func(now billing.Standing, err error) {
		if now.Account.ID == h.account.ID {
			h.must(err)
		}
	})
	h.must(err)
	if !done.Whole {
		h.rt.Fatalf("%+v", done)
	}
}

// judge compares with the sandbox's own truth.
func (h *history) judge() {
	cus := h.customer()
	want, paid := models.PlanFree, 0
	if cus != "" {
		for _, sub := range h.stripe.Subscriptions(cus) {
			if len(sub.Prices) == 0 || sub.Prices[0] != h.price {
				continue
			}
			switch sub.Status {
			case "active", "trialing":
				want = models.PlanPro
				paid++
			case "past_due":
				if h.stripe.Now().Before(h.unpaidSince(sub.ID).Add(7 * day)) {
					want = models.PlanPro
					h.seen.Grace++
				}
			}
		}
	}
	if cus == "" && len(h.stripe.Customers()) > 0 {
		h.seen.Gone++
	}
	if paid > 1 {
		h.rt.Fatalf("%d paid subscriptions: %+v", paid, h.stripe.Subscriptions(cus))
	}
	a, err := h.store.Account(h.ctx, h.account.ID)
	h.must(err)
	got := models.PlanFree
	if a.BilledPlan != nil {
		got = *a.BilledPlan
	}
	if got != want {
		h.rt.Fatalf("billed %s, the sandbox says %s: %+v", got, want, h.stripe.Subscriptions(cus))
	}
	if plan, _ := a.Plan(); h.granted && plan != models.PlanPro {
		h.rt.Fatalf("granted Pro, is on %s", plan)
	}
	h.judgeRecords(got)
	ours := 0
	for _, c := range h.stripe.Customers() {
		if c.Metadata["lottery_account"] == h.account.ID && !c.Deleted {
			ours++
		}
	}
	if ours > 1 {
		h.rt.Fatalf("%d live customers", ours)
	}
}

// judgeRecords replays the audit log, and holds the mails against it.
func (h *history) judgeRecords(billed models.Plan) {
	entries, err := h.store.AuditOf(h.ctx, h.account.ID, 1000)
	h.must(err)
	at := string(models.PlanFree)
	ups, downs := 0, 0
	for _, e := range slices.Backward(entries) {
		if e.Was != at || e.Became == at {
			h.rt.Fatalf("the audit log breaks at %+v: it was %s", e, at)
		}
		if at = e.Became; at == string(models.PlanPro) {
			ups++
		} else {
			downs++
		}
	}
	if at != string(billed) {
		h.rt.Fatalf("the audit log ends with %s, billed is %s", at, billed)
	}
	h.seen.Upgrades, h.seen.Ends = h.seen.Upgrades+ups, h.seen.Ends+downs
	flags, err := h.store.Flags(h.ctx, h.account.ID)
	h.must(err)
	for _, f := range flags {
		if f.Kind == models.FlagDoublePayment {
			h.seen.Doubles++
		}
	}
	mails, err := h.store.Mails(h.ctx, h.account.ID)
	h.must(err)
	count := map[models.MailKind]int{}
	for _, m := range mails {
		count[m.Kind]++
	}
	if count[models.MailWelcomePro] != ups || count[models.MailProEnded] != downs {
		h.rt.Fatalf("mails %v for %d welcomes and %d ends", count, ups, downs)
	}
}

// unpaidSince is when the oldest invoice was made that is open, and newer than the last that was paid; or if there is
// none, when the subscription's period began.
func (h *history) unpaidSince(sub string) (since time.Time) {
	var list struct {
		Data []struct {
			Created int64
			Status  string
		}
	}
	h.read(http.MethodGet, "/v1/invoices?limit=100&subscription="+sub, "", &list)
	for _, invoice := range list.Data {
		if invoice.Status == "paid" {
			break
		}
		if invoice.Status == "open" {
			since = time.Unix(invoice.Created, 0)
		}
	}
	if since.IsZero() {
		var begun struct {
			At int64 `json:"current_period_start"`
		}
		h.read(http.MethodGet, "/v1/subscriptions/"+sub, "", &begun)
		since = time.Unix(begun.At, 0)
	}
	return since
}
